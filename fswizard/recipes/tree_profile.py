"""A recipe from a directory of the user: sizes and compressibility of its files, and how many are in each directory."""

from __future__ import annotations

import json
import math
import os
import random
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from fswizard.engines.shared.trees import DEEPEST, TreeShape
from fswizard.engines.tree import TreeJob, TreeOperation
from fswizard.errors import UsageError
from fswizard.language import N_, _, in_english
from fswizard.model.estimates import expected_s, room, writes_bytes
from fswizard.model.metrics import DURATION
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, size_text

T = TypeVar("T")

STEPS = 128
"""Number of steps between quantiles."""
MOST_FILES = 30_000
MOST_BYTES = 1 << 30
"""Limits beyond which trees are scaled down, so that a round takes a minute and not an hour."""
SAMPLED_FILES = 24
"""Files that are read in part, for each power of two of their size."""
CHUNK_BYTES = 128 << 10
"""What is compressed at once, as Btrfs does."""
SEED = 8_000_001
PLACE_FOR_IMAGE = 256 << 20
WORKLOADS: tuple[tuple[TreeOperation, str, str], ...] = (
    ("copy-onto", N_("Copying my files onto the disk"), N_("cp -a of files that are in memory, then one sync.")),
    ("delete-onto", N_("Deleting the copy"), N_("rm -rf, uncached, then one sync.")),
    ("untar", N_("Unpacking my files"), N_("tar --extract of an archive that is in memory, then one sync.")),
    ("tar", N_("Packing my files"), N_("tar --create, uncached, then one sync.")),
    ("find", N_("Searching my files"), N_("find with a condition on the size, uncached.")),
    (
        "read",
        N_("Reading my files in random order"),
        N_("Every file read in full, uncached, one after another in random order."),
    ),
)


@dataclass(slots=True)
class Look:
    """Numbers about a directory."""

    sizes: list[int] = field(default_factory=list)
    """Sizes of the regular files in bytes."""
    directories: list[tuple[int, int]] = field(default_factory=list)
    """Number of files in each directory, and its depth; that of the top directory is 0."""
    random_shares: dict[int, list[float]] = field(default_factory=dict)
    """Compressed size over size of some files, by the bit length of their size."""


def look(directory: Path, stopped: Callable[[], bool] = lambda: False) -> Look:
    """Look at the directory until `stopped()`: follow no link, enter no other filesystem, write nothing.

    Raises UsageError if it cannot be read or has no files.
    """
    seen, sampled, dice = Look(), dict[int, list[str]](), random.Random(SEED)
    met = Counter[int]()
    try:
        device = directory.stat().st_dev
        os.scandir(directory).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or _("not a valid directory name")
        raise UsageError(f"{safe(str(directory))}: {reason}.", _("Name a directory that you can read.")) from error
    waiting = [(str(directory), 0)]
    while waiting and not stopped():
        path, depth = waiting.pop()
        before = len(seen.sizes)
        try:
            entries = list(os.scandir(path))
        except OSError:
            entries = []
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it has just been deleted
            if status.st_dev != device:
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting.append((entry.path, min(depth + 1, DEEPEST)))
            elif stat.S_ISREG(status.st_mode):
                seen.sizes.append(status.st_size)
                kind = status.st_size.bit_length()
                met[kind] += 1
                # A few files of each size are kept, all with the same probability.
                kept = sampled.setdefault(kind, [])
                if len(kept) < SAMPLED_FILES:
                    kept.append(entry.path)
                elif (place := dice.randrange(met[kind])) < SAMPLED_FILES:
                    kept[place] = entry.path
        seen.directories.append((len(seen.sizes) - before, depth))
    if not seen.sizes:
        text = _("{path}: it contains no files.", path=safe(str(directory)))
        raise UsageError(text, _("Name a directory that contains files."))
    for kind, paths in sampled.items():
        shares = [share for path in paths if (share := _random_share(path, dice)) is not None]
        seen.random_shares[kind] = shares or [0.5]
    return seen


