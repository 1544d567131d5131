"""Output of fio with `--output-format=json`: a sequence of cumulative objects, mixed with text."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

PERCENTILES = ("50.000000", "99.000000", "99.900000")


class Figures(NamedTuple):
    """Totals of all jobs since fio started; latencies are from submission to completion, of the slower of reads and
    writes."""

    at_s: float
    """Time by fio's clock."""
    error: int
    """errno of the first job that failed, or 0."""
    io_bytes: int
    written_bytes: int
    operations: int
    bytes_per_s: float
    iops: float
    median_s: float
    p99_s: float
    worst_s: float
    syncs_s: Sequence[float]
    """PERCENTILES of fsync and fdatasync; zeros without any."""


def figures(dump: Mapping[str, Any]) -> Figures:
    """The figures of one object of the output of fio with `--group_reporting`."""
    job = dump["jobs"][0]
    sides = (job["read"], job["write"])
    median_s, p99_s, _ = map(max, zip(*(_latencies(side) for side in sides)))
    return Figures(
        at_s=dump["timestamp_ms"] / 1e3,
        error=next((each["error"] for each in dump["jobs"] if each["error"]), 0),
        io_bytes=sum(side["io_bytes"] for side in sides),
        written_bytes=job["write"]["io_bytes"],
        operations=sum(side["total_ios"] for side in sides),
        bytes_per_s=sum(side["bw_bytes"] for side in sides),
        iops=sum(side["iops"] for side in sides),
        median_s=median_s,
        p99_s=p99_s,
        worst_s=max(side["lat_ns"]["max"] for side in sides) / 1e9,
        syncs_s=_latencies(job["sync"]),
    )


def _latencies(side: Mapping[str, Any]) -> list[float]:
    latency = side["lat_ns"]
    percentiles = latency.get("percentile", {})
    # They are bins some percent wide, whose middle may lie beyond the worst value.
    return [min(percentiles.get(name, 0), latency["max"]) / 1e9 for name in PERCENTILES]


class DumpReader:
    """Extracts the JSON objects from a stream of bytes. fio prints the braces of each on lines of their own."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._begun = b""

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """The objects completed by `chunk`, without the text between them."""
        *lines, self._begun = (self._begun + chunk).split(b"\n")
        for line in lines:
            if line == b"{":
                self._lines = []
            self._lines.append(line)
            if line == b"}":
                text = b"\n".join(self._lines).decode(errors="replace")
                with suppress(ValueError):  # text with such lines
                    yield json.loads(text, strict=False)  # file names are printed as they are


def rates_by_second(history: Sequence[Figures]) -> list[float]:
    """Bytes read and written in each second of a run, by fio's clock."""
    seconds: defaultdict[int, list[float]] = defaultdict(list)
    for one, other in pairwise(history):
        if other.at_s > one.at_s:
            rate = (other.io_bytes - one.io_bytes) / (other.at_s - one.at_s)
            seconds[int(other.at_s - history[0].at_s)].append(rate)
    return [statistics.fmean(seconds[second]) for second in sorted(seconds)]
