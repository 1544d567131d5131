"""Runs of the program inside the test machine, and what came of them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fswizard import results
from fswizard.model.result import Result
from tests.long.vm.disks import MEMBERS, Disk
from tests.long.vm.machine import Machine, Running, awaited
from tests.recipe_texts import writing

RUN_S = 1800.0
"""Far more than a run takes, since other work may go on beside it."""
TELL_S = 30.0
"""Each look costs the machine some of its processor."""
RECIPE_PATH, RESULT_PATH = "/root/short.toml", "/root/result.jsonl"
RECIPE = f"""{writing("512M", "16M", 1, candidates=("ext4", "xfs"))}
[[workload]]
name = "copy-small-files"
title = "Copying small files"
engine = "tree"
metric = "duration"
operation = "copy"
shape = "small-files"
files = 60
total = "1M"
"""
"""The second test has the memory limit, as only it fills the page cache."""
ONE_ROUND = ("--rounds", "1..1")
SIGNAL = """kill -{} $(grep --files-with-matches --text --extended-regexp '[s]ession.process|[s]hort.toml' \
/proc/[0-9]*/cmdline | cut --delimiter=/ --fields=3)"""
LINKS = [f"/dev/disk/by-id/virtio-{member.serial}" for member in MEMBERS]
TARGET = f"devices:{','.join(LINKS)}"
"""The disks of which arrays are made."""
ERASE = ("--erase", ",".join(member.serial for member in MEMBERS))


def link(disk: Disk) -> str:
    """The name that udev gives to a disk on AHCI."""
    return f"/dev/disk/by-id/ata-{disk.devices[-1]['model']}_{disk.serial}"


def prepared(
    machine: Machine, target: str, candidates: str, *more: str, recipe: str = RECIPE, result: str = RESULT_PATH
) -> tuple[str, ...]:
    """The command that runs a recipe."""
    machine.write(RECIPE_PATH, recipe)
    machine.run("rm", "--force", result)
    options = ("--target", target, "--candidates", candidates, "--output", result, *more)
    return ("fswizard", "run", RECIPE_PATH, *options)


def on_disk(machine: Machine, disk: Disk, candidates: str, *more: str) -> Result:
    """A run of a round on the whole disk, which is given up by its serial number."""
    return on_target(machine, f"device:{link(disk)}", candidates, "--erase", disk.serial, *more)


def on_target(machine: Machine, target: str, candidates: str, *more: str, recipe: str = RECIPE) -> Result:
    """A run of a round to its end."""
    machine.ok(*prepared(machine, target, candidates, *ONE_ROUND, *more, recipe=recipe), timeout_s=RUN_S)
    return result_of(machine)


def run_from_checkout(machine: Machine, words: Sequence[str], path: Path, limit_s: float) -> None:
    """Run `fswizard` with these words, print its progress, and copy its result to `path`.

    Raises RuntimeError if it fails.
    """
    script = f'cd /mnt/checkout && exec python3 -m fswizard "$@" --output {RESULT_PATH} > /root/said 2>&1'
    running = machine.start("sh", "-c", script, "sh", *words, timeout_s=limit_s)
    while running.alive:
        time.sleep(TELL_S)
        print(machine.run("tail", "--lines=1", "/root/said").output.strip(), flush=True)
    done = running.wait()
    print(machine.run("tail", "--lines=60", "/root/said").output, flush=True)
    if done.exit_code:
        raise RuntimeError(f"fswizard ended with {done.exit_code}")
    path.write_bytes(machine.run("cat", RESULT_PATH).stdout)


def result_of(machine: Machine, path: str = RESULT_PATH) -> Result:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "result.jsonl")
        copy.write_bytes(machine.run("cat", path).stdout)
        return results.load(copy)


def measured(result: Result) -> set[str]:
    """Candidates with a figure, the bare device not among them."""
    return {s.candidate for s in result.samples if s.primary and s.round and s.candidate and s.value > 0}


def await_words(machine: Machine, running: Running, words: str) -> None:
    """Until the result of a run that goes on says `words`."""

    def look() -> bytes:
        assert running.alive, running.wait().output
        return machine.run("cat", RESULT_PATH).stdout

    awaited(look, lambda shown: words.encode() in shown, RUN_S, 3.0)


def await_arrays(machine: Machine, *, there: bool) -> None:
    """Waits until an array of md is active, or none is."""
    awaited(lambda: machine.run("cat", "/proc/mdstat").stdout, lambda arrays: (b"active" in arrays) == there)


def signal_runs(machine: Machine, name: str) -> None:
    """To every run and who follows it, at once: after KILL none of them can clean up."""
    machine.run("sh", "-c", SIGNAL.format(name))
