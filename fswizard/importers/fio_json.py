"""What fio prints with `--output-format=json`."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from fswizard.engines.fio import FioJob
from fswizard.engines.shared.fio_output import DumpReader, Figures, figures
from fswizard.errors import UsageError
from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse, slug, workload
from fswizard.model.metrics import IOPS, MEDIAN_LATENCY, P99_LATENCY, THROUGHPUT, WORST_LATENCY
from fswizard.model.recipe import Workload

SMALL_BLOCK_BYTES = 64 << 10
"""Below it operations per second tell more than bytes per second."""
_KINDS = ("read", "write", "randread", "randwrite", "randrw", "rw", "readwrite")
_WORDS = {"read": "reading", "write": "writing", "randread": "reading at random", "randwrite": "writing at random"}
_DISK_ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


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
            made = _describe(
                str(job.get("jobname", "fio")), direction, {**_options(common), **_options(job.get("job options"))}
            )
            workloads[made.name] = made
            several.setdefault(made.name, []).append(told)
            if told.error:
                kind = errno.errorcode[told.error] if told.error in _DISK_ERRORS else "program"
                faults.append(Fault(made.name, kind, f"fio: {os.strerror(told.error)}."))
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


def _describe(job_name: str, direction: str, options: Mapping[str, str]) -> Workload:
    """The workload that a job of fio stands for; `direction` is `read` or `write`."""
    kind = options.get("rw", options.get("readwrite", direction))
    kind = kind if kind in _KINDS else direction
    block = _block_bytes(options.get("bs", options.get("blocksize", "4k")))
    mixed = kind in ("randrw", "rw", "readwrite")
    single = f"rand{direction}" if kind.startswith("rand") else direction
    name = slug(job_name) + (f"-{direction}" if mixed else "")
    size = f"{block >> 20} MiB" if block >= 1 << 20 else f"{block / 1024:g} KiB"
    title = f"{job_name}: {_WORDS[single]}, {size}"
    job = FioJob(
        cast(Literal["read", "write", "randread", "randwrite"], single),
        block,
        _block_bytes(options.get("size", "0")),
        jobs=_count(options, "numjobs"),
        depth=_count(options, "iodepth"),
        direct=options.get("direct", "0") not in ("0", "false"),
    )
    metric = IOPS if block < SMALL_BLOCK_BYTES else THROUGHPUT
    return workload(name, title, metric, job)


def _block_bytes(text: str) -> int:
    """Bytes of a size as fio writes it: `4k`, `1M`, `4096B`, `4096B-4096B`; 0 where it is none."""
    match = re.match(r"(\d{1,15})\s*([kmg]?)i?b?", text.strip().lower())
    return int(match[1]) * _FACTORS[match[2]] if match else 0


def _count(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    return max(1, int(text)) if re.fullmatch(r"\d{1,6}", text) else 1


def _figures(workload: str, told: list[Figures]) -> Iterator[Figure]:
    """Jobs of the same name work at the same time: rates add up, the worst latency is the worst of all."""
    yield Figure(workload, THROUGHPUT, sum(one.bytes_per_s for one in told))
    yield Figure(workload, IOPS, sum(one.iops for one in told))
    for metric, values in (
        (MEDIAN_LATENCY, [one.median_s for one in told]),
        (P99_LATENCY, [one.p99_s for one in told]),
        (WORST_LATENCY, [one.worst_s for one in told]),
    ):
        if max(values) > 0:
            yield Figure(workload, metric, max(values))


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
