"""The memory limit of measured programs, with the cgroups of this machine's kernel: what it holds, whom it ends, what
is left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fswizard.advice.commands import commands, how_to_use
from fswizard.disks.memory_limit import limited
from fswizard.engines.shared.running import interpreter
from fswizard.engines.shared.timed import Timed, TimedEngine, Work, duration_s
from fswizard.errors import OutOfMemory
from fswizard.model.estimates import LEAST_MEMORY_BYTES
from fswizard.model.metrics import DURATION, UNPLUG_TIME, WORST_STALL
from fswizard.model.recipe import Cost, Job, Workload
from fswizard.privileged import memory_limit, programs
from fswizard.privileged.memory_limit import V1, V2, MemoryLimit
from fswizard.privileged.names import NAME, Names
from fswizard.progress.workload_events import Measured
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.system.process import Finished
from fswizard.targets.directory import DirectoryContext
from fswizard.targets.helper import Helper
from tests.fakes.host import ModelHost, use
from tests.loop.channel import Channel
from tests.loop.machine_state import LIMIT_S, wait_until
from tests.loop.orders import attach, made_and_mounted, said
from tests.loop.runs import COPY_TREE, TINY, result_of, session_in, short_session

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.cgroup]

LIMIT = 64 << 20
HOG = (interpreter(), "-c", f"kept = bytearray({2 * LIMIT})")
OWN = "cat /proc/self/cgroup"


def cgroup_in(text: str) -> str:
    """The name of the cgroup in a program's /proc/self/cgroup, empty where it is in none of ours."""
    found = NAME.search(text)
    return found[0] if found else ""


def cgroups() -> list[str]:
    """Those of helpers, next to the one that is made here."""
    kernels = V2 if memory_limit.version() == "v2" else V1
    return [name for name in os.listdir(memory_limit._parent(kernels)) if NAME.fullmatch(name)]


def cgroup_of(channel: Channel) -> str:
    """That of a helper, told by what it has open: others may run beside it."""
    channel.ask("hello")
    opened = [Path(os.readlink(link)) for link in Path(f"/proc/{channel.helper_pid}/fd").iterdir()]
    return next(path.parent.name for path in opened if path.name == "cgroup.procs")


@pytest.mark.asyncio
async def test_the_page_cache_of_what_is_written_counts_and_never_exceeds_the_limit(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        directory = await made_and_mounted(helper, await attach(helper, tmp_path, 320 << 20))
        written = ("dd", "if=/dev/zero", "of=data", "bs=1M", "count=256")
        await (await helper.run(written, cwd=directory, memory_bytes=LIMIT)).wait()
        name = cgroup_in((await (await helper.run(("sh", "-c", OWN), cwd=directory, memory_bytes=LIMIT)).wait()).output)
        kernels = V2 if memory_limit.version() == "v2" else V1
        peak = {"v2": "memory.peak", "v1": "memory.max_usage_in_bytes"}[kernels.name]
        most_bytes = int(Path(memory_limit._parent(kernels), name, peak).read_text())
        assert LIMIT / 2 < most_bytes <= LIMIT
        assert not cgroup_in(await said(helper, directory, "sh", "-c", OWN)), "what is laid out does not count"


@pytest.mark.asyncio
async def test_what_needs_more_ends_for_that_even_where_only_its_child_was_killed(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        for argv in (HOG, ("sh", "-c", '"$@"; true', "sh", *HOG)):
            with pytest.raises(OutOfMemory, match="ran out of memory; no candidate is to blame") as caught:
                await (await helper.run(argv, cwd=str(tmp_path), memory_bytes=LIMIT)).wait()
            assert "--memory-limit" in caught.value.hint
        after = await (await helper.run(("true",), cwd=str(tmp_path), memory_bytes=LIMIT)).wait()
        without = await (await helper.run(HOG, cwd=str(tmp_path))).wait()
        assert after.exit_code == without.exit_code == 0


def test_the_cgroup_goes_with_the_helper_or_with_the_next_one_and_that_of_a_live_one_stays() -> None:
    with Channel() as alive:
        assert alive.ask("hello")["ok"]["limits_memory"]
        first = cgroup_of(alive)
        with Channel() as killed:
            second = cgroup_of(killed)
            assert {first, second} <= set(cgroups())
            os.kill(killed.helper_pid, signal.SIGKILL)
            killed.process.wait(LIMIT_S)
        with Channel() as third:
            latest = cgroup_of(third)
            assert second not in cgroups()
            assert {first, latest} <= set(cgroups())
        assert latest not in cgroups()
        assert first in cgroups()
    assert first not in cgroups()


def test_a_helper_that_ends_while_a_limited_program_runs_leaves_no_cgroup(tmp_path: Path) -> None:
    with Channel() as channel:
        own = cgroup_of(channel)
        fields = {"argv": ["sleep", "600"], "cwd": str(tmp_path), "env": {}, "memory_bytes": LIMIT}
        channel.order(("run", fields), stays=True)
    wait_until(lambda: own not in cgroups(), LIMIT_S, "the cgroup is gone")


def test_a_limit_in_which_nothing_could_start_is_refused(tmp_path: Path) -> None:
    with Channel() as channel:
        for few in (1, memory_limit.LEAST_BYTES - 1):
            answer = channel.ask("run", argv=["touch", "evil"], cwd=str(tmp_path), env={}, memory_bytes=few)
            assert answer["error"]["code"] == "invalid"
    assert not list(tmp_path.iterdir())


def test_what_is_no_cgroup_of_the_kernels_or_was_mounted_after_the_start_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(programs, "mounted_at_start", frozenset)
        assert not memory_limit.version()
    for name in ("V1", "V2"):
        monkeypatch.setattr(memory_limit, name, replace(getattr(memory_limit, name), mounted=str(tmp_path)))
    (tmp_path / "cgroup.subtree_control").write_text("memory")
    assert not memory_limit.version()
    assert not MemoryLimit(Names(str(tmp_path / "names"))).make()
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.subtree_control"]


@pytest.mark.asyncio
async def test_in_directories_root_limits_what_is_measured_and_nothing_else(tmp_path: Path) -> None:
    before = set(cgroups())
    with limited(LIMIT) as limit:
        context = DirectoryContext(str(tmp_path), str(tmp_path), set(), limit)
        inside = await (await context.start(("sh", "-c", OWN), limited=True)).wait()
        outside = await (await context.start(("sh", "-c", OWN))).wait()
        own = cgroup_in(inside.output)
        assert own in set(cgroups()) - before
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
    (reason,) = how_to_use(plan, "memory (tmpfs)")
    assert "What is in it is lost" in reason.text


@dataclass(frozen=True, slots=True)
class HogJob(TimedEngine):
    """Takes more memory than it is given."""

    engine = "hog"
    metrics = (DURATION, WORST_STALL)

    @property
    def cost(self) -> Cost:
        return Cost(0.0, 0.1, 0, 0)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return Timed("taking memory", (Work(HOG, "taking memory"),))

    def figures(self, finished: Sequence[Finished]) -> Iterable[Measured]:
        yield Measured(DURATION, duration_s(finished))


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
