"""All programs with their output, and other events of a run."""

from __future__ import annotations

import shlex
from typing import ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import RichLog

from fswizard.language import N_, _, p_
from fswizard.model.run_state import LogEntry, LogNote
from fswizard.model.units import duration_text
from fswizard.tui.drawing import text
from fswizard.tui.monitor import RunMonitor
from fswizard.tui.screens.base import SCROLL, Window
from fswizard.tui.widgets.table import as_rich

LINES = 10_000
"""Maximum number of lines in the window: the newest ones."""
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
    """The log, which follows the run unless the user has scrolled up."""

    CSS_PATH = "log.tcss"
    TITLE = N_("Log")
    FRAME_CLASSES = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        *SCROLL,
        Binding("escape", "dismiss", _("back")),
        Binding("l", "dismiss", _("back"), show=False),
    ]

    log_view = getters.query_one(RichLog)

    def __init__(self, running: RunMonitor) -> None:
        super().__init__()
        self._run = running
        self._last: LogEntry | None = None
        """The newest entry that was written."""

    def body(self) -> ComposeResult:
        view = RichLog(wrap=True, min_width=0, max_lines=LINES)
        view.can_focus = False
        yield view

    def on_mount(self) -> None:
        self._fill()
        self.set_interval(0.5, self._fill)

    def _fill(self) -> None:
        """Write new entries, and the command of the program that is running."""
        state, new = self._run.state, list[LogEntry]()
        for entry in reversed(state.log):
            if entry is self._last:
                break
            new.append(entry)
        running = state.command if not state.ended else None
        command = f"{p_('program', 'running')}: {shlex.join(running.argv)}" if running else ""
        self.log_view.border_subtitle = text(command)
        for entry in reversed(new):
            self._last = entry
            follows = self.log_view.is_vertical_scroll_end
            self.log_view.write(as_rich(self, _written(entry)), expand=True, scroll_end=follows)


def _written(entry: LogEntry) -> Content:
    """A note, or a program with its exit code and output."""
    if isinstance(entry, LogNote):
        glyph, style = MARKS[entry.kind]
        return text((f"{glyph} ", style), entry.display_text, (f"\n{entry.details}".rstrip(), "$muted"))
    mark = ("# ", "$text-warning") if entry.as_root else ("$ ", "$text-success")
    ended = _("exit {code} after {duration}", code=entry.exit_code, duration=duration_text(entry.seconds))
    style = "$text-error" if entry.exit_code else "$muted"
    output = f"\n{entry.output.expandtabs(4)}".rstrip()
    return text(mark, (shlex.join(entry.argv), "bold"), (f"  {ended}", style), output)
