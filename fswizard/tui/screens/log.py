"""All programs with their output, and other events of a run."""

from __future__ import annotations

import shlex

from textual.content import Content

from fswizard.language import N_, _
from fswizard.model.run_state import LogEntry, LogNote
from fswizard.model.units import duration_text
from fswizard.tui.drawing import keyed, text
from fswizard.tui.screens.dialogs import TextScreen

ENTRIES = 300
"""Maximum number of entries: the newest ones."""
MARKS = {
    "step": ("·", "$muted"),
    "doubt": ("!", "bold $text-warning"),
    "failed": ("✗", "bold $text-error"),
    "skipped": ("»", "$muted"),
    "discarded": ("!", "bold $text-warning"),
    "round": ("✓", "bold $text-success"),
    "end": ("■", "bold $text-primary"),
}


class LogScreen(TextScreen):
    """The log as it was when this window was opened, from its end; a program is in it once it has ended."""

    TITLE = N_("Log")
    FRAME_CLASSES = "full"

    def __init__(self, log: tuple[LogEntry, ...]) -> None:
        super().__init__(Content("\n").join(_written(entry) for entry in log[-ENTRIES:]))

    def on_mount(self) -> None:
        self.call_after_refresh(self.action_scroll, "end")


def _written(entry: LogEntry) -> Content:
    """A note, or a program with its exit code and output."""
    if isinstance(entry, LogNote):
        glyph, style = MARKS[entry.kind]
        return text((f"{glyph} ", style), keyed(entry.display_text), (f"\n{entry.details}".rstrip(), "$muted"))
    mark = ("# ", "$text-warning") if entry.as_root else ("$ ", "$text-success")
    command = (shlex.join(entry.argv), "bold")
    ended = _("exit {code} after {duration}", code=entry.exit_code, duration=duration_text(entry.seconds))
    style = "$text-error" if entry.exit_code else "$muted"
    return text(mark, command, (f"  {ended}", style), f"\n{entry.output.expandtabs(4)}".rstrip())
