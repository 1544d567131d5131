"""Where a metric is defined is the only place that writes its name down; all others use the object."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import fswizard
from fswizard.engines import programs
from fswizard.model import metrics
from fswizard.model.recipe import Job

ROOM = Path(fswizard.__file__).parent
OTHERS_WORDS = {
    "bytes_written": {"engines/fileserver.py", "engines/shared/fileserver_worker.py"},
    "cpu": {"drives/probe_target.py", "importers/filebench.py", "session/idle_wait.py", "system/host.py"},
    "iops": {"engines/shared/fio_output.py"},
}
"""Keys of the kernel, of other programs' output and of the worker's answer, that happen to be called the same."""


def test_a_metrics_name_is_written_where_it_is_defined_and_nowhere_else() -> None:
    assert programs()  # every engine is known by now
    known = {value for value in vars(metrics).values() if isinstance(value, metrics.Metric)}
    names = {metric.name for metric in known.union(*(kind.metrics for kind in Job.kinds.values()))}
    written: defaultdict[str, set[str]] = defaultdict(set)
    for path in ROOM.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        definitions = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Metric"]
        defined = {id(argument) for call in definitions for argument in call.args}
        for node in nodes:
            if isinstance(node, ast.Constant) and node.value in names and id(node) not in defined:
                written[str(node.value)].add(path.relative_to(ROOM).as_posix())
    assert written == OTHERS_WORDS
