"""fio's output is read while it comes, whatever pieces it comes in and whatever stands around it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.engines.fio import late_rate
from fswizard.engines.shared.fio_output import Counts, DumpReader, Figures, figures

NOISE = "fio: this platform does {not} support X\nnote: both iodepth >= 1 and synchronous I/O engine are selected\n"


def dump(written: int, *, error: int = 0, latency: str = "lat_ns") -> dict[str, Any]:
    """One object, as fio 3.33 prints it with --lat_percentiles=1; 3.16 keeps percentiles beside clat_ns."""
    side: dict[str, Any] = {
        "io_bytes": written,
        "total_ios": written // 4096,
        "bw_bytes": 273059940,
        "iops": 66665.02,
        "clat_ns": {"max": 21171564},
        "lat_ns": {"max": 21176509},
    }
    side[latency]["percentile"] = {"50.000000": 468992, "99.000000": 815104}
    job = {"jobname": "w", "error": error, "read": {"io_bytes": 0, "lat_ns": {"max": 0}}, "write": side}
    return {"fio version": "fio-3.33", "timestamp_ms": 1795212475213, "jobs": [job]}


def text_of(*dumps: dict[str, Any]) -> bytes:
    return (NOISE + "\n".join(json.dumps(one, indent=2) for one in dumps) + "\n").encode()


def read(one: dict[str, Any]) -> Figures:
    found = figures(one)
    assert found is not None
    return found


@given(st.lists(st.integers(0, 2000), max_size=12))
def test_objects_come_out_whole_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    data = text_of(dump(4096), dump(8192))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    reader = DumpReader()
    pieces = (data[start:end] for start, end in itertools.pairwise(edges))
    assert [one for piece in pieces for one in reader.feed(piece)] == [dump(4096), dump(8192)]
    assert DumpReader().feed(b"{ {{ \n" + data) == [dump(4096), dump(8192)], "found after garbage with braces"


def test_latencies_errors_and_thirds_are_read_from_new_and_old_versions() -> None:
    for latency in ("lat_ns", "clat_ns"):
        now = read(dump(4096, latency=latency)).all
        assert (now.median_s, now.p99_s, now.worst_s) == (468992e-9, 815104e-9, 21176509e-9)
    one = dump(4096)
    one["jobs"].append({"error": 28})
    assert read(one).error == 28
    assert figures({"jobs": "x"}) is figures({"jobs": [1]}) is None
    assert late_rate(course(*[100.0] * 5, *[70.0] * 4, *[40.0] * 4)) == pytest.approx(0.4)
    assert late_rate(course(*[100.0] * 8)) is late_rate(course(*[0.0] * 12)) is None, "fio prints four a second"


def course(*rates: float) -> list[Figures]:
    """The dumps, four a second, of a job that writes at these rates."""
    dumps, written = [], 0.0
    for number, rate in enumerate(rates):
        written += rate / 4
        dumps.append(Figures(number / 4, 0, read=Counts(), write=Counts(io_bytes=written), sync=Counts()))
    return dumps
