"""A machine for the wizard: well-known disks, a clock that stands still, and runs that follow a script."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from fswizard.bench.disk import Offer, Question
from fswizard.bench.journal import Leftover
from fswizard.drives.probe import ProbePlan, ProbeProgress, ProbeResult
from fswizard.drives.probe import Stage as ProbeStage
from fswizard.drives.probe_target import ProbeTarget
from fswizard.errors import FswizardError, Missing, Refused, UsageError
from fswizard.filesystems import Availability, parse_candidates
from fswizard.model.drive import Drive, DriveUse, Evidence, Partition, SmrVerdict
from fswizard.model.events import (
    CommandFinished,
    CommandStarted,
    DoubtRaised,
    Event,
    RatioUpdated,
    RunEnded,
    RunStarted,
    SampleTaken,
    Stage,
    Step,
    StepFailed,
    StepProgressed,
    StepStarted,
)
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Layout
from fswizard.model.plan import Member, Plan, PlannedCommand, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Doubt, Environment, Failure, Result, Sample
from fswizard.model.units import size_text
from fswizard.recipes import parse
from fswizard.results import Ending, Entry, Header
from fswizard.stats import decide, judge
from fswizard.tui.app import FswizardApp
from fswizard.tui.backend import Place, ThisMachine
from fswizard.tui.running import Running
from fswizard.tui.runstate import advance
from fswizard.tui.wishes import StepName, Wishes

TB = 10**12
ENVIRONMENT = Environment(
    "0.1.0",
    "2026-01-02T03:04:05Z",
    "6.1.0-18-amd64",
    "Debian GNU/Linux 12 (bookworm)",
    "box",
    "Example CPU",
    16 << 30,
    {"fio": "3.33", "mkfs.xfs": "6.1.0"},
)

ARCHIVE = Drive(
    "sdb",
    8_001_563_222_016,
    model="ST8000AS0002-1NA17Z",
    serial="Z8400000",
    kind="hdd",
    bus="sata",
    rotational=True,
    rpm=5980,
    health="good",
    temperature_c=34,
    partitions=(
        Partition(
            "sdb1", 1 << 20, 8_001_561_124_864, filesystem="ext4", label="archive", mount_point="/mnt/archive",
            used_bytes=2_911_000_000_000, free_bytes=5_090_000_000_000,
            uses=(DriveUse("mounted", "sdb1 is mounted on /mnt/archive"),),
        ),
    ),
    smr=SmrVerdict(
        "drive-managed",
        "strong",
        (
            Evidence("model-table", "drive-managed", "strong",
                     "The table of models names ST8000AS0002 as shingled (Seagate Archive HDD data sheet)."),
            Evidence("smartctl-family", "drive-managed", "strong",
                     "smartctl's database calls the family “Seagate Archive HDD (SMR)”."),
            Evidence("trim-absent", "unknown", "weak",
                     "It offers no TRIM, which for Seagate's shingled disks says nothing."),
        ),
        (
            "Random writes go into a cache of about 20 GB; beyond it they become very slow.",
            "Metadata in one place helps ext4 here: ext4:packed_meta_blocks.",
        ),
    ),
)  # fmt: skip
SSD = Drive(
    "nvme0n1",
    2_000_398_934_016,
    model="Samsung SSD 990 PRO 2TB",
    serial="S7KHNJ0W000000",
    kind="nvme",
    bus="nvme",
    discard=True,
    health="good",
    temperature_c=41,
    partitions=(
        Partition("nvme0n1p1", 1 << 20, 1 << 30, filesystem="vfat", mount_point="/boot/efi",
                  used_bytes=8_000_000, free_bytes=1_060_000_000),
        Partition("nvme0n1p2", 1 << 30, 512 << 30, filesystem="ext4", label="system", mount_point="/",
                  used_bytes=210_000_000_000, free_bytes=312_000_000_000),
        Partition("nvme0n1p3", 513 << 30, 1_449_000_000_000, filesystem="btrfs", label="home", mount_point="/home",
                  used_bytes=930_000_000_000, free_bytes=519_000_000_000),
    ),
    smr=SmrVerdict("not-a-hard-disk", "certain"),
)  # fmt: skip
BRIDGED = Drive(
    "sdc",
    256_060_514_304,
    model="ASMT109x- Safe",
    kind="unknown",
    bus="usb",
    bridge="ASMedia ASM1153E",
    removable=True,
    smr=SmrVerdict(
        "unknown",
        "weak",
        (Evidence("bridge", "unknown", "weak", "The USB bridge answers instead of the disk."),),
        ("Ask through the bridge: smartctl -d sat -i /dev/sdc",),
    ),
)
NEW = Drive(
    "sde",
    8_001_563_222_016,
    model="ST8000DM004-2U9188",
    serial="WSC0N3W0",
    stable_name="/dev/disk/by-id/ata-ST8000DM004-2U9188_WSC0N3W0",
    kind="hdd",
    bus="usb",
    bridge="ASMedia ASM1153E",
    rotational=True,
    health="good",
    smr=SmrVerdict(
        "drive-managed",
        "strong",
        (Evidence("model-table", "drive-managed", "strong",
                  "The table of models names ST8000DM004 as shingled (Seagate BarraCuda data sheet)."),),
    ),
)  # fmt: skip
"""A disk fresh from the shop: nothing is on it."""
OLD = replace(
    NEW, name="sdf", serial="WSC00LD0", stable_name="/dev/disk/by-id/ata-ST8000DM004-2U9188_WSC00LD0", partitions=(
        Partition("sdf1", 1 << 20, 4_000 * 10**9, filesystem="ext4", label="photos",
                  stable_name="/dev/disk/by-partuuid/11111111-01"),
    ),
)  # fmt: skip
"""The same, with something on it that nobody uses."""
HOSTILE = replace(
    BRIDGED, name="sdd", model="[/b] [@click=app.quit]x\\x1b]52;c;aGk=\\x07\\u202egpj", partitions=(
        Partition("sdd1", 1 << 20, 200 * 10**9, filesystem="ext4", label="[red]$(reboot)", mount_point="/media/[/]"),
    ),
)  # fmt: skip


_FIO = """
[[workload]]
name = "{name}"
title = "{title}"
engine = "fio"
metric = "{metric}"
weight = {weight}
why = "{why}"
rw = "{rw}"
block = "{block}"
size = "512M"
seconds = 5
depth = 4
"""
_TREE = """
[[workload]]
name = "{operation}-folder"
title = "{title}"
engine = "tree"
metric = "duration"
weight = {weight}
why = "{why}"
operation = "{operation}"
shape = "mixed"
files = 4000
total = "512M"
"""
_LARGE = _FIO.format(
    name="large-files", title="Storing large files", metric="throughput", weight=2, rw="write", block="1M",
    why="A new file is written once, in large blocks past the page cache, then fsync.",
)  # fmt: skip
_BACK = _FIO.format(
    name="read-back", title="Reading large files back", metric="throughput", weight=2, rw="read", block="1M",
    why="Restoring from the archive.",
)  # fmt: skip
_SMALL = _FIO.format(
    name="random-write", title="Scattered small writes", metric="iops", weight=1, rw="randwrite", block="4K",
    why="What a database asks of its disk.",
)  # fmt: skip
_COPY = _TREE.format(
    operation="copy", title="Copying a folder of mixed files", weight=1,
    why="A project or a photo collection copied with cp -a, cold.",
)  # fmt: skip
_DELETE = _TREE.format(
    operation="delete", title="Deleting that folder", weight=0.5, why="Tidying up: rm -rf of the copy.",
)  # fmt: skip


def _recipe(name: str, title: str, minutes: int, image: str, *workloads: str) -> Recipe:
    """A recipe that does not change when the shipped ones do, so that pictures of it stay the same."""
    why = "Large files come in rarely and stay; a backup is read back once in a while."
    head = f'schema = 1\nname = "{name}"\ntitle = "{title}"\nwhy = "{why}"\nminutes = {minutes}\nimage = "{image}"\n'
    return parse(head + 'candidates = ["ext4", "xfs", "btrfs"]\n' + "".join(workloads), f"{name}.toml")


RECIPES = (
    _recipe("archive-disk", "Archive disk", 15, "5G", _LARGE, _BACK, _SMALL, _COPY, _DELETE),
    _recipe("desktop-ssd", "Desktop SSD", 8, "4G", _LARGE, _SMALL, _COPY),
    _recipe("quick", "Quick look", 3, "2G", _LARGE, _SMALL),
)


def probe_progress(count: int = 200) -> tuple[ProbeProgress, ...]:
    """What the probe of a shingled disk tells: filled in 10 s, then stalls, then less and less."""
    told = []
    for number in range(count):
        at_s = 0.5 * number
        stage: ProbeStage = "fill" if number < 20 else "listen" if number < 150 else "press"
        rate = {"fill": 180e6, "listen": 52e6, "press": 48e6 if number < 180 else 6e6}[stage]
        rate *= 1 + 0.08 * math.sin(number * 0.7)
        stalls = max(0, (min(number, 150) - 20) // 24)
        stalled = stage == "listen" and number > 24 and (number - 20) % 24 == 0
        rate, worst_s = (rate * 0.4, 0.31) if stalled else (rate, 0.03)
        told.append(ProbeProgress(stage, at_s, 180 - at_s, int(60e6 * at_s), rate, worst_s, stalls))
    return tuple(told)


STALLS = ProbeResult(
    "drive-managed",
    Evidence("periodic-stall", "drive-managed", "strong",
             "6 times in a row it stalls after 240 writes, for 310 ms (21 ms otherwise)."),
    100.0, 6_000_000_000,
)  # fmt: skip
NOTHING_SHOWN = ProbeResult(
    "inconclusive",
    Evidence("probe", "unknown", "weak",
             "31.2 GB written in 180 s showed neither a stall at a fixed count of writes nor a cliff, "
             "which proves nothing."),
    180.0, 31_200_000_000,
)  # fmt: skip


class Clock:
    """Time that a test moves on."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class FakeMachine(ThisMachine):
    """Three disks, root's rights, three filesystems; plans are real in all but the machine, runs are scripted.

    A run at a pace (`event_s`) goes on until the test stops it, however slow the machine is.
    """

    def __init__(
        self,
        *,
        drives: tuple[Drive, ...] = (ARCHIVE, SSD, BRIDGED),
        privilege: str = "root",
        earlier: bool = True,
        leftovers: tuple[Leftover, ...] = (),
        event_s: float = 0.0,
        fails: FswizardError | None = None,
        rounds: int = 4,
    ) -> None:
        self.drives = drives
        self.rights = privilege
        self.earlier = earlier
        self.left = list(leftovers)
        self.event_s = event_s
        self.fails = fails
        self.rounds = rounds
        self.plans: list[Plan] = []
        self.sessions: list[FakeSession] = []
        self.cleaned: list[Leftover] = []
        self.probes: list[ProbeTarget] = []
        self.probe_script: tuple[ProbeProgress | ProbeResult, ...] = (*probe_progress(), STALLS)
        """Without a result at its end it goes on until it is stopped."""

    def watch(self, stopped: Callable[[], bool]) -> Iterator[tuple[Drive, ...]]:
        shown = None
        while not stopped():
            if self.drives is not shown:
                shown = self.drives
                yield tuple(replace(d, health="", temperature_c=None, pending="asking smartctl") for d in shown)
            time.sleep(0.02)

    def details(self, drive: Drive) -> Drive:
        return next(known for known in self.drives if known.name == drive.name)

    def place(self, drive: Drive | None) -> Place:
        if drive is None or drive.name == "sdb":
            return Place("/mnt/archive", "ext4", 5_090_000_000_000, "sdb")
        if drive.name == "nvme0n1":
            return Place("/home/ada", "btrfs", 519_000_000_000, "nvme0n1")
        remark = f"There is no mounted filesystem on {drive.name} ({drive.model}) that you can write to."
        return Place("/home/ada", "btrfs", 519_000_000_000, "nvme0n1", remark)

    def named_place(self, directory: str) -> Place:
        if not directory.startswith("/"):
            raise UsageError(f"{directory} is not a directory.", "Name a directory that exists.")
        return Place(directory, "ext4", 312_000_000_000, "nvme0n1")

    def offers(self, drive: Drive, recipe: Recipe | None) -> tuple[Offer, ...]:
        return tuple(offer(drive, part) for part in (*drive.partitions, None))

    def questions(self, plan: Plan) -> tuple[Question, ...]:
        pairs = zip(self._given_up(plan), plan.losses)
        return tuple(
            Question(f"{drive.name} ({drive.model})", (drive.serial,), "serial number", loss[:7] == "Nothing")
            for drive, loss in pairs
        )

    def confirmed(self, plan: Plan, typed: str) -> Plan:
        drives = self._given_up(plan)
        if typed != ",".join(drive.serial for drive in drives):
            names = ", ".join(drive.name for drive in drives)
            raise Refused(f"'{typed}' is not the serial number of {names}.", "Look again which disk it is.")
        first, *others = typed.split(",")
        members = tuple(replace(member, identifier=serial) for member, serial in zip(plan.target.others, others))
        return replace(plan, target=replace(plan.target, identifier=first, others=members))

    def _given_up(self, plan: Plan) -> list[Drive]:
        paths = [member.path for member in plan.target.members]
        return [next(drive for drive in self.drives if path in paths_on(drive)) for path in paths]

    def layout_availability(self, layout: Layout) -> Availability:
        return Availability(True, version="4.2")

    def probe_target(self, path: str, serial: str) -> ProbeTarget:
        drive = next(d for d in self.drives if path in paths_on(d) or self.place(d).directory == path)
        device = path.startswith("/dev/")
        if device and serial != drive.serial:
            raise Refused(f"What may lie on {drive.name} would be overwritten.", f"Type {drive.serial}.")
        plan = ProbePlan(path, 512 << 20, 81.0, not device, 256 << 30, 180.0, 36 * 10**9)
        return ProbeTarget(plan, drive, cast(Any, object()) if device else None, serial)

    def probe(self, target: ProbeTarget, stopped: Callable[[], bool]) -> Iterator[ProbeProgress | ProbeResult]:
        self.probes.append(target)
        yield from self.probe_script
        if not isinstance(self.probe_script[-1], ProbeResult):
            while not stopped():
                time.sleep(0.02)
            evidence = Evidence("probe", "unknown", "weak", "2.1 GB written in 12 s: too little to tell anything.")
            yield ProbeResult("inconclusive", evidence, 12.0, 2_100_000_000)

    def recipes(self) -> tuple[Recipe, ...]:
        return RECIPES

    def mounted(self) -> tuple[Place, ...]:
        return (
            Place("/home/ada", "btrfs", 519_000_000_000, "nvme0n1"),
            Place("/var/tmp", "ext4", 312_000_000_000, "nvme0n1"),
            Place("/mnt/archive", "ext4", 5_090_000_000_000, "sdb"),
        )

    def availability(self, filesystem: Filesystem) -> Availability:
        usable = {"ext4": "1.47.0", "xfs": "6.1.0", "btrfs": "6.2", "ext2": "1.47.0", "ext3": "1.47.0"}
        if filesystem.name in usable:
            return Availability(True, version=usable[filesystem.name])
        return Availability(False, f"{filesystem.mkfs_program} is not installed.", "sudo apt install it")

    def make_plan(self, wishes: Wishes) -> Plan:
        if self.fails is not None:
            raise self.fails
        plan = plan_for(self, wishes)
        self.plans.append(plan)
        return plan

    def privilege(self) -> Any:
        return self.rights

    def authorise(self) -> None:
        if self.rights == "none":
            raise Missing("Making and mounting filesystems needs root, and sudo is not installed.")
        self.rights = "sudo"

    def open_session(self, plan: Plan) -> FakeSession:
        session = FakeSession(plan, self.rounds, self.event_s)
        self.sessions.append(session)
        return session

    def resumable(self) -> tuple[Entry, ...]:
        return self.history()[1:]

    def take_up(self, path: Path) -> FakeSession:
        if path.name != "old.jsonl":
            raise UsageError("This run is complete: more rounds would not settle more.")
        session = self.open_session(plan_for(self, chosen()))
        session.path = path
        return session

    def history(self) -> tuple[Entry, ...]:
        if not self.earlier:
            return ()
        header = Header(1, "2025-12-31T18:20:00Z", "quick", "image", ("ext4", "xfs", "btrfs"), "Samsung SSD 990 PRO")
        older = replace(header, started="2025-11-02T09:41:00Z", recipe="archive-disk", drive="ST8000AS0002-1NA17Z")
        return (
            Entry(Path("/results/new.jsonl"), header, Ending(171.0, "finished", "All tie.", ("xfs", "ext4"), 5)),
            Entry(Path("/results/old.jsonl"), older, None),
        )

    def load(self, path: Path) -> Result:
        for session in self.sessions:
            if session.path == path:
                return session.result
        return finished_result(self)

    def leftovers(self) -> tuple[Leftover, ...]:
        return tuple(self.left)

    def clean(self, leftover: Leftover) -> None:
        self.left.remove(leftover)
        self.cleaned.append(leftover)


