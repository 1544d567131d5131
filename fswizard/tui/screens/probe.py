"""A window for the probe: it says what it will write, shows the rate while it does, and ends with a verdict."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from fswizard.drives.probe import ProbeProgress, ProbeResult
from fswizard.errors import FswizardError
from fswizard.model.drive import Drive
from fswizard.tui import probing
from fswizard.tui.drawing import Piece, bullet, lines, text, wrap
from fswizard.tui.threads import in_background, tell
from fswizard.tui.widgets.box import TextBox
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from fswizard.drives.probe_target import ProbeTarget
    from fswizard.targets.device_checks import Offer
    from fswizard.tui.app import FswizardApp


class ProbeScreen(ModalScreen[ProbeResult | None]):
    """Dismissed with the result, or with None where nothing was written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "begin", "begin"),
        Binding("enter", "back", "close"),
        Binding("escape", "back", "back"),
        Binding("escape", "stop", "stop"),
        Binding("up", "scroll(-1)", "scroll", show=False),
        Binding("down", "scroll(1)", "scroll", show=False),
    ]

    def __init__(self, drive: Drive, place: str | Offer) -> None:
        """`place` is a directory on the disk, or the empty device that is written to once it is confirmed."""
        super().__init__()
        self._drive = drive
        self._place = place
        self._target: ProbeTarget | None = None
        self._told: list[ProbeProgress] = []
        self._result: ProbeResult | None = None
        self._error: FswizardError | None = None
        self._stopped = threading.Event()
        self._stage: Literal["ask", "run", "over"] = "ask"

    def compose(self) -> ComposeResult:
        with Vertical(classes="window full") as window:
            window.border_title = f"Is {self._drive.name} shingled? The probe"
            yield TextBox(id="serial")
            with VerticalScroll(can_focus=False):
                yield Canvas(id="probe")
        yield KeyBar()

    def on_mount(self) -> None:
        box = self.query_one("#serial", Input)
        if isinstance(self._place, str):
            box.display = False
            self._look(self._place, "")
        else:
            box.placeholder = "serial number"
            box.focus()
        self._draw()

    @property
    def _wizard(self) -> FswizardApp:
        return cast("FswizardApp", self.app)

    # Before

    @on(Input.Submitted, "#serial")
    def _typed(self, event: Input.Submitted) -> None:
        if not isinstance(self._place, str) and event.value.strip():
            self._look(self._place.path, event.value.strip())

    @work(thread=True, exclusive=True)
    def _look(self, path: str, serial: str) -> None:
        try:
            target = self._wizard.backend.probe_target(path, serial)
        except FswizardError as error:
            tell(self, self._cannot, error)
            return
        tell(self, self._found, target)

    def _cannot(self, error: FswizardError) -> None:
        self._error = error
        self._draw()

    def _found(self, target: ProbeTarget) -> None:
        self._target, self._error = target, None
        self.query_one("#serial").display = False
        self.set_focus(None)
        self._draw()

    # While it writes

    @work(exclusive=True)
    async def _begin(self, target: ProbeTarget) -> None:
        if target.device is not None:
            from fswizard.targets import privilege

            try:
                await self._wizard.authorise(privilege.PROBE, f"writing to {target.plan.path}")
            except FswizardError as error:
                self._cannot(error)
                return
        self._stage = "run"
        self._draw()
        in_background(self._write, self._wizard, target)

    def _write(self, app: FswizardApp, target: ProbeTarget) -> None:
        try:
            for told in app.backend.probe(target, self._stopped.is_set):
                tell(self, self._listen, told, app=app)
        except FswizardError as error:
            tell(self, self._failed, error, app=app)

    def _listen(self, told: ProbeProgress | ProbeResult) -> None:
        if isinstance(told, ProbeResult):
            self._result, self._stage = told, "over"
        else:
            self._told.append(told)
        self._draw()

    def _failed(self, error: FswizardError) -> None:
        self._error, self._stage = error, "over"
        self._draw()

    def on_unmount(self) -> None:
        self._stopped.set()

    # Drawing

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.refresh_bindings()
        self.query_one("#probe", Canvas).show(self._drawn)

    def _drawn(self, width: int) -> Content:
        return lines(self._parts(width))

    def _parts(self, width: int) -> list[Content]:
        parts = []
        if self._error is not None:
            words = text((self._error.message, "$error"), f" {self._error.hint}")
            parts += [bullet(("✗", "bold $error"), words, width), Content("")]
        target, told = self._target, self._told
        height = max(10, min(30, self.query_one(VerticalScroll).size.height))
        if target is None:
            if self._error is None or not isinstance(self._place, str):
                parts += wrap(text(*self._question()), width)
        elif self._stage == "ask":
            parts.append(probing.before(target.plan, width))
        elif self._stage == "run" and not told:
            parts.append(text(("Preparing what is written to …", "$muted")))
        elif self._stage == "run":
            if self._stopped.is_set():
                parts.append(text(("Stopping: ", "bold $warning"), "the write that is under way is waited for."))
            parts.append(probing.during(target.plan, told, width, height - len(parts)))
        elif self._result is not None:
            words = probing.after(self._result, width)
            parts += [words, Content("")]
            if told:
                left = height - words.plain.count("\n") - 2
                parts.append(probing.picture(target.plan, told, width, left, self._result.evidence.code))
        return parts

    def _question(self) -> tuple[Piece, ...]:
        if isinstance(self._place, str):
            return (("Looking where it could write …", "$muted"),)
        offer = self._place
        return (
            (f"Nothing was found on {offer.name}", "bold $success"), ", so the probe can write to the device itself. "
            "Whatever may lie there unseen would be overwritten. To confirm, type ", (offer.identifier, "bold"),
            ", and what will be written is shown. Nothing happens before that.",
        )  # fmt: skip

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

    def action_scroll(self, direction: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=direction, animate=False)
