"""Run the published experiments again, and write the page on them.

    python -m tests.long.reproduce [DOCUMENT or EXPERIMENT...]
    python -m tests.long.reproduce --page

Without names, all of them. What has its result already is not run again: remove the result to run it anew.
Needs root, and what `make test-all PART=uml` and `PART=vm` need.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
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
from tests.long.vm.machine import booted
from tests.long.vm.runs import run_from_checkout

ROUNDS = ("--rounds", "4..8", "--time", "15m")
"""More than four only where the time suffices."""


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.long.reproduce")
    known = [*DOCUMENTS, *PLACES]
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="NAME", help=", ".join(known))
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine has on this one is removed
    asked = [] if options.page else options.names or [*DOCUMENTS]
    failed = []
    for name in (one for document in asked for one in DOCUMENTS.get(document, (document,))):
        if (kept := result_path(name)).exists():
            print(f"{name}: done before; remove {kept} to run it again", flush=True)
            continue
        print(f"{name}: begun", flush=True)
        try:
            _run(name)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}", flush=True)
            failed.append(name)
        page.write()
    page.write()
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


def _run(name: str) -> None:
    """An experiment to its end; its result is kept then, and the page shows it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        path, where = Path(directory, "result.jsonl"), PLACES[name]
        match where:
            case Simulated():
                _in_simulated_time(name, where, path)
            case Emulated():
                _emulated(name, where, path)
            case None:
                _here(name, path)
        keep(results.load(path), result_path(name))


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
    size_bytes = experiment(name).read_recipe().image_bytes
    target = ("--target", f"image:{size_bytes >> 20}M@{path.parent}")
    argv = (sys.executable, "-m", "fswizard", *experiment(name).command, *target, *ROUNDS, "--output", str(path))
    subprocess.run(argv, check=True, cwd=ROOT)


def _in_simulated_time(name: str, where: Simulated, path: Path) -> None:
    if name not in BY_HAND:
        run_program(where, (*experiment(name).command, *where.target, *_exactly(where.rounds)), path)
        return
    script = f"{where.before}\nset -e\n{BY_HAND[name].script}"
    ended = machine.run(script, where.disks, memory=where.memory, into=path.parent, limit_s=LONGEST_S)
    if ended.returncode:
        raise RuntimeError(f"it ended with {ended.returncode}:\n{ended.stdout[-2000:]}")
    write_result(path, BY_HAND[name].result(ended.stdout))


def _emulated(name: str, where: Emulated, path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(dir=machine.MEMORY) as memory,
        booted(Path(memory), where.disks, zfs=True, counts_instructions=True) as vm,
    ):
        vm.ok("udevadm", "wait", "--timeout=600", *where.links)
        if where.rules:
            vm.write("/etc/udev/rules.d/90-published.rules", where.rules)
            vm.ok("udevadm", "control", "--reload")
        words = (*experiment(name).command, *where.target, *where.options, *_exactly(where.rounds))
        run_from_checkout(vm, words, path, LONGEST_S)


def _exactly(rounds: int) -> tuple[str, ...]:
    return ("--rounds", f"{rounds}..{rounds}", "--time", "24h")


if __name__ == "__main__":
    main(sys.argv[1:])
