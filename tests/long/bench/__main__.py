"""Measures the program itself and writes RESULTS.md.

    python -m tests.long.bench [waiting|promises]

Both parts take about an hour and make the page anew; a single part is only printed. Leave the machine alone for
that time. What needs root is left out without it.
"""

from __future__ import annotations

import argparse
import datetime
import os
from pathlib import Path

from fswizard.system.host import environment
from tests.builders import make_plan
from tests.long.bench import promises, waiting

PARTS = {
    "waiting": ("Waiting and watching", waiting.measure),
    "promises": ("Promised time", promises.measure),
}
HEAD = "| figure | bound | measured | | remark |\n| --- | --- | --- | --- | --- |"


def main(parts: list[str]) -> None:
    here = environment(make_plan())
    sections = [
        f"# The program itself, {datetime.date.today().isoformat()}",
        f"`make bench` makes this page. fswizard {here.version} on {here.distribution}, kernel {here.kernel}, "
        f"{here.processor or 'unknown processor'} × {os.cpu_count()}, load {os.getloadavg()[0]:.1f} at the start.",
        "Ratios are ours over theirs, measured in turns. Medians, with the interval that holds the true one in 95 % of "
        "cases (the range, of fewer than six). A miss within the spread may be chance.",
    ]
    for name in parts or PARTS:
        title, measure = PARTS[name]
        sections.append("\n".join((f"## {title}\n", HEAD, *measure())))
        print(f"{sections[-1]}\n", flush=True)
    if not parts:
        Path(__file__).with_name("RESULTS.md").write_text("\n\n".join(sections) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    main(parser.parse_args().parts)
