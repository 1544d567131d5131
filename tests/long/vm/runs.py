"""Runs of the program inside the test machine, and what came of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.long.vm.disks import MEMBERS, Disk
from tests.long.vm.machine import Machine, Running, awaited
from tests.recipe_texts import writing

RUN_S = 1800.0
"""Far more than a run takes, since other work may go on beside it."""
RECIPE_PATH, RESULT_PATH = "/root/short.toml", "/root/result.jsonl"
SEEN = "/run/seen"
WATCHER = f'while sleep 1; do grep --no-filename --fixed-strings " $1 " /proc/[0-9]*/mountinfo >> {SEEN}; done'
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
SIGNAL = """kill -{} $(grep --files-with-matches --text --extended-regexp '[s]ession.process|[s]hort.toml' \
/proc/[0-9]*/cmdline | cut --delimiter=/ --fields=3)"""
LINKS = [f"/dev/disk/by-id/virtio-{member.serial}" for member in MEMBERS]
TARGET = f"devices:{','.join(LINKS)}"
"""The disks of which arrays are made."""
ERASE = ("--erase", ",".join(member.serial for member in MEMBERS))


@dataclass(frozen=True)
class Run:
    """A run that has ended well."""

    said: str
    report: dict[str, Any]
    """What `fswizard report --format json` says of its result, here, where the processor is not emulated."""

    def rates(self, candidate: str) -> list[float]:
        """Random writes per second, round by round."""
        return [s["value"] for s in self._primary(candidate) if s["workload"] == "random-write"]

    def rounds(self, candidate: str) -> set[int]:
        """In which it was measured whole."""
        found = [sample["round"] for sample in self._primary(candidate)]
        workloads = len(self.report["result"]["plan"]["recipe"]["workloads"])
        return {number for number in found if found.count(number) == workloads}

    def assert_whole(self, rounds: int, *candidates: str) -> None:
        for name in candidates:
            assert self.rounds(name) == set(range(1, rounds + 1)), (name, self.said)
            assert all(sample["value"] > 0 for sample in self._primary(name))

    def failures(self, candidate: str) -> set[str]:
        return {failure["kind"] for failure in self.report["result"]["failures"] if failure["candidate"] == candidate}

    def _primary(self, candidate: str) -> list[dict[str, Any]]:
        samples: list[dict[str, Any]] = self.report["result"]["samples"]
        return [s for s in samples if s["primary"] and s["round"] and s["candidate"] == candidate]


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


def on_disk(machine: Machine, disk: Disk, candidates: str, *more: str, recipe: str = RECIPE) -> Run:
    """A run on the whole disk, which is given up by its serial number."""
    return on_target(machine, f"device:{link(disk)}", candidates, "--erase", disk.serial, *more, recipe=recipe)


def on_target(machine: Machine, target: str, candidates: str, *more: str, recipe: str = RECIPE) -> Run:
    """A run to its end."""
    said = machine.ok(*prepared(machine, target, candidates, *more, recipe=recipe), timeout_s=RUN_S)
    return Run(said, report(machine))


def await_words(machine: Machine, running: Running, words: str) -> None:
    """Until the result of a run that goes on says `words`."""

    def look() -> bytes:
        assert running.alive, running.wait().output
        return machine.run("cat", RESULT_PATH).stdout

    awaited(look, lambda told: words.encode() in told, RUN_S, 3.0)


@contextmanager
def watched_mounts(machine: Machine, disk: Disk) -> Iterator[None]:
    """For `mounts_seen`, in whatever namespace the disk is mounted meanwhile."""
    machine.ok("udevadm", "wait", "--timeout=60", link(disk))
    device = machine.run("readlink", "--canonicalize", link(disk)).stdout.decode().strip()
    watching = machine.start("sh", "-c", WATCHER, "sh", device)
    try:
        yield
    finally:
        watching.kill()


def mounts_seen(machine: Machine, kernel_name: str) -> list[set[str]]:
    """Mount options, as the kernel showed them, of each filesystem of that name that was seen."""
    lines = [line.split() for line in machine.run("cat", SEEN).stdout.decode().splitlines()]
    found = [words for words in lines if words[words.index("-") + 1] == kernel_name]
    return [set(f"{words[5]},{words[-1]}".split(",")) for words in found]


def report(machine: Machine, result_path: str = RESULT_PATH) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        result = Path(directory, "result.jsonl")
        result.write_bytes(machine.run("cat", result_path).stdout)
        command = (sys.executable, "-m", "fswizard", "report", str(result), "--format", "json")
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def await_arrays(machine: Machine, *, there: bool) -> None:
    """Waits until an array of md is active, or none is."""
    awaited(lambda: machine.run("cat", "/proc/mdstat").stdout, lambda arrays: (b"active" in arrays) == there)


def signal_runs(machine: Machine, name: str) -> None:
    """To every run and who follows it, at once: after KILL none of them can clean up."""
    machine.run("sh", "-c", SIGNAL.format(name))


def forget_members(machine: Machine) -> None:
    """Wipes what a run that was killed could not wipe."""
    for link in LINKS:
        machine.run("wipefs", "--all", link)
