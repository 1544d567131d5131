"""The wizard on a serial terminal, for somebody who is not root, while disks come and go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long.vm.disks import MEASURED, nvme, usb
from tests.long.vm.machine import Machine
from tests.long.vm.runs import RUN_S, link
from tests.long.vm.terminal import PASSWORD, USER, Terminal, left, logged_in, started
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.tmux, pytest.mark.slow, pytest.mark.xdist_group("machine")]

ROOM = "/media/own"
QUICK = writing("512M", "16M", 1, minutes=2, candidates=("ext4", "xfs")).replace('"short"', '"quick"')
NEW_STICK, NEW_CARD = usb("NEWSTICK"), nvme("NEWCARD")


@pytest.fixture(scope="module")
def terminal(machine: Machine) -> Iterator[Terminal]:
    with logged_in(machine) as terminal:
        yield terminal


@pytest.fixture
def room(machine: Machine, terminal: Terminal) -> Iterator[str]:
    """A disk of theirs, and a recipe that takes the place of the quick one for them."""
    recipes = f"/home/{USER}/.config/fswizard/recipes"
    machine.sh(f"mkfs.ext4 -q {link(MEASURED)} && mkdir -p {ROOM} {recipes} && mount {link(MEASURED)} {ROOM}")
    machine.write(f"{recipes}/quick.toml", QUICK)
    machine.ok("chown", "--recursive", f"{USER}:", ROOM, f"/home/{USER}")
    yield ROOM
    machine.sh(f"umount {ROOM} && wipefs --all {link(MEASURED)}")


def test_the_doctor_tells_a_module_that_is_not_loaded_from_one_that_is_not_there(machine: Machine) -> None:
    machine.run("modprobe", "--remove", "f2fs")
    assert "f2fs" not in machine.run("cat", "/proc/filesystems").stdout.decode().split()
    lines = machine.ok("runuser", "-u", "nobody", "--", "fswizard", "doctor").splitlines()
    assert any(line.split()[:2] == ["✓", "f2fs"] for line in lines), lines
    assert any(line.split()[:2] == ["✗", "ntfs"] and "kernel" in line for line in lines), "Debian leaves ntfs3 out"


def test_the_drive_screen_follows_what_is_plugged_in_and_pulled(machine: Machine, terminal: Terminal) -> None:
    started(terminal)
    terminal.press("Enter")
    shown = terminal.shows("ST8000AS0002-1NA17Z")
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("◆ SMR, drive-managed", "◆ host-managed zones", "● CMR"):
        terminal.shows(words)
    machine.plug(NEW_CARD)
    terminal.shows("nvme1n1")
    machine.plug(NEW_STICK)
    terminal.shows("sdf")
    machine.pull(NEW_CARD)
    terminal.no_longer_shows("nvme1n1")
    machine.pull(NEW_STICK)
    terminal.no_longer_shows("sdf")
    left(terminal)


def test_the_whole_wizard_from_the_first_question_to_the_recommendation(
    machine: Machine, terminal: Terminal, room: str
) -> None:
    started(terminal)
    terminal.press("Down", "Down", "Down", "Down", "Enter")  # my own choice
    terminal.shows("TESTDISK")
    terminal.highlight("TESTDISK")
    terminal.shows(f" in {room}")
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
    left(terminal)
    assert machine.run("ls", room).stdout.decode().split() == ["lost+found"]
