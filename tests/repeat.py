"""Runs all of `make test` again and again under bad conditions, and keeps a table of what came of it.

    python -m tests.repeat [--check]

Twelve runs: eight while stress-ng keeps processors and disks busy, two with 1 GB free, two beside a run of fswizard.
Each one adds its row to REPEATED.md as it ends; started again, the script does those that are missing. A run that
fails is kept and done again. It needs root, for a filesystem of its own that is nearly full, stress-ng, and a checkout
that does not lie below /tmp or /var/tmp, which one of the conditions hides.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fswizard.system.commands import children_cpu_s

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("REPEATED.md")
HEAD = """# The tests under bad conditions

Made by `python -m tests.repeat`: whole runs of `make test`, in a row. Times tell about the machine, not about fswizard.

| beside it | began | commit | minutes | processor minutes | passed | failed |
| --- | --- | --- | --: | --: | --: | --- |
"""
FREE_BYTES = 1_000_000_000
ROOM_BYTES = FREE_BYTES + (120 << 20)
"""What ext4 needs for itself in a filesystem of that size is taken off by `_fill`."""


@contextlib.contextmanager
def _beside(*argv: str, ended_by: signal.Signals, **variables: str) -> Iterator[Sequence[str]]:
    """Another program, for as long as the tests take."""
    nothing: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    other = subprocess.Popen(argv, start_new_session=True, env={**os.environ, **variables}, **nothing)
    try:
        yield ()
        assert other.poll() is None, f"{argv} ended before the tests did"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(other.pid, ended_by)
        other.wait()


def stressed() -> AbstractContextManager[Sequence[str]]:
    """Processors and disks are busy. Yields a command line that comes before the tests'; so do the others."""
    stress = ("stress-ng", "--cpu", "2", "--io", "2", "--temp-path", tempfile.gettempdir())
    return _beside(*stress, ended_by=signal.SIGTERM)


@contextlib.contextmanager
def little_room() -> Iterator[Sequence[str]]:
    """The directories for temporary files lie on a filesystem with 1 GB free, in the eyes of the tests alone."""
    with tempfile.TemporaryDirectory(prefix="fswizard-repeat-") as name:
        image, point = Path(name, "image"), Path(name, "mounted")
        image.touch()
        os.truncate(image, ROOM_BYTES)
        point.mkdir()
        _run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0", str(image))
        _run("mount", "-o", "loop", str(image), str(point))
        try:
            point.chmod(0o1777)
            _fill(point)
            hidden = f"mount --bind {point} /var/tmp && mount --bind {point} /tmp"  # the latter may hide `point`
            yield ("unshare", "--mount", "--propagation", "slave", "sh", "-c", f'{hidden} && exec "$@"', "sh")
        finally:
            _run("umount", str(point))


def _fill(point: Path) -> None:
    room = os.statvfs(point)
    with Path(point, "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, room.f_frsize * room.f_bavail - FREE_BYTES)


@contextlib.contextmanager
def beside_a_run() -> Iterator[Sequence[str]]:
    """Another fswizard measures on the same disk, again and again."""
    with tempfile.TemporaryDirectory(prefix="fswizard-repeat-") as name:
        command = f'while "{sys.executable}" -m fswizard run quick --target image:2G@{name}; do :; done'
        with _beside("sh", "-c", command, ended_by=signal.SIGKILL, XDG_STATE_HOME=f"{name}/state"):
            yield ()
        time.sleep(5)  # the kernel clears its namespaces away, and tells nobody when it is done


@dataclass(frozen=True)
class Condition:
    title: str
    runs: int
    under: Callable[[], AbstractContextManager[Sequence[str]]]


CONDITIONS = (
    Condition("stress-ng --cpu 2 --io 2", 8, stressed),
    Condition("1 GB free", 2, little_room),
    Condition("fswizard run quick", 2, beside_a_run),
)


def missing() -> list[Condition]:
    """Every run that still has to be done: each condition once, then the rest of each."""
    rows = TABLE.read_text("utf-8").splitlines() if TABLE.exists() else []
    left: list[tuple[int, Condition]] = []
    for condition in CONDITIONS:
        good = sum(row.startswith(f"| {condition.title} |") and row.endswith("| 0 |") for row in rows)
        left += [(number, condition) for number in range(good, condition.runs)]
    return [condition for number, condition in sorted(left, key=lambda one: one[0] > 0)]


def row(condition: Condition, output: Path) -> str:
    """Run all tests once; the row of the table about it. What they print goes to `output`."""
    at = time.strftime("%Y-%m-%d %H:%M")
    with condition.under() as before, output.open("wb") as file:
        began, used = time.monotonic(), children_cpu_s()
        command = [*before, "make", "test"]
        done = subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, stdin=subprocess.DEVNULL, check=False)
        minutes, processor = (time.monotonic() - began) / 60, (children_cpu_s() - used) / 60
    text = output.read_text("utf-8", "replace")
    passed = re.findall(r"(\d+) passed", text)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    told = "; ".join(failed) or ("0" if done.returncode == 0 else f"exit {done.returncode}")
    commit = _run("git", "rev-parse", "--short", "HEAD").strip()
    cells = (condition.title, at, commit, f"{minutes:.1f}", f"{processor:.1f}", (passed or ["?"])[-1], told)
    return f"| {' | '.join(cells)} |"


def _run(*argv: str) -> str:
    return subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()), help="where the output of runs goes")
    chosen = parser.parse_args()
    if any(Path(hidden) in ROOT.parents for hidden in ("/tmp", "/var/tmp")):
        sys.exit(f"{ROOT} lies below a directory that one of the conditions hides; put the checkout elsewhere.")
    if not TABLE.exists():
        TABLE.write_text(HEAD, "utf-8")
    for number, condition in enumerate(missing(), 1):
        if chosen.check:
            print(condition.title)
            continue
        told = row(condition, chosen.keep / f"fswizard-repeat-{number}.log")
        with TABLE.open("a", encoding="utf-8") as table:
            table.write(told + "\n")
        print(told, flush=True)
    sys.exit(bool(missing()))


if __name__ == "__main__":
    main()