def paths_on(drive: Drive) -> tuple[str, ...]:
    return (drive.stable_name or f"/dev/{drive.name}", *(p.stable_name or f"/dev/{p.name}" for p in drive.partitions))


def offer(drive: Drive, part: Partition | None) -> Offer:
    """In the words of the real one, as far as these disks need them."""
    name, size_bytes = (part.name, part.size_bytes) if part else (drive.name, drive.size_bytes)
    path = (part or drive).stable_name or f"/dev/{name}"
    parts = (part,) if part else drive.partitions
    against = [f"{p.name} is mounted on {p.mount_point}." for p in parts if p.mount_point]
    if part is None and parts:
        names = ", ".join(p.name for p in parts)
        against.append(f"{name} has {len(parts)} partition{'s' * (len(parts) > 1)}: {names}.")
    if not drive.serial:
        against.append(f"{drive.name} tells neither a serial number nor a WWN, so it cannot be confirmed.")
    hint = f"Unmount it first: umount {parts[0].mount_point}" if parts and parts[0].mount_point else "Name one of them."
    found = tuple(f'{p.name}: {p.filesystem} "{p.label}", {size_text(p.size_bytes)}' for p in parts)
    nothing = f"Nothing was found on {name} ({size_text(size_bytes)}): no partition table and no filesystem."
    refused = Refused(" ".join(against), hint) if against else None
    return Offer(path, name, size_bytes, part is None, not found, found or (nothing,), drive.serial, refused)


