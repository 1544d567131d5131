"""Ways of measuring: each is one file of this directory, and what they share lies in `shared`.

Add an engine
=============

Write `fswizard/engines/NAME.py` with one class: a frozen dataclass with slots that derives from `Engine`, or from
`TimedEngine` where it is programs that are timed with empty caches until their work is on the disk. It says

- its `engine`, which is its name in recipes, and the `programs` that must be installed, with `packages` where a
  program's package is named differently;
- its `metrics`, in the order in which it yields them; those of a `TimedEngine` end with `WORST_STALL`, which comes by
  itself. `model/metrics.py` has those there are;
- its fields, which are the keys of a workload in a recipe: `Literal` for a choice, `bool`, `Annotated[int,
  whole(low, high)]`, or `Annotated[int, size(low, high)]`: `block_bytes` is then the key `block`, such as "4K";
- `words` for users, `cost` in seconds and bytes, and `leaves`, the space that it takes;
- `commands` and `run`, or for a `TimedEngine` `timed` and `figures`, and `bring` for files that the programs read.

The program needs nothing else; `sqlite.py` is an example to begin with. Try it with a recipe `mine.toml`, whose tables
are `Recipe` and `Workload` in `model/recipe.py`; a workload has the keys of its engine besides:

    schema = 1
    name = "mine"
    title = "Mine"
    why = "To try the engine."
    image = "300M"
    minutes = 1
    candidates = ["ext4"]

    [[workload]]
    name = "first"
    title = "The first"
    engine = "NAME"
    metric = "duration"
    weight = 1
    why = "Programs that do this all day."

    .venv/bin/fswizard run ./mine.toml --rounds 2..2 --target image:300M@/var/tmp

If no usual program does the work, write one of the standard library alone, `shared/NAME_worker.py`: `put_worker` in
`bring` copies it to where `worker_command` starts it. `shared/trees.py` shows both.

For the tests, add a small job to `JOBS` in `tests/unit/test_workload_programs.py`, and to `PROGRAM` there the marker of
a program that a machine may lack (`tests/conftest.py` lists them). Then, as root:

    .venv/bin/pytest tests/unit/test_workload_programs.py tests/loop/test_engines.py

If a shipped recipe uses the engine, say in `small` in `tests/loop/test_workload_matrix.py` how its jobs are made small,
and run that test, too; it takes the engines of shipped recipes alone.
"""

from __future__ import annotations

import importlib
import pkgutil

from fswizard.engines.shared.ageing import age
from fswizard.engines.shared.ageing import planned as planned_age
from fswizard.engines.shared.direct import cached_share
from fswizard.engines.shared.engine import (
    BareDevice,
    BareSample,
    Engine,
    WorkloadContext,
    WorkloadDisturbed,
    WorkloadFailed,
    forget_cell,
)
from fswizard.engines.shared.running import require_unkilled
from fswizard.model.keys import Keys
from fswizard.model.recipe import Job, Program

__all__ = [
    "BareDevice", "BareSample", "Engine", "WorkloadContext", "WorkloadDisturbed", "WorkloadFailed", "age",
    "cached_share", "engine", "forget_cell", "job", "planned_age", "programs", "require_unkilled",
]  # fmt: skip


def job(engine: str, keys: Keys) -> Job:
    """The job that a workload of a recipe describes."""
    kind = Job.kinds[engine]
    assert issubclass(kind, Engine)
    return keys.read(kind).checked(keys)


def engine(job: Job) -> Engine:
    """A job as one that can be carried out: every job is an engine's."""
    assert isinstance(job, Engine)
    return job


def programs() -> tuple[Program, ...]:
    """The programs that engines need, each once."""
    return tuple({program.name: program for kind in Job.kinds.values() for program in kind.programs}.values())


for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    for _kind in vars(importlib.import_module(_module.name)).values():
        if isinstance(_kind, type) and issubclass(_kind, Job) and _kind.__module__ == _module.name:
            Job.kinds[_kind.engine] = _kind
