"""What fio's jobs are called here, from the options that fio repeats in its output."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from typing import Literal, cast

from fswizard.engines.fio import FioJob
from fswizard.importers.parsed_run import block_metric, slug, workload
from fswizard.model.recipe import Workload

_KINDS = ("read", "write", "randread", "randwrite", "randrw", "rw", "readwrite")
_WORDS = {"read": "reading", "write": "writing", "randread": "reading at random", "randwrite": "writing at random"}
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def describe(job_name: str, direction: str, options: Mapping[str, str]) -> Workload:
    """The workload that a job of fio stands for; `direction` is `read` or `write`."""
    kind = options.get("rw", options.get("readwrite", direction))
    kind = kind if kind in _KINDS else direction
    block = block_bytes(options.get("bs", options.get("blocksize", "4k")))
    mixed = kind in ("randrw", "rw", "readwrite")
    single = f"rand{direction}" if kind.startswith("rand") else direction
    name = slug(job_name) + (f"-{direction}" if mixed else "")
    title = f"{job_name}: {_WORDS[single]}, {_size(block)}"
    job = FioJob(
        cast(Literal["read", "write", "randread", "randwrite"], single),
        block,
        block_bytes(options.get("size", "0")),
        jobs=_count(options, "numjobs"),
        depth=_count(options, "iodepth"),
        direct=options.get("direct", "0") not in ("0", "false"),
    )
    return workload(name, title, block_metric(block), job=job)


def block_bytes(text: str) -> int:
    """Bytes of a size as fio writes it: `4k`, `1M`, `4096B`, `4096B-4096B`; 0 where it is none."""
    match = re.match(r"(\d{1,15})\s*([kmg]?)i?b?", text.strip().lower())
    return int(match[1]) * _FACTORS[match[2]] if match else 0


def fault_kind(error: int) -> str:
    """Short name of an errno that ended a job."""
    return errno.errorcode.get(error, "program") if error in (errno.ENOSPC, errno.EIO, errno.EROFS) else "program"


def _count(options: Mapping[str, str], key: str) -> int:
    text = options.get(key, "1")
    return max(1, int(text)) if re.fullmatch(r"\d{1,6}", text) else 1


def _size(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes / 1024:g} KiB"
