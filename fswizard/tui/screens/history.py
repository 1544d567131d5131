"""Results of earlier runs, and two of them compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.widgets import DataTable, Static

from fswizard.language import N_, _, shown
from fswizard.stats.comparison import compare, compare_within, filled
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, answer_mark, text
from fswizard.tui.screens.base import Window
from fswizard.tui.screens.dialogs import QuestionScreen
from fswizard.tui.widgets.table import Column, Facts, Row, Table, marked

if TYPE_CHECKING:
    from fswizard.model.comparison import Comparison
    from fswizard.results import Entry


def answer_of(entry: Entry) -> tuple[Piece, Piece]:
    """Mark and verdict of an earlier result, as the result itself shows them."""
    if entry.ending is None:
        return text(("·", "$muted")), (shown(entry.verdict), "$muted")
    return text(answer_mark(entry.sign)).rstrip(), shown(entry.verdict)


class HistoryScreen(Window[None]):
    """Enter opens a result, space marks two of them to be compared."""

    CSS_PATH = "history.tcss"
    TITLE = N_("Earlier results")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", N_("open")),
        Binding("c", "compare", N_("compare")),
        Binding("f", "compare_within", N_("compare within it")),
        Binding("delete", "remove", N_("delete"), key_display="del"),
        Binding("escape", "back", N_("back")),
    ]

    table = getters.query_one("#results", Table)

    entries: reactive[tuple[Entry, ...]] = reactive((), init=False, bindings=True)
    marked: reactive[tuple[str, ...]] = reactive((), init=False, bindings=True)
    """Keys of results to compare, at most two."""
    within = reactive(False, init=False, bindings=True)
    """Whether the highlighted result has the same work on an empty filesystem and on a nearly full or an aged one."""

    def body(self) -> ComposeResult:
        yield Static(_("Looking …"), id="message", markup=False)
        yield Table(
            Column(_("Date")),
            Column(_("Recipe"), optional=True),
            Column(_("Disk"), optional=True),
            Column(_("Result"), flexible=True, least=40),
            ticks=True,
            id="results",
        )
        yield Facts(id="entry")

    def on_mount(self) -> None:
        self.table.focus()
        self._read()

    def _read(self) -> None:
        self.ask(self.wizard.backend.history, self._set_entries)

    def _set_entries(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries
        paths = [str(entry.path) for entry in entries]
        self.marked = tuple(path for path in self.marked if path in paths)
        self._fill()

    def watch_marked(self) -> None:
        self._fill()

    def _fill(self) -> None:
        self.table.show(map(self._row, self.entries))
        if not self.entries:
            words = _("No results yet.")
        elif len(self.entries) < 2:
            words = ""
        else:
            words = (
                _("Space marks two results to compare."),
                _("One is marked; space marks the other one."),
                _("Two are marked; c compares them."),
            )[len(self.marked)]
        self.say((words, "$muted"))

    def _row(self, entry: Entry) -> Row:
        mark, verdict = answer_of(entry)
        cells = (
            (entry.when, "$muted"),
            (entry.header.recipe, "bold"),
            entry.header.drive or _("no model name"),
            text(mark, " ", verdict),
        )
        path = str(entry.path)
        return Row(path, cells, path in self.marked)

    @property
    def entry(self) -> Entry | None:
        """The highlighted result."""
        return next((entry for entry in self.entries if str(entry.path) == self.table.key), None)

    @on(DataTable.RowHighlighted, "#results")
    def _highlighted(self) -> None:
        self.within = False
        entry = self.entry
        if entry is None:
            return
        head = entry.header
        about = (entry.what, ", ".join(head.candidates))
        self.query_one("#entry", Facts).show([answer_of(entry), *marked("", [(words, "$muted") for words in about])])
        # a file that cannot be read says so when it is opened
        self.ask(partial(self._has_both, entry.path), self._set_within, fails=lambda _: None, group="within")

    def _has_both(self, path: Path) -> bool:
        """Whether a result can be compared within itself."""
        result = self.wizard.backend.load(path)
        return bool(result.plan.beside) or any(filled(result))

    def _set_within(self, within: bool) -> None:
        self.within = within

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "open" | "remove":
                return bool(self.entries)
            case "compare":
                return len(self.marked) == 2
            case "compare_within":
                return self.within
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        if entry := self.entry:
            load, path = self.wizard.backend.load, entry.path
            self.ask(lambda: load(path), lambda result: self.wizard.show_result(result, path))

    @on(Table.Ticked, "#results")
    def _mark(self, event: Table.Ticked) -> None:
        """Mark or unmark; the mark set first gives way to a third."""
        self.marked = toggled(self.marked, event.key)[-2:]

    def action_compare(self) -> None:
        marked = [entry for entry in self.entries if str(entry.path) in self.marked]
        earlier, later = sorted(marked, key=lambda entry: entry.header.started)
        load = self.wizard.backend.load
        self.ask(
            lambda: compare(load(earlier.path), load(later.path)),
            partial(self._show_comparison, (earlier, later)),
        )

    def action_compare_within(self) -> None:
        if entry := self.entry:
            load, path = self.wizard.backend.load, entry.path
            self.ask(lambda: compare_within(load(path)), partial(self._show_comparison, (entry,)))

    def _show_comparison(self, entries: Sequence[Entry], comparison: Comparison) -> None:
        from fswizard.tui.screens.comparison import ComparisonScreen

        names = (f"{entry.when}, {entry.what}" for entry in entries)
        self.wizard.push_screen(ComparisonScreen(comparison, *names))

    def action_remove(self) -> None:
        """Ask before deleting the highlighted result."""
        if entry := self.entry:
            words = _("{result}: its figures cannot be brought back.", result=f"{entry.when}, {entry.what}")
            answers = {"keep": _("Keep it"), "delete": _("Delete it")}
            window = QuestionScreen(_("Delete this result?"), words, answers)
            self.wizard.push_screen(window, partial(self._remove, entry.path))

    def _remove(self, path: Path, answer: str | None) -> None:
        from fswizard.results import remove

        if answer == "delete":
            self.ask(lambda: remove(path), lambda _: self._read())
