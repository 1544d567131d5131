"""Recipes: what is measured, read from TOML files. They are data: nothing in them names a path or a program."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import tomli

from fswizard.errors import FswizardError, UsageError
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S, expected_s, room, writes_bytes
from fswizard.model.metrics import ENGINE_METRICS
from fswizard.model.recipe import (
    BackupJob,
    FileServerJob,
    FioJob,
    Job,
    Metric,
    OverflowJob,
    Recipe,
    RsyncJob,
    SqliteJob,
    TreeJob,
    TreeOperation,
    TreeShape,
    Workload,
)
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, parse_size, size_text

LONGEST_FILE_BYTES = 1 << 20
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40
DEEPEST = 64
"""Directories of a tree that lie within one another."""
MOST_DIRECTORIES = 1_000_000


SHIPPED = "shipped with fswizard"
"""Source of a recipe of the program's own."""


def available() -> tuple[Recipe, ...]:
    """Every recipe that can be used, shipped ones first; a person's own stands in for a shipped one of its name."""
    return tuple(found for found in _read_all().values() if isinstance(found, Recipe))


def broken() -> tuple[FswizardError, ...]:
    """What is wrong with the recipes that cannot be used."""
    return tuple(found for found in _read_all().values() if isinstance(found, FswizardError))


def find(name_or_path: str) -> Recipe:
    """The recipe of that name, or in that file; UsageError where there is none, or where it cannot be used."""
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return load(Path(name_or_path))
    known = _read_all()
    found = known.get(name_or_path)
    if isinstance(found, FswizardError):
        raise found
    if found is None:
        usable = [name for name, recipe in known.items() if isinstance(recipe, Recipe)]
        hint = f"There are {', '.join(usable)}; or name a file that ends with .toml."
        raise UsageError(f"There is no recipe '{safe(name_or_path)}'{_nearest(name_or_path, known)}.", hint)
    return found


def load(path: Path) -> Recipe:
    """Read a recipe's file; UsageError where it cannot be read or used."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this is not a file's name"
        raise UsageError(f"{safe(str(path))}: {reason}.", "`fswizard recipes` lists what there is.") from error
    if len(data) > LONGEST_FILE_BYTES:
        raise UsageError(f"{safe(str(path))}: over 1 MB is no recipe.")
    try:
        return parse(data.decode("utf-8-sig"), str(path))  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise UsageError(f"{safe(str(path))}: this is not text in UTF-8.") from error


def parse(text: str, source: str) -> Recipe:
    """The recipe that a TOML text describes; UsageError with file, key and what was expected otherwise."""
    source = safe(source)
    if len(text) > LONGEST_FILE_BYTES:
        raise UsageError(f"{source}: over 1 MB is no recipe.")
    try:
        table = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: this is not TOML: {safe(str(error)) or 'nested too deeply'}.") from error
    keys = _Keys(table, source)
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
        workloads=tuple(_filling(_workloads(keys, _own_tree(keys)), keys.size("image", 64 * MIB, 64 * TIB))),
        source=source,
    )
    keys.end()
    _check_whole(recipe, keys)
    return recipe


def _directories() -> Iterator[tuple[Path, bool]]:
    """Where recipes lie, and whether they are the program's own."""
    package = Path(__file__).parent
    shipped = package / "shipped_recipes"
    yield shipped if shipped.is_dir() else package.parent / "recipes", True
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".config"
    yield base / "fswizard" / "recipes", False


def _read_all() -> Mapping[str, Recipe | FswizardError]:
    found: dict[str, Recipe | FswizardError] = {}
    for directory, shipped in _directories():
        for path in sorted(directory.glob("*.toml")):
            try:
                recipe = load(path)
                other = found.get(recipe.name)
                if isinstance(other, Recipe) and other.source != SHIPPED:
                    text = f"{recipe.source}: 'name': {other.source} is called '{recipe.name}', too."
                    raise UsageError(text, "Give each a name of its own.")
                found[recipe.name] = replace(recipe, source=SHIPPED) if shipped else recipe
            except UsageError as error:
                found[safe(path.name if path.stem in found else path.stem)] = error
    return dict(sorted(found.items(), key=lambda item: (item[0] != "quick", item[0])))


