"""Results of earlier runs."""

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
from fswizard.tui.drawing import Piece, answer_mark, keyed, text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.results import Entry


def answer_of(entry: Entry) -> tuple[Piece, Piece]:
    """Symbol and verdict of an earlier result, as in the result itself."""
    return answer_mark(entry.sign), entry.verdict


class HistoryScreen(Window[None]):
    """Earlier results, newest first; Enter opens one."""

    CSS_PATH = "history.tcss"
    TITLE = N_("Earlier results")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", _("open")),
        Binding("escape", "back", _("back")),
    ]

    table = getters.query_one("#results", Table)
    _entries: Mapping[str, Entry] = {}
    """Results by their path."""

    def body(self) -> ComposeResult:
        yield Static(_("Looking …"), id="message", markup=False)
        yield Table(
            Column(_("Date")),
            Column(_("Recipe"), optional=True),
            Column(_("Disk"), optional=True),
            Column(_("Result"), flexible=True, least=40),
            id="results",
        )
        yield Facts(id="entry")

    def on_mount(self) -> None:
        self.ask(lambda: {str(entry.path): entry for entry in results.all_results()}, self._list)

    def _list(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        rows = []
        for key, entry in entries.items():
            mark, verdict = answer_of(entry)
            drive = entry.header.drive or _("no model name")
            cells = ((entry.when, "$muted"), (entry.header.recipe, "bold"), drive, text(mark, " ", verdict))
            rows.append(Row(key, cells))
        self.table.show(rows)
        compares = keyed(_("`fswizard history --compare A B` compares two of them."), "$muted")
        self.say(compares if rows else (_("No results yet."), "$muted"))

    @on(DataTable.RowHighlighted)
    def _highlighted(self) -> None:
        if entry := self._entries.get(self.table.key):
            candidates = ", ".join(entry.header.candidates)
            facts = (answer_of(entry), ("", (entry.what, "$muted")), ("", (candidates, "$muted")))
            self.query_one("#entry", Facts).show(facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._entries) if action == "open" else super().check_action(action, parameters)

    @on(DataTable.RowSelected)
    def action_open(self) -> None:
        path = self._entries[self.table.key].path

        def show(result: Result) -> None:
            self.wizard.result, self.wizard.result_path = result, path
            self.wizard.visit("result")

        self.ask(partial(results.load, path), show)
