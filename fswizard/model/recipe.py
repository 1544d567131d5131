"""What is measured: recipes and their workloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Strain
from fswizard.model.keys import UNWRITTEN, Limits, matching, number, size, text, whole
from fswizard.model.metrics import Metric
from fswizard.model.text import safe

Name = Annotated[str, matching(r"[a-z0-9][a-z0-9-]{0,39}")]
Candidates = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Limits(Meta(max_length=20))]

Group = Literal["desktop", "archive", "server", "kdiskmark", "published", "yours"]
TITLES: Mapping[Group, str] = {
    "desktop": N_("Desktop"),
    "archive": N_("Archive and backup"),
    "server": N_("Server"),
    "kdiskmark": N_("Like KDiskMark"),
    "published": N_("From published comparisons"),
    "yours": N_("Yours"),
}
"""What recipes stand for, as people read it."""


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """A command as it will be run; `DEVICE`, `MOUNT`, `IMAGE` and the like stand for names that are known only then."""

    argv: tuple[str, ...]
    as_root: bool = False
    text: str = ""
    """What it is for, in a few words."""
    candidate: str = ""
    """The candidate that it makes or mounts, by name; empty for what belongs to the whole run."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that something needs."""

    name: str
    purpose: str
    """What it is needed for, in words."""
    required: bool = False
    """The default run needs it."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Its package by distribution; the empty key is for all others. Without either, it is named like the program."""
    messages: Mapping[str, int] = field(default_factory=dict)
    """What it says of an error of the system in its own words, with the error's number."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a job: the seconds it takes and the bytes it writes, before and while it is measured."""

    prepare_s: float
    measure_s: float
    prepare_bytes: int
    measure_bytes: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a disk writes."""

    bytes_per_s: float
    operations_per_s: float
    """Scattered ones, however many are asked for at a time."""
    latency_s: float
    """Of a single small write."""
    slower: float = 1.0
    """How many times as long as an ordinary SATA SSD it takes for work that has no duration of its own."""


class Job:
    """What a workload asks of its engine: a frozen dataclass for each, in the engine's own file."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    kinds: ClassVar[dict[str, type[Job]]] = {}
    """By the engine's name; `fswizard.engines` fills it."""

    engine: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    """Every figure that it yields; a recipe names one of them as the workload's primary metric."""
    programs: ClassVar[tuple[Program, ...]] = ()
    """What must be installed; their versions belong to the result."""

    @property
    def words(self) -> str:
        """What is done, for people."""
        raise NotImplementedError

    @property
    def cost(self) -> Cost:
        """What to expect on an ordinary SATA SSD."""
        raise NotImplementedError

    def timed_bytes(self, pace: Pace) -> int | None:
        """What it writes while it is measured on a disk of such a pace; None where not time ends it but the work."""
        return None

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        """Names and sizes of what it leaves behind; jobs that share it give the same name."""
        raise NotImplementedError

    @property
    def brings(self) -> Iterable[tuple[object, int]]:
        """Names and sizes of what is made once in a run beside the candidates, in the scratch directory."""
        return ()

    @property
    def works_on(self) -> object:
        """The same for all jobs that share what they work on and find there what an earlier one has made."""
        return self

    @property
    def counts(self) -> str:
        """What its rate counts, in the plural; empty for bytes."""
        return ""

    @property
    def activity(self) -> str:
        """The same for jobs that do the same with other files; empty where there are no others."""
        return ""

    @property
    def seconds(self) -> float:
        """So long it takes on any disk; 0 where the work decides."""
        return 0.0

    @property
    def fill_percent(self) -> int:
        """Of the filesystem, so much is filled with other files before; 0 leaves it as it is."""
        return 0

    @property
    def direct(self) -> bool:
        """It goes past the memory of the machine."""
        return False

    @property
    def syncs_each_write(self) -> bool:
        """What it writes is on the disk before it goes on."""
        return False

    @property
    def runs_bare(self) -> bool:
        """It can be done on a device without a filesystem, too."""
        return False

    @property
    def strain(self) -> Strain:
        """What it asks of a filesystem before all, by which the catalogue says what costs it."""
        return "small-files"

    @property
    def units(self) -> int | None:
        """Amount of its work in units of `scaled`, 1 or more; None if the amount can't be changed."""
        return None

    def scaled(self, units: int) -> Job:
        """The same work on so many units, one or more; never on more than it has. See its `units` for what one is.

        All of it where the amount can't be changed, whatever a file says.
        """
        return self

    @property
    def built_in(self) -> bool:
        """Whether programs of our own do the work, so that their speed may be the limit."""
        return False


