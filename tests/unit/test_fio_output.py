"""fio's output is read while it comes, whatever pieces it comes in and whatever stands around it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.engines.fio import Figures, FioJob
from fswizard.engines.shared.programs import Done, Objects
from fswizard.system.process import Finished

NOISE = "fio: this platform does {not} support X\nnote: both iodepth >= 1 and synchronous I/O engine are selected\n"
MIB = 1 << 20


def dump(written: int) -> dict[str, Any]:
    """One object, as fio 3.33 prints it with --lat_percentiles=1."""
    read: dict[str, Any] = {"io_bytes": 0, "total_ios": 0, "bw_bytes": 0, "iops": 0.0, "lat_ns": {"max": 0, "N": 0}}
    latency = {"max": 21176509, "percentile": {"50.000000": 468992, "99.000000": 815104}}
    write = {
        "io_bytes": written,
        "total_ios": written // 4096,
        "bw_bytes": 273059940,
        "iops": 66665.02,
        "lat_ns": latency,
    }
    sync = {"total_ios": 0, "lat_ns": {"max": 8000, "N": 2, "percentile": {"50.000000": 9000}}}
    job = {"jobname": "w", "error": 0, "read": read, "write": write, "sync": sync}
    return {"fio version": "fio-3.33", "timestamp_ms": 1795212475213, "jobs": [job]}


def text_of(*dumps: dict[str, Any]) -> bytes:
    return (NOISE + "\n".join(json.dumps(one, indent=2) for one in dumps) + "\n").encode()


@given(st.lists(st.integers(0, 2000), max_size=12))
def test_objects_come_out_whole_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    data = text_of(dump(4096), dump(8192))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    reader = Objects()
    pieces = (data[start:end] for start, end in itertools.pairwise(edges))
    assert [one for piece in pieces for one in reader.feed(piece)] == [dump(4096), dump(8192)]
    garbage = b"{ {{ \n{\nno\n}\n"
    assert list(Objects().feed(garbage + data)) == [dump(4096), dump(8192)]


def test_figures_are_totals_with_latencies_of_the_slower_and_the_first_error() -> None:
    now = Figures.of(dump(4096))
    assert now.latencies_s == (468992e-9, 815104e-9, 21176509e-9)
    assert (now.io_bytes, now.written_bytes, now.operations) == (4096, 4096, 1)
    assert now.syncs_s == [8e-6, 0, 0], "fio gives the middle of a bin, which lies beyond the worst"
    read = FioJob("write", 4096, MIB).timed("", "", "").works[0].reader
    one = dump(4096)
    one["jobs"].append({"error": 28})
    assert read and [read([], each, lambda event: None) for each in (dump(4096), one)] == [0, 28]


@pytest.mark.parametrize(("rates", "late"), [([100] * 4 + [70] * 3 + [40] * 5, 0.4), ([100] * 7, None)])
def test_the_late_rate_is_that_of_the_last_third_to_the_first_of_three_seconds_or_more(
    rates: list[int], late: float | None
) -> None:
    """fio prints four figures a second, and the last ones count the final fsync."""
    written = [0, *itertools.accumulate(rates)]
    one = Figures.of(dump(4096))
    history = [one._replace(at_s=number / 4, io_bytes=sofar) for number, sofar in enumerate((*written, 10**9))]
    job, finished = FioJob("write", 4096, MIB, seconds=3), Finished(("fio",), 0, b"", b"", 3.0)
    measured = {each.metric.name: each.value for each in job.figures([Done(finished, answers=history)])}
    assert measured.get("late_rate") == late
