"""Output of fio 2.2 and later with `--output-format=json` or `json+`."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from fswizard.engines.fio import FioJob
from fswizard.engines.shared.fio_output import Direction, direction
from fswizard.importers.parsed_run import ELSEWHERE, Fault, Figure, ParsedRun, refuse, workload
from fswizard.language import N_, _
from fswizard.model.metrics import IOPS, MEDIAN_LATENCY, P99_LATENCY, THROUGHPUT, WORST_LATENCY
from fswizard.model.recipe import Workload

_SIDES = ("read", "write", "trim")
_TITLES = {
    "read": N_("{job}: reading"),
    "write": N_("{job}: writing"),
    "trim": N_("{job}: discarding"),
    "mixed": N_("{job}: all accesses together"),
    "sync": N_("{job}: waiting for syncs"),
}
_TITLES_AT_RANDOM = {
    "read": N_("{job}: reading at random"),
    "write": N_("{job}: writing at random"),
    "trim": N_("{job}: discarding at random"),
    "mixed": N_("{job}: all accesses together at random"),
    "sync": _TITLES["sync"],
}
_OBJECT = re.compile(r'\{\s*"')
"""Where an object begins; braces in messages have no key behind them."""
_NO_NUMBER = re.compile(r"(:\s*)-?(?:nan|inf)\b")
_OF_PLACE = re.compile(
    r"name|description|filename|directory|filename_format|randseed|group_reporting|new_group|stonewall"
    r"|write_\w+_log|log_\w+|per_job_logs|status_interval|\w*percentile\w*|unified_rw_reporting|unlink"
)
"""Options that say where a job works and what is reported of it, not what it does."""


def recognises(text: str) -> bool:
    """Whether a text contains fio's JSON."""
    return '"fio version"' in text or ('"jobs"' in text and '"jobname"' in text)


def read_each(text: str, where: str) -> Iterator[ParsedRun]:
    """The runs of fio in a text, job by job. Raises UsageError with line and reason."""
    documents = [document for document in _objects(text, where) if _jobs(document)]
    if not documents:
        raise refuse(where, 1, _("no object with fio's jobs in it"))
    # A run may print what it has done so far again and again (--status-interval); its last word counts.
    last = [one for one, then in zip(documents, [*documents[1:], None]) if then is None or not _goes_on(one, then)]
    runs = [run for document in last for run in _runs(document)]
    if not runs:
        raise refuse(where, 1, _("no job in it read or wrote anything"))
    yield from runs


