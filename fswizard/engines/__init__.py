"""Engines: each file in this directory is a way of measuring; shared code is in `shared`.

To add one, write `fswizard/engines/NAME.py` with one class: `@frozen`, and derived from `Engine`. The program
needs nothing else. `fsync.py` is a short example; `Job` in `model/recipe.py` describes what may be overridden.

- `engine` is its name in recipes, and its fields are the keys of a workload: `Literal` for a choice, `bool`, or
  `Annotated[int, within(low, high)]`; `block_bytes` is the key `block`, as "4K". Its `__post_init__` refuses values
  that contradict each other.
- `timed` returns the programs to run and their input files; `figures` computes the figures from their results.
- `metrics` lists the figures in the order in which `figures` yields them. It ends with `CPU`, and may end
  with `WORST_STALL`: every engine measures both. `model/metrics.py` has the existing metrics.
- If no usual program does the work, write `shared/NAME_worker.py` with nothing but the standard library, and start it
  with the command line that `worker` returns.

What an everyday program does with a tree of files is no engine, but an operation in `shared/operations.py`.

Try it with a recipe of one workload, `fswizard run ./mine.toml --rounds 2..2 --target image:300M@/var/tmp`. Add a small
job to `JOBS` in `tests/unit/test_workload_programs.py` and run that. If a shipped recipe uses the
engine, extend `SMALL` in `tests/loop/test_workload_matrix.py`, which makes its jobs small, and run that as root.
"""

from __future__ import annotations

import importlib
import pkgutil

from fswizard.engines.shared.context import WorkloadContext, WorkloadDisturbed, WorkloadFailed, forget_cell
from fswizard.engines.shared.engine import Engine, FormerJob, age, ageing, cached_share
from fswizard.engines.shared.programs import require_unkilled
from fswizard.engines.tree import TreeShape
from fswizard.model.recipe import Job, PlannedCommand, Program

__all__ = [
    "Engine", "FormerJob", "TreeShape", "WorkloadContext", "WorkloadDisturbed", "WorkloadFailed", "age",
    "cached_share", "engine", "forget_cell", "planned_age", "programs", "require_unkilled",
]  # fmt: skip


def engine(job: Job) -> Engine:
    """Narrow the type of a job: all jobs are engines."""
    assert isinstance(job, Engine)
    return job


def programs() -> tuple[Program, ...]:
    """The programs required by engines, without duplicates."""
    return tuple({program.name: program for kind in Job.kinds.values() for program in kind.programs}.values())


def planned_age(write_bytes: int, free_bytes: int) -> PlannedCommand:
    return ageing("MOUNT", "SCRATCH", "SEED", write_bytes, free_bytes).planned


Job.kinds[FormerJob.engine] = FormerJob
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    for _kind in vars(importlib.import_module(_module.name)).values():
        if isinstance(_kind, type) and issubclass(_kind, Job) and _kind.__module__ == _module.name:
            Job.kinds[_kind.engine] = _kind
