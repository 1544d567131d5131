"""A window for the probe: it says what it will write, shows the rate while it does, and ends with a verdict."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len, set_cell_size
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input

from fswizard.errors import FswizardError
from fswizard.language import N_, _, p_, shown
from fswizard.model.drive import SMR_KINDS, Drive
from fswizard.model.units import duration_text, figure_text, size_text
from fswizard.targets import privilege
from fswizard.tui.backend import Backend
from fswizard.tui.drawing import Piece, bullet, columns, facts, filled, fit, lines, meter, text, wrap
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.widgets.braille import area, nice_top
from fswizard.tui.widgets.canvas import Canvas

if TYPE_CHECKING:
    from fswizard.tui.backend import Offer, ProbePlan, ProbeProgress, ProbeResult, ProbeTarget

STAGES = {
    "fill": (N_("filling"), N_("writes the temporary file once, in order, to fix its place on the disk")),
    "listen": (N_("listening"), N_("random writes, looking for stalls that come after equal numbers of writes")),
    "press": (N_("pressing"), N_("random writes without a pause, until the rate drops for good or the time is up")),
}
"""A word for below the curve, and what happens."""
AXIS = 11
"""Cells at the left of the curve."""


class ProbeScreen(Window["ProbeResult | None"]):
    """Dismissed with the result, or with None where nothing was written."""

    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "begin", N_("begin")),
        Binding("enter", "back", N_("close")),
        Binding("escape", "back", N_("back")),
        Binding("escape", "stop", N_("stop")),
        Binding("up", "line(-1)", N_("scroll"), show=False),
        Binding("down", "line(1)", N_("scroll"), show=False),
    ]

    def __init__(self, drive: Drive, place: str | Offer) -> None:
        """`place` is a directory on the disk, or the empty device that is written to once it is confirmed."""
        super().__init__()
        self.title = _("Is {disk} shingled? The probe", disk=drive.name)
        self._place = place
        self._target: ProbeTarget | None = None
        self._warning = ""
        self._reports: list[ProbeProgress] = []
        self._result: ProbeResult | None = None
        self._error: FswizardError | None = None
        self._stopped = threading.Event()
        self._stage: Literal["ask", "run", "over"] = "ask"

    def body(self) -> ComposeResult:
        yield TextBox(id="serial")
        with VerticalScroll(can_focus=False):
            yield Canvas(id="probe")

    def on_mount(self) -> None:
        box = self.query_one("#serial", Input)
        if isinstance(self._place, str):
            box.display = False
            self._look(self._place, "")
        else:
            box.placeholder = _(self._place.kind)
            box.focus()
        self._draw()

    # Before

    @on(Input.Submitted, "#serial")
    def _typed(self, event: Input.Submitted) -> None:
        if not isinstance(self._place, str) and event.value.strip():
            self._look(self._place.path, event.value.strip())

    def _look(self, path: str, serial: str) -> None:
        backend = self.wizard.backend

        def look() -> tuple[ProbeTarget, str]:
            """In a thread."""
            target = backend.probe_target(path, serial)
            rights = backend.privilege(privilege.PROBE) if target.device else "root"
            return target, backend.rights_warning(rights)

        self.ask(look, self._can_begin, fails=self._cannot)

    def _cannot(self, error: FswizardError) -> None:
        self._error = error
        self._draw()

    def _can_begin(self, looked: tuple[ProbeTarget, str]) -> None:
        (self._target, self._warning), self._error = looked, None
        self.query_one("#serial").display = False
        self.set_focus(None)
        self._draw()

    # While it writes

    @work(exclusive=True)
    async def _begin(self, target: ProbeTarget) -> None:
        if target.device is not None:
            try:
                await self.wizard.authorise(privilege.PROBE, _("writing to {device}", device=target.plan.path))
            except FswizardError as error:
                self._cannot(error)
                return
        self._stage = "run"
        self._draw()
        in_background(self._write, self.wizard.backend, target)

    def _write(self, backend: Backend, target: ProbeTarget) -> None:
        """In a thread."""
        try:
            result = backend.probe(target, self._stopped.is_set, lambda report: self.call_in_app(self._report, report))
        except FswizardError as error:
            self.call_in_app(self._ended, None, error)
        else:
            self.call_in_app(self._ended, result)

    def _report(self, report: ProbeProgress) -> None:
        self._reports.append(report)
        self._draw()

    def _ended(self, result: ProbeResult | None, error: FswizardError | None = None) -> None:
        self._result, self._error, self._stage = result, error, "over"
        self._draw()

    def on_unmount(self) -> None:
        self._stopped.set()

    # Drawing

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.refresh_bindings()
        self.query_one("#probe", Canvas).show(lambda width: lines(self._parts(width)))

    def _parts(self, width: int) -> list[Content]:
        parts = []
        if self._error is not None:
            words = text((shown(self._error.message), "$error"), f" {shown(self._error.hint_without_switches)}")
            parts += [bullet(("✗", "bold $error"), words, width), Content("")]
        target, reports = self._target, self._reports
        height = max(10, min(30, self.query_one(VerticalScroll).size.height))
        if target is None:
            if not isinstance(self._place, str):
                offer = self._place
                found = (_("Nothing was found on {device}.", device=offer.name), "bold $success")
                words = filled(
                    _("So the probe can write to the device itself. Anything hidden there would be overwritten. "
                      "To confirm, type its {kind} {identifier}; you then see what will be written before anything "
                      "happens."),
                    kind=_(offer.kind), identifier=(offer.identifier, "bold"),
                )  # fmt: skip
                parts += wrap(text(found, " ", words), width)
            elif self._error is None:
                parts.append(text((_("Looking for a place to write …"), "$muted")))
        elif self._stage == "ask":
            parts.append(before(target.plan, width, self._warning))
        elif self._stage == "run" and not reports:
            parts.append(text((_("Preparing the file …"), "$muted")))
        elif self._stage == "run":
            if self._stopped.is_set():
                stopping = (f"{_('Stopping:')} ", "bold $warning")
                parts.append(text(stopping, _("waiting for the current write.")))
            parts.append(during(target.plan, reports, width, height - len(parts)))
        elif self._result is not None:
            result = self._result
            sign = result.evidence.code if result.outcome == "drive-managed" else ""
            words = after(result, width)
            parts += [words, Content("")]
            if reports:
                parts.append(picture(target.plan, reports, width, height - words.plain.count("\n") - 2, sign))
        return parts

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "begin":
            return self._stage == "ask" and self._target is not None
        if action == "stop":
            return self._stage == "run" and not self._stopped.is_set()
        return self._stage != "run" if action == "back" else True

    def action_begin(self) -> None:
        if self._target is not None:
            self._begin(self._target)

    def action_stop(self) -> None:
        self._stopped.set()
        self._draw()

    def action_back(self) -> None:
        self.dismiss(self._result)


def before(plan: ProbePlan, width: int, warning: str = "") -> Content:
    """What the probe will do, and what it can find; `warning` is what to know before root is given."""
    if plan.fill:
        where, loss = _("a temporary file in {directory}", directory=plan.path), p_("you lose", "nothing")
    else:
        where, loss = _("{device}, which seems empty", device=plan.path), _("nothing: no data was found there")
    span, longest = size_text(max(plan.listen_bytes, plan.press_bytes)), duration_text(plan.time_limit_s)
    most = _("up to {size}, in at most {duration}", size=size_text(plan.maximum_bytes), duration=longest)
    pairs: list[tuple[str, Piece]] = [
        (_("Writes to"), where),
        (_("Writes"), filled(_("{most}; it ends at the first sign, and whenever you stop it"), most=(most, "bold"))),
        (_("How"), _("1 MiB at a time, at random places within {size}, each synced before the next", size=span)),
        (_("Looks for"), _("stalls that come after equal numbers of writes, and the slowdown once the cache is full")),
        (_("Can say"), _("“drive-managed” or “inconclusive”, never “not shingled”: most disks show nothing within "
                         "minutes")),
        (_("You lose"), (loss, "$success")),
        *([(_("Root"), warning)] if warning else []),
    ]  # fmt: skip
    return facts(pairs, width, gap=width >= 70)


def during(plan: ProbePlan, reports: Sequence[ProbeProgress], width: int, height: int) -> Content:
    """Where it stands, and the rate since the beginning with its stages and stalls, on `height` lines."""
    last = reports[-1]
    share = min(1.0, last.elapsed_s / plan.time_limit_s) if plan.time_limit_s else 1.0
    left = f"  {_('{duration} left at most', duration=duration_text(last.left_s))}"
    bar = text(meter(share, max(8, width - cell_len(left))), (left, "$muted"))
    word, does = map(_, STAGES[last.stage])
    words = wrap(text((f"{word}: ", "bold"), does), width)
    return lines((bar, *words, Content(""), picture(plan, reports, width, height - 2 - len(words))))


def picture(plan: ProbePlan, reports: Sequence[ProbeProgress], width: int, height: int, sign: str = "") -> Content:
    """The rate since the beginning, and figures; `sign` is the code of what proves shingling, empty for nothing."""
    return lines(
        (*_curve(plan, reports, width, max(2, height - 5), sign), Content(""), *_figures(plan, reports[-1], width))
    )


def _curve(plan: ProbePlan, reports: Sequence[ProbeProgress], width: int, height: int, sign: str) -> list[Content]:
    """The whole time that the probe may take is the axis, so that nothing moves. Stalls are bright once they count."""
    share = min(1.0, reports[-1].elapsed_s / plan.time_limit_s) if plan.time_limit_s else 1.0
    room = max(8, width - AXIS)
    filled = max(1, round(share * room))
    top = nice_top(max(each.rate_bytes_s for each in reports))
    marks = [figure_text(top, "B/s"), *([""] * (height - 2)), "0"]
    rows = []
    for mark, row in zip(marks, area([each.rate_bytes_s / top for each in reports], filled, height)):
        axis = text(fit((mark, "$faint"), AXIS - 2, "right"), ("┤ " if mark else "│ ", "$line"))
        rows.append(axis + text((row, "$primary")))
    stalls, stages, counted, stage = "", "", 0, ""
    for cell in range(filled):
        first, last = reports[cell * len(reports) // filled], reports[max(0, (cell + 1) * len(reports) // filled - 1)]
        stalls += "▲" if last.stalls > counted else " "
        counted = last.stalls
        if first.stage != stage:  # its word stands where it begins
            stage = first.stage
            stages = set_cell_size(stages, cell) + f"┆{_(STAGES[stage][0])}"
    if sign == "write-cliff":
        cliff = f" {_('cliff')} ▲"
        stalls = stalls[: -cell_len(cliff)] + cliff
    style = "bold $warning" if sign else "$faint"
    rows.append(text(fit((_("stalls"), "$faint"), AXIS - 2, "right"), "  ", (stalls, style)))
    rows.append(text(" " * AXIS, (set_cell_size(stages, min(room, cell_len(stages))), "$faint")))
    return rows


def _figures(plan: ProbePlan, last: ProbeProgress, width: int) -> list[Content]:
    limit = size_text(plan.maximum_bytes)
    figures = {
        p_("rate", "now"): figure_text(last.rate_bytes_s, "B/s") if last.rate_bytes_s else _("no answer"),
        _("longest write"): duration_text(last.worst_latency_s),
        _("stalls"): str(last.stalls),
        _("written"): _("{written} of {limit}", written=size_text(last.written_bytes), limit=limit),
    }
    wide = max(8, (width - 10) // 4)
    widths = (wide, wide, wide, width - 3 * wide)
    names = [(name, "$muted") for name in figures]
    return [columns(names, widths, gap=0), columns([(each, "bold") for each in figures.values()], widths, gap=0)]


def after(result: ProbeResult, width: int) -> Content:
    """The result in words."""
    if result.outcome == "drive-managed":
        head = text((f"◆ {_(SMR_KINDS['drive-managed'])}", "bold $warning"))
        if result.evidence.code == "write-cliff":
            then = _("Other disks do not fall off like that. The suggestions for filesystems take it into account.")
        else:
            then = _("Other disks do not stall in such a rhythm. The suggestions for filesystems take it into account.")
    else:
        head = text((_("? Inconclusive"), "bold"))
        then = _("The disk may still be shingled: most show nothing within minutes. The verdict hasn't changed.")
    rows = [head, bullet(("·", "$faint"), shown(result.evidence.text), width), *wrap((then, "$muted"), width)]
    return lines(rows)
