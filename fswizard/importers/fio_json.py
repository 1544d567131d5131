"""Output of fio with `--output-format=json`."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from fswizard.engines.fio import FioJob
from fswizard.engines.shared.fio_output import Direction, DumpReader, figures
from fswizard.errors import UsageError
from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse, slug, workload
from fswizard.model.metrics import IOPS, MEDIAN_LATENCY, P99_LATENCY, THROUGHPUT, WORST_LATENCY
from fswizard.model.recipe import Workload

_KINDS = ("read", "write", "randread", "randwrite", "randrw", "rw", "readwrite")
_WORDS = {"read": "reading", "write": "writing", "randread": "reading at random", "randwrite": "writing at random"}


def recognises(text: str) -> bool:
    """Whether a text contains fio's JSON."""
    return '"fio version"' in text or ('"jobs"' in text and '"jobname"' in text)


def read_each(text: str, where: str) -> Iterator[ParsedRun]:
    """One run of fio with all its jobs, from the last object in a text. Raises UsageError with line and reason."""
    dumps = [dump for dump in DumpReader().feed(text.encode()) if isinstance(dump.get("jobs"), list)]
    if not dumps:
        raise _broken(text, where)
    dump = dumps[-1]
    common = _options(dump.get("global options"))
    jobs = [job for job in dump["jobs"] if isinstance(job, dict)]
    if not jobs:
        raise refuse(where, 1, "fio's object names no job")
    workloads: dict[str, Workload] = {}
    several: dict[str, list[Direction]] = {}
    faults: list[Fault] = []
    for job in jobs:
        options = common | _options(job.get("job options"))
        counts = figures({"jobs": [job]})
        assert counts is not None
        done = {name: side for name, side in (("read", counts.read), ("write", counts.write)) if side.operations > 0}
        if counts.error and not done:
            done = {"write": counts.write}  # it failed before it did anything
        for direction, side in done.items():
            made = _describe(str(job.get("jobname", "fio")), direction, options)
            workloads[made.name] = made
            several.setdefault(made.name, []).append(side)
            if counts.error:
                of_disk = counts.error in (errno.ENOSPC, errno.EIO, errno.EROFS)
                kind = errno.errorcode[counts.error] if of_disk else "program"
                faults.append(Fault(made.name, kind, f"fio: {os.strerror(counts.error)}."))
    failed = {fault.workload for fault in faults}
    measured = tuple(each for name in several if name not in failed for each in _figures(name, several[name]))
    if not measured and not faults:
        raise refuse(where, 1, "no job in it read or wrote anything")
    version = str(dump.get("fio version", "fio")).replace("fio-", "fio ")
    yield ParsedRun(version, tuple(workloads.values()), measured, tuple(faults))


def _describe(job_name: str, direction: str, options: Mapping[str, str]) -> Workload:
    """The workload of a job of fio; `direction` is `read` or `write`."""
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
    return workload(name, title, IOPS if block < 64 << 10 else THROUGHPUT, job)


def _block_bytes(text: str) -> int:
    """Bytes of a size as fio writes it: `4k`, `1M`, `4096B`, `4096B-4096B`; 0 if it is none."""
    match = re.match(r"(\d{1,15})\s*([kmg]?)i?b?", text.strip().lower())
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]] if match else 0


def _count(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    return max(1, int(text)) if re.fullmatch(r"\d{1,6}", text) else 1


def _figures(workload: str, jobs: Sequence[Direction]) -> Iterator[Figure]:
    """Jobs of the same name ran at the same time: their rates are added, and the largest latencies count."""
    yield Figure(workload, THROUGHPUT, sum(job.bytes_per_s for job in jobs))
    yield Figure(workload, IOPS, sum(job.iops for job in jobs))
    for metric, values in (
        (MEDIAN_LATENCY, [job.median_s for job in jobs]),
        (P99_LATENCY, [job.p99_s for job in jobs]),
        (WORST_LATENCY, [job.worst_s for job in jobs]),
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
