"""Record the stories of `fswizard --demo`.

    python -m tests.long.stories [--directory DIRECTORY] [STORY...]

Without names, all. What is in the directory already is not recorded again. All that is there goes into the package
then, smaller than it was told. Needs root, and what `make test-all PART=vm` needs.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.long.reproduce.experiments import shingled
from tests.long.reproduce.simulated import run_program
from tests.long.stories.packing import pack
from tests.long.vm.disks import GIB, sata
from tests.long.vm.machine import CHECKOUT, Machine, booted
from tests.long.vm.runs import link

RECIPES = Path(__file__).parent.relative_to(CHECKOUT)
INSIDE = "/root/told.jsonl"
LONGEST_S = 3600.0
TELL_S = 15.0
SHINGLED = shingled(100, "size_bytes=2G")
FLASH = sata("FLASH1", 1, "SSD", size_bytes=2 * GIB, rpm=1, trim=True)
SSD = FLASH.as_slow_as(bytes_per_s=80 << 20, requests_per_s=800)


@dataclass(frozen=True, slots=True)
class Recorded:
    """Options of `fswizard run`."""

    recipe: str
    options: tuple[str, ...]
    where: Literal["here", "in simulated time", "in the virtual machine"] = "in the virtual machine"


STORIES: Mapping[str, Recorded] = {
    "xfs-searching": Recorded(
        "quick", ("--candidates", "ext4; xfs; btrfs:noatime", "--rounds", "2..12", "--seed", "1"), where="here"
    ),
    "smr-fileserver": Recorded(
        "smr", (*SHINGLED.target, "--rounds", "2..2", "--time", "24h", "--seed", "1"), where="in simulated time"
    ),
    "ssd-tie": Recorded(
        "tie", ("--target", f"device:{link(SSD)}", "--erase", SSD.serial, "--rounds", "3..5", "--seed", "1")
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.long.stories")
    parser.add_argument("names", nargs="*", metavar="STORY", help=", ".join(STORIES))
    parser.add_argument("--directory", type=Path, default=Path("build/stories"))
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine has on this one is removed
    wanted = {name: options.directory / f"{name}.jsonl" for name in options.names or STORIES}
    wanted = {name: path for name, path in wanted.items() if not path.exists()}
    for name, path in wanted.items():
        if STORIES[name].where == "here":
            subprocess.run([sys.executable, "-m", "fswizard", "run", *_words(name), "--output", path], check=True)
        elif STORIES[name].where == "in simulated time":
            run_program(SHINGLED, ("run", *_words(name)), path)
    inside = {name: path for name, path in wanted.items() if STORIES[name].where == "in the virtual machine"}
    if inside:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, _machine(Path(directory)) as machine:
            machine.run("udevadm", "settle")
            for name, path in inside.items():
                _record(machine, name, path)
    for name in STORIES:
        if (path := options.directory / f"{name}.jsonl").exists():
            pack(name, path, simulated=STORIES[name].where != "here")


def _words(name: str) -> tuple[str, ...]:
    story = STORIES[name]
    own = RECIPES / f"{story.recipe}.toml"
    return (str(own) if (CHECKOUT / own).exists() else story.recipe, *story.options)


@contextmanager
def _machine(directory: Path) -> Iterator[Machine]:
    with booted(directory, (SSD,)) as machine:
        yield machine


def _record(machine: Machine, name: str, path: Path) -> None:
    script = f'cd /mnt/checkout && exec python3 -m fswizard run "$@" --output {INSIDE} > /root/said 2>&1'
    running = machine.start("sh", "-c", script, "sh", *_words(name), timeout_s=LONGEST_S)
    while running.alive:
        time.sleep(TELL_S)
        print(f"{name}: {machine.run('sh', '-c', f'wc -l < {INSIDE}; tail -c 300 {INSIDE}').output}", flush=True)
    done = running.wait()
    print(machine.run("tail", "--lines=60", "/root/said").output, flush=True)
    if done.exit_code == 0:
        path.write_bytes(machine.run("cat", INSIDE).stdout)


if __name__ == "__main__":
    main()
