"""The memory limit of measured programs, with the cgroups of this machine's kernel: what it holds, whom it ends, what
is left of it."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fswizard.advice.commands import commands, fstab_advice
from fswizard.disks import memory_limit
from fswizard.disks.directory import DirectoryContext
from fswizard.disks.memory_limit import V1, V2, limited
from fswizard.disks.root import open_root
from fswizard.engines.shared.engine import Engine, Timed, duration_s
from fswizard.engines.shared.programs import Done, Work, interpreter
from fswizard.errors import OutOfMemory
from fswizard.model.estimates import LEAST_MEMORY_BYTES
from fswizard.model.metrics import DURATION, UNPLUG_TIME, WORST_STALL
from fswizard.model.recipe import Job, Workload
from fswizard.progress.workload_events import Measured
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.system.commands import start
from tests.fakes.host import ModelHost, use
from tests.loop.root_disk import image, made_and_mounted, said
from tests.loop.runs import COPY_TREE, TINY, result_of, session_in, short_session

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.cgroup]

LIMIT = 64 << 20
HOG = (interpreter(), "-c", f"kept = bytearray({2 * LIMIT})")
OWN = "cat /proc/self/cgroup"
KERNELS = next((kernels for kernels in (V2, V1) if memory_limit._parent(kernels)), V2)


def cgroups() -> set[Path]:
    """Those of runs, next to the one that is made here: others may come and go beside it."""
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
            return (await (await disk.start(argv, cwd=disk.directory, env={}, memory_bytes=LIMIT)).wait()).output

        await limited_output("dd", "if=/dev/zero", "of=data", "bs=1M", "count=256")
        (own,) = [path for path in cgroups() if path.name == cgroup_in(await limited_output("sh", "-c", OWN))]
        peak = {"v2": "memory.peak", "v1": "memory.max_usage_in_bytes"}[KERNELS.name]
        assert LIMIT / 2 < int((own / peak).read_text()) <= LIMIT
        assert not cgroup_in(await said(disk, "sh", "-c", OWN)), "what is laid out does not count"
    assert own not in cgroups()


async def test_what_needs_more_ends_for_that_even_where_only_its_child_was_killed(tmp_path: Path) -> None:
    async with open_root(LIMIT) as disks:
        disk = await image(disks, tmp_path)
        for argv in (HOG, ("sh", "-c", '"$@"; true', "sh", *HOG)):
            with pytest.raises(OutOfMemory, match="ran out of memory; no candidate is to blame") as caught:
                await (await disk.start(argv, cwd="/", env={}, memory_bytes=LIMIT)).wait()
            assert "--memory-limit" in caught.value.hint
        after = await (await disk.start(("true",), cwd="/", env={}, memory_bytes=LIMIT)).wait()
        without = await (await disk.start(HOG, cwd="/", env={})).wait()
        assert after.exit_code == without.exit_code == 0


async def test_a_program_that_is_killed_has_ended_whether_anybody_waits_for_it_or_not() -> None:
    with limited(LIMIT) as limit:
        assert limit is not None
        told: list[str] = []
        process = limit.watched(await start(("sleep", "60"), prefix=limit.prefix), lambda: told.append("ended"))
        await process.kill()
        assert told == ["ended"]


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
        inside = await (await context.start(("sh", "-c", OWN), limited=True)).wait()
        outside = await (await context.start(("sh", "-c", OWN))).wait()
        (own,) = [path for path in cgroups() - before if path.name == cgroup_in(inside.output)]
        assert inside.argv == ("sh", "-c", OWN)
        assert not cgroup_in(outside.output)
        with pytest.raises(OutOfMemory):
            await (await context.start(HOG, limited=True)).wait()
        assert (await (await context.start(("true",), limited=True)).wait()).exit_code == 0
    assert own not in cgroups(), "others may have been made beside it"
    with limited(0) as none:
        assert none is None


def test_a_run_in_directories_is_limited_and_tells_how_long_writing_back_took(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("first", "second")]
    for place in places:
        place.mkdir()
    target = TargetChoice("directory", ",".join(map(str, places)))
    recipe = replace(TINY, workloads=(COPY_TREE,))
    plan = make_plan(Choices(recipe, target=target, rounds=(1, 1), seed=1))
    assert plan.memory_limit_bytes == LEAST_MEMORY_BYTES
    result = asyncio.run(result_of(session_in(tmp_path, plan)))
    assert "fits-in-memory" not in [doubt.code for doubt in result.doubts]
    told = {sample.candidate for sample in result.samples if sample.metric == UNPLUG_TIME.name and sample.value > 0}
    assert told == {candidate.name for candidate in plan.candidates}


@pytest.mark.parametrize(("free_bytes", "failed"), [(1 << 20, {"memory (tmpfs)"}), (1 << 26, set())])
def test_a_tmpfs_is_left_out_in_words_where_the_work_does_not_fit_and_has_no_limit_where_it_does(
    free_bytes: int, failed: set[str], tmp_path: Path
) -> None:
    for name in ("disk", "memory"):
        (tmp_path / name).mkdir()
    memory = str(tmp_path / "memory")
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", memory), check=True)
    try:
        target = TargetChoice("directory", f"{tmp_path / 'disk'},{memory}")
        recipe = replace(TINY, workloads=(COPY_TREE,))
        plan = make_plan(Choices(recipe, target=target, rounds=(1, 1), seed=1))
        session = session_in(tmp_path, plan)
        with use(ModelHost(free_in={memory: free_bytes})):
            result = asyncio.run(result_of(session))
    finally:
        subprocess.run(("umount", memory), check=True)
    assert session.error is None
    assert {failure.candidate for failure in result.failures} == failed
    words = "memory (tmpfs) needs 2.98 MB of memory, and 1.05 MB may be used"
    assert all(failure.text.startswith(words) for failure in result.failures)
    told = {sample.candidate for sample in result.samples if sample.primary}
    assert told == {candidate.name for candidate in plan.candidates} - failed
    assert "is lost when the machine crashes" in {doubt.code: doubt.text for doubt in result.doubts}["in-memory"]
    fstab = "tmpfs  /mnt/data  tmpfs  size=64M,mode=1777,nosuid,nodev  0  0"
    assert commands(plan, "memory (tmpfs)") == (fstab,)
    assert "What is in it is lost" in fstab_advice(plan, "memory (tmpfs)")


@dataclass(frozen=True, slots=True)
class HogJob(Engine):
    """Takes more memory than it is given."""

    engine = "hog"
    metrics = (DURATION, WORST_STALL)

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return Timed((Work(HOG, "taking memory", seconds=0.1),))

    def figures(self, done: Sequence[Done]) -> Iterable[Measured]:
        yield Measured(DURATION, duration_s(done))


@pytest.fixture
def hog(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workload]:
    monkeypatch.setitem(Job.kinds, HogJob.engine, HogJob)
    yield Workload("hog", "Taking memory", "hog", HogJob(), DURATION, seconds=0.1)


def test_a_workload_that_needs_more_ends_the_run_and_blames_no_candidate(hog: Workload, tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4; ext2", replace(TINY, workloads=(hog,)), memory_limit_bytes=LIMIT)
    result = asyncio.run(result_of(session))
    assert isinstance(session.error, OutOfMemory)
    assert (result.outcome, result.failures) == ("failed", ())
    assert result.plan.memory_limit_bytes == LIMIT
    assert "fits-in-memory" not in [doubt.code for doubt in result.doubts]
