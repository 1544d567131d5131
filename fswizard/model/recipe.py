"""Recipes and their workloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, field, replace
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Strain
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.metrics import Metric
from fswizard.model.text import safe

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}\Z")]
Title = Annotated[str, Meta(min_length=1, max_length=60)]
Why = Annotated[str, Meta(max_length=500)]
Candidates = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=20)]
ImageBytes = Annotated[int, within(64 << 20, 64 << 40)]
Minutes = Annotated[float, within(0.1, 10_080)]

Group = Literal["desktop", "archive", "server", "kdiskmark", "published", "yours"]
TITLES: Mapping[Group, str] = {
    "desktop": N_("Desktop"),
    "archive": N_("Archive and backup"),
    "server": N_("Server"),
    "kdiskmark": N_("Like KDiskMark"),
    "published": N_("From published comparisons"),
    "yours": N_("Yours"),
}
"""Displayed titles of the groups."""


@frozen
class PlannedCommand:
    """A command of the plan. Placeholders such as `DEVICE`, `MOUNT` and `IMAGE` are replaced when it is run."""

    argv: tuple[str, ...]
    as_root: bool = False
    text: str = ""
    """Purpose, in a few words."""
    candidate: str = ""
    """Name of the candidate that it creates or mounts; empty for the whole run."""


@frozen
class Program:
    """A required program."""

    name: str
    purpose: str
    """What it is needed for."""
    required: bool = False
    """The default run needs it."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package by distribution; the empty key is for all others. Without either, the package has the name of the
    program."""
    messages: Mapping[str, int] = field(default_factory=dict)
    """Its messages for system errors that it words differently from the C library, by error number."""


@frozen
class Cost:
    """Seconds taken and bytes written by a job, before and during measurement."""

    prepare_s: float
    measure_s: float
    prepare_bytes: int
    measure_bytes: int


@frozen
class Pace:
    """Write speed of a disk."""

    bytes_per_s: float
    operations_per_s: float
    """Of scattered writes, at any queue depth."""
    latency_s: float
    """Of a single small write."""
    slower: float = 1.0
    """Duration of work without a fixed duration, as a multiple of that on an ordinary SATA SSD."""


class Job:
    """What a workload asks of its engine: a frozen dataclass for each, in the engine's file."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    kinds: ClassVar[dict[str, type[Job]]] = {}
    """By name of the engine; filled by `fswizard.engines`."""

    engine: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    """All figures that it yields; a recipe selects one of them as the workload's primary metric."""
    programs: ClassVar[tuple[Program, ...]] = ()
    """Programs that must be installed; the result records their versions."""

    @property
    def yielded(self) -> tuple[Metric, ...]:
        """Those of `metrics` that this job yields."""
        return self.metrics

    @property
    def cost(self) -> Cost:
        """Expected cost on an ordinary SATA SSD."""
        raise NotImplementedError

    def timed_bytes(self, pace: Pace) -> int | None:
        """Bytes written while it is measured on a disk of that pace; None if the work, not time, ends it."""
        return None

    @property
    def leaves(self) -> Iterable[tuple[str, int]]:
        """Paths and sizes of the files that exist at the end: below `MOUNT`, or below `SCRATCH`, where they are created
        once per run. Jobs that share files give the same path."""
        raise NotImplementedError

    @property
    def works_on(self) -> str:
        """Path of the files on the candidate that it works on, equal for jobs that reuse what an earlier one has
        created; empty if there are none."""
        return next((path for path, size in self.leaves if path.startswith("MOUNT/")), "")

    @property
    def counts(self) -> str:
        """Unit counted by its rate, in the plural; empty for bytes."""
        return ""

    @property
    def activity(self) -> str:
        """Key that is equal for jobs that do the same with other files; empty if there are no others."""
        return ""

    @property
    def seconds(self) -> float:
        """Fixed duration on any disk; 0 if the work determines it."""
        return 0.0

    @property
    def fill_percent(self) -> int:
        """Percentage of the filesystem to fill with other files before; 0 leaves it as it is."""
        return 0

    @property
    def direct(self) -> bool:
        """Whether it bypasses the page cache."""
        return False

    @property
    def syncs_each_write(self) -> bool:
        """Whether each write is on the disk before the next one begins."""
        return False

    @property
    def runs_bare(self) -> bool:
        """Whether it can also be run on a device without a filesystem."""
        return False

    @property
    def strain(self) -> Strain:
        """Dominant load; key of the catalogue's cost notes."""
        return "small-files"

    @property
    def units(self) -> int | None:
        """Amount of its work in units of `scaled`, 1 or more; None if the amount is fixed."""
        return None

    def scaled(self, units: int) -> Job:
        """The same job with `units` of work: at least one, at most what it has now. See its `units` for their meaning.

        A job with a fixed amount is unchanged, whatever a file says.
        """
        return self


