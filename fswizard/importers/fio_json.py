"""What fio prints with `--output-format=json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from fswizard.engines.shared.fio_output import DumpReader, Figures, figures
from fswizard.errors import UsageError
from fswizard.importers.fio_names import describe, fault_kind
from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse
from fswizard.model.metrics import IOPS, MEDIAN_LATENCY, P99_LATENCY, THROUGHPUT, WORST_LATENCY
from fswizard.model.recipe import Workload


def recognises(text: str) -> bool:
    """Whether a text looks like fio's JSON, whatever stands around it."""
    return '"fio version"' in text or ('"jobs"' in text and '"jobname"' in text)


def read(text: str, where: str) -> ParsedRun:
    """One run of fio with all its jobs; the last object counts where fio printed several.

    UsageError, with line and reason, where there is no whole object.
    """
    dumps = [dump for dump in DumpReader().feed(text.encode()) if isinstance(dump.get("jobs"), list)]
    if not dumps:
        raise _broken(text, where)
    dump = dumps[-1]
    common = dump.get("global options")
    jobs = [job for job in dump["jobs"] if isinstance(job, dict)]
    if not jobs:
        raise refuse(where, 1, "fio's object names no job")
    workloads: dict[str, Workload] = {}
    several: dict[str, list[Figures]] = {}
    faults: list[Fault] = []
    for job in jobs:
        for direction, told in _directions(job):
            workload = describe(
                str(job.get("jobname", "fio")), direction, {**_options(common), **_options(job.get("job options"))}
            )
            workloads[workload.name] = workload
            several.setdefault(workload.name, []).append(told)
            if told.error:
                text_of = f"fio: {os.strerror(told.error)}."
                faults.append(Fault(workload.name, fault_kind(told.error), text_of))
    failed = {fault.workload for fault in faults}
    found = tuple(
        figure for name, told_of in several.items() if name not in failed for figure in _figures(name, told_of)
    )
    if not found and not faults:
        raise refuse(where, 1, "no job in it read or wrote anything")
    version = str(dump.get("fio version", "fio")).replace("fio-", "fio ")
    return ParsedRun(version, tuple(workloads.values()), found, tuple(faults))


def _directions(job: Mapping[str, Any]) -> Iterator[tuple[str, Figures]]:
    """Reads and writes of a job, each for itself; a job that did neither counts by what it was to do."""
    whole = figures({"jobs": [job]})
    assert whole is not None
    done = [name for name, side in (("read", whole.read), ("write", whole.write)) if side.operations > 0]
    for name in done:
        told = figures({"jobs": [{"error": job.get("error", 0), name: job.get(name)}]})
        assert told is not None
        yield name, told
    if not done and whole.error:
        yield "write", whole


def _figures(workload: str, told: list[Figures]) -> Iterator[Figure]:
    """Jobs of the same name work at the same time: rates add up, the worst latency is the worst of all."""
    yield Figure(workload, THROUGHPUT, (sum(one.bytes_per_s for one in told),))
    yield Figure(workload, IOPS, (sum(one.iops for one in told),))
    for metric, values in (
        (MEDIAN_LATENCY, [one.median_s for one in told]),
        (P99_LATENCY, [one.p99_s for one in told]),
        (WORST_LATENCY, [one.worst_s for one in told]),
    ):
        if max(values) > 0:
            yield Figure(workload, metric, (max(values),))


def _options(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _broken(text: str, where: str) -> UsageError:
    start = max(0, text.find("{"))
    try:
        json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        return refuse(where, error.lineno, f"fio's JSON is cut off or damaged ({error.msg})")
    except RecursionError:
        return refuse(where, 1, "nested too deeply")
    except ValueError:  # Python reads no number of more than 4,300 digits
        return refuse(where, 1, "a number in it is too long")
    return refuse(where, 1, "no object with fio's jobs in it")
