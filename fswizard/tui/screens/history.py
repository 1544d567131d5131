"""Results of earlier runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from fswizard.errors import FswizardError
from fswizard.tui.drawing import columns, cut, text
from fswizard.tui.threads import tell
from fswizard.tui.widgets.keybar import KeyBar
from fswizard.tui.widgets.rows import Draw, Row, Rows

if TYPE_CHECKING:
    from fswizard.results import Entry
    from fswizard.tui.app import FswizardApp


class HistoryScreen(ModalScreen[None]):
    """A list; Enter opens a result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open"),
        Binding("escape", "dismiss", "back"),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(classes="window broad") as window:
            window.border_title = "Earlier results"
            yield Static("Looking …", id="told", markup=False)
            yield Rows(id="entries", keeps=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._entries: tuple[Entry, ...] = ()
        self.query_one(Rows).focus()
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
        words = "" if entries else "There is none yet: the first run makes one."
        self.query_one("#told", Static).update(words)
        header = Row("header", lambda width, on: _header(width), False)
        rows = [Row(str(number), entry_row(entry)) for number, entry in enumerate(entries)]
        self.query_one(Rows).rows = (header, *rows) if rows else ()

    @on(Rows.Clicked)
    def action_open(self) -> None:
        key = self.query_one(Rows).key
        if key:
            self._load(self._entries[int(key)])

    @work(thread=True, exclusive=True)
    def _load(self, entry: Entry) -> None:
        try:
            result = self._wizard.backend.load(entry.path)
        except FswizardError as error:
            tell(self, self._complain, error)
            return
        tell(self, self._wizard.show_result, result, entry.path)

    def _complain(self, error: FswizardError) -> None:
        self.query_one("#told", Static).update(text(("✗ ", "bold $error"), error.message, " ", error.hint))


def _widths(width: int) -> tuple[int, ...]:
    """Mark, when, recipe, disk, candidates, who was in front; candidates are dropped first."""
    leaders = min(22, max(10, width // 5))
    rest = width - 2 - 16 - 13 - leaders - 2 * 4
    if rest < 30:
        return (2, 16, 13, max(6, rest - 2), 0, leaders)
    disk = rest * 2 // 5
    return (2, 16, 13, disk, rest - disk - 2, leaders)


def _header(width: int) -> Content:
    names = ("", "When", "Recipe", "Disk", "Candidates", "In front")
    return columns([text((name, "$faint")) for name in names], _widths(width))


def entry_row(entry: Entry) -> Draw:
    """One line for a result."""
    head, ending = entry.header, entry.ending
    leaders = ", ".join(ending.leaders) if ending and ending.leaders else ""

    def draw(width: int, on: bool) -> Content:
        widths = _widths(width)
        return columns(
            (
                ("▌" if on else "", "$primary"),
                (when(head.started), "$muted"),
                (cut(head.recipe, widths[2]), "bold"),
                cut(head.drive or head.target, widths[3]),
                (cut(", ".join(head.candidates), widths[4]), "$muted"),
                (cut(leaders, widths[5]), "$success") if leaders else ("not finished", "$faint"),
            ),
            widths,
        )

    return draw


def when(started: str) -> str:
    """A date and time of day from ISO 8601, as short as can be."""
    return started.replace("T", " ")[:16]
