"""The helper has the least rights that its work takes, runs nobody's programs but root's, and mounts mildly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard.errors import Refused
from fswizard.privileged import system_calls
from fswizard.targets.helper import Attached, Helper
from tests.loop.channel import helper_pid
from tests.loop.devices import run
from tests.loop.orders import attach, make, mount, umount

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.asyncio]

MKE2FS = Path("/usr/sbin/mke2fs")
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def rights(status: str) -> tuple[int, ...]:
    """Sets of capabilities, and whether new ones are out of reach."""
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return (*(int(fields[name], 16) for name in SETS), int(fields["NoNewPrivs"]))


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A program of root's that says what rights it has."""
    program = tmp_path / "mke2fs"
    program.write_text("#!/bin/sh\ncat /proc/self/status\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def before_the_start(stand_in: Path) -> Iterator[None]:
    """It stands in for mkfs.ext4, in the namespace of the tests that the helper's is made of."""
    run("mount", "--bind", str(stand_in), str(MKE2FS))
    yield
    run("umount", str(MKE2FS))


@pytest_asyncio.fixture
async def attached(helper: Helper, tmp_path: Path) -> Attached:
    return await attach(helper, tmp_path)


async def test_the_helper_and_what_it_starts_keep_only_the_rights_that_are_listed(
    before_the_start: None, helper: Helper, attached: Attached
) -> None:
    ours = rights(Path("/proc/self/status").read_text())[3]
    listed = sum(1 << number for number in system_calls.CAPABILITIES.values()) & ours
    only_these = (0, listed, listed, listed, 0, 1)
    assert rights(Path(f"/proc/{helper_pid(helper)}/status").read_text()) == only_these
    assert rights((await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=[])).output) == only_these
    assert "sys_resource" not in system_calls.CAPABILITIES, "blocks that are reserved for root stay so"


async def test_a_program_that_was_covered_since_the_start_is_not_run(
    helper: Helper, attached: Attached, stand_in: Path
) -> None:
    enter = ["nsenter", "--target", str(helper_pid(helper)), "--mount"]
    run(*enter, "mount", "--bind", str(stand_in), str(MKE2FS))
    with pytest.raises(Refused, match="mke2fs was mounted over it after the helper started"):
        await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=[])
    run(*enter, "umount", str(MKE2FS))
    run(*enter, "mount", "--bind", str(MKE2FS.parent), str(MKE2FS.parent))
    with pytest.raises(Refused, match="/usr/sbin was mounted over it after the helper started"):
        await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=[])
    run(*enter, "umount", str(MKE2FS.parent))
    await make(helper, attached)


async def test_a_superblock_that_asks_for_a_panic_is_not_heard(helper: Helper, attached: Attached) -> None:
    await make(helper, attached)
    run("tune2fs", "-e", "panic", attached.path)
    await mount(helper, attached)
    lines = Path(f"/proc/{helper_pid(helper)}/mounts").read_text().splitlines()
    options = next(line.split()[3] for line in lines if line.split()[1] == attached.directory)
    assert "errors=remount-ro" in options.split(",")
    await umount(helper, attached)
