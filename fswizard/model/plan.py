"""Everything that a run will do, decided before it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Literal

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.frozen import frozen
from fswizard.model.layout import Array
from fswizard.model.recipe import Amount, PlannedCommand, Recipe, Workload

INTERVAL_ROUNDS = 2
"""With fewer rounds there is no interval."""
MINIMUM_ROUNDS = INTERVAL_ROUNDS
MAXIMUM_ROUNDS = 40
"""The largest number covered by the simulations of error rates."""
CHURN = 3
"""Bytes written to a candidate to age it, as a multiple of the size of the scratch image."""
FIRST_LOOK_BYTES = 384 << 20
"""Size of the image for a first look at each candidate; XFS needs 300 MiB."""
FIRST_LOOK_FILE_BYTES = 64 << 20
"""Upper limit of what is written to each candidate in a first look."""
FIRST_LOOK_UNITS = 10
"""Upper limit of the units of work in a first look, such as 1,000 files."""
WORTH_A_LOOK = 4
"""A scratch image below this multiple of that size is quickly written, and gets no first look."""
AGED_PERCENT = 80
"""How full a filesystem is while it is aged."""
AGED_TIMES = 2
"""Time limit of a run with aged candidates as a multiple of the recipe's: there is more to copy."""
FORMAT, MOUNTING = "format", "mount"
"""Values of `PlannedCommand.text`: commands that create a candidate, and those that mount it."""


@frozen
class Member:
    """One of several devices of a target; the fields are those of `Target`."""

    path: str
    size_bytes: int = 0
    host_filesystem: str = ""
    number: str = ""
    diskseq: int = 0
    identifier: str = ""


