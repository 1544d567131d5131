"""The wizard on a serial terminal, for somebody who is not root, while a disk comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long.vm.disks import MEASURED, usb
from tests.long.vm.machine import Machine
from tests.long.vm.runs import RUN_S, link
from tests.long.vm.terminal import PASSWORD, PROMPT, USER, Terminal, logged_in
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.tmux, pytest.mark.slow, pytest.mark.xdist_group("machine")]

ROOM = "/media/own"
QUICK = writing("512M", "16M", 1, minutes=2, candidates=("ext4", "xfs")).replace('"short"', '"quick"')
STICK = usb("NEWSTICK")


@pytest.fixture
def terminal(machine: Machine) -> Iterator[Terminal]:
    """Of a user with a disk of their own, and with a recipe that takes the place of the quick one."""
    recipes = f"/home/{USER}/.config/fswizard/recipes"
    with logged_in(machine) as terminal:
        machine.sh(f"mkfs.ext4 -q {link(MEASURED)} && mkdir -p {ROOM} {recipes} && mount {link(MEASURED)} {ROOM}")
        machine.write(f"{recipes}/quick.toml", QUICK)
        machine.ok("chown", "--recursive", f"{USER}:", ROOM, f"/home/{USER}")
        yield terminal
        machine.sh(f"umount {ROOM} && wipefs --all {link(MEASURED)}")


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
