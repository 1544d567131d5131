"""Results of earlier runs, and comparison of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from fswizard import results
from fswizard.language import N_, _
from fswizard.model.result import Result
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


class ComparisonScreen(TextScreen):
    """What changed from the first to the second of two results."""

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
    _entries: Mapping[str, Entry] = {}
    """Results by their path."""
    _marked: tuple[str, ...] = ()
    """Keys of the results to compare, at most two."""

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
        self.ask(lambda: {str(entry.path): entry for entry in results.all_results()}, self._list)

    def _list(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        rows = []
        for key, entry in entries.items():
            drive = entry.header.drive or _("no model name")
            answer = text(answer_mark(entry.sign), " ", entry.verdict)
            cells = ((entry.when, "$muted"), (entry.header.recipe, "bold"), drive, answer)
            rows.append(Row(key, cells, key in self._marked))
        self.table.show(rows)
        self.say((_("Space marks two results, c compares them.") if rows else _("No results yet."), "$muted"))
        self.refresh_bindings()

    @on(DataTable.RowHighlighted)
    def _highlighted(self) -> None:
        if entry := self._entries.get(self.table.key):
            candidates = ", ".join(entry.header.candidates)
            facts = (
                (answer_mark(entry.sign), entry.verdict),
                ("", (entry.what, "$muted")),
                ("", (candidates, "$muted")),
            )
            self.query_one("#entry", Facts).show(facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "compare":
            return len(self._marked) == 2
        return bool(self._entries) if action == "open" else super().check_action(action, parameters)

    def action_open(self) -> None:
        path = self._entries[self.table.key].path

        def show(result: Result) -> None:
            self.wizard.result, self.wizard.result_path = result, path
            self.wizard.visit("result")

        self.ask(partial(results.load, path), show)

    @on(Table.Ticked)
    def _mark(self, event: Table.Ticked) -> None:
        """Mark or unmark a result; a third mark replaces the first one."""
        self._marked = toggled(self._marked, event.key)[-2:]
        self._list(self._entries)

    def action_compare(self) -> None:
        later, earlier = (entry for key, entry in self._entries.items() if key in self._marked)
        names = [f"{entry.when}, {entry.what}" for entry in (earlier, later)]

        def compared() -> Piece:
            return paint(document(compare(results.load(earlier.path), results.load(later.path)), names))

        self.ask(compared, lambda table: self.wizard.push_screen(ComparisonScreen(table)))
