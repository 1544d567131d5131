"""A window for the probe: it says what it will write, shows the rate while it does, and ends with a verdict."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input

from fswizard.errors import FswizardError
from fswizard.model.drive import SMR_KINDS, Drive
from fswizard.model.units import duration_text, size_text
from fswizard.targets import privilege
from fswizard.tui.backend import Backend
from fswizard.tui.drawing import Piece, bullet, columns, facts, fit, lines, meter, text, wrap
from fswizard.tui.machine import in_background
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.widgets.braille import area, nice_top
from fswizard.tui.widgets.canvas import Canvas

if TYPE_CHECKING:
    from fswizard.tui.backend import Offer, ProbePlan, ProbeProgress, ProbeResult, ProbeTarget

STAGES = {
    "fill": ("filling", "writes the temporary file once, in order, to fix its place on the disk"),
    "listen": ("listening", "random writes, looking for stalls that come after equal numbers of writes"),
    "press": ("pressing", "random writes without a pause, until the rate drops for good or the time is up"),
}
"""A word for below the curve, and what happens."""
CLIFF = " cliff ▲"
AXIS = 11
"""Cells at the left of the curve."""


class ProbeScreen(Window["ProbeResult | None"]):
    """Dismissed with the result, or with None where nothing was written."""

    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "begin", "begin"),
        Binding("enter", "back", "close"),
        Binding("escape", "back", "back"),
        Binding("escape", "stop", "stop"),
        Binding("up", "line(-1)", "scroll", show=False),
        Binding("down", "line(1)", "scroll", show=False),
    ]

    def __init__(self, drive: Drive, place: str | Offer) -> None:
        """`place` is a directory on the disk, or the empty device that is written to once it is confirmed."""
        super().__init__()
        self.title = f"Is {drive.name} shingled? The probe"
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
            box.placeholder = self._place.kind
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
                await self.wizard.authorise(privilege.PROBE, f"writing to {target.plan.path}")
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
            words = text((self._error.message, "$error"), f" {self._error.hint_without_switches}")
            parts += [bullet(("✗", "bold $error"), words, width), Content("")]
        target, reports = self._target, self._reports
        height = max(10, min(30, self.query_one(VerticalScroll).size.height))
        if target is None:
            if not isinstance(self._place, str):
                offer = self._place
                words = text(
                    (f"Nothing was found on {offer.name}", "bold $success"), ", so the probe can write to the device "
                    f"itself. Anything hidden there would be overwritten. To confirm, type its {offer.kind} ",
                    (offer.identifier, "bold"), "; you then see what will be written before anything happens.",
                )  # fmt: skip
                parts += wrap(words, width)
            elif self._error is None:
                parts.append(text(("Looking for a place to write …", "$muted")))
        elif self._stage == "ask":
            parts.append(before(target.plan, width, self._warning))
        elif self._stage == "run" and not reports:
            parts.append(text(("Preparing the file …", "$muted")))
        elif self._stage == "run":
            if self._stopped.is_set():
                parts.append(text(("Stopping: ", "bold $warning"), "waiting for the current write."))
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
    where = f"a temporary file in {plan.path}" if plan.fill else f"{plan.path}, which seems empty"
    span = size_text(max(plan.listen_bytes, plan.press_bytes))
    most = f"{size_text(plan.maximum_bytes)}, in at most {duration_text(plan.time_limit_s)}"
    pairs: list[tuple[str, Piece]] = [
        ("Writes to", where),
        ("Writes", text((f"up to {most}", "bold"), "; it ends at the first sign, and whenever you stop it")),
        ("How", f"1 MiB at a time, at random places within {span}, each synced before the next"),
        ("Looks for", "stalls that come after equal numbers of writes, and the slowdown once the cache is full"),
        ("Can say", "“drive-managed” or “inconclusive”, never “not shingled”: most disks show nothing within minutes"),
        ("You lose", ("nothing" if plan.fill else "nothing: no data was found there", "$success")),
        *([("Root", warning)] if warning else []),
    ]
    return facts(pairs, width, gap=width >= 70)


def during(plan: ProbePlan, reports: Sequence[ProbeProgress], width: int, height: int) -> Content:
    """Where it stands, and the rate since the beginning with its stages and stalls, on `height` lines."""
    last = reports[-1]
    share = min(1.0, last.elapsed_s / plan.time_limit_s) if plan.time_limit_s else 1.0
    left = f"  {duration_text(last.left_s)} left at most"
    bar = text(meter(share, max(8, width - len(left))), (left, "$muted"))
    word, does = STAGES[last.stage]
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
    marks = [f"{size_text(top)}/s", *([""] * (height - 2)), "0"]
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
            stages = stages[:cell].ljust(cell) + f"┆{STAGES[stage][0]}"
    if sign == "write-cliff":
        stalls = stalls[: -len(CLIFF)] + CLIFF
    style = "bold $warning" if sign else "$faint"
    rows.append(text(fit(("stalls", "$faint"), AXIS - 2, "right"), "  ", (stalls, style)))
    rows.append(text(" " * AXIS, (stages[:room], "$faint")))
    return rows


def _figures(plan: ProbePlan, last: ProbeProgress, width: int) -> list[Content]:
    figures = {
        "now": f"{size_text(last.rate_bytes_s)}/s" if last.rate_bytes_s else "no answer",
        "longest write": duration_text(last.worst_latency_s),
        "stalls": str(last.stalls),
        "written": f"{size_text(last.written_bytes)} of {size_text(plan.maximum_bytes)}",
    }
    wide = max(8, (width - 10) // 4)
    widths = (wide, wide, wide, width - 3 * wide)
    names = [(name, "$muted") for name in figures]
    return [columns(names, widths, gap=0), columns([(each, "bold") for each in figures.values()], widths, gap=0)]


def after(result: ProbeResult, width: int) -> Content:
    """The result in words."""
    if result.outcome == "drive-managed":
        head = text((f"◆ {SMR_KINDS['drive-managed']}", "bold $warning"))
        others = "fall off like that" if result.evidence.code == "write-cliff" else "stall in such a rhythm"
        then = f"Other disks do not {others}. The suggestions for filesystems take it into account."
    else:
        head = text(("? Inconclusive", "bold"))
        then = "The disk may still be shingled: most show nothing within minutes. The verdict hasn't changed."
    rows = [head, bullet(("·", "$faint"), result.evidence.text, width), *wrap((then, "$muted"), width)]
    return lines(rows)
