"""What is concluded from a run: the answer, its reasons and commands, and how weights and needs change it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fswizard.advice import conclude
from fswizard.advice.commands import commands
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.filesystems import layouts, parse_candidates
from fswizard.model.analysis import ALIKE_AT_THE_END, ANSWER_SIGNS, Answer, AnswerKind
from fswizard.model.codec import from_json, to_json
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import DIRECT_CACHED, DURATION
from fswizard.model.plan import Member, Target
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Failure, Result, Sample
from fswizard.report import content, render
from fswizard.sharing import shareable
from tests.builders import make_plan, make_result, make_samples, make_workload

Figures = Mapping[str, Sequence[float]]

TREES = TreeJob("find", "small-files", 100, 1 << 20), TreeJob("find", "source", 100, 1 << 20)
FIND = [
    make_workload(name, DURATION, engine="tree", job=job) for name, job in zip(("find-small", "find-source"), TREES)
]
WORK = [make_workload("write"), make_workload("delete", DURATION), make_workload("unpack", DURATION)]


def noisy(means: Mapping[str, float], noise: float = 0.02, rounds: int = 8, seed: int = 3) -> Figures:
    """Figures of each round around a mean."""
    rng = random.Random(seed)
    return {name: [mean * math.exp(rng.gauss(0, noise)) for _ in range(rounds)] for name, mean in means.items()}


def run(*tests: Figures, work: Sequence[Workload] = WORK, **fields: Any) -> Result:
    """A finished run of real candidates from the catalogue, with the figures of each test."""
    plan = make_plan(tuple(tests[0]), work[: len(tests)])
    plan = replace(plan, candidates=parse_candidates("; ".join(tests[0])), needs=fields.pop("needs", ()))
    samples = [s for test, figures in zip(work, tests) for s in make_samples(figures, test.name, test.metric)]
    return make_result(plan=plan, samples=tuple(samples), **fields)


def answer(*tests: Figures, **fields: Any) -> Answer:
    return conclude(run(*tests, **fields)).answer


def texts(result: Result, code: str = "") -> list[str]:
    return [reason.text for reason in conclude(result).reasons if code in ("", reason.code)]


def full(*names: str) -> tuple[Failure, ...]:
    return tuple(Failure(1, name, "write", "ENOSPC", "The volume was full.") for name in names)


CLEAR = noisy({"ext4": 100, "xfs": 120, "btrfs": 80})
LEVEL = noisy({"ext4": 100, "xfs": 100})
NOTHING: Figures = {"ext4": (), "xfs": ()}
NOISY = noisy({"ext4": 100, "xfs": 106, "btrfs": 30}, 0.09, 6)
WRITES, DELETES = {"ext4": (100.0,) * 4, "xfs": (200.0,) * 4}, {"ext4": (10.0,) * 4, "xfs": (14.0,) * 4}
BUSY = (Doubt("on-battery", "Battery."), Doubt("busy-machine", "Other programs used the disk (`cp`)."))
SAME = noisy({"ext4": 1.0, "xfs": 1.0}, seed=5)


@dataclass(frozen=True)
class Case:
    """A result and the answer to it."""

    tests: tuple[Figures, ...]
    kind: AnswerKind
    choice: str
    behind: str = ""
    bound: tuple[float, float] = (0.0, 0.0)
    fields: Mapping[str, Any] = field(default_factory=dict)
    depends_on: str = ""
    warning: str = ""
    more: bool = False


CASES: dict[str, Case] = {
    "a winner": Case((CLEAR,), "winner", "xfs", "ext4 btrfs", (0.1, 0.2)),
    "alike, and one is behind": Case(({**LEVEL, "btrfs": CLEAR["btrfs"]},), "alike", "ext4 xfs", "btrfs", (0.005, 0.1)),
    "not alike within ±10 %, but within ±15 %": Case(
        (noisy({"ext4": 100, "xfs": 101}, 0.055, 9),), "alike", "ext4 xfs", bound=(0.1, ALIKE_AT_THE_END - 1)),
    "it depends, the rest alike": Case(
        (LEVEL, SAME, noisy({"ext4": 1, "xfs": 0.3})), "depends", "xfs ext4", "", (0.3, 0.6), depends_on="unpack"),
    "it depends, though not alike by little": Case(
        (LEVEL, SAME, noisy({"ext4": 1, "xfs": 0.69})), "depends", "xfs ext4", "", (0.1, 0.15), depends_on="unpack"),
    "it depends, the rest open": Case(
        (noisy({"ext4": 100, "xfs": 110}, 0.1), noisy({"ext4": 1, "xfs": 1}, 0.1, seed=8),
         noisy({"ext4": 1, "xfs": 0.25})), "depends", "xfs ext4", "", (0.3, 0.8), depends_on="unpack"),
    "torn by the shape of the files": Case(
        (noisy({"ext4": 1, "xfs": 0.3}), noisy({"ext4": 1, "xfs": 1.4}), SAME), "depends", "xfs ext4", "", (0.2, 0.5),
        {"work": [*FIND, WORK[1]]}, "find-small find-source"),
    "not settled as something else used the disk": Case(
        (NOISY,), "open", "ext4 xfs", "btrfs", fields={"doubts": BUSY}, warning="busy-machine", more=True),
    "one round": Case(({"ext4": (100.0,), "xfs": (120.0,)},), "open", "ext4 xfs"),
    "one candidate": Case(({"ext4": (100.0,) * 3},), "open", "ext4"),
    "the others failed": Case(({"ext4": (100.0,) * 3, "xfs": ()},), "only", "ext4", fields={"failures": full("xfs")}),
    "all failed": Case((NOTHING,), "failed", "", fields={"failures": full("ext4", "xfs")}),
    "a fault": Case((CLEAR,), "failed", "", fields={"outcome": "failed"}),
    "killed": Case((NOTHING,), "nothing", "", fields={"outcome": "killed"}),
    "needs come before speed": Case((CLEAR,), "only", "btrfs", fields={"needs": ("checksums",)}),
    "nobody meets the needs": Case((CLEAR,), "excluded", "", fields={"needs": ("windows",)}),
    "the fastest is unsafe": Case(
        (noisy({"ext4": 100, "ext4:data=writeback": 200, "xfs": 120}),), "winner", "xfs", "ext4", (0.1, 0.25)),
    "all are unsafe": Case((noisy({"ext4:nobarrier": 100, "ext4:data=writeback": 120}),), "excluded", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_answer(case: Case) -> None:
    found = answer(*case.tests, **case.fields)
    assert (found.kind, " ".join(found.choice)) == (case.kind, case.choice)
    assert " ".join(sorted(found.behind)) == " ".join(sorted(case.behind.split()))
    assert case.bound[0] <= found.bound <= case.bound[1]
    assert (" ".join(found.depends_on), found.warning) == (case.depends_on, case.warning)
    assert (found.more is not None) == case.more
    assert found.sign is ANSWER_SIGNS[case.kind]
    assert bool(found.recommended) == (case.kind in ("winner", "alike", "depends", "only"))
    assert bool(found.certainty) == (case.kind == "winner")
    if case.warning:
        assert found.lines[0] in {doubt.text for doubt in case.fields["doubts"]}


def test_directories_are_chosen_and_never_formatted() -> None:
    result = run(LEVEL)
    located = tuple(replace(c, directory=f"/mnt/{c.name}", name=f"{c.name} (x)") for c in result.plan.candidates)
    samples = tuple(replace(s, candidate=f"{s.candidate} (x)") for s in result.samples)
    plan = replace(result.plan, candidates=located, baseline="ext4 (x)")
    found = conclude(replace(result, plan=plan, samples=samples)).answer
    assert found.choice == ("ext4 (x)", "xfs (x)") and commands(plan, "ext4 (x)") == ()


def test_what_keeps_direct_writes_in_memory_is_not_chosen_however_fast() -> None:
    result = run(noisy({"ext4": 100, "btrfs": 300}), work=[replace(WORK[0], job=replace(WORK[0].job, direct=True))])
    assert conclude(result).answer.choice == ("btrfs",)
    cached = Sample(1, "btrfs", "", DIRECT_CACHED.name, 1.0, DIRECT_CACHED.unit, DIRECT_CACHED.better)
    found = conclude(replace(result, samples=(*result.samples, cached)))
    assert (found.answer.kind, found.answer.choice) == ("only", ("ext4",))
    assert [reason.code for reason in found.reasons].count("excluded") == 1


# Reasons and commands


def test_what_a_choice_costs_is_said() -> None:
    assert texts(run(WRITES, DELETES), "cost") == ["Delete: 40 % slower than ext4."]


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


def test_commands_come_from_the_catalogue_whatever_a_result_says() -> None:
    result = run(noisy({"ext4": 100, "xfs": 200}))
    foreign = [
        replace(
            candidate,
            filesystem=replace(candidate.filesystem, mkfs_program="sh", mkfs_arguments=(("-c", "rm -rf ~"),)),
            mount_options=("x-systemd.requires=evil",),
        )
        for candidate in result.plan.candidates
    ]
    recipe = replace(result.plan.recipe, mount_point="/mnt/$(reboot)")
    plan = replace(result.plan, candidates=tuple(foreign), recipe=recipe)
    assert commands(plan, "xfs") == commands(result.plan, "xfs")

    unknown = replace(plan, candidates=(foreign[0], replace(foreign[1], name="evilfs")))
    assert commands(unknown, "evilfs") == ()


@pytest.mark.parametrize(("name", "option"), [("md:raid5", "chunk"), ("luks", "cipher")])
def test_unknown_options_of_arrays_and_volumes_are_reported_and_never_advised(name: str, option: str) -> None:
    result = run(noisy({f"{name}+ext4": 100, f"{name}+ext4:noatime": 200, f"{name}+xfs": 90}))
    foreign = []
    for candidate in result.plan.candidates:
        assert candidate.array is not None
        foreign.append(replace(candidate, array=replace(candidate.array, options={option: "evil"}, members=4)))
    findings = conclude(replace(result, plan=replace(result.plan, candidates=tuple(foreign))))
    assert "evil" not in str(content.set_up(findings).commands)
    assert render(findings, "text", full=True)


def over_four_disks(means: Mapping[str, float]) -> Result:
    result = run(noisy(means))
    target = Target("device", "/d", 1_000_000_000, others=(Member("/d", 1_000_000_000),) * 3)
    candidates = tuple(candidate.on(4) for candidate in result.plan.candidates)
    return replace(result, plan=replace(result.plan, candidates=candidates, target=target))


def test_an_array_that_is_advised_is_made_whole_of_disks_by_their_stable_names() -> None:
    assert content.set_up(conclude(over_four_disks({"md:raid5,chunk=64K+ext4:noatime": 900, "ext4": 1}))).commands == (
        "mdadm --create /dev/md/ARRAY --level=5 --raid-devices=4 --chunk=64K --bitmap=internal "
        "/dev/disk/by-id/DISK-1 /dev/disk/by-id/DISK-2 /dev/disk/by-id/DISK-3 /dev/disk/by-id/DISK-4",
        "mkfs.ext4 -E stride=16,stripe_width=48 -m 0 -L data /dev/md/ARRAY",
        "LABEL=data  /mnt/data  ext4  noatime  0  2",
    )


def test_an_array_with_a_disk_missing_in_an_earlier_result_is_reported_and_never_chosen() -> None:
    missing = "md:raid5,degraded+ext4"
    result = over_four_disks({"md:raid5+ext4": 300, "md:raid6+ext4": 900})
    whole, other = result.plan.candidates
    assert other.array is not None
    degraded = replace(other, name=missing, array=replace(other.array, layout=layouts()["md:raid5"], degraded=True))
    degraded = from_json(Candidate, to_json(degraded))
    samples = tuple(replace(s, candidate=missing) if s.candidate == other.name else s for s in result.samples)
    result = replace(result, plan=replace(result.plan, candidates=(whole, degraded)), samples=samples)
    for each in (result, shareable(result)):
        found = conclude(each)
        assert (found.answer.kind, found.answer.choice) == ("only", (whole.name,))
        assert missing in render(found, "markdown", full=True)


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