class _Keys:
    """A table of a recipe, read key by key; `end` refuses what nobody asked for."""

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self._table = table
        self._where = where
        self._asked: list[str] = []

    def error(self, key: str, expected: str) -> UsageError:
        if key not in self._table:
            unknown = [name for name in self._table if name not in self._asked]
            near = "".join(f" (is '{safe(name)}' meant to be it?)" for name in _close(key, unknown))
            return UsageError(f"{self._where}: '{key}' is missing{near}: {expected.rstrip(',')} is expected.")
        value = self._table[key]
        given = "a table of its own" if isinstance(value, dict) else safe(repr(value))[:60]
        return UsageError(f"{self._where}: '{key}': {expected} was expected, not {given}.")

    def get(self, key: str, expected: str, fits: Callable[[Any], bool], default: Any = None) -> Any:
        """The value of `key`; without a default it must be there."""
        self._asked.append(key)
        if key not in self._table and default is not None:
            return default
        if key not in self._table or not fits(self._table[key]):
            raise self.error(key, expected)
        return self._table[key]

    def text(self, key: str, longest: int, default: str | None = None) -> str:
        expected = f"text of at most {longest} characters"
        value = self.get(key, expected, lambda v: isinstance(v, str) and 0 < len(v) <= longest, default)
        return safe(" ".join(value.split()))

    def texts(self, key: str, most: int, longest: int) -> tuple[str, ...]:
        def fits(value: Any) -> bool:
            texts = isinstance(value, list) and all(isinstance(v, str) and 0 < len(v) <= longest for v in value)
            return texts and len(value) <= most

        return tuple(safe(value) for value in self.get(key, 'a list of candidates, such as ["ext4", "xfs"]', fits, []))

    def name(self, key: str) -> str:
        pattern = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
        expected = "a short name of small letters, digits and dashes"
        return str(self.get(key, expected, lambda v: isinstance(v, str) and pattern.fullmatch(v) is not None))

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        def fits(value: Any) -> bool:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

        return float(self.get(key, f"a number from {low:g} to {high:g}", fits, default))

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        expected = f"a whole number from {low} to {high}" if low < high else f"{low}"
        return int(self.get(key, expected, lambda v: type(v) is int and low <= v <= high, default))

    def integers(self, key: str, fewest: int, most: int, high: int) -> tuple[int, ...]:
        def fits(value: Any) -> bool:
            numbers = isinstance(value, list) and all(type(v) is int and 0 <= v <= high for v in value)
            return numbers and fewest <= len(value) <= most

        return tuple(self.get(key, f"a list of {fewest} to {most} whole numbers from 0 to {high}", fits))

    def size(self, key: str, low: int, high: int) -> int:
        expected = f'a size from {binary_size_text(low)} to {binary_size_text(high)}, such as "64M"'
        text = self.get(key, expected, lambda v: isinstance(v, str))
        try:
            value = parse_size(text)
        except ValueError as error:
            raise self.error(key, expected) from error
        if not low <= value <= high:
            raise self.error(key, expected)
        return value

    def flag(self, key: str, default: bool) -> bool:
        return bool(self.get(key, "true or false", lambda v: isinstance(v, bool), default))

    def choice(self, key: str, choices: Mapping[str, Any] | tuple[str, ...], default: str | None = None) -> Any:
        """One of `choices`; str in practice, Any so that a Literal takes it."""
        given = self._table.get(key)
        near = _nearest(given, choices) if isinstance(given, str) and given not in choices else ""
        expected = f"one of {', '.join(choices)}{near}"
        return self.get(key, expected, lambda v: isinstance(v, str) and v in choices, default)

    def tables(self, key: str, most: int) -> list[Mapping[str, Any]]:
        def fits(value: Any) -> bool:
            tables = isinstance(value, list) and all(isinstance(item, dict) for item in value)
            return tables and 0 < len(value) <= most

        return list(self.get(key, f"1 to {most} tables [[{key}]]", fits))

    def inner(self, table: Mapping[str, Any], where: str) -> _Keys:
        return _Keys(table, f"{self._where}: {where}")

    def end(self) -> None:
        for key in self._table:
            if key not in self._asked:
                hint = f"Known keys here are {', '.join(self._asked)}."
                raise UsageError(
                    f"{self._where}: '{safe(key)[:60]}' is no known key{_nearest(key, self._asked)}.", hint
                )