@in_english()
def recipe_text(seen: Look, name: str = "my-files", title: str = N_("My own files")) -> str:
    """A recipe in TOML whose generated tree has the same distribution, scaled down if it is too large."""
    total_bytes, most = sum(seen.sizes), max(len(seen.sizes), len(seen.directories))
    scale = max(1, math.ceil(most / MOST_FILES), math.ceil(total_bytes / MOST_BYTES))
    shape = shape_of(seen, scale)
    files, bytes_ = max(1, round(len(seen.sizes) / scale)), max(1, round(total_bytes / scale))
    jobs = [TreeJob(operation, "own", files, bytes_, shape) for operation, *__ in WORKLOADS]
    trial_s = sum(expected_s(job, prepares=False) for job in jobs) + 2.0
    minutes = max(3, math.ceil(2 * 9 * trial_s / 60))  # twice the time of three rounds of three candidates
    image = max(2, math.ceil(room(jobs) / 0.75 / PLACE_FOR_IMAGE)) * PLACE_FOR_IMAGE
    once = f"all of it, {files:,} files" if scale == 1 else f"one in {scale:,}, that is {files:,} files"
    lines = [
        f"# Made from a directory with {len(seen.sizes):,} files in {len(seen.directories):,} directories,",
        f"# {size_text(total_bytes)} in total: {once}.",
        "# Sizes, compressibility, depths and files in a directory are kept; names are not.",
        f"# A candidate writes about {size_text(sum(writes_bytes(job, prepares=False) for job in jobs))} a round.",
        "schema = 1",
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(title, ensure_ascii=False)}",  # a string of TOML is one of JSON
        f'why = "{N_("Files like mine: copied, deleted, packed, searched and read.")}"',
        f"minutes = {minutes}",
        f'image = "{binary_size_text(image)}"',
        'candidates = ["ext4", "xfs", "btrfs"]',
    ]
    for operation, what, why in WORKLOADS:
        lines += [
            "",
            "[[workload]]",
            f'name = "{operation}"',
            f'title = "{what}"',
            f'engine = "{TreeJob.engine}"',
            f'metric = "{DURATION.name}"',
            f'why = "{why}"',
            f'operation = "{operation}"',
            'shape = "own"',
            f"files = {files}",
            f'total = "{bytes_}"',
        ]
    lines += [
        "",
        "# Quantiles in equal steps; the sum of the largest few makes up for those between them.",
        "[tree]",
        *(f"{key} = {list(value) if isinstance(value, tuple) else value}" for key, value in asdict(shape).items()),
    ]
    return "\n".join(lines) + "\n"


def shape_of(seen: Look, scale: int = 1) -> TreeShape:
    """The shape of a tree with one in `scale` of the directories."""
    sizes, directories = _quantiles(sorted(seen.sizes)), _quantiles(sorted(seen.directories))
    return TreeShape(
        sizes=tuple(sizes),
        random_shares=tuple(round(share, 2) for share in _random_shares(seen, sizes)),
        directories=max(1, round(len(seen.directories) / scale)),
        files_in_directory=tuple(files for files, _ in directories),
        depths=tuple(depth for _, depth in directories),
    )


def _random_shares(seen: Look, sizes: Sequence[int]) -> Iterator[float]:
    """For each size the share of some file of about that size, all kinds of them in turn; for the last one the mean."""
    kinds = [size.bit_length() for size in sizes[:-1]]
    for kind, many in Counter(kinds).items():  # the sizes are sorted
        shares = sorted(seen.random_shares[kind])
        yield from (shares[int((at + 0.5) / many * len(shares))] for at in range(many))
    largest = [size for size in seen.sizes if size >= sizes[-2]]
    left = sum(size * fmean(seen.random_shares[size.bit_length()]) for size in largest)
    yield left / sum(largest) if any(largest) else 0.0


def _quantiles(values: Sequence[T]) -> list[T]:
    return [values[round(step / STEPS * (len(values) - 1))] for step in range(STEPS + 1)]


def _random_share(path: str, dice: random.Random) -> float | None:
    """Compressed size of two parts of a file, over their size; None if it cannot be read.

    Its access time stays, if that is allowed.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags | os.O_NOATIME)
        except PermissionError:  # only a file's owner may ask for that
            descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        starts = {dice.randrange(max(1, status.st_size // CHUNK_BYTES)) for _ in range(2)}
        chunks = [os.pread(descriptor, CHUNK_BYTES, start * CHUNK_BYTES) for start in starts]
    except OSError:
        return None
    finally:
        os.close(descriptor)
    left = sum(min(len(chunk), len(zlib.compress(chunk))) for chunk in chunks)
    return left / sum(map(len, chunks)) if any(chunks) else None
