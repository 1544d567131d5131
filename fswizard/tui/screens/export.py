"""The report in every format: seen before it is copied or saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from fswizard.errors import FswizardError
from fswizard.model.judgement import Findings
from fswizard.model.text import safe, safe_lines
from fswizard.tui.drawing import cut, fit, lines, text
from fswizard.tui.threads import tell
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, Draw, ListRow
from fswizard.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from fswizard.report import Format
    from fswizard.tui.app import FswizardApp

PREVIEW_LINES = 400


class ExportScreen(ModalScreen[None]):
    """Formats at the left, a live preview at the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "copy", "copy"),
        Binding("c", "copy", "copy", show=False),
        Binding("s", "save", "save to a file"),
        Binding("pageup", "page(-1)", "scroll", key_display="PgUp"),
        Binding("pagedown", "page(1)", "scroll", key_display="PgDn"),
        Binding("escape", "back", "back"),
    ]

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self._findings = findings
        self._texts: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="window full") as window:
            window.border_title = "Export"
            window.border_subtitle = "serial numbers, host and user names are left out"
            with Horizontal(id="export"):
                yield ChoiceList(id="formats", keeps=True)
                yield VerticalScroll(Canvas(id="preview"), id="previews", can_focus=False)
            yield Static(id="message", markup=False)
            yield Input(id="file")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#file").display = False
        formats = self._wizard.backend.formats()
        self.query_one(ChoiceList).rows = tuple(ListRow(name, _row(name, known)) for name, known in formats.items())
        self.query_one(ChoiceList).focus()

    @property
    def _wizard(self) -> FswizardApp:
        return cast("FswizardApp", self.app)

    @property
    def _format(self) -> str:
        return self.query_one(ChoiceList).key

    @on(ChoiceList.Chosen)
    def _preview(self) -> None:
        name = self._format
        if not name:
            return
        self.query_one(".window").border_title = f"Export: {self._wizard.backend.formats()[name].title}"
        if name in self._texts:
            self._show(name)
        else:
            self._produce(name)

    @work(thread=True, exclusive=True)
    def _produce(self, name: str) -> None:
        try:
            rendered = self._wizard.backend.render(self._findings, name)
        except FswizardError as error:
            tell(self, self._emit, ("✗ ", "bold $error"), error.message)
            return
        self._texts[name] = rendered
        tell(self, self._show, name)

    def _show(self, name: str) -> None:
        if name != self._format:
            return
        rows = safe_lines(self._texts[name]).expandtabs(4).splitlines()
        shown = rows[:PREVIEW_LINES]
        rest = len(rows) - len(shown)

        def draw(width: int) -> Content:
            told = [text((cut(row, width), "")) for row in shown]
            return lines([*told, text((f"… and {rest} more lines", "$muted"))] if rest else told)

        self.query_one("#preview", Canvas).show(draw)
        self.query_one("#previews").scroll_home(animate=False)

    def _emit(self, *pieces: str | tuple[str, str]) -> None:
        self.query_one("#message", Static).update(text(*pieces))

    def action_page(self, direction: int) -> None:
        area = self.query_one("#previews")
        area.scroll_relative(y=direction * max(1, area.size.height - 2), animate=False)

    def action_copy(self) -> None:
        if self._format in self._texts:
            self._wizard.copy_to_clipboard(self._texts[self._format])
            self._emit(("✓ ", "bold $success"), "In the clipboard, where the terminal allows that.")

    def action_save(self) -> None:
        box = self.query_one("#file", Input)
        suffix = self._wizard.backend.formats()[self._format].suffix
        started = self._findings.result.environment.started[:10] or "report"
        box.value = str(Path.home() / f"fswizard-{started}{suffix}")
        box.display = True
        box.focus()

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        path = Path(event.value.strip()).expanduser()
        if self._format in self._texts and event.value.strip():
            self._write(path, self._texts[self._format])

    @work(thread=True, exclusive=True)
    def _write(self, path: Path, words: str) -> None:
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(words)
        except FileExistsError:
            told = (("✗ ", "bold $error"), f"{safe(str(path))} exists already; choose another name.")
        except OSError as error:
            told = (("✗ ", "bold $error"), f"{safe(str(path))} cannot be written: {error.strerror}.")
        else:
            told = (("✓ ", "bold $success"), f"Saved as {safe(str(path))}.")
            tell(self, self._close_box)
        tell(self, self._emit, *told)

    def _close_box(self) -> None:
        self.query_one("#file").display = False
        self.query_one(ChoiceList).focus()

    def action_back(self) -> None:
        if self.query_one("#file").display:
            self._close_box()
        else:
            self.dismiss()


def _row(name: str, known: Format) -> Draw:
    def draw(width: int, on: bool) -> Content:
        title = known.title if width >= 40 else ""
        return fit(text(("▌ " if on else "  ", "$primary"), fit((name, "bold"), 10), (title, "$muted")), width)

    return draw
