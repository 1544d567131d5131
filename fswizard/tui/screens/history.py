"""Results of earlier runs, and comparison of two of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.widgets import DataTable, Static

from fswizard import results
from fswizard.language import N_, _
from fswizard.model.comparison import Comparison
from fswizard.report.comparison import document
from fswizard.report.text import paint
from fswizard.stats.comparison import compare
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, answer_mark, text
from fswizard.tui.screens.base import Window
from fswizard.tui.screens.dialogs import TextScreen
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.results import Entry

MARKED = (
    N_("Space marks two results to compare."),
    N_("One is marked; space marks the other one."),
    N_("Two are marked; c compares them."),
)
"""Next step, by number of marked results."""


def answer_of(entry: Entry) -> tuple[Piece, Piece]:
    """Symbol and verdict of an earlier result, as in the result itself."""
    return text(answer_mark(entry.sign)).rstrip(), entry.verdict


class ComparisonScreen(TextScreen):
    """Changes from the first to the second of two results."""

    TITLE = N_("Two results side by side")
    FRAME_CLASSES = "full"


class HistoryScreen(Window[None]):
    """Earlier results, newest first; Enter opens one, space marks two of them for a comparison."""

    CSS_PATH = "history.tcss"
    TITLE = N_("Earlier results")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", _("open")),
        Binding("c", "compare", _("compare")),
        Binding("escape", "back", _("back")),
    ]

    table = getters.query_one("#results", Table)

    entries: reactive[tuple[Entry, ...]] = reactive((), init=False, always_update=True, bindings=True)
    marked: reactive[tuple[str, ...]] = reactive((), init=False, bindings=True)
    """Keys of results to compare, at most two."""

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
        self.ask(lambda: tuple(results.all_results()), partial(setattr, self, "entries"))

    def watch_entries(self) -> None:
        rows = []
        for entry in self.entries:
            mark, verdict = answer_of(entry)
            drive = entry.header.drive or _("no model name")
            cells = ((entry.when, "$muted"), (entry.header.recipe, "bold"), drive, text(mark, " ", verdict))
            rows.append(Row(str(entry.path), cells, str(entry.path) in self.marked))
        self.table.show(rows)
        message = _("No results yet.")
        if rows:
            message = _(MARKED[len(self.marked)]) if len(rows) > 1 else ""
        self.say((message, "$muted"))

    def watch_marked(self) -> None:
        self.watch_entries()

    @property
    def entry(self) -> Entry:
        """The highlighted result."""
        return next(entry for entry in self.entries if str(entry.path) == self.table.key)

    @on(DataTable.RowHighlighted, "#results")
    def _highlighted(self) -> None:
        if self.table.key:
            entry = self.entry
            candidates = ", ".join(entry.header.candidates)
            facts = (answer_of(entry), ("", (entry.what, "$muted")), ("", (candidates, "$muted")))
            self.query_one("#entry", Facts).show(facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "compare":
            return len(self.marked) == 2
        return bool(self.entries) if action == "open" else super().check_action(action, parameters)

    def action_open(self) -> None:
        path = self.entry.path
        self.ask(partial(results.load, path), lambda result: self.wizard.show_result(result, path))

    @on(Table.Ticked, "#results")
    def _mark(self, event: Table.Ticked) -> None:
        """Mark or unmark a result; a third mark replaces the first one."""
        self.marked = toggled(self.marked, event.key)[-2:]

    def action_compare(self) -> None:
        second, first = (entry for entry in self.entries if str(entry.path) in self.marked)
        names = [f"{entry.when}, {entry.what}" for entry in (first, second)]

        def compared() -> Comparison:
            return compare(results.load(first.path), results.load(second.path))

        def show(comparison: Comparison) -> None:
            self.wizard.push_screen(ComparisonScreen(paint(document(comparison, names))))

        self.ask(compared, show)
