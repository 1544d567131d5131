"""Everything that a run will do, complete before anything happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.recipe import Recipe

MINIMUM_ROUNDS = 3
MAXIMUM_ROUNDS = 12


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
    """Device: the serial number as the person typed it to confirm the loss; empty where that is still to come."""


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """A command as it will be run; `DEVICE`, `MOUNT` and `IMAGE` stand for names that are known only then."""

    argv: tuple[str, ...]
    as_root: bool = False
    text: str = ""
    """What it is for, in a few words."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A cell: one candidate in one round."""

    round: int
    candidate: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, decided in full."""

    recipe: Recipe
    """With the weights as the person set them; workloads of weight 0 are left out of the run."""
    candidates: tuple[Candidate, ...]
    baseline: str
    target: Target
    drive: Drive | None = None
    """The disk under the target, where it could be told."""
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
    losses: tuple[str, ...] = ()
    """Device: what is on it and would be lost, a sentence each."""

    def candidate(self, name: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.name == name)

    @property
    def expected_s(self) -> float:
        """Time until every candidate has its minimum of rounds."""
        return self.preparation_s + self.minimum_rounds * len(self.candidates) * self.seconds_per_trial
