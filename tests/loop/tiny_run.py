"""`fswizard run` with a tiny image, as people call it; its output on standard error identifies its steps."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from fswizard import results
from fswizard.disks import journal
from fswizard.model.result import Result
from tests.fakes.host import ROOMY
from tests.loop.machine_state import descendants, names_in, wait_until, writer_of
from tests.recipe_texts import writing

CANDIDATES = ("ext4", "ext4:noatime")
RECIPE = writing("64M", "4M", 0.1, minutes=60, candidates=CANDIDATES)
QUICK = writing("64M", "4M", 0.0, rw="write", minutes=60, candidates=CANDIDATES)
"""Over with one fio for each candidate, too soon for a sample of the bare device."""
TWO_KINDS = writing("64M", "4M", 0.0, rw="write", candidates=("ext4", "ext2"))
LASTING = writing("64M", "4M", 600.0, rw="write", minutes=60, candidates=CANDIDATES) + "fdatasync = 64\n"
"""Measures its first candidate until somebody ends it; with fsync nothing is measured on the bare device."""
MUCH_BARE = "import fswizard.session.session; fswizard.session.session.BARE_SHARE = 100.0"
"""Script with which even so short a run takes a sample of the bare device."""

MAIN = "from fswizard.__main__ import main; main()"
FSWIZARD = (sys.executable, "-c", f"{ROOMY}\n{MAIN}")
"""`fswizard` as people call it, on a machine that says it has room and nothing else to do."""
LIMIT_S = 300.0
"""The last resort of a test that waits for the end of a run."""


@dataclass
class Run:
    process: subprocess.Popen[str]
    place: Path
    file: Path
    said: list[str] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The run's own process, which this one follows."""
        return writer_of(self.file)

    def await_standstill(self) -> None:
        still = self.file.with_suffix(".still")
        wait_until(lambda: still.exists() or self.process.poll() is not None, LIMIT_S, "the run stands still")
        assert still.exists(), self.end()

    def go_on(self) -> None:
        """Let a run that stands still go on."""

        def opened() -> bool:
            with suppress(OSError):  # it does not wait there yet
                os.close(os.open(self.file.with_suffix(".gate"), os.O_WRONLY | os.O_NONBLOCK))
                return True
            return False

        wait_until(opened, LIMIT_S, "the run stands still")

    def await_words(self, pattern: str) -> None:
        stderr: IO[str] | None = self.process.stderr
        assert stderr is not None
        for line in stderr:
            self.said.append(line)
            if re.search(pattern, line):
                return
        raise AssertionError(f"never said {pattern}: {''.join(self.said)}")

    def end(self, code: int | None = None) -> str:
        """Wait for the end, with that exit code; all that it said on standard error, which is no traceback."""
        _, rest = self.process.communicate(timeout=LIMIT_S)
        said = "".join([*self.said, rest])
        assert code in (None, self.process.returncode), said
        assert "Traceback" not in said, said
        return said

    @property
    def result(self) -> Result:
        """What its file holds."""
        return results.load(self.file)


def started(
    place: Path,
    file: Path,
    *arguments: str,
    recipe: str = QUICK,
    target: str = "",
    script: str = "",
    still_at: str = "",
    under: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Run:
    """`fswizard run` with an image in `place`.

    `script` is Python that runs before, also in the run's own process, `under` is a command that starts it, `env` comes
    on top of the environment. At the first step with a title that matches `still_at` the run stands still until
    `go_on`; it does so already.
    """
    written = file.with_suffix(".toml")
    written.write_text(recipe)
    script = f"{standing_still(still_at, file) if still_at else ''}\n{script}"
    argv = [*under, sys.executable, "-c", f"{ROOMY}\n{in_the_run(script)}\n{MAIN}"]
    argv += ["run", str(written), "--output", str(file), "--target", target or f"image:64M@{place}"]
    process = subprocess.Popen(
        [*argv, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, **(env or {})},
    )  # fmt: skip
    run = Run(process, place, file)
    if still_at:
        run.await_standstill()
    return run


def fswizard(*arguments: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
    """`fswizard` to its end, with that exit code and no traceback, as a script calls it."""
    argv = [*FSWIZARD, *arguments]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert code in (None, done.returncode), done.stderr
    assert "Traceback" not in done.stderr
    return done


def wait_for(result: Path, words: str) -> None:
    """Until the result file says `words`."""
    wait_until(lambda: result.exists() and words in result.read_text(), LIMIT_S, f"the result says {words}")


def killed(result: Path, *arguments: str) -> list[psutil.Process]:
    """`fswizard run` with this result, after its own process and those below it were killed in round 2."""
    argv = [*FSWIZARD, "run", *arguments, "--output", str(result)]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(result, '"sample":{"round":2')
    pid = writer_of(result)
    below = [psutil.Process(pid), *descendants(pid)]
    os.kill(pid, signal.SIGKILL)
    process.communicate()
    return below


def standing_still(at: str, file: Path) -> str:
    """Python with which a run stands still at its first step with such a title, until somebody opens its gate."""
    os.mkfifo(file.with_suffix(".gate"))
    return f"""
import pathlib, re
from fswizard.progress.emitter import Emitter
begin, stood = Emitter.begin, []
def still(self, stage, title, **more):
    step = begin(self, stage, title, **more)
    if not stood and re.search({at!r}, title):
        stood.append(title)
        pathlib.Path({str(file.with_suffix(".still"))!r}).touch()
        open({str(file.with_suffix(".gate"))!r}).close()
    return step
Emitter.begin = still
"""


def in_the_run(script: str) -> str:
    """Python that runs here, and before a run in the process of its own that it gets here."""
    return f"{script}\nfrom fswizard.session import process\nprocess.PROGRAM = {script!r} + '\\n' + process.PROGRAM"


@contextmanager
def tiny_run(directory: Path, *arguments: str, file: Path | None = None, **how: Any) -> Iterator[Run]:
    """A run in `directory`/place that must leave nothing there, by default with its result file next to it."""
    place = directory / "place"
    place.mkdir(exist_ok=True)
    run = started(place, file or directory / "result.jsonl", *arguments, **how)
    try:
        yield run
        assert names_in(place) == []
    finally:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def clean() -> int:
    """As `fswizard clean` does; how many dead runs there were."""
    found = journal.leftovers()
    for leftover in found:
        journal.clean(leftover)
    return len(found)
