"""The program's own generators against the same calls from C: what they measure has to be the filesystem."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from fswizard.engines.shared import fileserver_worker, programs, tree_worker
from fswizard.system.commands import children_cpu_s
from tests.long.bench.fio_jobs import MEMORY
from tests.long.bench.pairs import measured
from tests.long.bench.table import Line, Size, at_least, not_measured
from tests.loop.loop_context import loop_context

TITLE = "Generators against C"
PYTHON = "Python's own work between the calls, and its start"
BOUNDS = {"tmpfs": 0.85, "ext4": 0.97}
FILES, MEAN_FILE, MEAN_APPEND = 100, 1_310_720, 8192
SIZES: dict[Size, tuple[int, float, int]] = {"full": (7, 2.0, 5000), "short": (3, 1.0, 5000), "tiny": (1, 0.2, 200)}
"""Pairs, seconds of the file-server mix, and number of small files of 4 KiB each on average."""
HERE = Path(__file__).parent


def measure(size: Size) -> Iterator[Line]:
    if shutil.which("cc") is None:
        yield not_measured(TITLE, "no C compiler")
        return
    pairs, seconds, files = SIZES[size]
    small = ("small-files", files, files << 12)
    with tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir="/var/tmp") as folder:
        for place, bound in BOUNDS.items():
            if place == "ext4" and os.geteuid() != 0:
                yield not_measured(f"Generators on {place}", "needs root")
                continue
            with _mounted(place, Path(folder)) as where:
                loop = _compiled("fileserver_loop", Path(folder))
                ours, theirs = (partial(_fileserver, ours, loop, where, seconds) for ours in (True, False))
                taken = measured(pairs, ours, theirs)
                remark = f"for each second of processor time {taken.ratio('cpu')}"
                yield at_least(
                    f"File-server mix, {place}: operations a second", taken.ratio("rate"), bound, remark, why=PYTHON
                )
                yield from _small_files(Path(folder), where, place, pairs, small)


@contextmanager
def _mounted(place: str, folder: Path) -> Iterator[Path]:
    with ExitStack() as undo:
        if place == "tmpfs":
            yield Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="fswizard-bench-", dir=MEMORY)))
        else:
            yield Path(undo.enter_context(loop_context(folder, place, 1 << 30)).directory)


def _compiled(name: str, folder: Path) -> str:
    program = str(folder / name)
    subprocess.run(["cc", "-O2", "-o", program, str(HERE / f"{name}.c"), "-lm"], check=True)
    return program


def _output(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def _settle(where: Path) -> None:
    _output("sync", "--file-system", str(where))


def _ours(program: str, *arguments: object) -> str:
    return _output(programs.interpreter(), "-I", "-S", program, *map(str, arguments))


def _fileserver(ours: bool, loop: str, where: Path, seconds: float) -> Mapping[str, float]:
    directory, worker = where / "mix", str(fileserver_worker.__file__)
    arguments = (directory, 1, FILES, MEAN_FILE, MEAN_APPEND, seconds, 1)
    _ours(worker, "prepare", *arguments)
    _settle(where)
    before_s = children_cpu_s()
    if ours:
        last = json.loads(_ours(worker, "run", *arguments).splitlines()[-1])
        rate, elapsed_s = last["operations"] / last["elapsed_s"], last["elapsed_s"]
    else:
        rate = float(_output(loop, *map(str, (directory, FILES, MEAN_FILE, MEAN_APPEND, seconds))))
        elapsed_s = seconds
    cpu_s = children_cpu_s() - before_s
    shutil.rmtree(directory)
    return {"rate": rate, "cpu": rate * elapsed_s / cpu_s}


def _making(where: Path, program: Callable[..., object], *arguments: object) -> Mapping[str, float]:
    """A program that makes a tree, as a whole process."""
    _settle(where)
    began, before_s = time.perf_counter(), children_cpu_s()
    program(*arguments)
    taken = {"seconds": time.perf_counter() - began, "cpu": children_cpu_s() - before_s}
    shutil.rmtree(where / "tree")
    return taken


def _small_files(folder: Path, where: Path, place: str, pairs: int, small: tuple[str, int, int]) -> Iterator[Line]:
    """Whole processes, from start to end, as the workloads time them."""
    loop, listed = _compiled("small_files_loop", folder), folder / "list"
    listed.write_text("".join(_list(*small)))
    ours = partial(_making, where, _ours, str(tree_worker.__file__), "make", *small, where / "tree")
    taken = measured(pairs, ours, partial(_making, where, _output, loop, str(listed), str(where / "tree")))
    remark = f"by processor time {taken.inverse('cpu')}"
    figure = f"Small files, creating {small[1]:,}, {place}"
    yield at_least(figure, taken.inverse("seconds"), BOUNDS[place], remark, why=PYTHON)


def _list(shape: str, files: int, total_bytes: int) -> Iterator[str]:
    known = {Path(".")}
    for path, size, _ in tree_worker.Tree(shape, files, total_bytes).entries:
        for parent in reversed(Path(path).parents):
            if parent not in known:
                known.add(parent)
                yield f"0 {parent}/\n"
        yield f"{size} {path}\n"