CUT = 4
"""How many times its box a workload may take."""
REMOUNT_S = 0.1
SLOWER_THAN_BASELINE = 1.3
"""Duration of a workload with a box, as a mean of candidates, over that on the baseline, by which its amount goes."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of a workload all candidates of a run do."""

    units: Annotated[int, Meta(ge=1)]
    seconds: Annotated[float, Meta(ge=0)]
    """What that takes on the baseline, as it looks."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One thing that is measured, with the figure that counts."""

    name: Name
    """Stable name within the recipe, such as `random-write`."""
    title: Annotated[str, text(60)]
    engine: Annotated[str, UNWRITTEN]
    job: Annotated[Job, UNWRITTEN]
    metric: Annotated[Metric, UNWRITTEN]
    """The primary metric: the one that ratios are made of."""
    weight: Annotated[float, number(0, 1000)] = 1.0
    why: Annotated[str, text(500)] = ""
    """What this stands for in a user's day, in a sentence."""
    box_s: Annotated[float, number(0, 3600, key="box")] = 0.0
    """So long the baseline shall take, until all is on the disk; all candidates do what fits. 0: the whole amount."""
    every: Annotated[int, whole(1, 100)] = 1
    """Measured in every n-th round only, first in the second: with 5 in rounds 2, 7, 12 and so on."""
    least: Annotated[int, whole(1, 1_000_000)] = 1
    """Units of work that are done at least, however long that takes: with fewer the ratios are not those of long work.
    """
    seconds: Annotated[float, number(0, 1e6, "expected_seconds")] = 0.0
    """Expected duration including its preparation, on an ordinary disk."""
    writes_bytes: Annotated[int, UNWRITTEN] = 0
    """Expected bytes written, preparation included."""
    amount: Annotated[Amount | None, UNWRITTEN] = None
    """Of a run that has chosen it; otherwise all of the job."""

    def is_in(self, round: int) -> bool:
        """Whether it is measured in that round."""
        return (round - 2) % self.every == 0

    @property
    def task(self) -> Job:
        """The job with the amount of this run."""
        return self.job.scaled(self.amount.units) if self.amount else self.job

    @property
    def cut_s(self) -> float:
        """After so long a candidate is ended that is far slower than the baseline; 0 for never."""
        return CUT * max(self.box_s, self.amount.seconds if self.amount else 0.0) if self.box_s else 0.0

    def takes_s(self, baseline_s: float) -> float:
        """Duration that is expected of a candidate where the baseline takes `baseline_s`."""
        return SLOWER_THAN_BASELINE * baseline_s + REMOUNT_S

    def with_amount(self, amount: Amount) -> Workload:
        """With so much work, and what is known by that of its duration and bytes."""
        share = amount.units / (self.task.units or amount.units)
        seconds = self.takes_s(amount.seconds) if self.box_s else self.seconds
        return replace(self, amount=amount, seconds=seconds, writes_bytes=round(share * self.writes_bytes))


