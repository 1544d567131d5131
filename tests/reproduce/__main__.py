"""Run the published experiments again, and write the page on them.

    python -m tests.reproduce [--directory DIRECTORY] [DOCUMENT or EXPERIMENT...]
    python -m tests.reproduce --page

Without names, all of them. What has its result already is not run again: remove the result to run it anew. What was
interrupted on this machine is resumed; in the test machine it starts again. Needs root, and what `make test-vm` needs.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fswizard import results
from fswizard.advice import conclude
from fswizard.importers import reruns
from fswizard.model.result import Result
from fswizard.report.privacy import harmless
from tests.reproduce import page
from tests.reproduce.by_hand import BY_HAND
from tests.reproduce.experiments import DOCUMENTS, Place, place, socket_of
from tests.simulated.nbd import served
from tests.vm.machine import Machine, booted

ROUNDS = ("--rounds", "3..8", "--time", "15m")
"""More than three only where the time suffices."""
LONGEST_S = 4 * 3600.0
INSIDE = "/root/result.jsonl"
"""The result, in the test machine."""
IMAGES = "/var/tmp"
TELL_S = 30.0
"""Each look costs the test machine some of its processor."""


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reproduce")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(DOCUMENTS)}, or an experiment")
    parser.add_argument("--directory", type=Path, default=Path("build/reproduce"), help="for results under way")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine has on this one is removed
    for name in () if options.page else _experiments(options.names or [*DOCUMENTS]):
        kept = reruns.directory() / f"{name}.jsonl"
        if kept.exists():
            print(f"{name}: done before; remove {kept} to run it again", flush=True)
            continue
        print(f"{name}: begun", flush=True)
        options.directory.mkdir(parents=True, exist_ok=True)
        found = place(name)
        path = options.directory / f"{name}.jsonl"
        _in_machine(name, found, path) if found else _here(name, path)
        keep(results.load(path), kept)
        page.write()
    page.write()


def _experiments(names: Sequence[str]) -> list[str]:
    return [experiment for name in names for experiment in DOCUMENTS.get(name, (name,))]


def keep(result: Result, path: Path) -> None:
    """Without what only this machine need know, and without the rates of each second."""
    findings = harmless(conclude(result), identify=False)
    results.write_result(path, replace(findings.result, throughput_series=()))
    path.chmod(0o644)
    reruns.shipped_result.cache_clear()


def _here(name: str, path: Path) -> None:
    fswizard = (sys.executable, "-m", "fswizard")
    if path.exists() and results.load(path).outcome == "finished":
        return
    if path.exists():
        subprocess.run([*fswizard, "run", "--resume", path], check=True)
        return
    size_bytes = reruns.recipe_of(reruns.find_experiment(name)).image_bytes
    target = ("--target", f"image:{size_bytes >> 20}M@{IMAGES}")
    subprocess.run([*fswizard, "published", name, "--run", *target, *ROUNDS, "--output", path], check=True)


def _in_machine(name: str, where: Place, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory, _machine(where, Path(directory)) as machine:
        machine.ok("udevadm", "wait", "--timeout=600", *where.links)
        if where.rules:
            machine.write("/etc/udev/rules.d/90-published.rules", where.rules)
            machine.ok("udevadm", "control", "--reload")
        if name in BY_HAND:
            results.write_result(path, BY_HAND[name](machine, *where.links))
            return
        if where.image:
            machine.sh(f"mkfs.ext4 -q {where.links[0]} && mount {where.links[0]} /srv")
        argv = ("fswizard", "published", name, "--run", *where.target, *ROUNDS, "--output", INSIDE)
        running = machine.start("sh", "-c", 'exec "$@" > /root/said 2>&1', "sh", *argv, timeout_s=LONGEST_S)
        while running.alive:
            time.sleep(TELL_S)
            print(f"{name}: {machine.run('tail', '--lines=1', '/root/said').output.strip()}", flush=True)
        done = running.wait()
        print(machine.run("tail", "--lines=60", "/root/said").output, flush=True)
        path.write_bytes(machine.run("cat", INSIDE).stdout)
        if done.exit_code:
            sys.exit(f"{name}: fswizard ended with {done.exit_code}; its result so far is {path}")


@contextlib.contextmanager
def _machine(where: Place, directory: Path) -> Iterator[Machine]:
    with contextlib.ExitStack() as undo:
        disks = where.disks
        if where.model:
            undo.enter_context(served(where.model, Path(socket_of(directory))))
            disks = (replace(disks[0], socket=socket_of(directory)), *disks[1:])
        yield undo.enter_context(booted(directory, disks, zfs=where.zfs, counts_instructions=True))


if __name__ == "__main__":
    main(sys.argv[1:])