@frozen
class Target:
    """The disk or directories on which the candidates are measured."""

    kind: Literal["image", "device", "directory"]
    path: str
    """Image: its directory. Device: its stable name. Directories: empty, as candidates hold their paths."""
    size_bytes: int = 0
    host_filesystem: str = ""
    """Image: type of the filesystem it is on."""
    number: str = ""
    """Device: its `major:minor` at the time of planning."""
    diskseq: int = 0
    """Device: the kernel's serial number of the attachment, which is different for another disk."""
    identifier: str = ""
    """Device: the serial number as typed by the user to confirm the loss; empty until then."""
    others: tuple[Member, ...] = ()
    """Additional devices, for candidates that span several; additional images in results of earlier versions."""

    @classmethod
    def of(cls, kind: Literal["image", "device"], members: Sequence[Member]) -> Target:
        first, *others = members
        return cls(kind, others=tuple(others), **asdict(first))

    @property
    def members(self) -> tuple[Member, ...]:
        """All devices, including the first."""
        first = Member(
            self.path, self.size_bytes, self.host_filesystem, self.number, self.diskseq, self.identifier
        )  # fmt: skip
        return (first, *self.others)

    @property
    def confirmed(self) -> bool:
        """Device: whether the serial numbers of all members were typed."""
        return all(member.identifier for member in self.members)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders for the devices in commands that are displayed before the devices are known."""
        if not self.others:
            return ("DEVICE",)
        return tuple(f"DEVICE-{number}" for number, _ in enumerate(self.members, 1))

    @property
    def filled_bytes(self) -> int:
        """Bytes written before anything is measured: scratch images, from end to end.

        There is no other preconditioning. Devices get none: writing one from end to end exceeds a write budget many
        times, and less does not help, as filesystems spread over all of it. They are measured in the state that their
        use has left them in; nothing is discarded between candidates, so that each one starts in the same state.
        """
        return sum(member.size_bytes for member in self.members) if self.kind == "image" else 0

    def room_bytes(self, array: Array | None) -> int:
        """Space of a candidate: that of the first device or, in an array, computed from the smallest member."""
        if array is None:
            return self.size_bytes
        smallest = min(member.size_bytes for member in self.members)
        return array.layout.usable_bytes(len(self.members), smallest)


@frozen
class Trial:
    """A cell: one candidate in one round."""

    round: int
    candidate: str
    predecessor: str = ""
    """The candidate measured immediately before; empty for the first one of a run, or of its resumption."""


@frozen
class LeftOut:
    """A candidate of the recipe that cannot be created on this machine."""

    name: str
    reason: str
    """A sentence."""
    package: str = ""
    """Package that would install the missing program; empty if there is none."""


@frozen
class Plan:
    """A run, fully decided."""

    recipe: Recipe
    """With the workloads of this run only; those of weight 0 are omitted."""
    candidates: tuple[Candidate, ...]
    baseline: str
    target: Target
    drive: Drive | None = None
    """The disk under the target, several disks merged into one; None if unknown."""
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
    memory_limit_bytes: int = 0
    """Memory limit of all measured programs that use the page cache, including their page cache; 0 for no limit."""
    write_budget_bytes: int | None = None
    """The run ends before it would exceed this; None for no limit."""
    losses: tuple[str, ...] = ()
    """Device: existing data that would be lost, a sentence each."""
    looks_first: bool = False
    """Take a first look at each candidate, on a small image, before the scratch image is written. It is never part of
    the result."""
    by_udisks: bool = False
    """udisks2 attaches and mounts the images, so root is not required."""
    left_out: tuple[LeftOut, ...] = ()
    """Omitted default candidates, if the user chose none."""

    def with_amounts(self, amounts: Mapping[str, Amount]) -> Plan:
        """The plan with these amounts of work, by test, and the resulting cost of a trial."""
        recipe = self.recipe.with_amounts(amounts)
        longer_s = recipe.trial_s - self.recipe.trial_s
        fewer_bytes = self.recipe.trial_bytes - recipe.trial_bytes
        return replace(
            self,
            recipe=recipe,
            seconds_per_trial=self.seconds_per_trial + longer_s,
            writes_bytes_per_trial=max(0, self.writes_bytes_per_trial - fewer_bytes),
        )

    @property
    def needs_root(self) -> bool:
        """Whether the run's process must be started as root."""
        return self.target.kind != "directory" and not self.by_udisks

    def candidate(self, name: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.name == name)

    @property
    def aged(self) -> tuple[Candidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.aged)

    @property
    def churn_bytes(self) -> int:
        """Bytes written to each aged candidate before it is saved."""
        return CHURN * self.target.size_bytes

    @property
    def filled_bytes(self) -> int:
        """Bytes written before the first round: images from end to end, including those that hold aged candidates."""
        looked = FIRST_LOOK_BYTES + len(self.candidates) * FIRST_LOOK_FILE_BYTES if self.looks_first else 0
        return self.target.filled_bytes + looked + len(self.aged) * (self.churn_bytes + 2 * self.target.size_bytes)

    @property
    def first_look(self) -> Workload | None:
        """The workload for a first look; None if a look is not worth its time, or no workload is suitable.

        Suitable is only work that takes about a second on any disk: a part of the first workload that allows it.
        """
        target = self.target
        least_bytes = max(candidate.filesystem.minimum_bytes for candidate in self.candidates)
        small = target.size_bytes < WORTH_A_LOOK * FIRST_LOOK_BYTES or least_bytes > FIRST_LOOK_BYTES
        stays = any(candidate.outlives_a_run for candidate in self.candidates)
        if target.kind != "image" or self.aged or small or stays:
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
        """Time until all candidates have the minimum of rounds."""
        return self.preparation_s + self.minimum_rounds * len(self.candidates) * self.seconds_per_trial

    @property
    def writes_bytes(self) -> int:
        """Bytes written until then, scratch images included."""
        return self.writes_bytes_in(self.minimum_rounds * len(self.candidates))

    def writes_bytes_in(self, trials: int) -> int:
        """Bytes written after `trials` trials, scratch images included."""
        return trials * self.writes_bytes_per_trial + self.filled_bytes