def _own_tree(keys: _Keys) -> TreeShape | None:
    """The table `tree`, which `fswizard recipes --from` writes."""
    table = keys.get("tree", "a table", lambda v: isinstance(v, dict), {})
    if not table:
        return None
    inner = keys.inner(table, "tree")
    shape = TreeShape(
        sizes=inner.integers("sizes", 2, 1025, TIB),
        files_at_depth=inner.integers("files_at_depth", 1, DEEPEST, 10_000_000),
        directories_at_depth=inner.integers("directories_at_depth", 1, DEEPEST, MOST_DIRECTORIES),
        random_share=inner.number("random_share", 0, 1),
    )
    inner.end()
    if list(shape.sizes) != sorted(shape.sizes):
        raise inner.error("sizes", "a list of sizes, the smallest first,")
    if sum(shape.directories_at_depth) > MOST_DIRECTORIES:
        raise inner.error("directories_at_depth", f"at most {MOST_DIRECTORIES:,} directories")
    if shape.directories_at_depth[0] != 1 or 0 in shape.directories_at_depth:
        raise inner.error("directories_at_depth", "1 and then, for each depth, 1 or more,")
    if len(shape.files_at_depth) != len(shape.directories_at_depth):
        raise inner.error("files_at_depth", "a number for each depth of 'directories_at_depth'")
    return shape


def _workloads(keys: _Keys, own: TreeShape | None) -> Iterator[Workload]:
    prepared: set[Job] = set()
    for number, table in enumerate(keys.tables("workload", 50), 1):
        name = table.get("name")
        called = f" ({safe(name)[:40]})" if isinstance(name, str) else ""
        inner = keys.inner(table, f"workload {number}{called}")
        yield _workload(inner, prepared, own)
        inner.end()


def _filling(workloads: Iterator[Workload], image_bytes: int) -> Iterator[Workload]:
    """With what filling the image costs, where workloads do that; each goes on where the one before ended."""
    filled = 0
    for workload in workloads:
        percent = workload.job.fill_percent if isinstance(workload.job, FileServerJob) else 0
        fills_bytes = max(0, percent - filled) * image_bytes // 100
        filled = max(filled, percent)
        yield replace(
            workload,
            seconds=workload.seconds + fills_bytes / SEQUENTIAL_BYTES_PER_S,
            writes_bytes=workload.writes_bytes + fills_bytes,
        )


def _workload(keys: _Keys, prepared: set[Job], own: TreeShape | None) -> Workload:
    name, title, why = keys.name("name"), keys.text("title", 60), keys.text("why", 500, "")
    engine = keys.choice("engine", tuple(_JOBS))
    metrics = {metric.name: metric for metric in ENGINE_METRICS[engine]}
    metric: Metric = metrics[keys.choice("metric", metrics)]
    weight = keys.number("weight", 0, 1000, 1.0)
    job = _JOBS[engine](keys)
    if isinstance(job, TreeJob) and job.shape == "own":
        if own is None:
            raise keys.error("shape", "a table [tree] that says what one's own files are like")
        if sum(own.files_at_depth) != job.files:
            raise keys.error("files", f"{sum(own.files_at_depth)}, the sum of 'files_at_depth',")
        job = replace(job, own=own)
    works_on = _works_on(job)
    prepares = works_on not in prepared
    prepared.add(works_on)
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


