"""The report in every format, with a preview before it is copied or saved."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.reactive import reactive
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from fswizard import language
from fswizard.language import N_, _
from fswizard.model.result import Result
from fswizard.model.text import safe, safe_lines
from fswizard.report import FORMATS
from fswizard.sharing import export
from fswizard.system.files import write_new
from fswizard.tui.drawing import text
from fswizard.tui.screens.base import SIDEWAYS, Window
from fswizard.tui.widgets.options import Options

PREVIEW_LINES = 400
SHORT = "reddit"
"""The format for posts; in other formats the whole report is exported."""
IN_COLUMNS = ("text", "csv")
"""Formats laid out in columns: their preview scrolls sideways instead of wrapping."""


class ExportScreen(Window[None]):
    """Formats to choose from, and a preview of the highlighted one."""

    CSS_PATH = "export.tcss"
    TITLE = N_("Share")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "copy", _("copy")),
        Binding("s", "save", _("save to a file")),
        Binding("e", "toggle('english')", _("in English")),
        Binding("pagedown", "scroll('page_down')", _("scroll"), priority=True),
        Binding("pageup", "scroll('page_up')", _("scroll"), priority=True, show=False),
        *SIDEWAYS,
        Binding("escape", "back", _("back")),
    ]

    kinds = getters.query_one("#kinds", Options)
    preview = getters.query_one("#preview", Static)

    english = reactive(False, init=False)
    rendered: reactive[str | bytes | None] = reactive(None, init=False, bindings=True)
    """The report in the highlighted format; None while it is rendered, or if it cannot be."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self._result = result

    def body(self) -> ComposeResult:
        with Horizontal(id="sharing"):
            yield Options(id="kinds")
            with VerticalScroll(id="previewed", can_focus=False):
                yield Static(id="preview", markup=False)
        yield Static(id="message", markup=False)

    def on_mount(self) -> None:
        self.query_one(".window").border_subtitle = _("serial numbers, host and user names are left out")
        self.kinds.show(Option(_(kind.title), name) for name, kind in FORMATS.items())
        self.kinds.focus()

    @on(OptionList.OptionHighlighted)
    def watch_english(self) -> None:
        """Render the current selection."""
        self.rendered = None
        self.preview.update("")
        kind = self.kinds.key
        self.ask(partial(export, self._result, kind, english=self.english, full=kind != SHORT), self._show)

    def _show(self, report: str | bytes) -> None:
        self.rendered = report
        if isinstance(report, bytes) or self.kinds.key == "svg":
            report = _("A picture of 1200×630 pixels. Press s to save it.")
        rows = safe_lines(report).expandtabs(4).splitlines()
        if len(rows) > PREVIEW_LINES:
            rows[PREVIEW_LINES:] = ["…"]
        self.preview.update(text("\n".join(rows)))
        self.preview.set_class(self.kinds.key in IN_COLUMNS, "-columns")
        self.query_one("#previewed").scroll_home(animate=False)
        self.say("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "copy":
                return isinstance(self.rendered, str)
            case "save":
                return self.rendered is not None
            case "toggle":
                return language.chosen() != language.ENGLISH
        return super().check_action(action, parameters)

    def action_copy(self) -> None:
        assert isinstance(self.rendered, str)
        self.wizard.copy_to_clipboard(self.rendered)
        self.say(("✓ ", "bold $text-success"), _("Copied, if your terminal allows it."))

    def action_save(self) -> None:
        """Save it in the home directory, with the start of the run in the name."""
        assert self.rendered is not None
        started = self._result.environment.started[:16].replace(":", "") or "report"
        path = Path.home() / f"fswizard-{started}{FORMATS[self.kinds.key].suffix}"
        saved = _("Saved as {path}.", path=safe(str(path)))
        self.ask(
            partial(write_new, path, self.rendered),
            lambda _: self.say(("✓ ", "bold $text-success"), saved),
            group="save",
        )
