"""Duration, writes and space of a run.

Before a run, estimates rest on the kind of disk (the figures are those of an ordinary SATA SSD unless a pace is passed;
costs of a single engine are defined with the engine). The first look then contributes rate and flush of this disk, and
the amounts found on it. After each round the run's own figures take over. Pure functions.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from fswizard.model.drive import Drive
from fswizard.model.metrics import BARE_WRITTEN
from fswizard.model.plan import FIRST_LOOK_BYTES, FIRST_LOOK_FILE_BYTES, Plan
from fswizard.model.recipe import REMOUNT_S, Job, Pace, Recipe, Workload
from fswizard.model.result import Result

SEQUENTIAL_BYTES_PER_S = 400e6
AGEING_BYTES_PER_S = 250e6
"""Measured on ext4, XFS and Btrfs in an image of 4 GiB on a virtual disk: 460, 550 and 240 MB/s."""
FILES_MADE_PER_S = 15_000
TRIAL_OVERHEAD_S = 0.5
"""Wipe, mkfs, mount, write back, umount and check."""
BARE_SHARE = 0.1
"""Duration of the samples of the bare device, as a share of the duration of a round's candidates."""
SSD = Pace(450e6, 70_000, 60e-6)
PACES = {
    "hdd": Pace(150e6, 180, 100e-6, slower=3.0),
    "nvme": Pace(2e9, 150_000, 30e-6, slower=0.7),
    "flash-card": Pace(30e6, 500, 1e-3, slower=5.0),
    "virtual": Pace(1.2e9, 20_000, 100e-6, slower=0.7),
}
"""Write speed of disks by kind, below a filesystem and somewhat below the makers' figures: Samsung 870 EVO 530 MB/s and
88,000 writes a second, 970 EVO Plus 3,300 MB/s and more writes than one program requests; cards of the classes V30 and
A1 30 MB/s and 500 writes a second (SD Association); a virtual disk as measured on one. Most other work is bound by the
processor, so a much faster disk saves only a third: seven recipes took 0.58 to 0.95 on a virtual one."""
COUNTED = {"directory": 0, "device": 1, "image": 2}
"""How often the kernel counts the writes of mkfs, which are mostly zeros: a loop device that must not punch holes into
its image counts the request to do so, and then the zeros."""
LEAST_MEMORY_BYTES = 256 << 20
"""With less memory, programs such as git and borg begin to fail."""
UNKNOWN = 3.0
"""Factor by which a run may exceed its expected duration on a disk without any measurement."""
WITHIN = 2.0
"""Largest ratio between the ends of a displayed range of durations."""


def expected_s(job: Job, *, prepares: bool = True) -> float:
    """Duration on an ordinary SATA SSD; without `prepares`, the files it works on exist already."""
    return (job.cost.prepare_s if prepares else 0.0) + job.cost.measure_s + REMOUNT_S


def writes_bytes(job: Job, *, prepares: bool = True) -> int:
    """Bytes written by the programs."""
    return (job.cost.prepare_bytes if prepares else 0) + job.cost.measure_bytes


def room(jobs: Iterable[Job], place: str = "MOUNT") -> int:
    """Space in bytes that a recipe's jobs occupy together at the end: on a candidate, or outside, in `SCRATCH`."""
    files = {path: size for job in jobs for path, size in job.leaves if path.startswith(f"{place}/")}
    return sum(files.values())


def needed_bytes(recipe: Recipe) -> int:
    """Space that a recipe needs on a filesystem, a fifth of it to stay free."""
    return round(room(workload.job for workload in recipe.workloads) / 0.8)


