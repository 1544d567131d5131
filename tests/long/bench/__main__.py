"""Measures the program itself and writes RESULTS.md: `python -m tests.long.bench`.

Takes about an hour; leave the machine alone for that time. Needs root.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from fswizard.system.host import environment
from tests.builders import make_plan
from tests.long.bench import promises, waiting

HEAD = "| figure | bound | measured | | remark |\n| --- | --- | --- | --- | --- |"


def main() -> None:
    here = environment(make_plan())
    lines = [
        f"# The program itself, {datetime.date.today().isoformat()}\n",
        f"`make bench` makes this page. fswizard {here.version} on {here.distribution}, kernel {here.kernel}, "
        f"{here.processor or 'unknown processor'} × {os.cpu_count()}, load {os.getloadavg()[0]:.1f} at the start.\n",
        "Ratios are ours over theirs, measured in turns. Medians and ranges.\n",
    ]
    for title, measured in {"Waiting and watching": waiting.measure(), "Promised time": promises.measure()}.items():
        lines += [f"## {title}\n", HEAD]
        for line in measured:
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    Path(__file__).with_name("RESULTS.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
