"""Somebody at the serial terminal of the test machine: logs in, types, and reads what stands on the screen."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from tests.long.vm.machine import TIMEOUT_S, Machine, awaited

USER, PASSWORD = "ada", "correct horse"
PROMPT = "ready>"
SIZE = (80, 24)
KEY_S = 10.0
"""After so long without an answer a key is pressed again."""


class Terminal:
    """tmux plays the terminal that hangs on the serial line."""

    def __init__(self, device: str) -> None:
        self._name = f"fswizard-{uuid.uuid4().hex[:8]}"
        wire = f"stty raw -echo; cat < {device} & exec cat > {device}"
        size = ["-x", str(SIZE[0]), "-y", str(SIZE[1])]
        self._tmux("new-session", "-d", *size, "-s", self._name, "sh", "-c", wire)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", "-t", self._name, *keys)

    def enter(self, line: str) -> None:
        self._tmux("send-keys", "-t", self._name, "-l", line)
        self.press("Enter")

    def text(self) -> str:
        """What stands on the screen."""
        return self._tmux("capture-pane", "-t", self._name, "-p")

    def shows(self, words: str, limit_s: float = TIMEOUT_S) -> str:
        """Waits until `words` stand on the screen, and returns all of it."""
        return awaited(self.text, lambda found: words in found, limit_s, 0.5)

    def press_until(self, key: str, words: str) -> None:
        """Presses a key again and again, each time slowly enough that an emulated machine keeps up."""

        def look() -> str:
            shown = self.text()
            if words not in shown:
                self.press(key)
            return shown

        awaited(look, lambda shown: words in shown, pause_s=KEY_S)

    def no_longer_shows(self, words: str) -> str:
        return awaited(self.text, lambda found: words not in found, pause_s=0.5)

    def close(self) -> None:
        subprocess.run(["tmux", "kill-session", "-t", self._name], check=False, capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(["tmux", *arguments], check=True, capture_output=True, text=True).stdout


@contextmanager
def logged_in(machine: Machine) -> Iterator[Terminal]:
    """A user without rights of their own, but in the group `sudo`, at a VT220."""
    machine.ok("useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", USER)
    machine.sh(f"echo '{USER}:{PASSWORD}' | chpasswd")
    terminal = Terminal(machine.terminal)
    try:
        machine.ok("systemctl", "restart", "serial-getty@ttyS1")
        terminal.shows("login:")
        terminal.enter(USER)
        terminal.shows("Password:")
        terminal.enter(PASSWORD)
        terminal.shows(f"{USER}@")
        terminal.enter(f"stty rows {SIZE[1]} cols {SIZE[0]}; export TERM=vt220 PS1='{PROMPT} '; clear")
        terminal.shows(PROMPT)
        yield terminal
    finally:
        terminal.close()
