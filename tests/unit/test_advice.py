"""What is concluded from a run: the answer, its reasons and commands, and how weights and needs change it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from fswizard.advice import conclude
from fswizard.advice.commands import commands
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidates
from fswizard.model.analysis import ALIKE_AT_THE_END, ANSWER_SIGNS, AnswerKind
from fswizard.model.metrics import DIRECT_CACHED, DURATION
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Failure, Result
from fswizard.report import content, render
from fswizard.sharing import shareable
from tests.builders import make_plan, make_result, make_samples, make_workload

Figures = Mapping[str, Sequence[float]]

WORK = [make_workload("write"), make_workload("delete", DURATION), make_workload("unpack", DURATION)]
FIND = [
    make_workload(f"find-{shape}", DURATION, engine="tree", job=TreeJob("find", shape, 100, 1 << 20))
    for shape in ("small-files", "source")
]


def noisy(means: Mapping[str, float], noise: float = 0.02, rounds: int = 8, seed: int = 3) -> Figures:
    """Figures of each round around a mean."""
    rng = random.Random(seed)
    return {name: [mean * math.exp(rng.gauss(0, noise)) for _ in range(rounds)] for name, mean in means.items()}


def run(*tests: Figures, work: Sequence[Workload] = WORK, needs: tuple[str, ...] = (), **fields: Any) -> Result:
    """A finished run of real candidates from the catalogue, on four devices, with the figures of each test."""
    plan = make_plan(tuple(tests[0]), work[: len(tests)], needs=needs)
    candidates = tuple(candidate.on(4) for candidate in parse_candidates("; ".join(tests[0])))
    samples = [s for test, figures in zip(work, tests) for s in make_samples(figures, test.name, test.metric)]
    return make_result(plan=replace(plan, candidates=candidates), samples=tuple(samples), **fields)


def full(*names: str) -> tuple[Failure, ...]:
    return tuple(Failure(1, name, "write", "ENOSPC", "The volume was full.") for name in names)


CLEAR = noisy({"ext4": 100, "xfs": 120, "btrfs": 80})
LEVEL = noisy({"ext4": 100, "xfs": 100})
NOTHING: Figures = {"ext4": (), "xfs": ()}
NOISY = noisy({"ext4": 100, "xfs": 106, "btrfs": 30}, 0.09, 6)
BUSY = (Doubt("on-battery", "Battery."), Doubt("busy-machine", "Other programs used the disk (`cp`)."))
SAME = noisy({"ext4": 1.0, "xfs": 1.0}, seed=5)
SLOWER = noisy({"ext4": 1, "xfs": 0.3})


class Case(NamedTuple):
    """A result and the answer to it."""

    result: Result
    kind: AnswerKind
    choice: str
    behind: str = ""
    depends_on: str = ""
    warning: str = ""
    bound: tuple[float, float] = (0.001, 0.9)


CASES: dict[str, Case] = {
    "a winner": Case(run(CLEAR), "winner", "xfs", "btrfs ext4"),
    "alike, and one is behind": Case(run({**LEVEL, "btrfs": CLEAR["btrfs"]}), "alike", "ext4 xfs", "btrfs"),
    "alike within ±15 %": Case(
        run(noisy({"ext4": 100, "xfs": 101}, 0.055, 9)), "alike", "ext4 xfs", bound=(0.1, ALIKE_AT_THE_END - 1)
    ),
    "it depends": Case(run(LEVEL, SAME, SLOWER), "depends", "xfs ext4", depends_on="unpack"),
    "it depends, though within ±15 %": Case(
        run(LEVEL, SAME, noisy({"ext4": 1, "xfs": 0.69})),
        *("depends", "xfs ext4", "", "unpack"),
        bound=(0.1, ALIKE_AT_THE_END - 1),
    ),
    "torn by the shape of the files": Case(
        run(SLOWER, noisy({"ext4": 1, "xfs": 1.4}), SAME, work=[*FIND, WORK[1]]),
        *("depends", "xfs ext4", "", "find-small-files find-source"),
    ),
    "not settled": Case(run(NOISY, doubts=BUSY), "open", "ext4 xfs", "btrfs", warning="busy-machine"),
    "one round": Case(run({"ext4": (100.0,), "xfs": (120.0,)}), "open", "ext4 xfs"),
    "one candidate": Case(run({"ext4": (100.0,) * 3}), "open", "ext4"),
    "the other failed": Case(run({"ext4": (100.0,) * 3, "xfs": ()}, failures=full("xfs")), "only", "ext4"),
    "all failed": Case(run(NOTHING, failures=full("ext4", "xfs")), "failed", ""),
    "a fault": Case(run(CLEAR, outcome="failed"), "failed", ""),
    "killed": Case(run(NOTHING, outcome="killed"), "nothing", ""),
    "needs come before speed": Case(run(CLEAR, needs=("checksums",)), "only", "btrfs"),
    "nobody meets the needs": Case(run(CLEAR, needs=("windows",)), "excluded", ""),
    "the fastest is unsafe": Case(
        run(noisy({"ext4": 100, "ext4:data=writeback": 200, "xfs": 120})), "winner", "xfs", "ext4"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_answer(case: Case) -> None:
    found = conclude(case.result).answer
    assert (found.kind, " ".join(found.choice), " ".join(sorted(found.behind))) == (case.kind, case.choice, case.behind)
    assert (" ".join(found.depends_on), found.warning) == (case.depends_on, case.warning)
    assert (found.more is not None) == bool(case.warning)
    assert found.sign is ANSWER_SIGNS[case.kind]
    assert bool(found.recommended) == (case.kind in ("winner", "alike", "depends", "only"))
    assert bool(found.certainty) == (case.kind == "winner")
    if case.kind in ("winner", "alike", "depends"):
        assert case.bound[0] <= found.bound <= case.bound[1]


def test_what_keeps_direct_writes_in_memory_is_not_chosen_however_fast() -> None:
    result = run(noisy({"ext4": 100, "btrfs": 300}), work=[replace(WORK[0], job=replace(WORK[0].job, direct=True))])
    assert conclude(result).answer.choice == ("btrfs",)
    cached = make_samples({"btrfs": (1.0,)}, "", DIRECT_CACHED, primary=False)
    found = conclude(replace(result, samples=(*result.samples, *cached)))
    assert (found.answer.kind, found.answer.choice) == ("only", ("ext4",))
    assert [reason.code for reason in found.reasons].count("excluded") == 1


# Commands


@pytest.mark.parametrize(
    ("fast", "commands"),
    [
        ("btrfs:noatime,compress=zstd:1",
         ("mkfs.btrfs -L data /dev/disk/by-id/DISK", "LABEL=data  /mnt/data  btrfs  noatime,compress=zstd:1  0  0")),
        ("ext4:noatime",
         ("# Nothing needs formatting. In /etc/fstab:", "LABEL=data  /mnt/data  ext4  noatime  0  2")),
        ("zfs:atime=off", ("zpool create -O atime=off POOL /dev/disk/by-id/DISK",)),
        ("luks,workqueues=off,discards=on+xfs:noatime",
         ("cryptsetup luksFormat --type=luks2 --cipher=aes-xts-plain64 --key-size=512 /dev/disk/by-id/DISK",
          "cryptsetup open --perf-no_read_workqueue --perf-no_write_workqueue --allow-discards "
          "/dev/disk/by-id/DISK data",
          "mkfs.xfs -L data /dev/mapper/data", "# for /etc/crypttab:",
          "data  /dev/disk/by-id/DISK  none  luks,no-read-workqueue,no-write-workqueue,discard",
          "# for /etc/fstab:", "LABEL=data  /mnt/data  xfs  noatime  0  0")),
    ],
    ids=["placeholders alone", "nothing is formatted where only mount options differ",
         "a pool needs no line in fstab", "an encrypted volume is opened at each start"],
)  # fmt: skip
def test_the_commands_format_and_mount(fast: str, commands: tuple[str, ...]) -> None:
    assert content.set_up(conclude(run({"ext4": (100.0,) * 4, fast: (200.0,) * 4}))).commands == commands


@pytest.mark.parametrize("name", ["xfs", "md:raid5+xfs", "luks+xfs"])
def test_commands_come_from_the_catalogue_whatever_a_result_says(name: str) -> None:
    result = run(noisy({"ext4": 100, name: 200}))
    baseline, candidate = result.plan.candidates
    foreign = replace(
        candidate,
        filesystem=replace(candidate.filesystem, mkfs_program="sh", mkfs_arguments=(("-c", "rm -rf ~"),)),
        mount_options=("x-systemd.requires=evil",),
        array=candidate.array and replace(candidate.array, options={"chunk": "evil", "cipher": "evil"}),
    )
    recipe = replace(result.plan.recipe, mount_point="/mnt/$(reboot)")
    plan = replace(result.plan, candidates=(baseline, foreign), recipe=recipe)
    assert commands(plan, name) == commands(result.plan, name)
    assert render(conclude(replace(result, plan=plan)), "text", full=True)

    for unknown in (replace(foreign, name="evilfs"), replace(foreign, name="evilfs", directory="/mnt")):
        assert commands(replace(plan, candidates=(baseline, unknown)), "evilfs") == ()


def test_an_array_with_a_disk_missing_in_an_earlier_result_is_reported_and_never_chosen() -> None:
    name = "md:raid6,degraded+ext4"
    result = run({"md:raid5+ext4": (300.0,) * 4, "md:raid6+ext4": (900.0,) * 4})
    whole, other = result.plan.candidates
    assert other.array is not None
    degraded = replace(other, name=name, array=replace(other.array, degraded=True))
    samples = tuple(replace(s, candidate=name) if s.candidate == other.name else s for s in result.samples)
    result = replace(result, plan=replace(result.plan, candidates=(whole, degraded)), samples=samples)
    for each in (result, shareable(result)):
        found = conclude(each)
        assert (found.answer.kind, found.answer.choice) == ("only", (whole.name,))
        assert name in render(found, "markdown", full=True)


# Weights and needs


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"weights": {"write": -1.0}}, "The weight of write"),
        ({"weights": {"write": 0}}, "Every test has weight 0"),
        ({"needs": ("teleport",)}, "say nothing about teleport"),
    ],
)
def test_senseless_and_unknown_wishes_are_refused(wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        conclude(make_result(), **wishes)
