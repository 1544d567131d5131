"""From the text of a recipe to its workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import tomli

from fswizard import engines
from fswizard.errors import UsageError
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, expected_s, room, writes_bytes
from fswizard.model.keys import Keys
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.model.text import safe
from fswizard.model.units import size_text

LONGEST_FILE_BYTES = 1 << 20
MIB = 1 << 20
TIB = 1 << 40


def parse(text: str, source: str) -> Recipe:
    """The recipe that a TOML text describes; UsageError with file, key and what was expected otherwise."""
    source = safe(source)
    if len(text) > LONGEST_FILE_BYTES:
        raise UsageError(f"{source}: over 1 MB is no recipe.")
    try:
        table = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: this is not TOML: {safe(str(error)) or 'nested too deeply'}.") from error
    keys = Keys(table, source)
    keys.integer("schema", 1, 1)
    name = keys.name("name")
    recipe = Recipe(
        name=name,
        title=keys.text("title", 60),
        why=keys.text("why", 500),
        minutes=keys.number("minutes", 0.1, 10_080),
        image_bytes=keys.size("image", 64 * MIB, 64 * TIB),
        candidates=keys.texts("candidates", 20, 200),
        array_candidates=keys.texts("array_candidates", 20, 200),
        workloads=tuple(_filling(_workloads(keys), keys.size("image", 64 * MIB, 64 * TIB))),
        source=source,
    )
    keys.end()
    _check_whole(recipe, keys)
    return recipe


def _workloads(keys: Keys) -> Iterator[Workload]:
    prepared: set[Job] = set()
    for number, table in enumerate(keys.tables("workload", 50), 1):
        name = table.get("name")
        called = f" ({safe(name)[:40]})" if isinstance(name, str) else ""
        inner = keys.inner(table, f"workload {number}{called}")
        yield _workload(inner, prepared)
        inner.end()


def _filling(workloads: Iterator[Workload], image_bytes: int) -> Iterator[Workload]:
    """With what filling the image costs, where workloads do that; each goes on where the one before ended."""
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


def _workload(keys: Keys, prepared: set[Job]) -> Workload:
    name, title, why = keys.name("name"), keys.text("title", 60), keys.text("why", 500, "")
    engine = keys.choice("engine", tuple(Job.kinds))
    metrics = {metric.name: metric for metric in Job.kinds[engine].metrics}
    metric = metrics[keys.choice("metric", metrics)]
    weight = keys.number("weight", 0, 1000, 1.0)
    job = engines.job(engine, keys)
    prepares = job.works_on not in prepared
    prepared.add(job.works_on)
    return Workload(
        name=name,
        title=title,
        engine=engine,
        job=job,
        metric=metric,
        weight=weight,
        why=why,
        seconds=keys.number("expected_seconds", 0, 1e6, expected_s(job, prepares=prepares)),
        writes_bytes=writes_bytes(job, prepares=prepares),
    )


def _check_whole(recipe: Recipe, keys: Keys) -> None:
    names = [workload.name for workload in recipe.workloads]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{recipe.source}: two workloads are called '{name}'.", "Give each a name of its own.")
    needed = room(workload.job for workload in recipe.workloads)
    if needed > recipe.image_bytes * 0.8:
        expected = f"at least {size_text(needed / 0.8)}, for the workloads leave {size_text(needed)} behind,"
        raise keys.error("image", expected)
