"""Every program that ran, with its whole output."""

from __future__ import annotations

import shlex
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from fswizard.language import N_, _, p_, shown
from fswizard.model.run_state import LogEntry, LogNote
from fswizard.model.units import duration_text
from fswizard.tui.drawing import Piece, text
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Row, Table

SHOWN = 400
"""Entries that the window lists: the newest."""
MARKS = {
    "step": ("·", "$muted"),
    "doubt": ("!", "bold $text-warning"),
    "failed": ("✗", "bold $text-error"),
    "skipped": ("»", "$muted"),
    "discarded": ("!", "bold $text-warning"),
    "round": ("✓", "bold $text-success"),
    "end": ("■", "bold $text-primary"),
}


class LogScreen(Window[None]):
    """The log at the left or on top, the highlighted entry's output at its right or below it."""

    CSS_PATH = "log.tcss"
    TITLE = N_("Log")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", N_("back")),
        Binding("l", "dismiss", N_("back"), show=False),
        Binding("pageup", "page(-1)", N_("scroll output"), key_display="PgUp", priority=True),
        Binding("pagedown", "page(1)", N_("scroll output"), key_display="PgDn", priority=True),
        Binding("end", "newest", N_("newest"), priority=True),
    ]

    table = getters.query_one(Table)
    output = getters.query_one("#printed", Static)

    def __init__(self, running: RunMonitor) -> None:
        super().__init__()
        self._run = running
        self._entries: list[tuple[int, LogEntry]] = []
        """With their numbers."""

    def body(self) -> ComposeResult:
        with Horizontal():
            yield Table(Column(flexible=True), Column(right=True))
            with VerticalScroll(can_focus=False):
                yield Static(id="printed")

    def on_mount(self) -> None:
        self._fill()
        self.table.focus()
        self.set_interval(0.5, self._fill)

    def _fill(self) -> None:
        """List the newest entries; the highlight follows them as long as it is on the last one."""
        entries = list(enumerate(self._run.state.log))[-SHOWN:]
        if self.display and entries != self._entries:
            follows = self.table.cursor_row >= len(self._entries) - 1
            self._entries = entries
            self.table.show(Row(f"{number}", _cells(entry)) for number, entry in entries)
            if follows:
                self.action_newest()

    @on(DataTable.RowHighlighted)
    def _show_output(self) -> None:
        if self.table.cursor_row < len(self._entries):
            self.output.update(_output(self._entries[self.table.cursor_row][1]))

    def action_newest(self) -> None:
        self.table.move_cursor(row=len(self._entries) - 1)


def _cells(entry: LogEntry) -> tuple[Piece, Piece]:
    """A program and how it ended, or a note."""
    if isinstance(entry, LogNote):
        glyph, style = MARKS[entry.kind]
        return text((f"{glyph} ", style), (entry.words, "$muted")), ""
    end: Piece = (duration_text(entry.seconds), "$muted")
    if entry.exit_code is None:
        end = (p_("program", "running"), "$text-primary")
    elif entry.exit_code:
        end = (p_("program", "exit {code}", code=entry.exit_code), "bold $text-error")
    mark = ("# ", "$text-warning") if entry.as_root else ("$ ", "$text-success")
    return text(mark, shlex.join(entry.argv)), end


def _output(entry: LogEntry) -> Content:
    """All that is known of an entry."""
    if isinstance(entry, LogNote):
        return text((shown(entry.text), "bold"), "\n\n", entry.details.expandtabs(4))
    ended = p_("of a command", "running")
    if entry.exit_code is not None:
        ended = _("exit {code} after {duration}", code=entry.exit_code, duration=duration_text(entry.seconds))
    who = p_("who ran a command", "as root") if entry.as_root else p_("who ran a command", "as you")
    output: Piece = entry.output.expandtabs(4) or (_("It printed nothing."), "$muted")
    return text((shlex.join(entry.argv), "bold"), (f"\n{who}, {ended}\n\n", "$muted"), output)
