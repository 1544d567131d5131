"""Ways of measuring: each is one file of this directory, and what they share lies in `shared`.

Add an engine
=============

Write `fswizard/engines/NAME.py` with one class: a frozen dataclass with slots that derives from `Engine`. The program
needs nothing else. `fsync.py` is an example to begin with; `Job` in `model/recipe.py` describes what may be overridden.

- `engine` is its name in recipes, and its fields are the keys of a workload: `Literal` for a choice, `bool`,
  `Annotated[int, whole(low, high)]`, or `Annotated[int, size(low, high)]`: `block_bytes` is the key `block`, as "4K".
- `timed` says which programs run and what they need; `figures`, what follows from how they ended.
- `metrics` are in the order in which it yields them, and may end with `WORST_STALL`, which comes by itself.
  `model/metrics.py` has those there are.
- If no usual program does the work, write one of the standard library alone, `shared/NAME_worker.py`: the command line
  that `worker` gives starts it.

Try it with a recipe of one workload, `fswizard run ./mine.toml --rounds 2..2 --target image:300M@/var/tmp`. Add a small
job to `JOBS` in `tests/unit/test_workload_programs.py` and run that, and as root `tests/loop/test_engines.py`. If a
shipped recipe uses the engine, say in `small` in `tests/loop/test_workload_matrix.py` how its jobs are made small.
"""

from __future__ import annotations

import importlib
import pkgutil

from fswizard.engines.shared.context import (
    BareDevice,
    BareSample,
    WorkloadContext,
    WorkloadDisturbed,
    WorkloadFailed,
    forget_cell,
)
from fswizard.engines.shared.engine import Engine, age, ageing, cached_share
from fswizard.engines.shared.programs import require_unkilled
from fswizard.model.keys import Keys
from fswizard.model.recipe import Job, PlannedCommand, Program

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


def planned_age(write_bytes: int, free_bytes: int) -> PlannedCommand:
    work = ageing("MOUNT", "SCRATCH", "SEED", write_bytes, free_bytes)
    return PlannedCommand(work.argv, text=work.text)


for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    for _kind in vars(importlib.import_module(_module.name)).values():
        if isinstance(_kind, type) and issubclass(_kind, Job) and _kind.__module__ == _module.name:
            Job.kinds[_kind.engine] = _kind