def _fio(keys: _Keys) -> FioJob:
    size_bytes = keys.size("size", MIB, 16 * TIB)
    return FioJob(
        rw=keys.choice("rw", ("read", "write", "randread", "randwrite", "randrw")),
        block_bytes=keys.size("block", 512, min(64 * MIB, size_bytes)),
        size_bytes=size_bytes,
        seconds=keys.number("seconds", 0, 86_400, 0.0),
        jobs=keys.integer("jobs", 1, 256, 1),
        depth=keys.integer("depth", 1, 1024, 1),
        io_engine=keys.choice("io_engine", ("psync", "libaio", "io_uring"), "libaio"),
        direct=keys.flag("direct", True),
        fsync=keys.integer("fsync", 0, 1_000_000, 0),
    )


def _tree(keys: _Keys) -> TreeJob:
    return TreeJob(
        operation=keys.choice("operation", get_args(TreeOperation)),
        shape=keys.choice("shape", ("small-files", "source", "mixed", "own")),
        files=keys.integer("files", 1, 10_000_000),
        total_bytes=keys.size("total", 1, 16 * TIB),
    )


def _file_server(keys: _Keys) -> FileServerJob:
    threads = keys.integer("threads", 1, 256)
    return FileServerJob(
        threads=threads,
        files=keys.integer("files", 5 * threads, 10_000_000),  # each has four that exist, and one that does not
        mean_file_bytes=keys.size("mean_file", 1, GIB),
        mean_append_bytes=keys.size("mean_append", 1, GIB),
        seconds=keys.number("seconds", 0.1, 604_800),
        fill_percent=keys.integer("fill", 0, 99, 0),
    )


def _backup(keys: _Keys) -> BackupJob:
    return BackupJob(
        archive=keys.choice("archive", ("first", "second")),
        files=keys.integer("files", 1, 10_000_000),
        total_bytes=keys.size("total", 1, 16 * TIB),
    )


def _rsync(keys: _Keys) -> RsyncJob:
    return RsyncJob(
        direction=keys.choice("direction", ("onto", "from")),
        shape=keys.choice("shape", ("small-files", "mixed")),
        files=keys.integer("files", 1, 1_000_000),
        total_bytes=keys.size("total", 1, 16 * GIB),
    )


def _sqlite(keys: _Keys) -> SqliteJob:
    return SqliteJob(
        journal=keys.choice("journal", ("wal", "delete")),
        transactions=keys.integer("transactions", 1, 1_000_000),
    )


def _overflow(keys: _Keys) -> OverflowJob:
    return OverflowJob(
        working_set_bytes=keys.size("working_set", MIB, 16 * TIB),
        seconds=keys.number("seconds", 1, 604_800),
        block_bytes=keys.size("block", 512, MIB),
        depth=keys.integer("depth", 1, 1024, 32),
    )


_JOBS: Mapping[str, Callable[[_Keys], Job]] = {
    "fio": _fio,
    "tree": _tree,
    "fileserver": _file_server,
    "backup": _backup,
    "rsync": _rsync,
    "sqlite": _sqlite,
    "overflow": _overflow,
}


def _works_on(job: Job) -> Job:
    """The same for all jobs that share what they work on."""
    if isinstance(job, OverflowJob):
        job = job.fio
    if isinstance(job, FioJob):
        return FioJob("read", 1, job.size_bytes)
    if isinstance(job, BackupJob):
        return replace(job, archive="first")
    if isinstance(job, TreeJob) and job.operation not in ("git-status", "install"):
        return replace(job, operation="copy")
    return job


def _check_whole(recipe: Recipe, keys: _Keys) -> None:
    names = [workload.name for workload in recipe.workloads]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{recipe.source}: two workloads are called '{name}'.", "Give each a name of its own.")
    needed = room(workload.job for workload in recipe.workloads)
    if needed > recipe.image_bytes * 0.8:
        expected = f"at least {size_text(needed / 0.8)}, for the workloads leave {size_text(needed)} behind,"
        raise keys.error("image", expected)


def _nearest(name: str, known: Iterable[str]) -> str:
    return "".join(f" (did you mean '{near}'?)" for near in _close(name, known))


def _close(name: str, known: Iterable[str]) -> list[str]:
    """The nearest, if any is near."""
    return difflib.get_close_matches(name[:100].lower(), list(known), 1)
