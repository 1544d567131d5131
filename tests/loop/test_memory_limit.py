"""The memory limit of measured programs, with the cgroups of this machine's kernel: what it holds, whom it ends, what
is left of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fswizard.disks import memory_limit
from fswizard.disks.directory import DirectoryContext
from fswizard.disks.memory_limit import V1, V2, limited
from fswizard.disks.root import open_root
from fswizard.engines.shared.programs import SYSTEM_PYTHON
from fswizard.errors import OutOfMemory
from tests.loop.root_disk import image, made_and_mounted, said

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.cgroup]

LIMIT = 64 << 20
HOG = (SYSTEM_PYTHON, "-c", f"kept = bytearray({2 * LIMIT})")
OWN = "cat /proc/self/cgroup"
KERNELS = next((kernels for kernels in (V2, V1) if memory_limit._parent(kernels)), V2)


def cgroups() -> set[Path]:
    """Those of runs, next to the one that is made here; others may come and go."""
    parent = memory_limit._parent(KERNELS)
    assert parent is not None
    return {*parent.glob(memory_limit.NAMES)}


def cgroup_in(text: str) -> str:
    """The name of the cgroup in a program's /proc/self/cgroup, empty where it is in none of ours."""
    found = re.search(r"fswizard-[0-9a-f]{16}", text)
    return found[0] if found else ""


async def test_the_page_cache_of_what_is_written_counts_and_never_exceeds_the_limit(tmp_path: Path) -> None:
    async with open_root(LIMIT) as disks:
        assert disks.limits_memory
        disk = await image(disks, tmp_path, 320 << 20)
        await made_and_mounted(disk)

        async def limited_output(*argv: str) -> str:
            return (await (await disk.start(argv, cwd=disk.directory, env={}, limited=True)).wait()).output

        await limited_output("dd", "if=/dev/zero", "of=data", "bs=1M", "count=256")
        (own,) = [path for path in cgroups() if path.name == cgroup_in(await limited_output("sh", "-c", OWN))]
        peak = "memory.peak" if KERNELS is V2 else "memory.max_usage_in_bytes"
        assert LIMIT / 2 < int((own / peak).read_text()) <= LIMIT
        assert not cgroup_in(await said(disk, "sh", "-c", OWN)), "what is laid out does not count"
    assert own not in cgroups()


async def test_what_needs_more_ends_for_that_even_where_only_its_child_was_killed(tmp_path: Path) -> None:
    async with open_root(LIMIT) as disks:
        disk = await image(disks, tmp_path)
        for argv in (HOG, ("sh", "-c", '"$@"; true', "sh", *HOG)):
            with pytest.raises(OutOfMemory, match="ran out of memory; no candidate is to blame") as caught:
                await (await disk.start(argv, cwd="/", env={}, limited=True)).wait()
            assert "--memory-limit" in caught.value.hint
        after = await (await disk.start(("true",), cwd="/", env={}, limited=True)).wait()
        without = await (await disk.start(HOG, cwd="/", env={})).wait()
        assert after.exit_code == without.exit_code == 0


def test_the_cgroup_of_a_run_that_was_killed_goes_with_the_next_one_and_that_of_a_live_one_stays() -> None:
    with limited(LIMIT) as alive:
        assert alive is not None
        (own,) = [path for path in cgroups() if str(path) in " ".join(alive.prefix)]
        killed = own.with_name("fswizard-0123456789abcdef")
        killed.mkdir()
        with limited(LIMIT):
            assert killed not in cgroups() and own in cgroups()
        assert own in cgroups()
    assert own not in cgroups()


def test_what_is_no_cgroup_of_the_kernels_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("V1", "V2"):
        monkeypatch.setattr(memory_limit, name, getattr(memory_limit, name)._replace(mounted=str(tmp_path)))
    (tmp_path / "cgroup.subtree_control").write_text("memory")
    with limited(LIMIT) as limit:
        assert limit is None
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.subtree_control"]


async def test_in_directories_root_limits_what_is_measured_and_nothing_else(tmp_path: Path) -> None:
    before = cgroups()
    with limited(LIMIT) as limit:
        context = DirectoryContext(str(tmp_path), str(tmp_path), set(), limit)
        inside = await (await context.start(("sh", "-c", OWN), env={}, limited=True)).wait()
        outside = await (await context.start(("sh", "-c", OWN), env={})).wait()
        (own,) = [path for path in cgroups() - before if path.name == cgroup_in(inside.output)]
        assert inside.argv == ("sh", "-c", OWN)
        assert not cgroup_in(outside.output)
        with pytest.raises(OutOfMemory):
            await (await context.start(HOG, env={}, limited=True)).wait()
        assert (await (await context.start(("true",), env={}, limited=True)).wait()).exit_code == 0
    assert own not in cgroups(), "others may have been made beside it"
    with limited(0) as none:
        assert none is None
