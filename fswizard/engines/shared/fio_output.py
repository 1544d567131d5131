"""Output of fio with `--output-format=json`: one cumulative object after another, with text around them."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

MOST_TEXT = 4 << 20
"""Characters of output that are searched for the end of an object."""

LATENCIES = ("median_s", "p99_s", "p999_s", "worst_s")


class DumpReader:
    """Finds the JSON objects in a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._json = json.JSONDecoder(strict=False)  # fio repeats file names as they are
        self._text = ""

    def feed(self, chunk: bytes) -> list[dict[str, Any]]:
        """The objects that `chunk` completes, without the text between them."""
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


@dataclass(frozen=True, slots=True)
class Direction:
    """Counts of reads or of writes since fio started; latencies are from submission to completion."""

    io_bytes: float = 0
    operations: float = 0
    bytes_per_s: float = 0
    iops: float = 0
    median_s: float = 0
    p99_s: float = 0
    p999_s: float = 0
    worst_s: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures(Direction):
    """A dump of fio, reads and writes of all jobs together (`--group_reporting`); latencies are those of the slower."""

    at_s: float
    """Time by fio's clock."""
    error: int
    """errno of the first job that failed, or 0."""
    read: Direction
    write: Direction
    sync: Direction = Direction()
    """Of fsync and fdatasync, which transfer no bytes."""

    @property
    def at_work_s(self) -> float:
        """Time spent reading and writing."""
        return self.io_bytes / self.bytes_per_s if self.bytes_per_s else 0.0


def figures(dump: Mapping[str, Any]) -> Figures | None:
    """The figures of one object of fio's output (3.16 and later), or None if it is something else."""
    jobs = dump.get("jobs")
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        return None
    read, write, sync = (_direction(_object(jobs[0], name)) for name in ("read", "write", "sync"))
    both = {}
    for field in fields(Direction):
        one, other = getattr(read, field.name), getattr(write, field.name)
        both[field.name] = max(one, other) if field.name in LATENCIES else one + other
    errors = [int(_number(job, "error")) for job in jobs]
    return Figures(
        at_s=_number(dump, "timestamp_ms") / 1e3, error=next(filter(None, errors), 0),
        read=read, write=write, sync=sync, **both,
    )  # fmt: skip


def _direction(side: Mapping[str, Any]) -> Direction:
    latency = _object(side, "lat_ns")
    # Older versions have percentiles of `clat_ns` instead.
    percentiles = _object(latency, "percentile") or _object(_object(side, "clat_ns"), "percentile")
    worst_s = _number(latency, "max") / 1e9
    # fio's percentiles are bins some percent wide, whose middle may lie beyond the worst value.
    names = ("50.000000", "99.000000", "99.900000")
    median_s, p99_s, p999_s = (min(_number(percentiles, name) / 1e9, worst_s) for name in names)
    return Direction(
        _number(side, "io_bytes"),
        _number(side, "total_ios") or _number(latency, "N"),  # of syncs, some versions count only the latter
        _number(side, "bw_bytes"),
        _number(side, "iops"),
        median_s,
        p99_s,
        p999_s,
        worst_s,
    )


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _number(value: Mapping[str, Any], key: str) -> float:
    number = value.get(key, 0)
    usable = isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number < 1e18
    return number if usable else 0
