"""Measures the program itself and writes RESULTS.md.

    python -m tests.long.bench [--short] [PART...]

All parts take about an hour, a short run some minutes; they make the table anew. Single parts are only
printed. The machine should be left alone meanwhile. What needs root is left out without it.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from fswizard.model.units import duration_text
from fswizard.system.host import environment
from tests.builders import make_plan
from tests.long.bench.table import Line, Size, not_measured, table

PARTS = ("fio_jobs", "generators", "startup", "running", "large", "promises")
RESULTS = Path(__file__).with_name("RESULTS.md")
MENDED = Path(__file__).with_name("mended.md")
"""What was changed because a profile showed it, and what it gave."""
BUSY_LOAD = 0.5
"""Programs that want a processor, on average, from which on a machine counts as busy."""


def main(parts: Sequence[str], size: Size) -> None:
    began, load = time.monotonic(), os.getloadavg()[0]
    told = []
    for name in parts or PARTS:
        part = importlib.import_module(f"tests.long.bench.{name}")
        text = f"## {part.TITLE}\n\n{table(_measured(part, size))}"
        print(f"{text}\n", flush=True)
        told.append(text)
    if not parts:
        took = f"It took {duration_text(time.monotonic() - began)}" + (", as a short run." if size == "short" else ".")
        page = "\n\n".join((_head(load), *told, took, MENDED.read_text("utf-8").rstrip()))
        RESULTS.write_text(f"{page}\n", "utf-8")


def _measured(part: ModuleType, size: Size) -> Iterator[Line]:
    """The lines of a part; one that breaks off says so and leaves the others alone."""
    try:
        yield from part.measure(size)
    except Exception as error:
        yield not_measured(part.TITLE, f"broke off: {type(error).__name__}: {error}")


def _head(load: float) -> str:
    here = environment(make_plan())
    memory = f"{here.memory_bytes / (1 << 30):.0f} GiB"
    busy = (
        f"Other programs kept the machine **busy** (load {load:.1f} at the start): absolute figures are too bad by as "
        "much, and spreads are wide.\n\n"
        if load > BUSY_LOAD
        else ""
    )
    return (
        f"# Speed of the program itself, {datetime.date.today().isoformat()}\n\n"
        f"`make bench` makes this page. fswizard {here.version} on {here.distribution}, kernel {here.kernel}, "
        f"{here.processor or 'unknown processor'} × {os.cpu_count()}, {memory}.\n\n{busy}"
        "Ratios are ours over theirs, or turned round where less is better and a bound is “at least”; both were "
        "measured in turns, the order changing from pair to pair. Medians, with the interval that holds the true one "
        "in 95 % of cases (the range, of fewer than six). What misses its bound says by how much; “within the spread” "
        "is a miss that chance may have made."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--short", action="store_true", help="fewer pairs, for a glance")
    arguments = parser.parse_args()
    main(arguments.parts, "short" if arguments.short else "full")