class FakeSession:
    """Tells the events of a script."""

    def __init__(self, plan: Plan, rounds: int, event_s: float) -> None:
        self.plan = plan
        self.path = Path(f"/results/{plan.recipe.name}.jsonl")
        self.error: FswizardError | None = None
        self.result = Result(ENVIRONMENT, plan)
        self._going = asyncio.Event()
        self._going.set()
        self.undone = False
        self.skipped = 0
        self._rounds = rounds
        self._event_s = event_s
        self._stopped = asyncio.Event()

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def pause(self) -> None:
        self._going.clear()

    def resume(self) -> None:
        self._going.set()

    def skip(self) -> None:
        self.skipped += 1

    def stop(self) -> None:
        self._stopped.set()
        self._going.set()

    async def events(self) -> AsyncIterator[Event]:
        at_s = 0.0
        try:
            for event in script(self.plan, self._rounds, endless=self._event_s > 0):
                await self._going.wait()
                await asyncio.sleep(self._event_s)
                if self._stopped.is_set():
                    break
                self.result = kept(self.result, event)
                at_s = event.at_s
                yield event
            else:
                return
            step = Step(9999, "clean", "detaching and removing the image")
            yield StepStarted(at_s + 0.1, step)
            await asyncio.sleep(self._event_s)
            ended = RunEnded(at_s + 0.4, "stopped", "It was ended before it was complete; what was measured is kept.")
            self.result = kept(self.result, ended)
            yield ended
        finally:
            self.undone = True