CUT = 4
"""Maximum duration of a workload, as a multiple of its time box."""
REMOUNT_S = 0.1
SLOWER_THAN_BASELINE = 1.3
"""Mean duration of a time-boxed workload over the candidates, relative to the baseline that determines its amount."""


@frozen
class Amount:
    """Amount of work of a workload, the same for all candidates of a run."""

    units: Annotated[int, Meta(ge=1)]
    seconds: Annotated[float, Meta(ge=0)]
    """Estimated duration on the baseline."""


@frozen
class Workload:
    """One thing to measure, and its primary metric."""

    name: Name
    """Stable name within the recipe, such as `random-write`."""
    title: Title
    engine: str
    job: Job
    metric: Metric
    """The metric on which ratios are based."""
    weight: Annotated[float, within(0, 1000)] = 1.0
    why: Why = ""
    """What this represents in everyday use, in a sentence."""
    box_s: Annotated[float, within(0, 3600)] = 0.0
    """Time box: all candidates do as much as the baseline completes in it, until all is on the disk. 0: the whole
    amount."""
    every: Annotated[int, within(1, 100)] = 1
    """Measured in every n-th round only, first in the second: with 5 in rounds 2, 7, 12 and so on."""
    least: Annotated[int, within(1, 1_000_000)] = 1
    """Minimum units of work, however long they take: with fewer, ratios would differ from those of long work."""
    seconds: Annotated[float, Meta(ge=0)] = 0.0
    """Expected duration including preparation, on an ordinary disk."""
    writes_bytes: int = 0
    """Expected bytes written, including preparation."""
    amount: Amount | None = None
    """Set once a run has chosen it; None for the whole job."""

    def is_in(self, round: int) -> bool:
        """Whether it is measured in that round."""
        return (round - 2) % self.every == 0

    @property
    def task(self) -> Job:
        """The job with the amount of this run."""
        return self.job.scaled(self.amount.units) if self.amount else self.job

    @property
    def cut_s(self) -> float:
        """Time after which a candidate far slower than the baseline is stopped; 0 for never."""
        return CUT * max(self.box_s, self.amount.seconds if self.amount else 0.0) if self.box_s else 0.0

    def takes_s(self, baseline_s: float) -> float:
        """Expected duration of a candidate if the baseline takes `baseline_s`."""
        return SLOWER_THAN_BASELINE * baseline_s + REMOUNT_S

    def with_amount(self, amount: Amount) -> Workload:
        """The workload with this amount, and with duration and bytes adjusted to it."""
        share = amount.units / (self.task.units or amount.units)
        seconds = self.takes_s(amount.seconds) if self.box_s else self.seconds
        return replace(self, amount=amount, seconds=seconds, writes_bytes=round(share * self.writes_bytes))


SHIPPED = N_("shipped with fswizard")
"""Source of a recipe that comes with the program."""


