"""The wizard on a serial terminal, for somebody who is not root, while disks come and go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long.vm.disks import MEASURED, nvme, usb
from tests.long.vm.machine import Machine
from tests.long.vm.runs import RECIPE, RUN_S, link
from tests.long.vm.terminal import (
    PASSWORD,
    PROMPT,
    SIZE,
    USER,
    WIDE,
    Terminal,
    left,
    logged_in,
    started,
)  # fmt: skip

pytestmark = [pytest.mark.vm, pytest.mark.tmux, pytest.mark.slow, pytest.mark.xdist_group("terminal")]

ROOM = "/media/own"
NEW_STICK, NEW_CARD = usb("NEWSTICK"), nvme("NEWCARD")

SHOWN = {
    "ST8000AS0002-1NA17Z  ": ("SMR, drive-managed", "Smartmontools' drive"),
    "nvme0n1  ": ("host-managed zones", "queue/zoned"),
    "nvme1n1  ": ("NVMe", "It is an NVMe device"),
    "QEMU QEMU HARDDISK  ": ("● virtual", "46f4:0001"),
    "no model name  ": ("virtual", "Check the real disk"),
}
"""What stands in the row of a disk, with the blanks after it, and what is said of it."""


@pytest.fixture(scope="module")
def terminal(machine: Machine) -> Iterator[Terminal]:
    with logged_in(machine) as terminal:
        yield terminal


@pytest.fixture
def room(machine: Machine, terminal: Terminal) -> Iterator[str]:
    """A disk of theirs, and a recipe that takes the place of the quick one for them."""
    recipes = f"/home/{USER}/.config/fswizard/recipes"
    make = f"mkfs.ext4 -q {link(MEASURED)} && mkdir -p {ROOM} {recipes} && mount {link(MEASURED)} {ROOM}"
    machine.sh(make)
    machine.write(f"{recipes}/quick.toml", RECIPE.replace('"short"', '"quick"').replace("minutes = 60", "minutes = 2"))
    machine.ok("chown", "--recursive", f"{USER}:", ROOM, f"/home/{USER}")
    yield ROOM
    machine.sh(f"umount {ROOM} && wipefs --all {link(MEASURED)}")


def test_the_doctor_tells_a_module_that_is_not_loaded_from_one_that_is_not_there(machine: Machine) -> None:
    machine.run("modprobe", "--remove", "f2fs", "xfs")
    assert "f2fs" not in machine.run("cat", "/proc/filesystems").stdout.decode().split()
    lines = machine.ok("runuser", "-u", "nobody", "--", "fswizard", "doctor").splitlines()
    assert any(line.split()[:2] == ["✓", "f2fs"] for line in lines), lines
    assert any(line.split()[:2] == ["✓", "xfs"] for line in lines), lines
    assert any(line.split()[:2] == ["✗", "ntfs"] and "kernel" in line for line in lines), "Debian leaves ntfs3 out"


def test_the_drive_screen_follows_what_is_plugged_in_and_pulled(machine: Machine, terminal: Terminal) -> None:
    started(terminal)
    terminal.press("Enter")
    shown = terminal.shows("ST8000AS0002-1NA17Z")
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("WDC WD60EFAX", "WDC WD80EFZX", "◆ SMR, drive-managed", "◆ host-managed zones", "● CMR"):
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


def test_what_is_known_of_each_kind_of_disk_stands_on_its_screen(machine: Machine, terminal: Terminal) -> None:
    terminal.shows(PROMPT)
    terminal.resize(WIDE)
    started(terminal)
    terminal.press("Enter")
    machine.plug(NEW_CARD)
    try:
        terminal.shows("nvme1n1")
        for row, words in SHOWN.items():
            terminal.highlight(row)
            for word in words:
                terminal.shows(word)
    finally:
        machine.pull(NEW_CARD)
    left(terminal)
    terminal.resize(SIZE)


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
    found = terminal.shows("● Result", limit_s=RUN_S)
    assert "● Result" in found
    terminal.shows("ext4")
    left(terminal)
    assert machine.run("ls", room).stdout.decode().split() == ["lost+found"]
