"""Results of earlier runs: opened, or compared two by two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.tui.choices import toggled
from fswizard.tui.drawing import columns, cursor, cut, lines, text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow

if TYPE_CHECKING:
    from fswizard.model.comparison import Comparison
    from fswizard.tui.backend import Entry


class HistoryScreen(Window[None]):
    """A list; Enter opens a result, space marks two of them to be compared."""

    TITLE = "Earlier results"
    LOOK = "broad"
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

    def body(self) -> ComposeResult:
        yield Static("Looking …", id="message", markup=False)
        yield ChoiceList(id="entries", keeps_highlight=True)

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self.ask(self.wizard.backend.history, self._show)

    def _show(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        rows = [ListRow(str(number), partial(self._row, str(number), entry)) for number, entry in enumerate(entries)]
        self.query_one(ChoiceList).rows = (ListRow("header", _header, False), *rows) if rows else ()
        self._advise()

    def _row(self, key: str, entry: Entry, width: int, on: bool) -> Content:
        titles = self.wizard.backend.titles(entry.header.candidates)
        return entry_line(entry, titles, width, on=on, marked=key in self._marked)

    def _advise(self) -> None:
        words = (
            "No results yet." if not self._entries
            else "" if len(self._entries) < 2
            else "Space marks two results to compare." if not self._marked
            else "One is marked; space marks the other one." if len(self._marked) == 1
            else "Two are marked; c compares them."
        )  # fmt: skip
        self.say((words, "$muted"))

    @on(ChoiceList.Clicked)
    def action_open(self) -> None:
        if key := self.query_one(ChoiceList).key:
            path = self._entries[int(key)].path
            self.ask(lambda: self.wizard.backend.load(path), lambda result: self.wizard.show_result(result, path))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return len(self._entries) > 1
        if action == "compare":
            return len(self._marked) == 2
        return True

    def action_mark(self) -> None:
        """Mark or unmark; the mark set first gives way to a third."""
        key = self.query_one(ChoiceList).key
        if key:
            self._marked = toggled(self._marked, key)[-2:]
        self.query_one(ChoiceList).redraw()
        self._advise()
        self.refresh_bindings()

    def action_compare(self) -> None:
        marked = (self._entries[int(key)] for key in self._marked)
        earlier, later = sorted(marked, key=lambda entry: entry.header.started)
        self.ask(
            lambda: self.wizard.backend.compare(earlier.path, later.path),
            partial(self._show_comparison, earlier, later),
        )

    def _show_comparison(self, earlier: Entry, later: Entry, comparison: Comparison) -> None:
        from fswizard.tui.screens.comparison import ComparisonScreen

        names = (f"{entry.when}, {entry.what}" for entry in (earlier, later))
        self.wizard.push_screen(ComparisonScreen(comparison, *names))


NARROW = 130
"""Cells below which a verdict stands in a line of its own."""


def _widths(width: int) -> tuple[int, ...]:
    """Mark, when, recipe, disk, candidates, verdict."""
    if width < NARROW:
        return (2, 16, 16, max(6, width - 2 - 16 - 16 - 2 * 3), 0, 0)
    verdict = min(60, width * 2 // 5)
    rest = width - 2 - 16 - 16 - verdict - 2 * 5
    return (2, 16, 16, rest // 2, rest - rest // 2, verdict)


def _header(width: int, on: bool) -> Content:
    names = ("", "When", "Recipe", "Disk", "Candidates", "Result")
    return columns([text((name, "$faint")) for name in names], _widths(width))


def entry_line(entry: Entry, titles: Sequence[str], width: int, *, on: bool, marked: bool) -> Content:
    """A result, whose candidates have these titles, in a line; in two where there is little room."""
    head = entry.header
    widths = _widths(width)
    style = "$success" if len(entry.leaders) == 1 else "$muted"
    first = columns(
        (
            text(cursor(on), ("✓" if marked else "", "bold $accent")),
            (entry.when, "$muted"),
            (cut(head.recipe, widths[2]), "bold"),
            cut(head.drive or "no model name", widths[3]),
            (cut(", ".join(titles), widths[4]), "$muted"),
            (cut(entry.verdict, widths[5]), style),
        ),
        widths,
    )
    if widths[5]:
        return first
    return lines([first, text(cursor(on, 4), (cut(entry.verdict, width - 4), style))])