def memory_limit_bytes(jobs: Iterable[Job], memory_bytes: int) -> int:
    """Memory limit for buffered jobs: a quarter of their data, in whole MiB, but enough for programs to run.

    0, for no limit, without buffered jobs, or if their data are twice the memory anyway.
    """
    buffered = [job for job in jobs if not job.direct]
    limit_bytes = max(LEAST_MEMORY_BYTES, (room(buffered) // 4) >> 20 << 20)
    return limit_bytes if buffered and 2 * limit_bytes < memory_bytes else 0


def pace_of(drive: Drive | None) -> Pace:
    return PACES.get(drive.kind, SSD) if drive else SSD


def estimate(plan: Plan) -> Plan:
    """The plan with the durations and bytes expected on a disk of its kind."""
    pace, target, aged = pace_of(plan.drive), plan.target, len(plan.aged)
    workloads = list[Workload]()
    for workload in plan.recipe.workloads:
        job, seconds, written_bytes = workload.job, workload.seconds, workload.writes_bytes
        if seconds > job.seconds:
            seconds = job.seconds + (seconds - job.seconds) * pace.slower
        if workload.box_s:
            seconds = min(seconds, workload.takes_s(workload.box_s))
        if timed_bytes := job.timed_bytes(pace):
            written_bytes = max(0, written_bytes - job.cost.measure_bytes) + timed_bytes
        workloads.append(replace(workload, seconds=seconds, writes_bytes=written_bytes))
    recipe = replace(plan.recipe, workloads=tuple(workloads))
    made, written = list[int](), list[float]()
    for candidate in plan.candidates:
        filesystem, room_bytes = candidate.filesystem, target.room_bytes(candidate.array)
        # mkfs; a small filesystem has a smaller journal.
        share_bytes = int(filesystem.made_share * room_bytes)
        share_bytes = min(share_bytes, filesystem.made_share_bytes or share_bytes)
        made.append(share_bytes + min(filesystem.made_bytes, room_bytes // 32))
        # A byte is written as often as copies and parity ask for.
        copies = sum(member.size_bytes for member in target.members) / room_bytes if candidate.array else 1.0
        written.append((recipe.trial_bytes + COUNTED[target.kind] * made[-1]) * copies)
    # Images that hold aged candidates are copied over the one that is measured on.
    copied_bytes = aged * target.size_bytes // len(plan.candidates)
    trial_bytes = statistics.fmean(written) + copied_bytes
    trial_s = TRIAL_OVERHEAD_S * pace.slower + recipe.trial_s
    trial_s += (statistics.fmean(made) + 2 * copied_bytes) / pace.bytes_per_s
    if target.kind != "directory" and runs_bare(plan):
        trial_bytes += BARE_SHARE * recipe.trial_bytes
        trial_s *= 1 + BARE_SHARE
    preparation_s = 1.0 + aged * plan.churn_bytes / AGEING_BYTES_PER_S * pace.slower
    preparation_s += sum(workload.seconds for workload in recipe.workloads if workload.box_s)  # to find the amounts
    filled_bytes = target.filled_bytes + 3 * aged * target.size_bytes
    looks = plan.first_look is not None
    if looks:
        filled_bytes += FIRST_LOOK_BYTES
        # At each candidate: creating, copying and syncing its file.
        look_s = TRIAL_OVERHEAD_S * pace.slower + 3 * FIRST_LOOK_FILE_BYTES / pace.bytes_per_s
        preparation_s += len(plan.candidates) * look_s
    return replace(
        plan,
        recipe=recipe,
        seconds_per_trial=trial_s,
        writes_bytes_per_trial=int(trial_bytes),
        preparation_s=preparation_s + filled_bytes / pace.bytes_per_s,
        looks_first=looks,
    )


def runs_bare(plan: Plan) -> bool:
    """Whether rounds include a sample of the device without a filesystem."""
    return any(workload.job.runs_bare for workload in plan.recipe.workloads)


def as_before(plan: Plan, result: Result) -> Plan:
    """The plan with durations and bytes of its trials so far; unchanged if there are none."""
    times = [sample.at_s for sample in result.samples if sample.round and sample.candidate]
    if not times or not times[-1]:
        return plan
    written = [sample.value for sample in result.trials_written]
    return replace(
        plan,
        seconds_per_trial=(times[-1] - times[0]) / len(result.trials),
        writes_bytes_per_trial=int(statistics.fmean(written)) if written else plan.writes_bytes_per_trial,
        preparation_s=times[0] + result.elapsed_s - times[-1],
    )


def looked_at(plan: Plan, rates: Collection[float]) -> Plan:
    """The plan after a first look copied files onto candidates at `rates`, in bytes per second including the flush.

    Workloads with neither a fixed duration nor a time box are slowed down by the ratio of expected to actual speed.
    """
    if plan.first_look is None:
        return plan
    cost, pace = plan.first_look.job.cost, pace_of(plan.drive)
    expected_rate = cost.measure_bytes / (cost.measure_s * pace.slower)
    longer = expected_rate / statistics.fmean(rates) - 1
    untimed_s = sum(each.seconds - each.job.seconds for each in plan.recipe.workloads if not each.box_s)
    return replace(
        plan,
        preparation_s=plan.preparation_s + longer * plan.target.filled_bytes / pace.bytes_per_s,
        seconds_per_trial=plan.seconds_per_trial + longer * untimed_s,
    )


@dataclass(frozen=True, slots=True)
class Outlook:
    """Range of durations and writes of the whole run, from the certain minimum to the maximum within its limits."""

    least_s: float
    most_s: float
    least_bytes: float
    most_bytes: float

    def share(self, elapsed_s: float) -> float:
        """Completed share of the run, assuming that it takes all its time."""
        return min(1.0, elapsed_s / self.most_s) if self.most_s else 0.0


def expected(plan: Plan, earlier: Result | None = None, *, looked: bool = False) -> Outlook:
    """Estimate before the first round; for a run that resumes `earlier`, of the remainder.

    `looked`: figures of the plan were measured on its disk.
    """
    rounds, candidates = 0, len(plan.candidates)
    if earlier:
        rounds, candidates = earlier.whole_rounds, len(earlier.candidates_left)
    timed = all(workload.job.seconds for workload in plan.recipe.workloads)
    return outlook(
        plan,
        rounds,
        round_s=candidates * plan.seconds_per_trial,
        round_bytes=candidates * plan.writes_bytes_per_trial,
        elapsed_s=plan.preparation_s,
        written_bytes=plan.filled_bytes,
        least_rounds=1,
        margin=1.0 if earlier or timed or looked else UNKNOWN,
    )


def outlook(
    plan: Plan, rounds: int, *,
    round_s: float, round_bytes: float, elapsed_s: float, written_bytes: float,
    least_rounds: int = 0, margin: float = 1.0,
) -> Outlook:  # fmt: skip
    """Extrapolate the whole run after `rounds` rounds from its current duration and the latest cost of a round.

    The run ends once everything is settled after the minimum of rounds, else at its limit of time, rounds or bytes. At
    least `least_rounds` more rounds are assumed if the limits allow. Rounds may take `margin` times as long.
    """
    ahead = plan.minimum_rounds - rounds
    most = max(0, plan.maximum_rounds - rounds if plan.time_limit_s else ahead)
    most = int(min(most, affordable_rounds(plan, round_bytes, written_bytes)))
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
    """Whether another round may begin `now_s` seconds into the run; its trials take `trials_s`.

    The minimum of rounds is completed even past the time limit, up to twice the limit: fewer rounds give no interval,
    and the time spent on them would be lost.
    """
    if rounds_done >= plan.maximum_rounds:
        return False
    if not plan.time_limit_s:
        return True
    if rounds_done < plan.minimum_rounds:
        return now_s < 2 * plan.time_limit_s
    return now_s + trials_s * (1 + BARE_SHARE * runs_bare(plan)) <= plan.time_limit_s


def round_bytes(plan: Plan, result: Result, survivors: Collection[str]) -> float:
    """Expected writes of another round: those counted by the devices in earlier rounds, else those of the plan."""
    expected = 0.0
    for name in survivors:
        counted = [sample.value for sample in result.trials_written if sample.candidate == name]
        expected += statistics.median(counted) if counted else plan.writes_bytes_per_trial
    bare = [sample.value for sample in result.samples if sample.metric == BARE_WRITTEN.name]
    return expected + (statistics.median(bare) if bare else 0.0)


def affordable_rounds(plan: Plan, round_bytes: float, written_bytes: float) -> float:
    """How many more rounds fit into the write budget after `written_bytes` of this run; infinity without a budget."""
    if plan.write_budget_bytes is None or not round_bytes:
        return math.inf
    return max(0, int((plan.write_budget_bytes - written_bytes) / round_bytes + 1e-9))
