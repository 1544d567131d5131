"""What a run takes: time, bytes and room.

Before a run as disks of its kind do (the figures stand for an ordinary SATA SSD, unless they are asked for on another
kind of disk; what an engine alone needs stands with it), or as the latest run of the same tests on this disk did; after
each round as this run did so far. Pure.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Filesystem
from fswizard.model.metrics import BARE_WRITTEN, MKFS_TIME
from fswizard.model.plan import FIRST_LOOK_BYTES, FIRST_LOOK_FILE_BYTES, Plan
from fswizard.model.recipe import Job, Pace, Recipe, Workload
from fswizard.model.result import Result

SEQUENTIAL_BYTES_PER_S = 400e6
AGEING_BYTES_PER_S = 250e6
"""As measured on ext4, XFS and Btrfs in an image of 4 GiB on a virtual disk: 460, 550 and 240 MB/s."""
FILES_MADE_PER_S = 15_000
LARGE_BYTES = 4 << 40
"""From here on a filesystem is of the type `big` (mke2fs.conf(5))."""
REMOUNT_S = 0.1
TRIAL_OVERHEAD_S = 0.5
"""Wipe, mkfs, mount, write back, umount and check."""
BARE_SHARE = 0.1
"""Time for samples of the device without a filesystem, as a share of what the candidates of a round take."""
SSD = Pace(450e6, 70_000, 60e-6)
PACES = {
    "hdd": Pace(150e6, 180, 100e-6, slower=3.0),
    "nvme": Pace(2e9, 150_000, 30e-6, slower=0.7),
    "flash-card": Pace(30e6, 500, 1e-3, slower=5.0),
    "virtual": Pace(1.2e9, 20_000, 100e-6, slower=0.7),
}
"""How fast disks of a kind write below a filesystem, somewhat less than their makers state: Samsung 870 EVO 530 MB/s
and 88,000 writes a second, 970 EVO Plus 3,300 MB/s and more writes than one program asks for; cards of the classes V30
and A1 30 MB/s and 500 writes a second (SD Association); a virtual disk as measured on one. Most of other work is the
processor's, so that a much faster disk saves a third: seven recipes took 0.58 to 0.95 on a virtual one."""
COUNTED = {"directory": 0, "device": 1, "image": 2}
"""How often the kernel counts what mkfs writes, which are zeros mostly: a loop device that must not punch holes into
its image counts the order to do so, and then the zeros."""
LEAST_MEMORY_BYTES = 256 << 20
"""With less, programs such as git and borg begin to run out of memory."""
ROUNDING = 1e-9
SLOWER_THAN_BASELINE = 1.3
"""How many times its box a workload takes, as a mean of candidates: they do what fits into it on the baseline."""
UNKNOWN = 3.0
"""How many times as long as expected work may take on a disk that nothing was measured on yet."""
WITHIN = 2.0
"""A range of time that is told ends at no more than so many times its begin."""


def expected_s(job: Job, *, prepares: bool = True) -> float:
    """Duration in seconds; without `prepares`, what it works on is there already."""
    cost = job.cost
    return (cost.prepare_s if prepares else cost.always_s) + cost.measure_s + REMOUNT_S


def writes_bytes(job: Job, *, prepares: bool = True) -> int:
    """Bytes that the programs write."""
    cost = job.cost
    return (cost.prepare_bytes if prepares else cost.always_bytes) + cost.measure_bytes


def pace_of(drive: Drive | None) -> Pace:
    return PACES.get(drive.kind, SSD) if drive else SSD


