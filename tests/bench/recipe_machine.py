"""How far the ratios of a recipe move at double length, in the test machine.

    python -m tests.bench.recipe_machine [--rounds N] [RECIPE or RECIPE:WORKLOAD...]

Time passes in it by the instructions of its processor, not by what else its host has to do, unless it waits for its
disk. Needs what `make test-vm` needs, and up to an hour for three rounds; what comes is recorded, and `python -m
tests.bench.recipe_table report` shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fswizard import recipes, results
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.targets import TargetChoice
from tests.bench.recipe_table import IN_MACHINE, at_both_lengths, record_of, run
from tests.vm.disks import GIB, virtio
from tests.vm.machine import Machine, booted

MEASURED = virtio("MEASURED", size_bytes=16 * GIB).as_slow_as(bytes_per_s=60 << 20, requests_per_s=6000)
"""A tenth of a SATA SSD, as the processor is a tenth of one."""
SOURCES = virtio("SOURCES", size_bytes=8 * GIB)
LINK = f"/dev/disk/by-id/virtio-{MEASURED.serial}"
DIRECTORY = "/srv"
"""In the machine, for what is copied from and for results."""
RESULT, SAID = f"{DIRECTORY}/result.jsonl", f"{DIRECTORY}/said"
LONGEST_S = 3 * 3600.0
LOOK_S = 30.0
"""Each look costs the machine some of its processor."""


def inside(name: str, rounds: int) -> None:
    """Measure a recipe on the machine's disk."""
    target = TargetChoice("device", LINK, serial=MEASURED.serial)
    asyncio.run(run(at_both_lengths(chosen(name)), rounds, Path(DIRECTORY), target))


def chosen(name: str) -> Recipe:
    """A recipe, or one workload of it."""
    recipe_name, _, workload = name.partition(":")
    recipe = recipes.find(recipe_name)
    return replace(recipe, workloads=(recipe.workload(workload),)) if workload else recipe


def outside(name: str, rounds: int) -> Result:
    """The same in a machine of its own."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as directory,
        booted(Path(directory), (MEASURED, SOURCES), counts_instructions=True) as machine,
    ):
        _measure(machine, name, rounds)
        path = Path(directory, "result.jsonl")
        path.write_bytes(machine.run("cat", RESULT).stdout)
        return as_measured(path)


def as_measured(path: Path) -> Result:
    """With the rounds in which its host held the machine up: its time stood still, too."""
    return replace(results.load(path), discarded_rounds=())


def _measure(machine: Machine, name: str, rounds: int) -> None:
    sources = f"/dev/disk/by-id/virtio-{SOURCES.serial}"
    machine.ok("udevadm", "wait", "--timeout=600", LINK, sources)
    machine.sh(f"mkfs.ext4 -q {sources} && mount {sources} {DIRECTORY}")
    command = f"python3 -m tests.bench.recipe_machine --inside --rounds {rounds} {name} > {SAID} 2>&1"
    running = machine.start(
        "sh", "-c", f"cd /mnt/checkout && XDG_STATE_HOME={DIRECTORY} {command}", timeout_s=LONGEST_S
    )
    finished = 0
    while running.alive and finished < rounds:
        time.sleep(LOOK_S)
        finished = int(machine.run("grep", "--count", "RoundFinished", RESULT).stdout or 0)
        print(machine.run("sh", "-c", f"tail --lines=1 {RESULT} | cut -c -200").output, flush=True)
    assert finished == rounds, machine.run("cat", SAID).output


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", default=["quick"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    for name in options.recipes:
        if options.inside:
            inside(name, options.rounds)
            continue
        record = json.dumps(record_of(chosen(name), outside(name, options.rounds)))
        print(record, flush=True)
        with IN_MACHINE.open("a", encoding="utf-8") as file:
            file.write(f"{record}\n")


if __name__ == "__main__":
    main()
