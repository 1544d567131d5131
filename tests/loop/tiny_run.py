"""`fswizard run` with a tiny image, as people call it, told apart by what it says on standard error."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from tests.loop.machine_state import process_named, wait_until
from tests.recipe_texts import writing

RECIPE = writing("128M", "8M", 0.6, minutes=0.3, candidates=("ext4", "ext4:noatime"))

AT_ONCE = "from fswizard.bench import session; session.LONGEST_WAIT_S = 0.0"
"""Other programs are not waited for: a test machine is busy, and these figures compare nothing."""
MAIN = "from fswizard.__main__ import main; main()"
FSWIZARD = (sys.executable, "-c", f"{AT_ONCE}\n{MAIN}")
"""`fswizard` as people call it, except for that."""


@dataclass
class Run:
    process: subprocess.Popen[str]
    place: Path
    file: Path
    said: list[str] = field(default_factory=list)

    def await_words(self, pattern: str) -> None:
        stderr: IO[str] | None = self.process.stderr
        assert stderr is not None
        for line in stderr:
            self.said.append(line)
            if re.search(pattern, line):
                return
        raise AssertionError(f"never said {pattern}: {''.join(self.said)}")

    def end(self, limit_s: float = 120.0) -> str:
        """Wait for the end; all that it said on standard error."""
        _, rest = self.process.communicate(timeout=limit_s)
        self.said.append(rest)
        return "".join(self.said)


def started(
    place: Path,
    file: Path,
    *arguments: str,
    target: str = "",
    script: str = "",
    under: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Run:
    """`fswizard run` with an image in `place`.

    `script` is Python that runs before, `under` is a command that starts it, `env` comes on top of the environment.
    """
    recipe = file.with_suffix(".toml")
    if not recipe.exists():
        recipe.write_text(RECIPE)
    argv = [*under, sys.executable, "-c", f"{script}\n{AT_ONCE}\n{MAIN}", "run", str(recipe), "--output", str(file)]
    argv += ["--target", target or f"image:128M@{place}"]
    process = subprocess.Popen(
        [*argv, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, **(env or {})},
    )  # fmt: skip
    return Run(process, place, file)


@contextmanager
def tiny_run(directory: Path, *arguments: str, file: Path | None = None, **how: Any) -> Iterator[Run]:
    """A run in `directory`/place, by default with its file beside it, killed should it still be alive at the end."""
    place = directory / "place"
    place.mkdir(exist_ok=True)
    run = started(place, file or directory / "result.jsonl", *arguments, **how)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def clean() -> str:
    argv = [sys.executable, "-m", "fswizard", "clean"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout + done.stderr


def helper_of(run: Run) -> int:
    """The process that has root's rights: the first below unshare."""
    unshare = process_named("unshare", run.process.pid)
    wait_until(lambda: psutil.Process(unshare).children(), 5, "the helper has started")
    return psutil.Process(unshare).children()[0].pid
