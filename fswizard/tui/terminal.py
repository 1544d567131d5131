"""The terminal, which may be the Linux console, and may disappear during a run that has to be cleaned up."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any

from textual.drivers.linux_driver import LinuxDriver

# The font of the Linux console has 256 or 512 characters: what it lacks is shown by what every font of it has.
_STAND_INS = {
    "✓": "+", "✗": "x", "▲": "^", "▼": "v", "▽": "v", "○": "o", "●": "O", "◉": "@", "★": "*", "◷": "!", "⚠": "!",
    "⊘": "x", "▶": ">", "▸": ">", "◂": "<", "›": ">", "❯": ">", "↻": "@", "⇄": "=", "✎": "~", "▤": "#", "✂": "%",
    "■": "#", "⏎": "┘", "⌫": "←", "×": "x", "–": "-", "−": "-", "—": "-", "…": "~", "•": "·", "“": '"', "”": '"',
    "’": "'", "╭": "┌", "╮": "┐", "╰": "└", "╯": "┘", "━": "─", "┃": "│", "┆": "│", "╂": "┼", "▕": "│",
    "╸": "─", "╺": "─",
    "▏": " ", "▎": "▌", "▍": "▌", "▋": "▌", "▊": "█", "▉": "█",
    "▔": "─", "🔎": "> ", "▁": "_", "▂": "_", "▃": "▄", "▅": "▄", "▆": "█", "▇": "█",
}  # fmt: skip
_SPINNER = dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\" * 3))


def _for_braille(dots: int) -> str:
    """A character of similar density to the dots of a braille character, in the same half of the cell."""
    upper, lower = dots & 0x1B, dots & 0xE4
    if dots.bit_count() <= 2:  # a level line
        return "_" if dots & 0xC0 else "-" if dots else " "
    if upper and lower:
        return "█" if dots.bit_count() > 4 else "▒"
    return "▄" if lower else "▀"


_BRAILLE = {chr(0x2800 + dots): _for_braille(dots) for dots in range(256)}
_TABLE = str.maketrans({**_BRAILLE, **_STAND_INS, **_SPINNER})


def for_console(text: str) -> str:
    """`text` of the same width, in characters of the console's font; letters of other languages are unchanged."""
    return text.translate(_TABLE)


HANG_UP_MS = 1000
"""Interval of polling the terminal in milliseconds: not all hang-ups wake a waiting process."""


class Terminal(LinuxDriver):
    """Textual's driver, except that a terminal that hung up is no longer written to or read from."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._descriptors = [number for number in (0, 1, 2) if os.isatty(number)]
        self._lost = False
        self._is_console = os.environ.get("TERM") == "linux"
        signal.signal(signal.SIGHUP, self._hung_up)
        threading.Thread(target=self._await_hang_up, daemon=True).start()

    def _await_hang_up(self) -> None:
        """The kernel signals only the leader of the terminal's session: there is none after `setsid`, and `su` does
        not forward the signal. Then reads from the terminal return nothing, immediately and repeatedly."""
        terminal = select.poll()
        terminal.register(self.fileno, 0)  # for POLLHUP alone, which is always reported
        while not terminal.poll(HANG_UP_MS):
            pass
        os.kill(os.getpid(), signal.SIGHUP)

    def _hung_up(self, *received: object) -> None:
        """Called immediately, before any further write, which would fail."""
        if not self._lost:
            self._lost = True
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in self._descriptors:
                os.dup2(nowhere, descriptor)
            os.close(nowhere)
            self._app.call_later(self._app.run_action, "app.hang_up")

    def write(self, data: str) -> None:
        if not self._lost and self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(for_console(data) if self._is_console else data)

    def start_application_mode(self) -> None:
        """Ignore SIGCONT after a hang-up: the kernel sends it along, and Textual would resume."""
        start: Callable[[], None] = super().start_application_mode
        if not self._lost:
            start()

    def run_input_thread(self) -> None:
        try:
            super().run_input_thread()
        except OSError:  # the terminal was gone before the signal
            os.kill(os.getpid(), signal.SIGHUP)
