"""Everything that a run will do, complete before anything happens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import Array
from fswizard.model.recipe import Amount, PlannedCommand, Recipe, Workload

FIRST_LOOK = 2
"""Rounds below which there is no interval."""
MINIMUM_ROUNDS = FIRST_LOOK
MAXIMUM_ROUNDS = 40
"""As many as the simulations of how often an answer errs go to."""
CHURN = 3
"""How many times the size of the scratch image is written to a candidate that is aged."""
FIRST_LOOK_BYTES = 384 << 20
"""Size of the image for a first look at each candidate; XFS needs 300 MiB."""
FIRST_LOOK_FILE_BYTES = 64 << 20
"""What is written to each at most."""
FIRST_LOOK_UNITS = 10
"""And so many units of work, such as 1,000 files."""
WORTH_A_LOOK = 4
"""A scratch image below this multiple of that size is soon written, and gets no first look."""
AGED_PERCENT = 80
"""How full it is meanwhile."""
AGED_TIMES = 3
"""How many times the recipe's time a run with aged candidates may take: there are two of each, and more to copy."""
FORMAT, MOUNTING = "format", "mount"
"""What commands that make a candidate are for, and those that mount it."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of several devices or images that candidates are spread over; the fields are those of `Target`."""

    path: str
    size_bytes: int = 0
    host_filesystem: str = ""
    number: str = ""
    diskseq: int = 0
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the candidates are measured."""

    kind: Literal["image", "device", "directory"]
    path: str
    """Image: the directory it is put into. Device: its stable name. Directories: empty, candidates name theirs."""
    size_bytes: int = 0
    host_filesystem: str = ""
    """Image: type of the filesystem it lies on."""
    number: str = ""
    """Device: its `major:minor` when the plan was made."""
    diskseq: int = 0
    """Device: the kernel's serial number for the attachment of the disk; another disk has another one."""
    identifier: str = ""
    """Device: the serial number as the user typed it to confirm the loss; empty where that is still to come."""
    others: tuple[Member, ...] = ()
    """Further devices or images of the same kind, for candidates that are spread over several."""

    @classmethod
    def of(cls, kind: Literal["image", "device"], members: Sequence[Member]) -> Target:
        first, *others = members
        return cls(kind, others=tuple(others), **asdict(first))

    @property
    def members(self) -> tuple[Member, ...]:
        """All of them, the first one too."""
        first = Member(
            self.path, self.size_bytes, self.host_filesystem, self.number, self.diskseq, self.identifier
        )  # fmt: skip
        return (first, *self.others)

    @property
    def confirmed(self) -> bool:
        """Device: the serial number of every one of them was typed."""
        return all(member.identifier for member in self.members)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """What stands for the devices in commands that are shown before they are known."""
        if not self.others:
            return ("DEVICE",)
        return tuple(f"DEVICE-{number}" for number, _ in enumerate(self.members, 1))

    @property
    def filled_bytes(self) -> int:
        """What is written over before anything is measured: scratch images, from end to end.

        That is all the preconditioning there is. Devices get none: writing one from end to end exceeds a write budget
        many times, and less does not help, as filesystems spread over all of it. They are measured in the state that
        their use has left them in; nothing is discarded between candidates, so that each one finds the same.
        """
        return sum(member.size_bytes for member in self.members) if self.kind == "image" else 0

    def room_bytes(self, array: Array | None) -> int:
        """The room that a candidate has: of an array the smallest member decides, without one the first is all."""
        if array is None:
            return self.size_bytes
        smallest = min(member.size_bytes for member in self.members)
        return array.layout.usable_bytes(len(self.members), smallest)


