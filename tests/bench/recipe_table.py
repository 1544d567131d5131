"""What the workloads of each recipe really do on ext4, XFS and btrfs, at single and at double length.

    python -m tests.bench.recipe_table measure [--rounds N] [--steady] [--directory DIRECTORY] [RECIPE...]
    python -m tests.bench.recipe_table estimates [--directory DIRECTORY] [--twice] [RECIPE...]
    python -m tests.bench.recipe_table report

The first measures each recipe on an image with each workload twice: as it is, and at double length right after it. The
second holds the plan of one round against what came; `--twice` does so again with a plan that knows the first run. Both
want root, some tens of gigabytes, and a machine that is left alone. `--steady` measures on a disk in memory whose pace
is known, so that what other work does to a real one is left out; it wants nbdkit, nbdfuse and 16 GB of memory. The
third makes RECIPES.md of what is recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import math
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fswizard import recipes
from fswizard.drives.devices import find_device
from fswizard.engines.backup import BackupJob
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.estimates import room
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_READ, DEVICE_WRITTEN, DIRECT_CACHED, DURATION, LASTED
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.model.result import Result
from fswizard.model.units import binary_size_text, size_text
from fswizard.results import Entry, Header
from fswizard.session import Choices, make_plan
from fswizard.stats.table import workload_tables
from fswizard.targets import TargetChoice
from tests.loop.failing_host import failing_disk
from tests.loop.runs import result_of, session_in

CANDIDATES = ("ext4", "xfs", "btrfs")
RECORDED = Path(__file__).with_name("recorded") / "recipes.jsonl"
ESTIMATES = Path(__file__).with_name("recorded") / "estimates.jsonl"
STEADY = Path(__file__).with_name("recorded") / "recipes_on_steady_disk.jsonl"
PAGE = Path(__file__).with_name("RECIPES.md")
NOTE = Path(__file__).with_name("recipes_note.md")
TWICE, AGAIN = "-twice", "_again"
"""Ends of names: of workloads at double length, and of what is recorded of a second run."""
SMALLER = {"cache-overflow": 60, "fileserver": 4, "four-jobs": 3, "kdiskmark": 3, "randwrite-f2fs": 2}
"""Recipes that take over a quarter of an hour or write over 50 GB, and the part of them that is measured here."""
STEADY_PACE = ("--filter=rate", "rate=1600M", "burstiness=0.1")
"""200 MB/s, of which no more than a tenth of a second is saved up; about 17,000 requests a second."""
STEADY_SIZE = "10G"
SPARE = 1.3
"""Size of the image over that of what lies on it at the end."""


def longer(job: Job, times: float) -> Job:
    """The same work, `times` as much of it."""
    if isinstance(job, OverflowJob):
        return replace(job, seconds=job.seconds * times, working_set_bytes=int(job.working_set_bytes * times))
    if isinstance(job, FioJob) and not job.seconds:
        return replace(job, size_bytes=int(job.size_bytes * times))
    if isinstance(job, FioJob):
        return replace(job, seconds=job.seconds * times, cap_seconds=job.cap_seconds * times)
    if isinstance(job, FileServerJob):
        return replace(job, seconds=job.seconds * times)
    if isinstance(job, SqliteJob):
        return replace(job, transactions=round(job.transactions * times))
    assert isinstance(job, (TreeJob, RsyncJob, BackupJob)), f"say here what more of {job.engine} is"
    files = job.files if job.files == 1 else round(job.files * times)
    return replace(job, files=files, total_bytes=int(job.total_bytes * times))


def affordable(recipe: Recipe) -> Recipe:
    """The part of it that is measured here."""
    part = 1 / SMALLER.get(recipe.name, 1)
    workloads = []
    for workload in recipe.workloads:
        job = longer(workload.job, part)
        prepared = workload.writes_bytes - workload.job.cost.measure_bytes  # not what an earlier one prepares for it
        kept = job.cost.prepare_bytes / (workload.job.cost.prepare_bytes or 1)
        writes = int(kept * prepared) + job.cost.measure_bytes
        workloads.append(replace(workload, job=job, seconds=part * workload.seconds, writes_bytes=writes))
    image_bytes = _image_bytes(part * recipe.image_bytes, workloads)
    return replace(recipe, workloads=tuple(workloads), image_bytes=image_bytes) if part < 1 else recipe


def at_both_lengths(recipe: Recipe) -> Recipe:
    """Each workload as it is and, right after it, at double length."""
    single = affordable(recipe)
    workloads: list[Workload] = []
    for once in single.workloads:
        workloads += [once, replace(once, name=f"{once.name}{TWICE}", job=longer(once.job, 2))]
    return replace(recipe, workloads=tuple(workloads), image_bytes=_image_bytes(2 * single.image_bytes, workloads))


def _image_bytes(least_bytes: float, workloads: Iterable[Workload]) -> int:
    """So much at least, in whole GiB, and more than what lies on it at the end."""
    taken = room(workload.job for workload in workloads)
    return -(-max(int(least_bytes), int(SPARE * taken)) >> 30) << 30


@dataclass(frozen=True, slots=True)
class Row:
    """A workload on a filesystem: medians over the rounds, at single length unless told otherwise."""

    filesystem: str
    figure: float
    asked_bytes: float | None
    """That the program wrote."""
    written_bytes: float | None
    """That reached the device, with what the filesystem adds."""
    read_bytes: float | None
    """That came from the device."""
    seconds: float | None
    """That it took, or was measured for."""
    once: float
    """Speed over that of ext4."""
    twice: float
    error: float
    """Standard error of the quotient of both, as a share."""


async def run(
    recipe: Recipe,
    rounds: int,
    directory: Path,
    target: TargetChoice | None = None,
    history: Sequence[Entry] = (),
) -> Result:
    """All rounds of it, on an image in `directory` unless another target is named."""
    target = target or TargetChoice("image", str(directory), recipe.image_bytes)
    choices = Choices(
        recipe, parse_candidates("; ".join(CANDIDATES)), target=target, seed=1, write_budget_bytes=math.inf
    )
    plan = replace(make_plan(choices, history), minimum_rounds=rounds, maximum_rounds=rounds, time_limit_s=0.0)
    session = session_in(directory, plan)
    result = await result_of(session)
    assert result.outcome == "finished", session.error or result.outcome
    return result


async def estimate(recipe: Recipe, directory: Path, *, twice: bool) -> dict[str, Any]:
    """What is recorded of one round of all candidates: seconds and bytes, as planned and as they came."""
    record: dict[str, Any] = {"recipe": recipe.name, "date": datetime.date.today().isoformat()}
    history: tuple[Entry, ...] = ()
    for suffix in ("", AGAIN) if twice else ("",):
        own = directory / f"run{suffix}"
        own.mkdir()
        result = await run(affordable(recipe), 1, own, history=history)
        assert not result.discarded_rounds, "the machine stood still meanwhile: measure it again"
        record[f"planned{suffix}"] = (result.plan.expected_s, result.plan.writes_bytes)
        record[f"came{suffix}"] = (result.elapsed_s, result.written_bytes)
        history = (Entry(own / "result.jsonl", Header.of(result.plan, result.environment), None),)
    return record


async def measure(recipe: Recipe, rounds: int, directory: Path, *, steady: bool) -> dict[str, Any]:
    """What is recorded of a recipe, on an image or on the `steady` disk."""
    if not steady:
        return record_of(recipe, await run(at_both_lengths(recipe), rounds, directory))
    with failing_disk(directory, *STEADY_PACE, size=STEADY_SIZE) as disk:
        target = TargetChoice("device", disk.path, serial=find_device(disk.path).identifiers[0])
        return record_of(recipe, await run(at_both_lengths(recipe), rounds, directory, target))


def record_of(recipe: Recipe, result: Result) -> dict[str, Any]:
    """What is recorded of a recipe at both lengths."""
    return {
        "recipe": recipe.name,
        "date": datetime.date.today().isoformat(),
        "kernel": result.environment.kernel,
        "rounds": result.whole_rounds,
        "image_bytes": result.plan.target.size_bytes,
        "direct_cached": {s.candidate: s.value for s in result.samples if s.metric == DIRECT_CACHED.name},
        "workloads": {w.name: [vars_of(row) for row in rows(result, w)] for w in affordable(recipe).workloads},
    }


def vars_of(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__slots__}


def rows(result: Result, workload: Workload) -> Iterator[Row]:
    tables = workload_tables(result)
    once, twice = tables[workload.name], tables[f"{workload.name}{TWICE}"]
    cells = [table[name] for table in (once, twice) for name in CANDIDATES]
    numbers = sorted(set.intersection(*(set(cell) for cell in cells)))
    for name in CANDIDATES:
        ratios = [[table[name][n] - table[CANDIDATES[0]][n] for n in numbers] for table in (once, twice)]
        changes = [later - earlier for earlier, later in zip(*ratios)]
        yield Row(
            name,
            _median(result, workload, name, workload.metric.name) or math.nan,
            _median(result, workload, name, BYTES_WRITTEN.name),
            _median(result, workload, name, DEVICE_WRITTEN.name),
            _median(result, workload, name, DEVICE_READ.name),
            _median(result, workload, name, DURATION.name) or _lasted(result, workload),
            math.exp(statistics.fmean(ratios[0])),
            math.exp(statistics.fmean(ratios[1])),
            statistics.stdev(changes) / math.sqrt(len(changes)) if len(changes) > 1 else math.nan,
        )


def _median(result: Result, workload: Workload, candidate: str, metric: str) -> float | None:
    where = (workload.name, candidate, metric)
    values = [s.value for s in result.samples if s.round and (s.workload, s.candidate, s.metric) == where]
    return statistics.median(values) if values else None


def _lasted(result: Result, workload: Workload) -> float | None:
    """Seconds for which a job was measured that has its time, not its work, in the recipe."""
    job = workload.job
    lasted = [s.value for s in result.samples if (s.workload, s.metric) == (workload.name, LASTED.name)]
    return lasted[-1] if lasted else getattr(job, "seconds", 0.0) or None


def page() -> str:
    """The latest record of each recipe."""
    latest = _latest(RECORDED)
    sections = [_section(recipe, latest[recipe.name]) for recipe in recipes.available() if recipe.name in latest]
    return "\n".join((NOTE.read_text("utf-8"), _estimates(_latest(ESTIMATES)), *sections))


def _heading(recipe: Recipe) -> str:
    """Its names, and how much of it is measured here."""
    part = f", 1/{SMALLER[recipe.name]} of it" if recipe.name in SMALLER else ""
    return f"{recipe.title} (`{recipe.name}`{part})"


def _section(recipe: Recipe, record: Mapping[str, Any]) -> str:
    lines = [
        f"## {_heading(recipe)}\n",
        f"{record['date']}, kernel {record['kernel']}, {record['rounds']} rounds, image of "
        f"{binary_size_text(record['image_bytes'])}.{_direct(record['direct_cached'])}\n",
        "| workload | filesystem | asked to write | reached the disk | read from it | took | speed | twice as long "
        "| change |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for workload in recipe.workloads:
        for number, values in enumerate(record["workloads"].get(workload.name, ())):
            row = Row(**values)
            sizes = [_size(size) for size in (row.asked_bytes, row.written_bytes, row.read_bytes)]
            change = _change(row) if number else ""
            title = f"{workload.title}: {workload.job.words}" if not number else ""
            took = "–" if row.seconds is None else f"{row.seconds:.2g} s"
            cells = (title, row.filesystem, *sizes, took, f"{row.once:.2f}", f"{row.twice:.2f}", change)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, "", *filter(None, [_on_steady_disk(recipe)])))


def _direct(shares: Mapping[str, float]) -> str:
    """How much of what was written with O_DIRECT was in memory all the same."""
    said = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return f" Of a write with O_DIRECT, in memory meanwhile: {said}." if said else ""


def _on_steady_disk(recipe: Recipe) -> str:
    """How far ratios move there, in few columns; empty where none was measured."""
    record = _latest(STEADY).get(recipe.name)
    if record is None:
        return ""
    lines = [
        f"On a disk in memory of 200 MB/s, {record['rounds']} rounds, {record['date']}:\n",
        "| workload | filesystem | speed | twice as long | change |",
        "| --- | --- | --: | --: | --: |",
    ]
    for workload in recipe.workloads:
        for row in [Row(**values) for values in record["workloads"].get(workload.name, ())][1:]:
            lines.append(f"| {workload.title} | {row.filesystem} | {row.once:.2f} | {row.twice:.2f} | {_change(row)} |")
    return "\n".join((*lines, ""))


def _change(row: Row) -> str:
    """With its standard error."""
    return f"{row.twice / row.once - 1:+.1%} ± {row.error:.1%}"


def _estimates(latest: Mapping[str, Mapping[str, Any]]) -> str:
    """One round of each recipe, as planned and as it came."""
    lines = [
        "## Planned, and what came\n",
        "One round of ext4, XFS and btrfs, with the preparation and the scratch image; in brackets, what came over",
        "what was planned. The first plan knows the kind of disk, not its pace, which differs here by a factor of two",
        "from day to day; in a second line it knew the first run. A run corrects its plan after its first round.\n",
        "| recipe | measured | planned | took | planned to write | wrote |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    for recipe in recipes.available():
        record = latest.get(recipe.name, {})
        for suffix, heading in (("", _heading(recipe)), (AGAIN, "… with the first run known")):
            if planned := record.get(f"planned{suffix}"):
                figures = _planned_and_came(planned, record[f"came{suffix}"])
                lines.append(f"| {heading} | {record['date']} | {figures} |")
    return "\n".join((*lines, ""))


def _planned_and_came(planned: tuple[float, float], came: tuple[float, float]) -> str:
    (planned_s, planned_bytes), (came_s, came_bytes) = planned, came
    return (
        f"{planned_s:.0f} s | {came_s:.0f} s ({came_s / planned_s:.2f}) | {_size(planned_bytes)} "
        f"| {_size(came_bytes)} ({came_bytes / planned_bytes:.2f})"
    )


def _size(size_bytes: float | None) -> str:
    return "–" if size_bytes is None else size_text(int(size_bytes))


def _latest(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The last record of each recipe in a file."""
    return {record["recipe"]: record for record in _records(path)}


def _records(path: Path) -> Sequence[Mapping[str, Any]]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else ()
    return [json.loads(line) for line in lines]


def main(what: str, names: Sequence[str], rounds: int, directory: str, *, twice: bool, steady: bool) -> None:
    if what == "report":
        PAGE.write_text(page(), "utf-8")
        return
    for recipe in recipes.available():
        if (names and recipe.name not in names) or recipe.source != recipes.SHIPPED:
            continue
        with tempfile.TemporaryDirectory(prefix="fswizard-recipes-", dir=directory) as name:
            own = Path(name)
            measured = what == "measure"
            how = measure(recipe, rounds, own, steady=steady) if measured else estimate(recipe, own, twice=twice)
            record = asyncio.run(how)
        place = ESTIMATES if not measured else STEADY if steady else RECORDED
        with place.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(record)}\n")
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "estimates", "report"])
    parser.add_argument("recipes", nargs="*", metavar="RECIPE")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--directory", default="/var/tmp")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--steady", action="store_true")
    arguments = parser.parse_intermixed_args()
    options = {"twice": arguments.twice, "steady": arguments.steady}
    main(arguments.what, arguments.recipes, arguments.rounds, arguments.directory, **options)
