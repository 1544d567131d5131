"""Runs one command in the test machine with its usual disks: `python -m tests.vm fswizard drives`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.vm.disks import USUAL
from tests.vm.machine import booted


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, booted(Path(directory), USUAL) as machine:
        done = machine.run(*sys.argv[1:], timeout_s=3600)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    return done.exit_code


if __name__ == "__main__":
    sys.exit(main())
