"""Parsing of recipes and their workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from msgspec import Meta

from fswizard import engines
from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, expected_s, least_image_bytes, room, writes_bytes
from fswizard.model.keys import Keys, from_to, one_of, written
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.model.text import harmless, safe
from fswizard.model.units import size_text


@dataclass
class _File:
    """Keys of a file that are not fields of the recipe."""

    schema: Literal[1]
    workload: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, max_length=50)]
    tree: dict[str, Any] | None = None


@dataclass
class _Work:
    """Keys of a workload that are neither its fields nor those of its engine."""

    engine: str
    metric: str


def parse(text: str, source: str) -> Recipe:
    """Parse a recipe in TOML; raises UsageError with file, key and expected value."""
    return _recipe(Keys.parse(text, source), safe(source))


def check(recipe: Recipe) -> None:
    """Raises UsageError if a recipe from a result file could not be written as a recipe file."""
    trees = [tree for workload in recipe.workloads if (tree := getattr(workload.job, "own", None))]
    table = {
        **written(recipe),
        "schema": 1,
        "workload": [
            {**written(each), **written(each.job), "engine": each.engine, "metric": each.metric.name}
            for each in recipe.workloads
        ],
        **({"tree": written(trees[0])} if trees else {}),
    }
    where = safe(recipe.name)[:40]
    if _described(_recipe(Keys(harmless(table), where), where)) != _described(recipe):
        raise UsageError(_("{file}: no recipe file describes such a recipe.", file=where))


def _described(recipe: Recipe) -> Recipe:
    """The recipe without properties that a file does not contain: estimates, amounts, and its source."""
    workloads = (replace(each, seconds=0.0, writes_bytes=0, amount=None) for each in recipe.workloads)
    return replace(recipe, workloads=tuple(workloads), source="")


def _recipe(keys: Keys, source: str) -> Recipe:
    keys.read(_File, more_keys=True)
    recipe = keys.read(Recipe, workloads=(), source=source)
    recipe = replace(recipe, workloads=tuple(_filling(_workloads(keys), recipe.image_bytes)))
    for name, times in Counter(workload.name for workload in recipe.workloads).items():
        if times > 1:
            text = _("{file}: two workloads are called '{name}'.", file=recipe.source, name=name)
            raise UsageError(text, _("Give each its own name."))
    jobs = [workload.job for workload in recipe.workloads]
    least = least_image_bytes(jobs)
    if recipe.image_bytes < least:
        expected = _(
            "at least {least}, because the workloads leave {size} behind,",
            least=size_text(least), size=size_text(room(jobs)),
        )  # fmt: skip
        raise keys.error("image", expected)
    return recipe


def _workloads(keys: Keys) -> Iterator[Workload]:
    prepared: set[object] = set()
    for inner in keys.each("workload"):
        work = inner.read(_Work, more_keys=True)
        if work.engine not in Job.kinds:
            raise inner.error("engine", one_of(Job.kinds, work.engine))
        metrics = {metric.name: metric for metric in Job.kinds[work.engine].metrics}
        if work.metric not in metrics:
            raise inner.error("metric", one_of(metrics, work.metric))
        workload = inner.read(Workload, more_keys=True, engine=work.engine, job=None, metric=metrics[work.metric])
        job = engines.job(work.engine, inner)
        if workload.box_s and job.units is None:
            raise inner.error("box", _("nothing, as the amount of this work can't be changed"))
        if workload.least > (job.units or workload.least):
            raise inner.error("least", from_to(1, job.units or 1))
        prepares = job.works_on not in prepared
        prepared.add(job.works_on)
        seconds = workload.seconds if "expected_seconds" in inner.table else expected_s(job, prepares=prepares)
        yield replace(workload, job=job, seconds=seconds, writes_bytes=writes_bytes(job, prepares=prepares))


def _filling(workloads: Iterator[Workload], image_bytes: int) -> Iterator[Workload]:
    """The workloads with time and bytes for filling the image; each one continues from the level of the previous
    one."""
    filled = 0
    for workload in workloads:
        percent = workload.job.fill_percent
        fills_bytes = max(0, percent - filled) * image_bytes // 100
        filled = max(filled, percent)
        yield replace(
            workload,
            seconds=workload.seconds + fills_bytes / SEQUENTIAL_BYTES_PER_S,
            writes_bytes=workload.writes_bytes + fills_bytes,
        )
