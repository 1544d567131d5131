"""Orders to the helper that have to succeed, for tests that need what they bring about."""

from __future__ import annotations

from pathlib import Path

from fswizard.filesystems import parse_candidate
from fswizard.targets.helper import Attached, Helper


async def attach(helper: Helper, directory: Path, size_bytes: int = 64 << 20) -> Attached:
    """An image below a directory."""
    return await helper.attach(str(directory), size_bytes)


async def make(helper: Helper, attached: Attached, name: str = "ext4") -> None:
    """The filesystem of a candidate."""
    candidate = parse_candidate(name)
    await helper.wipe(attached.handle)
    for order in candidate.orders(scratch=True):
        made = await helper.order(order.verb, attached.handle, **order.fields)
        assert made.exit_code == 0, f"{name}: {made.output}"


async def mount(helper: Helper, attached: Attached, name: str = "ext4") -> None:
    candidate = parse_candidate(name)
    mounted = await helper.order(
        "mount", attached.handle, filesystem=candidate.filesystem.name, options=[*candidate.mount_options]
    )
    assert mounted.exit_code == 0, f"{name}: {mounted.output}"


async def made_and_mounted(helper: Helper, attached: Attached, name: str = "ext4") -> str:
    """The directory in which it is mounted."""
    await make(helper, attached, name)
    await mount(helper, attached, name)
    return attached.directory


async def umount(helper: Helper, attached: Attached) -> None:
    ended = await helper.umount(attached.handle)
    assert ended.exit_code == 0, ended.output


async def said(helper: Helper, directory: str, *argv: str, **env: str) -> str:
    """What a program says, run as the user."""
    return (await (await helper.run(argv, cwd=directory, env=env)).wait()).output
