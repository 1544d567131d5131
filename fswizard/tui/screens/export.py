"""The report in every format, with a preview before it is copied or saved."""

from __future__ import annotations

from contextlib import nullcontext
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
from fswizard.errors import FswizardError, Refused
from fswizard.language import N_, _
from fswizard.model.result import Result
from fswizard.model.text import safe, safe_lines
from fswizard.report import FORMATS
from fswizard.sharing import export
from fswizard.system.files import write_new
from fswizard.tui.drawing import text
from fswizard.tui.screens.base import SCROLL, SIDEWAYS, TextBox, Window, WithBox
from fswizard.tui.widgets.options import Options

PREVIEW_LINES = 400
SHORT = "reddit"
"""The format for posts; in other formats the whole report is exported."""
PICTURES = ("svg", "png", "png-dark")
IN_COLUMNS = ("text", "csv", *PICTURES)
"""Formats laid out in columns: their preview scrolls sideways instead of wrapping."""
PICTURE = N_("A picture of 1200×630 pixels with this on it. Press s to save it.")


class ExportScreen(Window[None], WithBox[None]):
    """Formats to choose from, and a preview of the highlighted one."""

    CSS_PATH = "export.tcss"
    TITLE = N_("Share")
    FRAME_CLASSES = "full"
    BOX, LIST = "#file", "#kinds"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "copy", _("copy")),
        Binding("s", "save", _("save to a file")),
        Binding("e", "english", _("in English")),
        *SCROLL,
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
        yield TextBox(id="file")

    def on_mount(self) -> None:
        self.query_one(".window").border_subtitle = _("serial numbers, host and user names are left out")
        self.kinds.show(Option(_(kind.title), name) for name, kind in FORMATS.items())
        self.kinds.focus()

    @on(OptionList.OptionHighlighted)
    def watch_english(self) -> None:
        """Render the current selection."""
        self.rendered = None
        result, kind, english = self._result, self.kinds.key, self.english
        self.ask(lambda: made(result, kind, english=english), self._show, fails=self._cannot_render)

    def _show(self, report: tuple[str | bytes, str]) -> None:
        self.rendered, preview_text = report
        rows = safe_lines(preview_text).expandtabs(4).splitlines()
        if len(rows) > PREVIEW_LINES:
            rows[PREVIEW_LINES:] = ["…"]
        self.preview.update(text("\n".join(rows)))
        self.preview.set_class(self.kinds.key in IN_COLUMNS, "-columns")
        self.query_one("#previewed").scroll_home(animate=False)
        self.say("")

    def _cannot_render(self, error: FswizardError) -> None:
        self.preview.update("")
        self.show_error(error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "copy":
                return isinstance(self.rendered, str) and not self.box_is_open
            case "save":
                return self.rendered is not None
            case "english":
                return language.chosen() != language.ENGLISH
        return super().check_action(action, parameters)

    def action_english(self) -> None:
        """Toggle between English and the user's language."""
        self.english = not self.english

    def action_copy(self) -> None:
        if isinstance(self.rendered, str):
            self.wizard.copy_to_clipboard(self.rendered)
            self.say(("✓ ", "bold $text-success"), _("Copied, if your terminal allows it."))

    def action_save(self) -> None:
        started = self._result.environment.started[:10] or "report"
        self.open_box("", str(Path.home() / f"fswizard-{started}{FORMATS[self.kinds.key].suffix}"))

    def handle_text(self, typed: str) -> None:
        if typed and self.rendered is not None:
            path = Path(typed).expanduser()
            content = self.rendered if isinstance(self.rendered, bytes) else self.rendered.encode()
            self.ask(lambda: save(path, content), self._saved, group="type")
        else:
            self.close_box()

    def _saved(self, name: str) -> None:
        self.close_box()
        self.say(("✓ ", "bold $text-success"), _("Saved as {path}.", path=name))

    def say_usual(self) -> None:
        self.say("")


def made(result: Result, kind: str, *, english: bool) -> tuple[str | bytes, str]:
    """The report in a format, and its preview. Raises Missing if the program for pictures is not installed."""
    report = export(result, kind, english=english, full=kind != SHORT)
    if isinstance(report, str) and kind not in PICTURES:
        return report, report
    with language.in_english() if english else nullcontext():
        return report, f"{_(PICTURE)}\n\n{export(result, 'text')!s}"


def save(path: Path, content: bytes) -> str:
    """Write a new file, and return its name for display."""
    name = safe(str(path))
    try:
        write_new(path, content)
    except FileExistsError as error:
        raise Refused(_("{path} exists already; choose another name.", path=name)) from error
    except OSError as error:
        raise Refused(_("{path} cannot be written: {why}.", path=name, why=error.strerror)) from error
    return name
