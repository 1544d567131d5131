"""Parsing of recipes and their workloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta

from fswizard.engines import TreeShape
from fswizard.errors import UsageError
from fswizard.language import _
from fswizard.model.codec import from_json, to_json
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, expected_s, needed_bytes, room, writes_bytes
from fswizard.model.keys import by_field, from_to, key_of, must_be, one_of, read_table
from fswizard.model.recipe import Job, Recipe, Workload
from fswizard.model.text import safe
from fswizard.model.units import size_text

T = TypeVar("T")
_TYPES = re.compile(r"^(?:_?[A-Z]\w*(?:\.job)?(?:\.|: ))+")
"""Names of types at the beginning of an error, which say nothing to authors."""
_FIELD = re.compile(r"^\w+(?=:|\[)|(?<=required field `)\w+")
"""The field that an error is about; authors know it by its key."""
LONGEST_REASON = 200
"""Characters of a reason, which may quote any text of the file."""

RECIPE_FIELDS = (
    "name", "title", "why", "image_bytes", "minutes", "hard_disk_minutes", "hard_disk_image_bytes", "group",
    "candidates", "array_candidates", "mount_point",
)  # fmt: skip
WORKLOAD_FIELDS = ("name", "title", "why", "weight", "box_s", "every", "least")


@dataclass
class _File:
    """Keys of a file that are not fields of the recipe."""

    schema: Literal[1]
    workload: Annotated[list[dict[str, Any]], Meta(min_length=1)]
    tree: dict[str, Any] | None = None


def parse(text: str, source: str) -> Recipe:
    """Parse a recipe in TOML; raises UsageError with file, key and reason."""
    where = safe(source)
    table = read_table(text, where)
    values = by_field(table, [*RECIPE_FIELDS, *_File.__dataclass_fields__], where)
    file = _read(_File, values, where)
    tree = file.tree and by_field(file.tree, TreeShape.__dataclass_fields__, f"{where}: tree")
    if tree:
        _read(TreeShape, tree, f"{where}: tree")
    workloads = []
    for count, each in enumerate(file.workload, 1):
        workloads.append(_workload(each, tree, f"{where}: workload {count} ({str(each.get('name'))[:40]})"))
    recipe = _read(Recipe, {**values, "workloads": workloads, "source": where}, where)
    check(recipe, where)
    return replace(recipe, workloads=tuple(_expected(recipe)))


def _read(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    try:
        return from_json(kind, values)
    except ValueError as error:
        reason = _FIELD.sub(lambda field: key_of(field[0]), _TYPES.sub("", safe(str(error))))
        raise UsageError(f"{where}: {reason[:LONGEST_REASON]}.") from error


def _workload(table: Mapping[str, Any], tree: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """A workload as it is in a result file; raises UsageError if it is not one."""
    kind = Job.kinds.get(str(table.get("engine")))
    if kind is None:
        raise UsageError(f"{where}: {must_be('engine', one_of(Job.kinds))}.")
    fields = [field for field in kind.__dataclass_fields__ if field != "own"]
    values = by_field(table, ["engine", "metric", *WORKLOAD_FIELDS, *fields], where)
    metrics = {metric.name: to_json(metric) for metric in kind.metrics}
    if (metric := str(values.get("metric"))) not in metrics:
        raise UsageError(f"{where}: {must_be('metric', one_of(metrics))}.")
    job = {field: values.pop(field) for field in fields if field in values}
    if job.get("shape") == "own":
        job["own"] = tree
    values |= {"job": job, "metric": metrics[metric]}
    _read(Workload, values, where)
    return values


def check(recipe: Recipe, where: str = "") -> None:
    """Raises UsageError if the parts of a recipe contradict each other, so that no recipe file describes it."""
    where = where or safe(recipe.name)
    for name, times in Counter(workload.name for workload in recipe.workloads).items():
        if times > 1:
            text = _("{file}: two workloads are called '{name}'.", file=where, name=name)
            raise UsageError(text, _("Give each its own name."))
    for workload in recipe.workloads:
        units, inner = workload.job.units, f"{where}: {workload.name}"
        if workload.metric not in workload.job.yielded:
            metrics = [metric.name for metric in workload.job.yielded]
            raise UsageError(f"{inner}: {must_be('metric', one_of(metrics))}.")
        if workload.box_s and units is None:
            expected = _("nothing, as the amount of this work can't be changed")
            raise UsageError(f"{inner}: {must_be('box', expected)}.")
        if workload.least > (units or workload.least):
            raise UsageError(f"{inner}: {must_be('least', from_to(1, units or 1))}.")
    jobs = [workload.job for workload in recipe.workloads]
    least = needed_bytes(recipe)
    if recipe.image_bytes < least:
        expected = _(
            "at least {least}, because the workloads leave {size} behind,",
            least=size_text(least), size=size_text(room(jobs)),
        )  # fmt: skip
        raise UsageError(f"{where}: {must_be('image', expected)}.")


def _expected(recipe: Recipe) -> Iterator[Workload]:
    """The workloads with their expected seconds and bytes; each one finds the files of the previous ones, and fills the
    image beyond their level."""
    prepared: set[object] = set()
    filled = 0
    for workload in recipe.workloads:
        job = workload.job
        prepares = job.works_on not in prepared
        prepared.add(job.works_on)
        fills_bytes = max(0, job.fill_percent - filled) * recipe.image_bytes // 100
        filled = max(filled, job.fill_percent)
        yield replace(
            workload,
            seconds=expected_s(job, prepares=prepares) + fills_bytes / SEQUENTIAL_BYTES_PER_S,
            writes_bytes=writes_bytes(job, prepares=prepares) + fills_bytes,
        )
