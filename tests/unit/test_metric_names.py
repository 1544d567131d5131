"""The registry of metrics is the only place that writes a metric's name down."""

from __future__ import annotations

import ast
from pathlib import Path

import fswizard
from fswizard.model import metrics

ROOM = Path(fswizard.__file__).parent
OTHERS_WORDS = {
    "cpu": {"importers/filebench.py", "session/idle_wait.py", "system/host.py"},
    "iops": {"importers/fio_output.py", "importers/fio_text.py", "importers/kdiskmark.py", "importers/phoronix.py"},
    "bytes_written": {"engines/fileserver.py", "engines/fileserver_worker.py"},
}
"""Keys of the kernel, of other programs' output and of the worker's answer, that happen to be called the same."""


def test_no_file_but_the_registry_writes_a_metrics_name_down() -> None:
    known = {value for value in vars(metrics).values() if isinstance(value, metrics.Metric)}
    known |= {metric for yielded in metrics.ENGINE_METRICS.values() for metric in yielded}
    names = {metric.name for metric in known}
    found: dict[str, set[str]] = {}
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                found.setdefault(str(node.value), set()).add(path.relative_to(ROOM).as_posix())
    registry = "model/metrics.py"
    assert {name: files - {registry} for name, files in found.items() if files != {registry}} == OTHERS_WORDS
