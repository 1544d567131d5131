"""Results of several machines or days as one statement: what each one brings, and what they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fswizard.language import _
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.drive import DRIVE_KINDS, DriveKind


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the rounds of one run say of a pair, before anything is made of it."""

    candidate: str
    baseline: str
    workload: str
    """Empty for all of them together."""
    mean: float
    """Logarithm of the ratio, above 0 is better."""
    error: float | None
    """Standard error of the mean; None under `FIRST_LOOK` rounds."""
    rounds: int


@dataclass(frozen=True, slots=True)
class StudyCandidate:
    """A candidate of one run, with what else must agree before its figures are pooled."""

    name: str
    title: str
    made: str
    """Digest of how it was formatted and mounted."""
    direct: bool = True
    """Direct I/O was direct, or nothing in the recipe relies on it."""


@dataclass(frozen=True, slots=True)
class DiskClass:
    """What kind of disk it is, as far as filesystems care."""

    kind: DriveKind = "unknown"
    shingled: bool = False

    @property
    def title(self) -> str:
        """`SMR hard disk`, `SSD`, `unknown disk`."""
        title = _(DRIVE_KINDS[self.kind]) if self.kind in DRIVE_KINDS else _("unknown disk")
        return _("SMR {disk}", disk=title) if self.shingled else title


@dataclass(frozen=True, slots=True)
class Setting:
    """What runs must have in common to be pooled."""

    recipe: str
    digest: str
    """Digest of the recipe (`model.result_file.recipe_digest`)."""
    target: Literal["image", "device", "directory"]
    size_bytes: int
    """Size of each image; 0 for devices, whose sizes may differ."""
    members: int
    memory_limit_bytes: int
    disk: DiskClass
    baseline: StudyCandidate


@dataclass(frozen=True, slots=True)
class Study:
    """All that pooling needs of one result."""

    setting: Setting
    recipe_title: str
    machine: str
    """ID of the machine, or empty if unknown."""
    started: str
    model: str
    """Disk model, or empty if unknown."""
    candidates: tuple[StudyCandidate, ...]
    workloads: Mapping[str, str] = field(default_factory=dict)
    """Name to title."""
    estimates: tuple[Estimate, ...] = ()
    """Of all pairs over all workloads, and of each workload to the baseline."""
    failed: tuple[str, ...] = ()
    """Candidates without an overall score, as they failed work that counts."""
    unfit: str = ""
    """Why it cannot be pooled at all, to be read after its name; empty where it can."""


@dataclass(frozen=True, slots=True)
class Split:
    """The machines with disks of one model, by themselves."""

    model: str
    """Disk model, or empty if unknown."""
    ratio: Ratio
    """Ratio of the candidate to the baseline; `rounds` counts machines."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How machines agree on a candidate."""

    candidate: str
    between: float
    """Standard deviation of the logarithm of the ratio from machine to machine, apart from noise."""
    ahead: int
    """Machines on which it is ahead of the baseline, however little."""
    machines: int
    failed: int = 0
    """Machines on which it failed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Results that belong together."""

    setting: Setting
    title: str
    """Title of the recipe."""
    machines: int
    results: int
    titles: Mapping[str, str]
    """Titles of candidates, by their names in `analysis`."""
    workloads: Mapping[str, str]
    analysis: Analysis
    """Its rounds are machines."""
    heterogeneity: tuple[Heterogeneity, ...]
    by_model: tuple[Split, ...] = ()
    """Ratios of the first candidate by disk model, the most frequent model first."""
    unnamed: int = 0
    """Results without a machine ID; they count as one machine."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is in no group."""

    name: str
    reason: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What some results say together."""

    groups: tuple[Group, ...]
    """The one with the most machines first."""
    left_out: tuple[LeftOut, ...] = ()
