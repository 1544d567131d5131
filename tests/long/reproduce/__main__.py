"""Run the published experiments again, and write the page on them.

    python -m tests.long.reproduce [DOCUMENT or EXPERIMENT...]

Without names, all of them; `python -m tests.long.reproduce.page` only writes the page. What has its result already is
not run again: remove the result to run it anew. Needs root, and what `make test-all PART=uml` and `PART=vm` need.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fswizard import recipes, results
from fswizard.model.result import Result
from fswizard.sharing import shareable
from tests.builders import write_result
from tests.long.reproduce import page
from tests.long.reproduce.experiments import DOCUMENTS, PLACES
from tests.long.reproduce.published import RERUNS, ROOT, experiment, result_of, result_path
from tests.long.reproduce.verdicts import in_their_terms

ROUNDS = ("--rounds", "4..8", "--time", "15m")
"""More than four only where the time suffices."""


def main(names: Sequence[str]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what a machine has on this one is removed
    failed = []
    for asked in names or DOCUMENTS:
        for name in DOCUMENTS.get(asked, (asked,)):
            if not experiment(name).recipe:
                print(f"{name}: was done by hand", flush=True)
                continue
            if result_path(name).exists():
                print(f"{name}: done before; remove {result_path(name)} to run it again", flush=True)
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
    place, this = PLACES[name], experiment(name)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        path = Path(directory, "result.jsonl")
        if place is None:
            target = f"image:{recipes.load(RERUNS / this.recipe).image_bytes >> 20}M@{directory}"
            argv = (sys.executable, "-m", "fswizard", *this.command, "--target", target, *ROUNDS, "--output", str(path))
            subprocess.run(argv, check=True, cwd=ROOT)
        else:
            rounds = f"{place.rounds}..{place.rounds}"
            place.run((*this.command, *place.target, "--rounds", rounds, "--time", "24h"), path)
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


if __name__ == "__main__":
    main(sys.argv[1:])