@dataclass(frozen=True, slots=True)
class Trial:
    """A cell: one candidate in one round."""

    round: int
    candidate: str
    predecessor: str = ""
    """The candidate measured right before it; empty for the first one of a run, or of its resumption."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate of the recipe's that this machine cannot make."""

    name: str
    reason: str
    """A sentence."""
    package: str = ""
    """What would bring what is missing; empty where no package does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, decided in full."""

    recipe: Recipe
    """With the workloads of the run only; those of weight 0 are left out."""
    candidates: tuple[Candidate, ...]
    baseline: str
    target: Target
    drive: Drive | None = None
    """The disk under the target, or None if unknown; several as one."""
    needs: tuple[str, ...] = ()
    time_limit_s: float = 0.0
    minimum_rounds: int = MINIMUM_ROUNDS
    maximum_rounds: int = MAXIMUM_ROUNDS
    seed: int = 0
    commands: tuple[PlannedCommand, ...] = ()
    seconds_per_trial: float = 0.0
    writes_bytes_per_trial: int = 0
    preparation_s: float = 0.0
    """Expected time before the first trial."""
    measured_on: str = ""
    """Date of the run on the same disk that these rest on; empty where there is none."""
    memory_limit_bytes: int = 0
    """What programs that are measured and go through the page cache may use together, their page cache included; 0 for
    no limit."""
    write_budget_bytes: int | None = None
    """The run ends before it has written more; None for no limit."""
    losses: tuple[str, ...] = ()
    """Device: what is on it and would be lost, a sentence each."""
    beside: tuple[Candidate, ...] = ()
    """Measured in the same rounds to show what age costs, and not chosen among: aged candidates when they were new."""
    looks_first: bool = False
    """A first look at each candidate, on a small image, comes before the scratch image is written; it never counts."""
    by_udisks: bool = False
    """udisks2 attaches and mounts the images, so nothing needs root's rights."""
    left_out: tuple[LeftOut, ...] = ()
    """Where the user chose no candidates: those that would have been among them."""

    def with_amounts(self, amounts: Mapping[str, Amount]) -> Plan:
        """With so much work for some tests, by name, and what a trial takes then; a run before this one knows better
        how long that is."""
        recipe = self.recipe.with_amounts(amounts)
        longer_s = 0.0 if self.measured_on else recipe.trial_s - self.recipe.trial_s
        fewer_bytes = self.recipe.trial_bytes - recipe.trial_bytes
        return replace(
            self,
            recipe=recipe,
            seconds_per_trial=self.seconds_per_trial + longer_s,
            writes_bytes_per_trial=max(0, self.writes_bytes_per_trial - fewer_bytes),
        )

    @property
    def needs_root(self) -> bool:
        """The run's process is started as root."""
        return self.target.kind != "directory" and not self.by_udisks

    def candidate(self, name: str) -> Candidate:
        return next(candidate for candidate in self.measured if candidate.name == name)

    @property
    def measured(self) -> tuple[Candidate, ...]:
        """Those that each round measures as long as none is out."""
        return (*self.candidates, *self.beside)

    def commands_for(self, candidate: str, text: str) -> tuple[tuple[str, ...], ...]:
        """Those that make or mount a candidate."""
        return tuple(c.argv for c in self.commands if (c.candidate, c.text) == (candidate, text))

    @property
    def aged(self) -> tuple[Candidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.aged)

    def with_new(self, names: Collection[str]) -> tuple[str, ...]:
        """Candidates that take part in a round if those of `names` do: these, and what is measured beside them."""
        twins = {candidate.as_new for candidate in self.aged if candidate.name in names}
        return (*names, *(candidate.name for candidate in self.beside if candidate.name in twins))

    @property
    def churn_bytes(self) -> int:
        """What is written to each aged candidate before it is kept."""
        return CHURN * self.target.size_bytes

    @property
    def filled_bytes(self) -> int:
        """What is written before the first round: images from end to end, those that keep aged candidates as well."""
        looked = FIRST_LOOK_BYTES + len(self.measured) * FIRST_LOOK_FILE_BYTES if self.looks_first else 0
        return self.target.filled_bytes + looked + len(self.aged) * (self.churn_bytes + 2 * self.target.size_bytes)

    @property
    def first_look(self) -> Workload | None:
        """What the candidates are looked at with; None where a look would not be worth its time, or none can be had.

        Only what takes about a second on any disk will do: a part of the first workload that has one.
        """
        target = self.target
        least_bytes = max(candidate.filesystem.minimum_bytes for candidate in self.measured)
        small = target.size_bytes < WORTH_A_LOOK * FIRST_LOOK_BYTES or least_bytes > FIRST_LOOK_BYTES
        stays = any(candidate.outlives_a_run for candidate in self.measured)
        if target.kind != "image" or target.others or self.aged or small or stays:
            return None
        for workload in self.recipe.workloads:
            job = workload.job
            # Whatever syncs takes longer on slow disks, and so does what has to be made first.
            if job.units is not None and job.strain in ("stream", "small-files") and not job.cost.prepare_s:
                fitting = round(job.units * FIRST_LOOK_FILE_BYTES / job.cost.measure_bytes)
                return replace(workload, job=job.scaled(max(1, min(FIRST_LOOK_UNITS, fitting))))
        return None

    @property
    def expected_s(self) -> float:
        """Time until every candidate has its minimum of rounds."""
        return self.preparation_s + self.minimum_rounds * len(self.measured) * self.seconds_per_trial

    @property
    def writes_bytes(self) -> int:
        """So much is written until then, scratch images included."""
        return self.writes_bytes_in(self.minimum_rounds * len(self.measured))

    def writes_bytes_in(self, trials: int) -> int:
        """Bytes written after `trials` trials, scratch images included."""
        return trials * self.writes_bytes_per_trial + self.filled_bytes