def made_bytes(filesystem: Filesystem, size_bytes: int) -> int:
    """What making a filesystem writes: a small one has a smaller journal, and a large one half as many inodes."""
    share_bytes = int(filesystem.made_share * size_bytes / (2 if size_bytes >= LARGE_BYTES else 1))
    return min(share_bytes, filesystem.made_share_bytes or share_bytes) + min(filesystem.made_bytes, size_bytes // 32)


def filling_s(image_bytes: int, kind: str) -> float:
    """The duration of writing a whole scratch image on a kind of disk."""
    return image_bytes / PACES.get(kind, SSD).bytes_per_s


def first_look_s(drive: Drive | None) -> float:
    """The duration of a first look at one candidate: its file is made, copied and synced."""
    pace = pace_of(drive)
    return TRIAL_OVERHEAD_S * pace.slower + 3 * FIRST_LOOK_FILE_BYTES / pace.bytes_per_s


def ageing_s(plan: Plan) -> float:
    """The duration of ageing one candidate."""
    return plan.churn_bytes / AGEING_BYTES_PER_S * pace_of(plan.drive).slower


def memory_limit_bytes(jobs: Iterable[Job], memory_bytes: int) -> int:
    """What buffered jobs are given of a machine's memory: a quarter of their data, in whole MiB, and enough to run.

    0, for no limit, where there are none, or where their data are twice the memory anyway.
    """
    buffered = [job for job in jobs if not job.direct]
    limit_bytes = max(LEAST_MEMORY_BYTES, (room(buffered) // 4) >> 20 << 20)
    return limit_bytes if buffered and 2 * limit_bytes < memory_bytes else 0


def brought(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together in the scratch directory, outside what is measured."""
    return sum({name: size for job in jobs for name, size in job.brings}.values())


def least_image_bytes(jobs: Iterable[Job]) -> float:
    """What a filesystem must have for the jobs of a recipe: a fifth of it stays free."""
    return room(jobs) / 0.8


def free_when_aged_bytes(recipe: Recipe) -> int:
    """What is left free of an aged filesystem for the workloads of a recipe."""
    return round(least_image_bytes(workload.job for workload in recipe.workloads))


def room(jobs: Iterable[Job]) -> int:
    """Bytes that the jobs of a recipe take together at the end."""
    return sum({name: size for job in jobs for name, size in job.leaves}.values())


@dataclass(frozen=True, slots=True)
class Precedent:
    """The latest run of the same tests on the disk of a plan."""

    date: str
    """ISO 8601."""
    trial_s: float
    trial_bytes: float
    """What the devices counted in a trial; 0 where they counted nothing."""
    around_s: float
    """Time before the first trial, and for taking everything away after the last one."""


def precedent(result: Result) -> Precedent | None:
    """What the run of a result took; None where it has no trial."""
    samples = [sample for sample in result.samples if sample.round]
    if not samples or not samples[-1].at_s:
        return None
    first, last = samples[0], samples[-1]
    began_s = first.at_s - (first.value if first.metric == MKFS_TIME.name else 0.0)
    trials = len({(sample.round, sample.candidate) for sample in samples if sample.candidate})
    written = [sample.value for sample in result.trials_written]
    return Precedent(
        result.environment.started[:10],
        (last.at_s - began_s) / trials,
        statistics.fmean(written) if written else 0.0,
        began_s + result.elapsed_s - last.at_s,
    )


def estimate(plan: Plan, before: Precedent | None, *, bare: bool, ceiling_s: float) -> Plan:
    """The plan with the durations and bytes expected on its disk.

    `bare`: samples of the device without a filesystem are taken. `ceiling_s` is the time for measuring what the
    workloads reach in memory.
    """
    pace, target, measured = pace_of(plan.drive), plan.target, plan.measured
    workloads = tuple(_expected(workload, pace) for workload in plan.recipe.workloads)
    made = 0.0
    if target.kind != "directory":
        made = statistics.fmean(made_bytes(each.filesystem, target.room_bytes(each.array)) for each in measured)
    # Images that hold aged candidates are copied over the one that is measured on.
    copied_bytes = len(plan.aged) * target.size_bytes // len(measured)
    writes_bytes = sum(workload.writes_bytes / workload.every for workload in workloads) + COUNTED[target.kind] * made
    # A byte is written as often as copies and parity ask for.
    whole = sum(member.size_bytes for member in target.members)
    spread = statistics.fmean(whole / target.room_bytes(each.array) if each.array else 1.0 for each in measured)
    trial_bytes = int(writes_bytes * spread) + copied_bytes
    trial_s = TRIAL_OVERHEAD_S * pace.slower + (made + 2 * copied_bytes) / pace.bytes_per_s
    trial_s += sum(workload.seconds / workload.every for workload in workloads)
    if bare and (sampled := [workload for workload in workloads if workload.job.runs_bare]):
        once = sum(each.job.timed_bytes(pace) or each.job.cost.measure_bytes for each in sampled)
        trial_bytes += int(BARE_SHARE * trial_s / (sum(each.seconds for each in sampled) or 1.0) * once)
        trial_s *= 1 + BARE_SHARE
    looked = plan.first_look is not None
    filled_bytes = target.filled_bytes + 3 * len(plan.aged) * target.size_bytes + looked * FIRST_LOOK_BYTES
    preparation_s = 1.0 + filled_bytes / pace.bytes_per_s + ceiling_s + len(plan.aged) * ageing_s(plan)
    preparation_s += looked * len(measured) * first_look_s(plan.drive)
    preparation_s += sum(workload.seconds for workload in workloads if workload.box_s)  # to find the amounts
    if before:
        share = before.trial_s / trial_s
        workloads = tuple(replace(workload, seconds=share * workload.seconds) for workload in workloads)
        trial_s, trial_bytes = before.trial_s, int(before.trial_bytes) or trial_bytes
        preparation_s = before.around_s
    return replace(
        plan,
        recipe=replace(plan.recipe, workloads=workloads),
        seconds_per_trial=trial_s,
        writes_bytes_per_trial=trial_bytes,
        preparation_s=preparation_s,
        looks_first=looked,
        measured_on=before.date if before else "",
    )


def _expected(workload: Workload, pace: Pace) -> Workload:
    """The workload with its expected duration and bytes, which are means over the candidates."""
    job, seconds, written_bytes = workload.job, workload.seconds, workload.writes_bytes
    if seconds > job.seconds:
        seconds = job.seconds + (seconds - job.seconds) * pace.slower
    if workload.box_s:
        seconds = min(seconds, SLOWER_THAN_BASELINE * workload.box_s + REMOUNT_S)
    if timed_bytes := job.timed_bytes(pace):
        written_bytes = max(0, written_bytes - job.cost.measure_bytes) + timed_bytes
    return replace(workload, seconds=seconds, writes_bytes=written_bytes)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The whole run, from what is sure to come to what its limits allow."""

    least_s: float
    most_s: float
    least_bytes: float
    most_bytes: float
    measured_on: str = ""
    """Date of the run that it rests on, until this one has figures of its own."""

    def share(self, elapsed_s: float) -> float:
        """Of the run that is done, if it goes on to its end."""
        return min(1.0, elapsed_s / self.most_s) if self.most_s else 0.0


def expected(plan: Plan, earlier: Result | None = None) -> Outlook:
    """Before the run; of one that resumes `earlier`, what is still to come."""
    rounds, candidates = 0, len(plan.measured)
    if earlier:
        rounds, candidates = earlier.whole_rounds, len(plan.with_new(earlier.candidates_left))
    filled_bytes, timed = plan.filled_bytes, all(workload.job.seconds for workload in plan.recipe.workloads)
    begun = outlook(
        plan,
        rounds,
        candidates,
        elapsed_s=plan.preparation_s,
        written_bytes=filled_bytes,
        trial_s=plan.seconds_per_trial,
        trial_bytes=plan.writes_bytes_per_trial,
        least_rounds=1,
        margin=1.0 if plan.measured_on or earlier or timed else UNKNOWN,
    )
    return replace(begun, measured_on="" if earlier else plan.measured_on)


def outlook(
    plan: Plan,
    rounds: int,
    candidates: int,
    *,
    elapsed_s: float,
    written_bytes: float,
    trial_s: float,
    trial_bytes: float,
    least_rounds: int = 0,
    margin: float = 1.0,
) -> Outlook:
    """The whole run, from how far it is, how many `candidates` are still in it, and what a trial takes as it looks now.

    It ends early where all is settled after the minimum of rounds, else by its time, its rounds or its budget.
    `least_rounds` of those to come are sure, where its limits allow them. Trials may take `margin` times as long.
    """
    round_s, round_bytes = candidates * trial_s, candidates * trial_bytes
    ahead = plan.minimum_rounds - rounds
    most = max(0, ahead if not plan.time_limit_s else plan.maximum_rounds - rounds)
    if plan.write_budget_bytes is not None and round_bytes:
        most = min(most, max(0, int((plan.write_budget_bytes - written_bytes) / round_bytes + ROUNDING)))
    most_s = elapsed_s + margin * most * round_s
    if plan.time_limit_s:
        while most and not another_round_fits(plan, rounds + most - 1, elapsed_s + (most - 1) * round_s, round_s):
            most -= 1
        # The minimum of rounds may take longer than the limit.
        most_s = min(most_s, max(plan.time_limit_s, elapsed_s + most * round_s))
    least = min(most, max(least_rounds, ahead))
    return Outlook(
        max(elapsed_s + least * round_s, most_s / WITHIN),
        max(most_s, elapsed_s),
        written_bytes + least * round_bytes,
        written_bytes + most * round_bytes,
    )


def another_round_fits(plan: Plan, rounds_done: int, now_s: float, trials_s: float) -> bool:
    """Whether a further round may begin, `now_s` seconds into the run; its trials take `trials_s`.

    The minimum of rounds is gone through even past the time limit, up to twice the limit:
    fewer rounds give no interval, and the time spent on them would be lost.
    """
    if rounds_done >= plan.maximum_rounds:
        return False
    if not plan.time_limit_s:
        return True
    if rounds_done < plan.minimum_rounds:
        return now_s < 2 * plan.time_limit_s
    return now_s + (1 + BARE_SHARE) * trials_s <= plan.time_limit_s


def round_bytes(plan: Plan, result: Result, survivors: Collection[str]) -> float:
    """What another round is expected to write: what the devices counted in earlier ones, else what the plan says."""
    expected = 0.0
    for name in survivors:
        counted = [sample.value for sample in result.trials_written if sample.candidate == name]
        expected += statistics.median(counted) if counted else plan.writes_bytes_per_trial
    bare = [sample.value for sample in result.samples if sample.metric == BARE_WRITTEN.name]
    return expected + (statistics.median(bare) if bare else 0.0)


def affordable_rounds(
    plan: Plan, result: Result, survivors: Collection[str], *, before_bytes: float = 0.0
) -> int | None:
    """How many more rounds fit into the write budget; None where it sets no limit.

    `before_bytes` were written in trials before the run was resumed: its budget counts from there.
    """
    needed = round_bytes(plan, result, survivors)
    if plan.write_budget_bytes is None or not needed:
        return None
    return max(0, int((plan.write_budget_bytes + before_bytes - result.written_bytes) / needed))