SPEED = {"ext4": 1.0, "xfs": 1.17, "btrfs": 0.93, "nilfs2": 0.5}
TILT = {"xfs": (1.06, 1.02, 1.9, 1.01, 0.72, 0.8), "btrfs": (1.03, 1.0, 0.74, 0.97, 0.95, 1.08)}


def figure(candidate: Candidate, workload: Workload, number: int, chance: random.Random) -> float:
    """A value that repeats: what the filesystem is like at this workload, with 2 % of noise."""
    known = TILT.get(candidate.filesystem.name, (1.0,))
    tilt = known[number % len(known)] * (1.01 if "noatime" in candidate.mount_options else 1.0)
    base = {"B/s": 188e6, "1/s": 2_300.0, "s": 4.2}.get(workload.metric.unit, 1.0) * (1 + 0.4 * number)
    value = base * (tilt if workload.metric.better == "higher" else 1 / tilt)
    return value * math.exp(chance.gauss(0, 0.02))


def script(plan: Plan, rounds: int = 4, *, fail: str = "nilfs2", endless: bool = False) -> Iterator[Event]:
    """The events of a run that goes well, except that `fail` runs out of room; an endless one settles nothing."""
    return _Script(plan, rounds, fail, endless).events()


class _Script:
    def __init__(self, plan: Plan, rounds: int, fail: str, endless: bool) -> None:
        self.plan = plan
        self.endless = endless
        self.rounds = rounds
        self.fail = fail
        self.chance = random.Random(plan.seed)
        self.at_s = 0.0
        self.steps = 0
        self.result = Result(ENVIRONMENT, plan)
        self.step = Step(0, "prepare", "")
        self.total = len(plan.candidates) * rounds * len(plan.recipe.workloads)
        self.done = 0

    def events(self) -> Iterator[Event]:
        for event in self._events():
            self.result = kept(self.result, event)
            yield event

    def _events(self) -> Iterator[Event]:
        yield RunStarted(0.0, self.plan, ENVIRONMENT)
        if self.plan.target.kind == "image":
            yield from self._simple("fill", "reserving and filling the scratch image", ("fallocate", "IMAGE"), 6.0)
            yield self._begin("raw", "asking what the bare device can do", 0, "", "")
            for workload in self.plan.recipe.workloads:
                if workload.engine == "fio":
                    value = (188e6 if workload.metric.unit == "B/s" else 2_400.0) * 1.3
                    yield self._sample("", 0, workload, value)
        yield DoubtRaised(self.at_s, Doubt("cache-not-exceeded", "The disk's cache of about 20 GB was not exceeded."))
        survivors = {candidate.name for candidate in self.plan.candidates}
        for number in itertools.count(1) if self.endless else range(1, self.rounds + 1):
            for candidate in self.plan.candidates:
                if candidate.name in survivors:
                    yield from self._trial(candidate, number)
                    if candidate.filesystem.name == self.fail:
                        survivors.discard(candidate.name)
            judgement = judge(self.result)
            yield RatioUpdated(self.at_s, judgement)
            if self.endless:
                continue
            decision = decide(judgement, self.plan, survivors)
            survivors &= set(decision.survivors)
            if decision.stop:
                break
        yield RunEnded(self.at_s, "finished", "One candidate is proven ahead of all others.")

    def _trial(self, candidate: Candidate, number: int) -> Iterator[Event]:
        if not candidate.directory:
            yield from self._simple(
                "format", f"formatting with {candidate.filesystem.mkfs_program}",
                candidate.mkfs_command("/dev/loop0", scratch=True), 0.4, number=number, candidate=candidate.name,
            )  # fmt: skip
            yield from self._simple(
                "mount",
                "mounting",
                candidate.mount_command("/dev/loop0", "/run/fswizard"),
                0.1,
                number=number,
                candidate=candidate.name,
            )
        for position, workload in enumerate(self.plan.recipe.workloads):
            yield from self._work(candidate, number, position, workload)
            if candidate.filesystem.name == self.fail:
                text = "The volume is full: the cleaner could not keep up."
                yield StepFailed(self.at_s, self.step, Failure(number, candidate.name, workload.name, "ENOSPC", text))
                return

    def _work(self, candidate: Candidate, number: int, position: int, workload: Workload) -> Iterator[Event]:
        yield self._begin("workload", workload.title.lower(), number, candidate.name, workload.name)
        value = figure(candidate, workload, position, self.chance)
        rate = value if workload.metric.unit != "s" else 90e6
        unit = "1/s" if workload.metric.unit == "1/s" else "B/s"
        for tenth in range(1, 11):
            self.at_s += workload.seconds / 10
            swing = rate * (0.75 + 0.25 * math.sin(tenth * 0.9 + position) + 0.05 * self.chance.random())
            yield StepProgressed(
                self.at_s, self.step.number, tenth / 10, f"{workload.title.lower()}, {tenth * 2} of 20 s",
                swing, unit, 0.0031, 0.31 + 0.02 * tenth,  # type: ignore[arg-type]
                (self.done + tenth / 10) / self.total, (self.total - self.done) * 4.0,
            )  # fmt: skip
        self.done += 1
        argv = ("fio", "--output-format=json", f"--name={workload.name}")
        yield CommandStarted(self.at_s, self.step.number, argv)
        yield CommandFinished(self.at_s, self.step.number, argv, 0, workload.seconds, '{"fio version": "fio-3.33"}')
        yield self._sample(candidate.name, number, workload, value)
        stall = {"ext4": 0.62, "xfs": 0.31, "btrfs": 1.4}.get(candidate.filesystem.name, 0.5)
        yield SampleTaken(
            self.at_s, Sample(number, candidate.name, workload.name, "worst_latency", stall, "s", "lower")
        )

    def _simple(
        self, stage: Stage, title: str, argv: tuple[str, ...], seconds: float, *, number: int = 0, candidate: str = ""
    ) -> Iterator[Event]:
        yield self._begin(stage, title, number, candidate, "")
        yield CommandStarted(self.at_s, self.step.number, argv, True)
        self.at_s += seconds
        yield CommandFinished(self.at_s, self.step.number, argv, 0, seconds, f"{argv[0]} 1.0\ndone", True)

    def _begin(self, stage: Stage, title: str, number: int, candidate: str, workload: str) -> Event:
        self.steps += 1
        self.step = Step(self.steps, stage, title, number, candidate, workload, 4.0)
        return StepStarted(self.at_s, self.step)

    def _sample(self, candidate: str, number: int, workload: Workload, value: float) -> SampleTaken:
        metric = workload.metric
        return SampleTaken(
            self.at_s,
            Sample(number, candidate, workload.name, metric.name, value, metric.unit, metric.better, primary=True),
        )


