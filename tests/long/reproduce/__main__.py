"""Run the published experiments again, and write the page on them.

    python -m tests.long.reproduce [--directory DIRECTORY] [DOCUMENT or EXPERIMENT...]
    python -m tests.long.reproduce --page

Without names, all of them. What has its result already is not run again: remove the result to run it anew. What was
interrupted on this machine is resumed; on simulated disks and in the virtual machine that experiment starts again.
Needs root, and what `make test-all PART=uml` and `PART=vm` need.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

from fswizard import results
from fswizard.model.result import Result
from fswizard.sharing import shareable
from tests.builders import write_result
from tests.long.reproduce import page
from tests.long.reproduce.by_hand import BY_HAND
from tests.long.reproduce.experiments import DOCUMENTS, PLACES, Emulated, Simulated
from tests.long.reproduce.published import ROOT, experiment, result_of, result_path
from tests.long.reproduce.simulated import LONGEST_S, run_program
from tests.long.reproduce.verdicts import in_their_terms
from tests.long.uml import machine
from tests.long.vm.machine import Machine, booted

FSWIZARD = (sys.executable, "-m", "fswizard")
ROUNDS = ("--rounds", "4..8", "--time", "15m")
"""More than four only where the time suffices."""
INSIDE = "/root/result.jsonl"
"""The result, in the virtual machine."""
IMAGES = "/var/tmp"
TELL_S = 30.0
"""Each look costs the virtual machine some of its processor."""


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.long.reproduce")
    known = [*DOCUMENTS, *PLACES]
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="NAME", help=", ".join(known))
    parser.add_argument("--directory", type=Path, default=Path("build/reproduce"), help="for results under way")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(words)
    signal.signal(signal.SIGTERM, _stop)
    options.directory.mkdir(parents=True, exist_ok=True)
    names = [] if options.page else list(_to_do(options.names or [*DOCUMENTS]))
    simulated = [name for name in names if isinstance(PLACES[name], Simulated)]
    with ProcessPoolExecutor(os.cpu_count()) as beside:  # what else runs changes nothing in simulated time
        running = {beside.submit(_run, name, options.directory): name for name in simulated}
        failed = [running[done] for done in as_completed(running) if not _succeeded(running[done], done.result)]
    for name in names:
        if name not in simulated and not _succeeded(name, partial(_run, name, options.directory)):
            failed.append(name)
    page.write()
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


def _succeeded(name: str, result: Callable[[], Path]) -> bool:
    """Whether an experiment came to its end; its result is kept then, and the page shows it."""
    try:
        path = result()
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: {error}", flush=True)
        return False
    keep(results.load(path), result_path(name))
    page.write()
    print(f"{name}: done", flush=True)
    return True


def _stop(*_: object) -> None:
    """What a machine has on this one is removed as its process ends."""
    for child in multiprocessing.active_children():
        child.terminate()
    sys.exit(1)


def _to_do(names: Sequence[str]) -> Iterator[str]:
    for name in (one for asked in names for one in DOCUMENTS.get(asked, (asked,))):
        if (kept := result_path(name)).exists():
            print(f"{name}: done before; remove {kept} to run it again", flush=True)
        else:
            yield name


def _run(name: str, directory: Path) -> Path:
    print(f"{name}: begun", flush=True)
    path, where = directory / f"{name}.jsonl", PLACES[name]
    match where:
        case Simulated():
            _in_simulated_time(name, where, path)
        case Emulated():
            _emulated(name, where, path)
        case None:
            _here(name, path)
    return path


def keep(result: Result, path: Path) -> None:
    """Without what only this machine need know, and without the rates of each second; names of its recipe stay."""
    shared = shareable(result)
    drive = result.plan.drive and replace(result.plan.drive, serial="", stable_name="", partitions=(), uses=())
    recipe = replace(result.plan.recipe, source=result.plan.recipe.source.rpartition("/")[2])
    plan = replace(result.plan, drive=drive, target=shared.plan.target, recipe=recipe, losses=())
    failures = tuple(replace(failure, details="") for failure in result.failures)
    kept = replace(result, plan=plan, environment=shared.environment, failures=failures, throughput_series=())
    write_result(path, kept)
    path.chmod(0o644)
    result_of.cache_clear()
    in_their_terms.cache_clear()


def _here(name: str, path: Path) -> None:
    if path.exists() and results.load(path).outcome == "finished":
        return
    if path.exists():
        subprocess.run([*FSWIZARD, "run", "--resume", path], check=True)
        return
    size_bytes = experiment(name).read_recipe().image_bytes
    target = ("--target", f"image:{size_bytes >> 20}M@{IMAGES}")
    argv = (*FSWIZARD, *experiment(name).command, *target, *ROUNDS, "--output", str(path.absolute()))
    subprocess.run(argv, check=True, cwd=ROOT)


def _in_simulated_time(name: str, where: Simulated, path: Path) -> None:
    if name not in BY_HAND:
        rounds = ("--rounds", f"{where.rounds}..{where.rounds}", "--time", "24h")
        run_program(where, (*experiment(name).command, *where.target, *rounds), path)
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        script = f"{where.before}\nset -e\n{BY_HAND[name].script}"
        ended = machine.run(script, where.disks, memory=where.memory, into=Path(directory), limit_s=LONGEST_S)
    if ended.returncode:
        raise RuntimeError(f"it ended with {ended.returncode}:\n{ended.stdout[-2000:]}")
    write_result(path, BY_HAND[name].result(ended.stdout))


def _emulated(name: str, where: Emulated, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=machine.MEMORY) as directory, _zfs_machine(where, Path(directory)) as vm:
        vm.ok("udevadm", "wait", "--timeout=600", *where.links)
        if where.rules:
            vm.write("/etc/udev/rules.d/90-published.rules", where.rules)
            vm.ok("udevadm", "control", "--reload")
        rounds = ("--rounds", f"{where.rounds}..{where.rounds}", "--time", "24h")
        argv = (*experiment(name).command, *where.target, *where.options, *rounds, "--output", INSIDE)
        script = 'cd /mnt/checkout && exec python3 -m fswizard "$@" > /root/said 2>&1'
        running = vm.start("sh", "-c", script, "sh", *argv, timeout_s=LONGEST_S)
        while running.alive:
            time.sleep(TELL_S)
            print(f"{name}: {vm.run('tail', '--lines=1', '/root/said').output.strip()}", flush=True)
        done = running.wait()
        print(vm.run("tail", "--lines=60", "/root/said").output, flush=True)
        path.write_bytes(vm.run("cat", INSIDE).stdout)
        if done.exit_code:
            raise RuntimeError(f"fswizard ended with {done.exit_code}; its result so far is {path}")


def _zfs_machine(where: Emulated, directory: Path) -> AbstractContextManager[Machine]:
    return booted(directory, where.disks, zfs=True, counts_instructions=True)


if __name__ == "__main__":
    main(sys.argv[1:])
