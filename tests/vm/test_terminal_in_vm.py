"""The wizard on a serial terminal, for somebody who is not root, while disks come and go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vm.disks import nvme, usb
from tests.vm.machine import Machine
from tests.vm.terminal import Terminal, left, logged_in, started

pytestmark = [pytest.mark.vm, pytest.mark.tmux, pytest.mark.slow]

NEW_STICK, NEW_CARD = usb("NEWSTICK"), nvme("NEWCARD")


@pytest.fixture(scope="module")
def terminal(machine: Machine) -> Iterator[Terminal]:
    with logged_in(machine) as terminal:
        yield terminal


def test_the_doctor_tells_a_module_that_is_not_loaded_from_one_that_is_not_there(machine: Machine) -> None:
    machine.run("modprobe", "--remove", "f2fs", "xfs")
    assert "f2fs" not in machine.run("cat", "/proc/filesystems").stdout.decode().split()
    done = machine.run("runuser", "-u", "nobody", "--", "fswizard", "doctor")
    assert done.exit_code == 0, done.output
    lines = done.stdout.decode().splitlines()
    assert any(line.split()[:2] == ["✓", "f2fs"] for line in lines), lines
    assert any(line.split()[:2] == ["✓", "xfs"] for line in lines), lines
    assert any(line.split()[:2] == ["✗", "ntfs"] and "kernel" in line for line in lines), "Debian leaves ntfs3 out"


def test_the_drive_screen_follows_what_is_plugged_in_and_pulled(machine: Machine, terminal: Terminal) -> None:
    started(terminal)
    terminal.press("Enter")
    shown = terminal.shows("ST8000AS0002-1NA17Z")
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("WDC WD60EFAX", "WDC WD80EFZX", "◆ SMR, drive-managed", "◆ SMR, host-managed", "● CMR"):
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
