"""Results of earlier runs by disk, and two of them compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from fswizard.language import N_, _, n_, shown
from fswizard.results import by_disk
from fswizard.stats.comparison import compare, compare_within, filled
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import columns, cut, heading, lines, text, tick
from fswizard.tui.screens.base import Window
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.screens.purpose import entry_answer
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap

if TYPE_CHECKING:
    from fswizard.model.comparison import Comparison
    from fswizard.model.result import Result
    from fswizard.tui.backend import Entry


class HistoryScreen(Window[None]):
    """Results by disk; Enter opens one, space marks two of them to be compared."""

    TITLE = N_("Earlier results")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", N_("open")),
        Binding("space", "mark", N_("mark"), key_display="space"),
        Binding("c", "compare", N_("compare")),
        Binding("f", "compare_within", N_("compare within it")),
        Binding("delete", "remove", N_("delete"), key_display="del"),
        Binding("escape", "back", N_("back")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[Entry, ...] = ()
        self._marked: tuple[str, ...] = ()
        self._within = False
        """Whether the highlighted result has the same work on an empty filesystem and on a nearly full one."""

    def body(self) -> ComposeResult:
        yield Static(_("Looking …"), id="message", markup=False)
        yield ChoiceList(id="entries", keeps_highlight=True)

    def on_mount(self) -> None:
        self.query_one(ChoiceList).focus()
        self._look()

    def _look(self) -> None:
        self.ask(self.wizard.backend.history, self._show)

    def _show(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries
        paths = [str(entry.path) for entry in entries]
        self._marked = tuple(key for key in self._marked if key in paths)
        rows: list[ListRow] = []
        for disk, results in by_disk(entries).items():
            if rows:
                rows.append(gap(f"above {disk}"))
            rows.append(ListRow(disk, partial(_disk_row, disk, len(results)), False))
            rows += [ListRow(str(entry.path), partial(self._row, entry)) for entry in results]
        self.query_one(ChoiceList).rows = tuple(rows)
        self._advise()
        self._highlight()

    def _row(self, entry: Entry, width: int, on: bool) -> Content:
        return entry_line(entry, width, marked=str(entry.path) in self._marked)

    def _advise(self) -> None:
        if not self._entries:
            words = _("No results yet.")
        elif len(self._entries) < 2:
            words = ""
        else:
            words = (
                _("Space marks two results to compare."),
                _("One is marked; space marks the other one."),
                _("Two are marked; c compares them."),
            )[len(self._marked)]
        self.say((words, "$muted"))

    @on(ChoiceList.Chosen)
    def _highlight(self) -> None:
        self._within = False
        self.refresh_bindings()
        if entry := self._highlighted:
            path = entry.path
            # a file that cannot be read says so when it is opened
            self.ask(lambda: self._has_both(path), self._know, fails=lambda _: None, group="within")

    def _has_both(self, path: Path) -> bool:
        """Whether a result can be compared within itself."""
        result = self._load(path)
        return bool(result.plan.beside) or any(filled(result))

    def _know(self, within: bool) -> None:
        self._within = within
        self.refresh_bindings()

    @property
    def _highlighted(self) -> Entry | None:
        key = self.query_one(ChoiceList).key if self.is_mounted else ""
        return next((entry for entry in self._entries if str(entry.path) == key), None)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        there = self._highlighted is not None
        if action == "mark":
            return there and len(self._entries) > 1
        if action == "compare":
            return there and len(self._marked) == 2
        if action == "compare_within":
            return there and self._within
        if action in ("open", "remove"):
            return there
        return super().check_action(action, parameters)

    def _load(self, path: Path) -> Result:
        return self.wizard.backend.load(path)

    @on(ChoiceList.Clicked)
    def action_open(self) -> None:
        if entry := self._highlighted:
            path = entry.path
            self.ask(lambda: self._load(path), lambda result: self.wizard.show_result(result, path))

    def action_mark(self) -> None:
        """Mark or unmark; the mark set first gives way to a third."""
        if entry := self._highlighted:
            self._marked = toggled(self._marked, str(entry.path))[-2:]
        self.query_one(ChoiceList).redraw()
        self._advise()
        self.refresh_bindings()

    def action_compare(self) -> None:
        marked = (entry for entry in self._entries if str(entry.path) in self._marked)
        earlier, later = sorted(marked, key=lambda entry: entry.header.started)
        self.ask(
            lambda: compare(self._load(earlier.path), self._load(later.path)),
            partial(self._show_comparison, (earlier, later)),
        )

    def action_compare_within(self) -> None:
        if entry := self._highlighted:
            path = entry.path
            self.ask(lambda: compare_within(self._load(path)), partial(self._show_comparison, (entry,)))

    def _show_comparison(self, entries: Sequence[Entry], comparison: Comparison) -> None:
        from fswizard.tui.screens.comparison import ComparisonScreen

        names = (f"{entry.when}, {entry.what}" for entry in entries)
        self.wizard.push_screen(ComparisonScreen(comparison, *names))

    def action_remove(self) -> None:
        """Ask before deleting the highlighted result."""
        if entry := self._highlighted:
            words = _("{result}: its figures cannot be brought back.", result=f"{entry.when}, {entry.what}")
            answers = {"keep": _("Keep it"), "delete": _("Delete it")}
            window = QuestionScreen(_("Delete this result?"), words, answers)
            self.wizard.push_screen(window, partial(self._remove, entry))

    def _remove(self, entry: Entry, answer: str | None) -> None:
        if answer == "delete":
            self.ask(lambda: self.wizard.backend.remove(entry.path), lambda _: self._look())


def _disk_row(disk: str, count: int, width: int, on: bool) -> Content:
    results = n_("{count} result", "{count} results", count)
    room = width - cell_len(results)
    return heading(cut(disk, room - 4), room - 1) + text(" ", (results, "$muted"))


def entry_line(entry: Entry, width: int, *, marked: bool) -> Content:
    """A result in a line; its verdict below where there is no room beside it."""
    recipe = cut(entry.header.recipe, max(16, width // 6))
    widths = (3, 16, max(16, width // 6))
    rest = width - sum(widths) - 2 * len(widths)
    head = columns((tick(marked), (entry.when, "$muted"), (recipe, "bold")), widths)
    if cell_len(shown(entry.verdict)) + 2 <= rest:
        return text(head, "  ", entry_answer(entry, rest))
    return lines((head, text("     ", entry_answer(entry, width - 5))))
