"""Output of fio with `--output-format=json`: a sequence of cumulative objects, mixed with text."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from operator import add
from typing import Any, NamedTuple

MOST_TEXT = 4 << 20
"""Maximum number of characters of output searched for the end of an object."""


class Counts(NamedTuple):
    """Totals of reads, writes or syncs since fio started; latencies are from submission to completion."""

    io_bytes: float = 0
    operations: float = 0
    bytes_per_s: float = 0
    iops: float = 0
    median_s: float = 0
    p99_s: float = 0
    p999_s: float = 0
    worst_s: float = 0

    @classmethod
    def of(cls, side: Mapping[str, Any]) -> Counts:
        latency = side["lat_ns"]
        worst = latency.get("max", 0)
        # Older versions have percentiles of `clat_ns` instead.
        percentiles = latency.get("percentile") or side.get("clat_ns", {}).get("percentile", {})
        # They are bins some percent wide, whose middle may lie beyond the worst value.
        shares = [min(percentiles.get(name, 0), worst) for name in ("50.000000", "99.000000", "99.900000")]
        return cls(
            side.get("io_bytes", 0),
            side.get("total_ios") or latency.get("N", 0),  # of syncs, some versions count only the latter
            side.get("bw_bytes", 0),
            side.get("iops", 0),
            *(nanoseconds / 1e9 for nanoseconds in (*shares, worst)),
        )


class Figures(NamedTuple):
    """One object of fio's output: all jobs together (`--group_reporting`)."""

    at_s: float
    """Time by fio's clock."""
    error: int
    """errno of the first job that failed, or 0."""
    read: Counts
    write: Counts
    sync: Counts
    """Totals of fsync and fdatasync, which transfer no bytes."""

    @property
    def all(self) -> Counts:
        """Reads and writes together; latencies are those of the slower."""
        return Counts(*map(add, self.read[:4], self.write[:4]), *map(max, self.read[4:], self.write[4:]))


def figures(dump: Any) -> Figures | None:
    """The figures of one object of fio's output (3.16 and later); None if it is something else."""
    try:
        job = dump["jobs"][0]
        sides = (Counts.of(job[name]) if name in job else Counts() for name in ("read", "write", "sync"))
        errors = [each.get("error", 0) for each in dump["jobs"]]
        return Figures(dump["timestamp_ms"] / 1e3, next(filter(None, errors), 0), *sides)
    except (AttributeError, KeyError, IndexError, TypeError):
        return None


class DumpReader:
    """Extracts the JSON objects from a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._json = json.JSONDecoder(strict=False)  # fio repeats file names as they are
        self._text = ""

    def feed(self, chunk: bytes) -> list[Any]:
        """The objects completed by `chunk`, without the text between them."""
        self._text = (self._text + self._bytes.decode(chunk))[-MOST_TEXT:]
        dumps = []
        while (start := self._text.find("{")) >= 0:
            try:
                dump, end = self._json.raw_decode(self._text, start)
                dumps.append(dump)
            except (ValueError, RecursionError):
                # Either not whole yet, or a brace in a message: then fio's next object stands at a line's start.
                end = self._text.find("\n{", start) + 1
                if end == 0:
                    break
            self._text = self._text[end:]
        return dumps
