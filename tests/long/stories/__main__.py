"""Record the stories of `fswizard --demo`.

    python -m tests.long.stories [--directory DIRECTORY] [STORY...]

Without names, records all. A run that is in the directory already is not recorded again. Each is then packed, in a
smaller form, into fswizard/demo/recordings. Needs root, and what `make test-all PART=vm` needs.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.long.reproduce.experiments import shingled
from tests.long.stories.packing import pack
from tests.long.vm.disks import GIB, sata
from tests.long.vm.machine import CHECKOUT, booted
from tests.long.vm.runs import link, run_from_checkout

RECIPES = Path(__file__).parent.relative_to(CHECKOUT)
LONGEST_S = 3600.0
SHINGLED = shingled(100, "size_bytes=2G")
SSD = sata("FLASH1", 1, "SSD", size_bytes=2 * GIB, rpm=1, trim=True).as_slow_as(
    bytes_per_s=80 << 20, requests_per_s=800
)


def _here(words: Sequence[str], path: Path) -> None:
    subprocess.run([sys.executable, "-m", "fswizard", *words, "--output", path], check=True)


def _in_the_virtual_machine(words: Sequence[str], path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, booted(Path(directory), (SSD,)) as machine:
        machine.run("udevadm", "settle")
        run_from_checkout(machine, words, path, LONGEST_S)


QUICK = ("quick", "--candidates", "ext4; xfs; btrfs:noatime", "--rounds", "2..12")
SMR = (str(RECIPES / "smr.toml"), *SHINGLED.target, "--rounds", "2..2", "--time", "24h")
TIE = (str(RECIPES / "tie.toml"), "--target", f"device:{link(SSD)}", "--erase", SSD.serial, "--rounds", "3..5")
STORIES: Mapping[str, tuple[Callable[[Sequence[str], Path], None], Sequence[str]]] = {
    "xfs-searching": (_here, QUICK),
    "smr-fileserver": (SHINGLED.run, SMR),
    "ssd-tie": (_in_the_virtual_machine, TIE),
}
"""Where each is recorded, and the words after `fswizard run`."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.long.stories")
    parser.add_argument("names", nargs="*", metavar="STORY", help=", ".join(STORIES))
    parser.add_argument("--directory", type=Path, default=Path("build/stories"))
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine has on this one is removed
    for name, (record, words) in STORIES.items():
        path = options.directory / f"{name}.jsonl"
        if name in (options.names or STORIES) and not path.exists():
            record(("run", *words, "--seed", "1"), path)
        if path.exists():
            pack(name, path, simulated=record is not _here)


if __name__ == "__main__":
    main()