def _objects(text: str, where: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a text; what stands between them is passed over."""
    decoder = json.JSONDecoder(strict=False)  # fio repeats file names as they are
    text = _NO_NUMBER.sub(r"\1 0", text)
    end = 0
    while found := _OBJECT.search(text, end):
        line = text.count("\n", 0, found.start()) + 1
        try:
            one, end = decoder.raw_decode(text, found.start())
        except json.JSONDecodeError as error:
            reason = _("fio's JSON is cut off or damaged ({reason})", reason=error.msg)
            raise refuse(where, error.lineno, reason) from error
        except RecursionError as error:
            raise refuse(where, line, _("nested too deeply")) from error
        except ValueError as error:  # Python reads no number of more than 4,300 digits
            raise refuse(where, line, _("a number in it is too long")) from error
        yield one


def _jobs(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The jobs of a run; those of several clients work at the same time, and their sum stands beside them."""
    listed = document.get("jobs") or document.get("client_stats")
    jobs = [job for job in listed if isinstance(job, dict)] if isinstance(listed, list) else []
    return [job for job in jobs if job.get("jobname") != "All clients"] or jobs


def _goes_on(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether the later document is of the same run of fio as the earlier, and so repeats its figures."""
    before, after = _jobs(earlier), _jobs(later)
    told_apart = ("jobname", "groupid", "hostname", "job options")
    if any(one.get(key) != other.get(key) for one, other in zip(before, after) for key in told_apart):
        return False
    passed_s, longer_s = (_clock(later) - _clock(earlier), _elapsed(after) - _elapsed(before))
    more = all(one <= other for one, other in zip(_done(before), _done(after)))
    if len(before) > len(after) or passed_s < 0 or abs(passed_s - longer_s) > 2 or not more:
        return False
    if passed_s == 0:
        return before == after
    # Of two short runs, all jobs of the later one began after the earlier document.
    return _elapsed(before) > 3 or _longest_s(after) > passed_s


def _clock(document: Mapping[str, Any]) -> float:
    return _positive(document, "timestamp_ms") / 1e3 or _positive(document, "timestamp")


def _elapsed(jobs: Sequence[Mapping[str, Any]]) -> float:
    return max(_positive(job, "elapsed") for job in jobs)


def _longest_s(jobs: Sequence[Mapping[str, Any]]) -> float:
    return max(_positive(job.get(side), "runtime") for job in jobs for side in (*_SIDES, "mixed")) / 1e3


def _done(jobs: Sequence[Mapping[str, Any]]) -> list[float]:
    return [direction(job.get(side)).operations for job in jobs for side in (*_SIDES, "mixed")]


def _runs(document: Mapping[str, Any]) -> Iterator[ParsedRun]:
    """A run for each job of a document, and each direction of it.

    Entries that stand for one job, as `numjobs` and clients make them, are one run. The same job in another group ran
    at another time, unless it asked for a group of its own only for the report.
    """
    version = str(document.get("fio version", "fio")).replace("fio-", "fio ")
    common = _options(document.get("global options"))
    parts: dict[tuple[str, str | None], list[Direction]] = defaultdict(list)
    described: dict[str, Workload] = {}
    errors: dict[tuple[str, str | None], int] = {}
    for job in _jobs(document):
        options = common | _options(job.get("job options"))
        group = None if "new_group" in options else str(job.get("groupid"))
        error = int(_positive(job, "error"))
        for name, side in _sides(job, options, failed=bool(error)).items():
            made = _describe(str(job.get("jobname", "fio")), name, options, side)
            described.setdefault(made.name, made)
            parts[made.name, group].append(side)
            if error:
                errors[made.name, group] = error
    for (name, group), several in parts.items():
        if error := errors.get((name, group), 0):
            of_disk = error in (errno.ENOSPC, errno.EIO, errno.EROFS)
            kind = errno.errorcode[error] if of_disk else "program"
            said = os.strerror(error).replace("/", " or ")  # "Input/output error" looks like a path
            yield ParsedRun(version, (described[name],), faults=(Fault(name, kind, f"fio: {said}."),))
        else:
            yield ParsedRun(version, (described[name],), tuple(_figures(name, several)))


def _sides(job: Mapping[str, Any], options: Mapping[str, str], *, failed: bool) -> dict[str, Direction]:
    """What a job did, by direction; if it failed before it did anything, what it was to do."""
    sides = {name: direction(job.get(name)) for name in (*_SIDES, "mixed", "sync")}
    done = {name: side for name, side in sides.items() if side.operations > 0}
    if any(name in done for name in _SIDES):
        done.pop("mixed", None)
    if failed:
        done = {name: side for name, side in done.items() if name != "sync"}
        kind = _kind(options)
        asked = [name for name in _SIDES if name in kind] or (["read", "write"] if "rw" in kind else ["write"])
        return done or {name: Direction() for name in asked}
    return done


def _describe(job_name: str, side_name: str, options: Mapping[str, str], side: Direction) -> Workload:
    """The workload of one direction of a job of fio; its name has everything that makes it this one."""
    single = "write" if side_name == "sync" else side_name
    random = _kind(options).startswith("rand")
    asked = _asked_bytes(options, single)
    block = asked or (round(side.bytes_per_s / side.iops) if side.iops else 0)
    facts = sorted(f"{key}={value}" for key, value in options.items() if not _OF_PLACE.fullmatch(key))
    if not options and block:  # as before 2.17: then only the sizes tell jobs of one name from each other
        facts = [f"mean size={_size_text(1 << round(math.log2(block)))}"]
    name = "\n".join((job_name, side_name, *facts))

    job = FioJob(
        cast(Literal["read", "write", "randread", "randwrite", "randrw"], _rw(single, random)),
        block or 4096,
        _bytes(options.get("size", "0")) or 0,
        jobs=_count(options, "numjobs"),
        depth=_count(options, "iodepth"),
        direct=options.get("direct", "0") not in ("0", "false"),
        fsync=int(side_name == "sync"),
    )
    title = (_TITLES_AT_RANDOM if random else _TITLES)[side_name].format(job=job_name)
    if side_name == "sync":  # without weight, as the rate of writing contains it already
        metric = P99_LATENCY if side.p99_s else WORST_LATENCY
        return Workload(name, title, job.engine, job, metric, 0.0)
    title = f"{title}, {_size_text(asked)}" if asked else title
    return workload(name, title, IOPS if block < 64 << 10 else THROUGHPUT, ELSEWHERE if single == "trim" else job)


def _kind(options: Mapping[str, str]) -> str:
    """`randread`, `trimwrite` and so on; fio may have a step behind it (`rw=read:64k`). Empty if it is unknown."""
    return options.get("rw", options.get("readwrite", "")).partition(":")[0]


def _rw(single: str, random: bool) -> str:
    return "randrw" if single == "mixed" else f"rand{single}" if random else single


def _asked_bytes(options: Mapping[str, str], single: str) -> int | None:
    """Bytes of one access, None if sizes vary or nothing is known."""
    given = options.get("bs", options.get("blocksize", "4k" if options else ""))
    parts = given.split(",")
    place = _SIDES.index(single) if single in _SIDES else 0
    varied = any(key.startswith(("bssplit", "bsrange", "blocksize_range")) for key in options)
    return None if varied else _bytes(parts[min(place, len(parts) - 1)])


def _bytes(text: str) -> int | None:
    """Bytes of a size as fio writes it: `4k`, `1M`, `4096B`; None if it is another."""
    match = re.fullmatch(r"(\d{1,15})\s*([kmgt]?)i?b?", text.strip().lower())
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2]] if match else None


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes / 1024:g} KiB"


def _count(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    return max(1, int(text)) if re.fullmatch(r"\d{1,6}", text) else 1


def _figures(workload: str, jobs: Sequence[Direction]) -> Iterator[Figure]:
    """Parts of a job ran at the same time: their rates are added, and the largest latencies count."""
    for metric, rates in ((THROUGHPUT, [job.bytes_per_s for job in jobs]), (IOPS, [job.iops for job in jobs])):
        if workload.split("\n")[1] != "sync":
            yield Figure(workload, metric, sum(rates))
    for metric, values in (
        (MEDIAN_LATENCY, [job.median_s for job in jobs]),
        (P99_LATENCY, [job.p99_s for job in jobs]),
        (WORST_LATENCY, [job.worst_s for job in jobs]),
    ):
        if max(values) > 0:
            yield Figure(workload, metric, max(values))


def _options(value: Any) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _positive(value: Any, key: str) -> float:
    number = value.get(key, 0) if isinstance(value, Mapping) else 0
    return number if isinstance(number, (int, float)) and 0 < number < 1e18 else 0