def kept(result: Result, event: Event) -> Result:
    """What a result file would hold after `event`."""
    if isinstance(event, SampleTaken):
        return replace(result, samples=(*result.samples, event.sample))
    if isinstance(event, StepFailed):
        return replace(result, failures=(*result.failures, event.failure))
    if isinstance(event, DoubtRaised):
        return replace(result, doubts=(*result.doubts, event.doubt))
    if isinstance(event, RunEnded):
        return replace(result, outcome=event.outcome, elapsed_s=event.at_s)
    return result


def plan_for(machine: ThisMachine, wishes: Wishes) -> Plan:
    """A plan as the real planning makes it, without a look at the machine."""
    assert wishes.recipe is not None
    workloads = tuple(replace(w, weight=wishes.weight(w.name)) for w in wishes.recipe.workloads)
    recipe = replace(wishes.recipe, workloads=tuple(w for w in workloads if w.weight > 0))
    losses: tuple[str, ...] = ()
    if wishes.comparing:
        target = Target("directory", "")
        known = machine.catalogue()
        kinds = {"/home/ada": "btrfs"}
        candidates = tuple(
            Candidate(f"{kinds.get(place, 'ext4')}@{place}", known[kinds.get(place, "ext4")], directory=place)
            for place in wishes.places
        )
    elif wishes.members:
        given = [next((d, offer(d, None)) for d in machine.drives if path in paths_on(d)) for path in wishes.members]  # type: ignore[attr-defined]
        losses = tuple(loss for _, each in given for loss in each.losses)
        first, *others = (Member(each.path, each.size_bytes, number=f"8:{64 + n}") for n, (_, each) in enumerate(given))
        target = Target("device", first.path, first.size_bytes, number=first.number, others=tuple(others))
        candidates = tuple(machine.parse_candidate(name).on(len(given)) for name in wishes.candidates)
    elif wishes.device:
        assert wishes.drive is not None
        part = next((p for p in wishes.drive.partitions if p.stable_name == wishes.device), None)
        given_up = offer(wishes.drive, part)
        target, losses = Target("device", wishes.device, given_up.size_bytes, number="8:64"), given_up.losses
        candidates = tuple(machine.parse_candidate(name) for name in wishes.candidates)
    else:
        where = wishes.directory or "/mnt/archive"
        others = (Member(where, recipe.image_bytes, "ext4"),) * (wishes.images - 1)
        target = Target("image", where, recipe.image_bytes, "ext4", others=others)
        candidates = tuple(machine.parse_candidate(name).on(wishes.images) for name in wishes.candidates)
    commands = [PlannedCommand(("fallocate", "--length", "5G", "IMAGE"), text="reserve")]
    devices = target.stand_ins
    if target.kind == "device":
        commands = [PlannedCommand(("wipefs", "--all", "DEVICE"), as_root=True, text="wipe")]
    for candidate in candidates:
        if not candidate.directory:
            making = candidate.making_commands(*devices, scratch=True)
            commands += [PlannedCommand(argv, as_root=True, text="format") for argv in making]
            mounting = candidate.mount_command(devices[0], "MOUNT")
            commands.append(PlannedCommand(mounting, as_root=True, text="mount"))
    commands += [
        PlannedCommand(("fio", "--rw=write", "--bs=1M", "--size=2G", "--direct=1", "--end_fsync=1"), text=w.title)
        for w in recipe.workloads
    ]
    baseline = wishes.against or candidates[0].name
    return Plan(
        recipe, candidates, baseline, target, wishes.drive, needs=wishes.needs, time_limit_s=wishes.budget_s, seed=7,
        commands=tuple(commands), seconds_per_trial=sum(w.seconds for w in recipe.workloads) + 2,
        writes_bytes_per_trial=sum(w.writes_bytes for w in recipe.workloads), preparation_s=20.0, losses=losses,
    )  # fmt: skip


