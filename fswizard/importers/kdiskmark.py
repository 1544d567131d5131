"""The text report of KDiskMark."""

from __future__ import annotations

import re

from fswizard.engines.fio import FioJob
from fswizard.importers.parsed_run import Figure, ParsedRun, block_metric, refuse, workload
from fswizard.model.metrics import IOPS, MEAN_LATENCY, THROUGHPUT
from fswizard.model.recipe import Workload

_SECTION = re.compile(r"\s*\[(?P<name>\w+)[^\]]*\]\s*")
_LINE = re.compile(
    r"\s*(?P<kind>Sequential|Random)\s+(?P<size>\d+)\s*(?P<unit>[KM]iB)\s*\(Q=\s*(?P<depth>\d+),\s*T=\s*(?P<jobs>\d+)\):"
    r"\s*(?P<rate>[\d.]+)\s*(?P<rate_unit>[KMG]?B)/s\s*\[\s*(?P<iops>[\d.]+)\s*IOPS\]\s*<\s*(?P<latency>[\d.]+)\s*us>\s*"
)
_RATES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9}


def recognises(text: str) -> bool:
    """Whether a text looks like KDiskMark's report."""
    return "KDiskMark" in text[:2000]


def read(text: str, where: str) -> ParsedRun:
    """The figures of a report; tests that were not run stand at 0 and are left out.

    UsageError, with line and reason, for a line that is none of KDiskMark's.
    """
    section = ""
    workloads: list[Workload] = []
    figures: list[Figure] = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := _SECTION.fullmatch(line):
            section = found["name"].lower()
        elif re.match(r"\s*(Sequential|Random)\b", line):
            match = _LINE.fullmatch(line)
            if match is None or section not in ("read", "write", "mix"):
                raise refuse(where, number, f"no line that KDiskMark prints: {line.strip()[:60]!r}")
            if float(match["iops"]) > 0:
                _keep(section, match, workloads, figures)
    if not figures:
        raise refuse(where, 1, "KDiskMark's report has no figures")
    version = re.search(r"KDiskMark \(([\d.]+)\)", text)
    kernel = re.search(r"^\s*OS: .*\[linux (\S+)\]", text, re.MULTILINE)
    tool = f"KDiskMark {version[1]}" if version else "KDiskMark"
    return ParsedRun(tool, tuple(workloads), tuple(figures), kernel=kernel[1] if kernel else "")


def _keep(section: str, match: re.Match[str], workloads: list[Workload], figures: list[Figure]) -> None:
    block = int(match["size"]) << (20 if match["unit"] == "MiB" else 10)
    short = "seq" if match["kind"] == "Sequential" else "rnd"
    size = f"{match['size']}{match['unit'][0].lower()}"
    name = f"{short}{size}-q{match['depth']}t{match['jobs']}-{section}"
    title = f"{match['kind']} {section}, {match['size']} {match['unit']}, Q{match['depth']} T{match['jobs']}"
    job = FioJob(
        "write" if section == "write" else "read", block, 0, jobs=int(match["jobs"]), depth=int(match["depth"])
    )
    workloads.append(workload(name, title, block_metric(block), job=job))
    figures.append(Figure(name, THROUGHPUT, (float(match["rate"]) * _RATES[match["rate_unit"]],)))
    figures.append(Figure(name, IOPS, (float(match["iops"]),)))
    figures.append(Figure(name, MEAN_LATENCY, (float(match["latency"]) / 1e6,)))
