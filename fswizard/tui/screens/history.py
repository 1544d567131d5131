"""Results of earlier runs, and comparison of two of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.widgets import DataTable, Static

from fswizard import results
from fswizard.language import N_, _
from fswizard.model.comparison import Comparison
from fswizard.model.result import Result
from fswizard.stats.comparison import compare
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, answer_mark, text
from fswizard.tui.screens.base import Window
from fswizard.tui.screens.dialogs import QuestionScreen
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


class HistoryScreen(Window[None]):
    """Enter opens a result, space marks two of them for a comparison."""

    CSS_PATH = "history.tcss"
    TITLE = N_("Earlier results")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", _("open")),
        Binding("c", "compare", _("compare")),
        Binding("delete", "remove", _("delete"), key_display="del"),
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
        self.table.focus()
        self._read()

    def _read(self) -> None:
        self.ask(lambda: tuple(results.all_results()), partial(setattr, self, "entries"))

    def watch_entries(self) -> None:
        paths = [str(entry.path) for entry in self.entries]
        self.marked = tuple(path for path in self.marked if path in paths)
        self.watch_marked()

    def watch_marked(self) -> None:
        self.table.show(map(self._row, self.entries))
        message = _("No results yet.")
        if self.entries:
            message = _(MARKED[len(self.marked)]) if len(self.entries) > 1 else ""
        self.say((message, "$muted"))

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

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open", "remove"):
            return bool(self.entries)
        if action == "compare":
            return len(self.marked) == 2
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        path = self.entry.path
        self.ask(partial(results.load, path), lambda result: self.wizard.show_result(result, path))

    @on(Table.Ticked, "#results")
    def _mark(self, event: Table.Ticked) -> None:
        """Mark or unmark a result; a third mark replaces the first one."""
        self.marked = toggled(self.marked, event.key)[-2:]

    def action_compare(self) -> None:
        marked = [entry for entry in self.entries if str(entry.path) in self.marked]
        earlier, later = sorted(marked, key=lambda entry: entry.header.started)

        def compared() -> tuple[Comparison, tuple[Result, Result]]:
            both = results.load(earlier.path), results.load(later.path)
            return compare(*both), both

        def show(made: tuple[Comparison, tuple[Result, Result]]) -> None:
            from fswizard.tui.screens.comparison import ComparisonScreen

            comparison, results = made
            self.wizard.push_screen(ComparisonScreen(comparison, (earlier, later), results))

        self.ask(compared, show)

    @work(group="remove")
    async def action_remove(self) -> None:
        """Ask before deleting the highlighted result."""
        from fswizard.results import remove

        entry = self.entry
        loss = _("{result}: its figures cannot be brought back.", result=f"{entry.when}, {entry.what}")
        question = QuestionScreen(_("Delete this result?"), loss, {"keep": _("Keep it"), "delete": _("Delete it")})
        if await self.wizard.push_screen_wait(question) == "delete":
            self.ask(partial(remove, entry.path), lambda _: self._read())
