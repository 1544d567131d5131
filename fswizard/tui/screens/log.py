"""Every program that ran, with its whole output."""

from __future__ import annotations

import shlex
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content

from fswizard.language import N_, _, p_, shown
from fswizard.model.run_state import LogCommand, LogEntry
from fswizard.model.text import safe_lines
from fswizard.model.units import duration_text
from fswizard.tui.drawing import lines, text, wrap
from fswizard.tui.live import log_line
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow

SHOWN = 400
"""Entries that the window lists: the newest."""


class LogScreen(Window[None]):
    """The log at the left or on top, the highlighted entry's output beside or below it."""

    TITLE = N_("Log")
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", N_("back")),
        Binding("l", "dismiss", N_("back"), show=False),
        Binding("pageup", "page(-1)", N_("scroll output"), key_display="PgUp"),
        Binding("pagedown", "page(1)", N_("scroll output"), key_display="PgDn"),
        Binding("end", "newest", N_("newest")),
    ]

    def __init__(self, running: RunMonitor) -> None:
        super().__init__()
        self._run = running
        self._listed: tuple[LogEntry, ...] = ()

    def body(self) -> ComposeResult:
        with Horizontal(id="log"):
            yield ChoiceList(id="log-entries", keeps_highlight=True)
            yield VerticalScroll(Canvas(id="output"), id="outputs", can_focus=False)

    def on_mount(self) -> None:
        self._fill()
        self.action_newest()
        self.query_one(ChoiceList).focus()
        self.set_interval(0.5, self._fill)

    def _fill(self) -> None:
        if not self.display:  # the screen is being taken down
            return
        entries = self._run.state.log[-SHOWN:]
        if entries is self._listed or entries == self._listed:
            return
        rows = self.query_one(ChoiceList)
        follows = rows.highlighted is None or rows.highlighted >= len(self._listed) - 1
        self._listed = entries
        first = len(self._run.state.log) - len(entries)
        rows.rows = tuple(
            ListRow(f"{first + number}", partial(log_line, entry)) for number, entry in enumerate(entries)
        )
        if follows:
            self.action_newest()

    @on(ChoiceList.Chosen)
    def _show(self) -> None:
        number = self.query_one(ChoiceList).highlighted
        if number is not None and number < len(self._listed):
            entry = self._listed[number]
            self.query_one("#output", Canvas).show(partial(_output, entry))

    def action_newest(self) -> None:
        rows = self.query_one(ChoiceList)
        if rows.rows:
            rows.highlight(rows.rows[-1].key)


def _output(entry: LogEntry, width: int) -> Content:
    if not isinstance(entry, LogCommand):
        return lines([*wrap((shown(entry.text), "bold"), width), Content(""), *_lines(entry.details, width)])
    if entry.exit_code is None:
        ended = p_("of a command", "running")
    else:
        ended = _("exit {code} after {duration}", code=entry.exit_code, duration=duration_text(entry.seconds))
    who = p_("who ran a command", "as root") if entry.as_root else p_("who ran a command", "as you")
    rows = [*wrap((shlex.join(entry.argv), "bold"), width), text((f"{who}, {ended}", "$muted")), Content("")]
    return lines([*rows, *(_lines(entry.output, width) or [text((_("It printed nothing."), "$muted"))])])


def _lines(words: str, width: int) -> list[Content]:
    return [line for part in safe_lines(words).expandtabs(4).splitlines() for line in Content(part).fold(max(1, width))]