@frozen
class Recipe:
    """A set of workloads that represents a way of using a disk."""

    name: Name
    title: Title
    why: Why
    workloads: Annotated[tuple[Workload, ...], Meta(min_length=1, max_length=50)]
    image_bytes: ImageBytes
    """Size of the scratch image that the workloads need."""
    minutes: Minutes
    """Default time limit."""
    hard_disk_minutes: Minutes = 0.0
    """Default time limit on a hard disk; 0 for the same."""
    hard_disk_image_bytes: ImageBytes = 0
    """Size of the scratch image on a hard disk; 0 for the same."""
    group: Group = "yours"
    """Group in lists. Recipes in the user's directory are all in `yours`."""
    candidates: Candidates = ()
    """Default candidates, by short name."""
    array_candidates: Candidates = ()
    """Default candidates on a target of several disks."""
    source: str = ""
    """File name from which the recipe was read, or `SHIPPED`."""
    mount_point: Annotated[str, Meta(pattern=r"^(/[\w.-]+)+\Z")] = "/mnt/data"
    """Usual mount point of such a disk, for the recommended fstab line."""

    def on(self, drive: Drive | None) -> Recipe:
        """The recipe adapted to a disk: settings for hard disks are applied or dropped."""
        turns = drive is not None and drive.turns
        return replace(
            self,
            minutes=(turns and self.hard_disk_minutes) or self.minutes,
            image_bytes=(turns and self.hard_disk_image_bytes) or self.image_bytes,
            hard_disk_minutes=0.0,
            hard_disk_image_bytes=0,
        )

    @property
    def from_user(self) -> bool:
        """Whether it is the user's recipe, which others cannot run by name."""
        return self.source not in ("", SHIPPED)

    def workload(self, name: str) -> Workload:
        return next(workload for workload in self.workloads if workload.name == name)

    @property
    def measured(self) -> tuple[Workload, ...]:
        """Workloads of a run: those with a weight above 0, and those measured only in some rounds."""
        return tuple(workload for workload in self.workloads if workload.weight > 0 or workload.every > 1)

    def weighed(self, weights: Mapping[str, float]) -> Recipe:
        """The recipe with other weights for some tests. Raises UsageError for an unknown test or an invalid weight."""
        names = [workload.name for workload in self.workloads]
        for name, weight in weights.items():
            if name not in names:
                raise UsageError(
                    _("{recipe} has no test {test}.", recipe=_(self.title), test=safe(name)),
                    _("It has: {tests}.", tests=", ".join(names)),
                )
            if not 0 <= weight <= 100:
                raise UsageError(
                    _("The weight of {test} is {weight}.", test=name, weight=f"{weight:g}"),
                    _("Give a number from 0 to 100."),
                )
        workloads = tuple(replace(w, weight=weights.get(w.name, w.weight)) for w in self.workloads)
        if not any(workload.weight for workload in workloads):
            raise UsageError(_("Every test has weight 0."), _("Give at least one a weight above 0."))
        return replace(self, workloads=workloads)

    def with_amounts(self, amounts: Mapping[str, Amount]) -> Recipe:
        """The recipe with these amounts of work, by name of the test."""
        return replace(
            self, workloads=tuple(w.with_amount(amounts[w.name]) if w.name in amounts else w for w in self.workloads)
        )

    def occasional_s(self, round: int) -> float:
        """Seconds per candidate in that round for workloads that are not measured in every round."""
        return sum(w.job.seconds for w in self.workloads if w.every > 1 and w.is_in(round))

    @property
    def trial_s(self) -> float:
        """Mean seconds per candidate and round, on an ordinary disk."""
        return sum(workload.seconds / workload.every for workload in self.workloads)

    @property
    def trial_bytes(self) -> int:
        """Mean bytes written per candidate and round."""
        return round(sum(workload.writes_bytes / workload.every for workload in self.workloads))


def grouped(recipes: Iterable[Recipe]) -> list[tuple[str, list[Recipe]]]:
    """Titles of the groups that have recipes, each with its recipes; `recipes` are in the order of their groups."""
    return [(TITLES[name], list(members)) for name, members in groupby(recipes, key=lambda recipe: recipe.group)]
