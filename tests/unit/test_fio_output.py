"""fio's output is read while it comes, whatever pieces it comes in and whatever stands around it."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.engines.fio import Figures, FioJob
from fswizard.engines.shared.programs import Done, json_objects
from fswizard.system.process import Finished

NOISE = b"fio: this platform does {not} support X\n{ {{ \n{\nno\n}\n"
JOB = FioJob("write", 4096, 1 << 20, seconds=3, fdatasync=1)


def dump(written: int, at_s: float = 0.0, error: int = 0) -> dict[str, Any]:
    """One object, as fio 3.33 prints it with --lat_percentiles=1."""
    latency = {"max": 21176509, "percentile": {"50.000000": 468992, "99.000000": 815104}}
    write = {"io_bytes": written, "total_ios": written // 4096, "bw_bytes": 273059940, "iops": 66.5, "lat_ns": latency}
    sync = {"lat_ns": {"max": 8000, "N": 2, "percentile": {"50.000000": 9000}}}
    jobs = [{"error": 0, "read": {}, "write": write, "sync": sync}, {"error": error}]
    return {"fio version": "fio-3.33", "timestamp_ms": 1000 * at_s, "jobs": jobs}


@given(st.lists(st.integers(0, 2000), max_size=12))
def test_objects_come_out_whole_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    dumps = [dump(4096), dump(8192)]
    data = NOISE + "".join(f"{json.dumps(one, indent=2)}\n" for one in dumps).encode()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    async def pieces() -> AsyncIterator[bytes]:
        for start, end in itertools.pairwise(edges):
            yield data[start:end]

    async def read() -> list[Any]:
        return [one async for one in json_objects(pieces())]

    assert asyncio.run(read()) == dumps


@pytest.mark.parametrize(("rates", "late"), [([100] * 4 + [70] * 3 + [40] * 5, 0.4), ([100] * 7, None)])
def test_figures_are_the_last_ones_and_the_late_rate_that_of_the_last_third_to_the_first_of_three_seconds_or_more(
    rates: list[int], late: float | None
) -> None:
    """fio prints four figures a second, and the last ones count the final fsync."""
    read = JOB.timed("", "", "").works[0].reader
    assert read
    history = list[Figures]()
    for number, written in enumerate((*itertools.accumulate([0, *rates]), 1 << 20)):
        error = 28 if number == 2 else 0
        assert read(history, dump(written, number / 4, error), lambda event: None) == error
    measured = [*JOB.figures([Done(Finished(("fio",), 0, b"", b"", 3.0), answers=history)])]
    figures = {each.metric.name: each.value for each in measured}
    assert figures.pop("late_rate", None) == late
    assert figures == {
        "throughput": 273059940, "iops": 66.5, "median_latency": 468992e-9, "p99_latency": 815104e-9,
        "worst_latency": 21176509e-9, "bytes_written": 1 << 20,
        "sync_median": 8e-6, "sync_p99": 0, "sync_p999": 0,
    }, "fio gives the middle of a bin, which may lie beyond the worst"  # fmt: skip
