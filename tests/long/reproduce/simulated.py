"""The program itself in the simulated machine."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.long.reproduce.experiments import Simulated
from tests.long.uml import machine

ROOT = Path(__file__).parents[3]
LONGEST_S = 4 * 3600.0
RESULT = "result.jsonl"


def run_program(where: Simulated, words: Sequence[str], path: Path) -> None:
    """`fswizard` with these words there; its result is copied to `path`. Raises RuntimeError if it fails."""
    argv = (sys.executable, "-m", "fswizard", *words, "--output", f"/run/out/{RESULT}")
    disk = where.disks[0].name
    image = f"mkfs.ext4 -q -F /dev/{disk}\nmount /dev/{disk} /srv" if where.image else ""
    script = f"{where.before}\nset -e\n{image}\ncd {ROOT}\n{shlex.join(argv)}"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        into = Path(directory)
        ended = machine.run(script, where.disks, memory=where.memory, into=into, limit_s=LONGEST_S)
        if (measured := into / RESULT).exists():
            shutil.copy(measured, path)
    if ended.returncode:
        raise RuntimeError(f"fswizard {shlex.join(words)} ended with {ended.returncode}:\n{ended.stdout[-2000:]}")