def chosen(**changes: Any) -> Wishes:
    """Wishes as they stand before the review."""
    wishes = Wishes(drive=ARCHIVE, recipe=RECIPES[0], candidates=("ext4", "xfs", "btrfs", "ext4:noatime"))
    return replace(wishes, **changes)


def running_state(machine: FakeMachine, fraction: float = 0.55, **changes: Any) -> Running:
    """A run in the middle of its script."""
    plan = plan_for(machine, chosen(**changes))
    if fraction < 1:
        plan = replace(plan, candidates=(*plan.candidates, *nilfs2()))
    running = Running(FakeSession(plan, machine.rounds, 0.0), plan, lambda: 0.0)
    events = list(script(plan, machine.rounds))
    for event in events[: max(1, int(len(events) * fraction))]:
        running.state = advance(running.state, event)
    return running


def nilfs2() -> tuple[Candidate, ...]:
    """A candidate that the script lets fail."""
    return parse_candidates("nilfs2")


def finished_result(machine: FakeMachine, **changes: Any) -> Result:
    """The result of a whole script."""
    plan = plan_for(machine, chosen(**changes))
    plan = replace(plan, candidates=(*plan.candidates, *nilfs2()))
    result = Result(ENVIRONMENT, plan)
    for event in script(plan, 6):
        result = kept(result, event)
    return result


def app(step: StepName = "purpose", machine: FakeMachine | None = None, **changes: Any) -> FswizardApp:
    """The wizard at a step, as if everything before had been chosen."""
    machine = machine or FakeMachine()
    wishes = chosen(**changes) if step != "purpose" else None
    running = running_state(machine) if step == "run" else None
    result = finished_result(machine) if step == "result" else None
    return FswizardApp(machine, wishes=wishes, start=step, running=running, result=result, clock=Clock())
