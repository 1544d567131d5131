"""What Textual leaves out: a terminal that hangs up without a signal, and the small font of the Linux console."""

from __future__ import annotations

import os
import select

from textual.drivers.linux_driver import LinuxDriver

from fswizard.errors import ExitCode

# The font of the Linux console has 256 or 512 characters: what it lacks is shown by what every font of it has.
_DRAWN = "✓✗▲▼▽○●◉★◷⚠⊘▶▸◂›❯↻⇄✎▤✂■⏎⌫×–−—…•“”’╭╮╰╯━┃┆╂▕╸╺▏▎▍▋▊▉▔▁▂▃▅▆▇"
_FOUND = '+x^vvoO@*!!x>><>>@=~#%#┘←x---~·""\'┌┐└┘─││││── ▌▌▌██─___▄██'


def _for_braille(dots: int) -> str:
    """A character of similar density to the dots of a braille character, in the same half of the cell."""
    upper, lower = dots & 0x1B, dots & 0xE4
    if dots.bit_count() <= 2:  # a level line
        return "_" if dots & 0xC0 else "-" if dots else " "
    if upper and lower:
        return "█" if dots.bit_count() > 4 else "▒"
    return "▄" if lower else "▀"


_BRAILLE = {0x2800 + dots: _for_braille(dots) for dots in range(256)}
_TABLE: dict[int, str | int] = {**_BRAILLE, **str.maketrans(_DRAWN, _FOUND), ord("🔎"): "> "}


def for_console(text: str) -> str:
    """`text` of the same width, in characters of the console's font; letters of other languages are unchanged."""
    return text.translate(_TABLE)


class Console(LinuxDriver):
    """Textual's driver for the Linux console."""

    def write(self, data: str) -> None:
        super().write(for_console(data))


HANG_UP_MS = 1000
"""Interval of polling the terminal in milliseconds: not all hang-ups wake a waiting process."""


def end_with_terminal(descriptor: int) -> None:
    """Wait until the terminal has hung up, then end this process. A run goes on, as it is a process of its own.

    The kernel signals only the leader of the terminal's session: there is none after `setsid`, and `su` does not
    forward the signal. Then reads from the terminal return nothing, immediately and repeatedly.
    """
    terminal = select.poll()
    terminal.register(descriptor, 0)  # for POLLHUP alone, which is always reported
    while not terminal.poll(HANG_UP_MS):
        pass
    os._exit(ExitCode.OK)
