"""Results of earlier runs."""

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
from fswizard.tui.drawing import Piece, answer_mark, text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.results import Entry


def answer_of(entry: Entry) -> tuple[Piece, Piece]:
    """Symbol and verdict of an earlier result, as in the result itself."""
    return text(answer_mark(entry.sign)).rstrip(), entry.verdict


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

    entries: reactive[tuple[Entry, ...]] = reactive((), init=False, always_update=True, bindings=True)

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
        self.ask(lambda: tuple(results.all_results()), partial(setattr, self, "entries"))

    def watch_entries(self) -> None:
        rows = []
        for entry in self.entries:
            mark, verdict = answer_of(entry)
            drive = entry.header.drive or _("no model name")
            cells = ((entry.when, "$muted"), (entry.header.recipe, "bold"), drive, text(mark, " ", verdict))
            rows.append(Row(str(entry.path), cells))
        self.table.show(rows)
        self.say((_("No results yet.") if not rows else "", "$muted"))

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
        return bool(self.entries) if action == "open" else super().check_action(action, parameters)

    def action_open(self) -> None:
        path = self.entry.path
        self.ask(partial(results.load, path), lambda result: self.wizard.show_result(result, path))
