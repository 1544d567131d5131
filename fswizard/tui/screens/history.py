"""Results of earlier runs: opened, or compared two by two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from fswizard.errors import FswizardError
from fswizard.tui.drawing import Piece, columns, cut, text
from fswizard.tui.threads import tell
from fswizard.tui.widgets.choice_list import ChoiceList, Draw, ListRow
from fswizard.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from fswizard.model.comparison import Comparison
    from fswizard.results import Entry
    from fswizard.tui.app import FswizardApp


class HistoryScreen(ModalScreen[None]):
    """A list; Enter opens a result, space marks two of them to be compared."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open"),
        Binding("space", "mark", "mark", key_display="space"),
        Binding("c", "compare", "compare"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[Entry, ...] = ()
        self._marked: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="window broad") as window:
            window.border_title = "Earlier results"
            yield Static("Looking …", id="message", markup=False)
            yield ChoiceList(id="entries", keeps=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self._look()

    @property
    def _wizard(self) -> FswizardApp:
        return cast("FswizardApp", self.app)

    @work(thread=True)
    def _look(self) -> None:
        entries = self._wizard.backend.history()
        tell(self, self._show, entries)

    def _show(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        header = ListRow("header", lambda width, on: _header(width), False)
        rows = [ListRow(str(number), self._row(str(number), entry)) for number, entry in enumerate(entries)]
        self.query_one(ChoiceList).rows = (header, *rows) if rows else ()
        self._advise()

    def _row(self, key: str, entry: Entry) -> Draw:
        return lambda width, on: entry_line(entry, width, on=on, marked=key in self._marked)

    def _advise(self) -> None:
        words = (
            "No results yet: the first run makes one." if not self._entries
            else "" if len(self._entries) < 2
            else "Space marks two results to compare." if not self._marked
            else "One is marked; space marks the other one." if len(self._marked) == 1
            else "Two are marked; c puts them side by side."
        )  # fmt: skip
        self._emit((words, "$muted"))

    def _emit(self, *pieces: Piece) -> None:
        self.query_one("#message", Static).update(text(*pieces))

    @on(ChoiceList.Clicked)
    def action_open(self) -> None:
        key = self.query_one(ChoiceList).key
        if key:
            self._load(self._entries[int(key)])

    @work(thread=True, exclusive=True)
    def _load(self, entry: Entry) -> None:
        try:
            result = self._wizard.backend.load(entry.path)
        except FswizardError as error:
            tell(self, self._show_error, error)
            return
        tell(self, self._wizard.show_result, result, entry.path)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return len(self._entries) > 1
        if action == "compare":
            return len(self._marked) == 2
        return True

    def action_mark(self) -> None:
        """Mark or unmark; the mark set first gives way to a third."""
        key = self.query_one(ChoiceList).key
        if key in self._marked:
            self._marked = tuple(other for other in self._marked if other != key)
        elif key:
            self._marked = (*self._marked[-1:], key)
        self.query_one(ChoiceList).redraw()
        self._advise()
        self.refresh_bindings()

    @work(thread=True, exclusive=True)
    def action_compare(self) -> None:
        from fswizard.stats.comparison import compare

        pair = sorted((self._entries[int(key)] for key in self._marked), key=lambda entry: entry.header.started)
        try:
            comparison = compare(*(self._wizard.backend.load(entry.path) for entry in pair))
        except FswizardError as error:
            tell(self, self._show_error, error)
            return
        tell(self, self._show_comparison, comparison, pair)

    def _show_comparison(self, comparison: Comparison, pair: Sequence[Entry]) -> None:
        from fswizard.tui.screens.comparison import ComparisonScreen

        self._wizard.push_screen(ComparisonScreen(comparison, *(f"{entry.when}, {entry.what}" for entry in pair)))

    def _show_error(self, error: FswizardError) -> None:
        self._emit(("✗ ", "bold $error"), error.message, " ", error.hint)


def _widths(width: int) -> tuple[int, ...]:
    """Mark, when, recipe, disk, candidates, who was ahead; candidates are dropped first."""
    leaders = min(36, max(17, width // 5))
    rest = width - 2 - 16 - 13 - leaders - 2 * 4
    if rest < 30:
        return (2, 16, 13, max(6, rest - 2), 0, leaders)
    disk = rest * 2 // 5
    return (2, 16, 13, disk, rest - disk - 2, leaders)


def _header(width: int) -> Content:
    names = ("", "When", "Recipe", "Disk", "Candidates", "Result")
    return columns([text((name, "$faint")) for name in names], _widths(width))


def entry_line(entry: Entry, width: int, *, on: bool, marked: bool) -> Content:
    """One line for a result."""
    head = entry.header
    widths = _widths(width)
    style = "$success" if len(entry.leaders) == 1 else "$muted"
    return columns(
        (
            text(("▌" if on else " ", "$primary"), ("✓" if marked else "", "bold $accent")),
            (entry.when, "$muted"),
            (cut(head.recipe, widths[2]), "bold"),
            cut(head.drive or head.target, widths[3]),
            (cut(", ".join(head.candidates), widths[4]), "$muted"),
            (cut(entry.ahead, widths[5]), style),
        ),
        widths,
    )