SHIPPED = N_("shipped with fswizard")
"""Source of a recipe of the program's own."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A set of workloads that stands for a way of using a disk."""

    name: Name
    title: Annotated[str, text(60)]
    why: Annotated[str, text(500)]
    workloads: Annotated[tuple[Workload, ...], UNWRITTEN]
    image_bytes: Annotated[int, size(64 << 20, 64 << 40)]
    """Size of the scratch image that the workloads need."""
    minutes: Annotated[float, number(0.1, 10_080)]
    """Default time limit."""
    hard_disk_minutes: Annotated[float, number(0.1, 10_080)] = 0.0
    """The same on a hard disk; 0 for no other."""
    hard_disk_image_bytes: Annotated[int, size(64 << 20, 64 << 40)] = 0
    """Size of the scratch image on a hard disk; 0 for no other."""
    group: Group = "yours"
    """What it is listed under; those in the user's directory are all listed as theirs."""
    candidates: Candidates = ()
    """Default candidates, by short name."""
    array_candidates: Candidates = ()
    """The same on a target of several disks."""
    source: Annotated[str, UNWRITTEN] = ""
    """Where the recipe comes from: a file's name."""
    mount_point: Annotated[str, matching(r"(/[\w.-]+)+")] = "/mnt/data"
    """Where such a disk is usually mounted, for the fstab line of a recommendation."""

    def on(self, drive: Drive | None) -> Recipe:
        """The recipe as it is for a disk, with nothing left that is so on hard disks alone."""
        turns = drive is not None and drive.turns
        return replace(
            self,
            minutes=(turns and self.hard_disk_minutes) or self.minutes,
            image_bytes=(turns and self.hard_disk_image_bytes) or self.image_bytes,
            hard_disk_minutes=0.0,
            hard_disk_image_bytes=0,
        )

    @property
    def own(self) -> bool:
        """The user's own: nobody else can run it by its name."""
        return self.source not in ("", SHIPPED)

    def workload(self, name: str) -> Workload:
        return next(workload for workload in self.workloads if workload.name == name)

    @property
    def measured(self) -> tuple[Workload, ...]:
        """Workloads that take part in a run: those of a weight above 0, and what is looked at now and then."""
        return tuple(workload for workload in self.workloads if workload.weight > 0 or workload.every > 1)

    def weighed(self, weights: Mapping[str, float]) -> Recipe:
        """With other weights for some tests, which are named, or several at once by how their names begin: `search` for
        `search-source` and `search-home`. UsageError if they make no sense."""
        names = [workload.name for workload in self.workloads]
        chosen = {workload.name: workload.weight for workload in self.workloads}
        for key, weight in sorted(weights.items(), key=lambda item: item[0] in names):  # single tests go last
            meant = [key] if key in names else [name for name in names if name.startswith(f"{key}-")]
            if not meant:
                raise UsageError(
                    _("{recipe} has no test {test}.", recipe=_(self.title), test=safe(key)),
                    _("It has: {tests}.", tests=", ".join(names)),
                )
            if not 0 <= weight <= 100:
                raise UsageError(
                    _("The weight of {test} is {weight}.", test=key, weight=f"{weight:g}"),
                    _("Give a number from 0 to 100."),
                )
            chosen.update(dict.fromkeys(meant, weight))
        if not any(chosen.values()):
            raise UsageError(_("Every test has weight 0."), _("Give at least one a weight above 0."))
        return replace(self, workloads=tuple(replace(w, weight=chosen[w.name]) for w in self.workloads))

    def with_amounts(self, amounts: Mapping[str, Amount]) -> Recipe:
        """With so much work for some tests, by name."""
        return replace(
            self, workloads=tuple(w.with_amount(amounts[w.name]) if w.name in amounts else w for w in self.workloads)
        )

    def occasional_s(self, round: int) -> float:
        """What a candidate takes in a round for what not every round measures."""
        return sum(w.job.seconds for w in self.workloads if w.every > 1 and w.is_in(round))

    @property
    def trial_s(self) -> float:
        """What its workloads take in a round for each candidate, in seconds on an ordinary disk."""
        return sum(workload.seconds / workload.every for workload in self.workloads)

    @property
    def trial_bytes(self) -> int:
        """What its workloads write in a round for each candidate."""
        return round(sum(workload.writes_bytes / workload.every for workload in self.workloads))


def grouped(recipes: Iterable[Recipe]) -> list[tuple[str, list[Recipe]]]:
    """The titles of the groups that have any, in their order, each with its recipes in the order given."""
    known = list(recipes)
    groups = []
    for name, title in TITLES.items():
        if members := [recipe for recipe in known if recipe.group == name]:
            groups.append((title, members))
    return groups
