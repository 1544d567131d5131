"""The wizard on a serial terminal, for somebody who is not root, while a disk comes and goes."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator

import pytest

from tests.long.vm.disks import MEASURED, usb
from tests.long.vm.machine import TIMEOUT_S, Machine, awaited
from tests.long.vm.runs import RUN_S, link
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.tmux, pytest.mark.slow, pytest.mark.xdist_group("machine")]

USER, PASSWORD = "ada", "correct horse"
PROMPT = "ready>"
SIZE = (80, 24)
KEY_S = 10.0
"""After so long without an answer a key is pressed again."""
ROOM = "/media/own"
QUICK = writing("512M", "16M", 1, minutes=2, candidates=("ext4", "xfs")).replace('"short"', '"quick"')
STICK = usb("NEWSTICK")


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

    def no_longer_shows(self, words: str) -> None:
        awaited(self.text, lambda found: words not in found, pause_s=0.5)

    def close(self) -> None:
        subprocess.run(["tmux", "kill-session", "-t", self._name], check=False, capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(["tmux", *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def terminal(machine: Machine) -> Iterator[Terminal]:
    """Of a user at a VT220, in the group `sudo`, with a disk of their own, and with another quick recipe."""
    recipes = f"/home/{USER}/.config/fswizard/recipes"
    machine.ok("useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", USER)
    machine.sh(f"echo '{USER}:{PASSWORD}' | chpasswd")
    terminal = Terminal(machine.terminal)
    try:
        machine.ok("systemctl", "restart", "serial-getty@ttyS1")
        for prompt, answer in (("login:", USER), ("Password:", PASSWORD)):
            terminal.shows(prompt)
            terminal.enter(answer)
        terminal.shows(f"{USER}@")
        terminal.enter(f"stty rows {SIZE[1]} cols {SIZE[0]}; export TERM=vt220 PS1='{PROMPT} '; clear")
        terminal.shows(PROMPT)
        machine.sh(f"mkfs.ext4 -q {link(MEASURED)} && mkdir -p {ROOM} {recipes} && mount {link(MEASURED)} {ROOM}")
        machine.write(f"{recipes}/quick.toml", QUICK)
        machine.ok("chown", "--recursive", f"{USER}:", ROOM, f"/home/{USER}")
        yield terminal
        machine.sh(f"umount {ROOM} && wipefs --all {link(MEASURED)}")
    finally:
        terminal.close()


def test_the_whole_wizard_from_the_first_question_to_the_recommendation(machine: Machine, terminal: Terminal) -> None:
    terminal.enter("clear; PYTHONFAULTHANDLER=1 fswizard")
    terminal.shows("What would you like to know?")
    terminal.press("Home", "Enter")  # a quick look
    shown = terminal.shows("TESTDISK")
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("◆ SMR, drive-managed", "◆ host-managed zones", "● CMR"):
        terminal.shows(words)
    machine.plug(STICK)
    terminal.press_until("End", "sdf")
    machine.pull(STICK)
    terminal.no_longer_shows("sdf")
    terminal.press_until("Up", f" in {ROOM}")
    terminal.press("Enter")
    terminal.shows("Choose filesystems to compare")
    terminal.press("Enter")
    terminal.shows("What do you use it for?")
    terminal.press("Enter")
    terminal.shows("starts the run")
    terminal.press("Enter")
    terminal.shows("[sudo] password")
    terminal.enter(PASSWORD)
    terminal.shows("x stop")
    terminal.shows("● Result", limit_s=RUN_S)
    terminal.shows("ext4")
    terminal.press("C-q")
    terminal.shows(PROMPT)
    assert machine.run("ls", ROOM).stdout.decode().split() == ["lost+found"]
