"""A recipe that imitates a directory of the user: sizes and compressibility of files, and their number per
directory."""

from __future__ import annotations

import math
import os
import random
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
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
"""Number of files to read in part, for each power of two of their size."""
CHUNK_BYTES = 128 << 10
"""Size of a compressed unit, as in Btrfs."""
SEED = 8_000_001
IMAGE_STEP_BYTES = 256 << 20
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
class TreeProfile:
    """Statistics of a directory."""

    sizes: list[int] = field(default_factory=list)
    """Sizes of the regular files in bytes."""
    directories: list[tuple[int, int]] = field(default_factory=list)
    """Number of files in each directory, and its depth; that of the top directory is 0."""
    random_shares: dict[int, list[float]] = field(default_factory=dict)
    """Compressed size over size of some files, by the bit length of their size."""


def scan(directory: Path) -> TreeProfile:
    """Scan a directory without following links, entering other filesystems, or writing anything.

    Raises UsageError if it cannot be read or has no files.
    """
    profile, sampled, dice = TreeProfile(), dict[int, list[str]](), random.Random(SEED)
    counts = Counter[int]()
    try:
        device = directory.stat().st_dev
        os.scandir(directory).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or _("not a valid directory name")
        raise UsageError(f"{safe(str(directory))}: {reason}.", _("Name a directory that you can read.")) from error
    waiting = [(str(directory), 0)]
    while waiting:
        path, depth = waiting.pop()
        before = len(profile.sizes)
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
                profile.sizes.append(status.st_size)
                kind = status.st_size.bit_length()
                counts[kind] += 1
                # A few files of each size are kept, all with the same probability.
                chosen = sampled.setdefault(kind, [])
                if len(chosen) < SAMPLED_FILES:
                    chosen.append(entry.path)
                elif (index := dice.randrange(counts[kind])) < SAMPLED_FILES:
                    chosen[index] = entry.path
        profile.directories.append((len(profile.sizes) - before, depth))
    if not profile.sizes:
        text = _("{path}: it contains no files.", path=safe(str(directory)))
        raise UsageError(text, _("Name a directory that contains files."))
    for kind, paths in sampled.items():
        shares = [share for path in paths if (share := _random_share(path, dice)) is not None]
        profile.random_shares[kind] = shares or [0.5]
    return profile


@in_english()
def recipe_text(profile: TreeProfile) -> str:
    """A recipe in TOML for a generated tree with the same distribution, scaled down if it is too large."""
    total_bytes, most = sum(profile.sizes), max(len(profile.sizes), len(profile.directories))
    scale = max(1, math.ceil(most / MOST_FILES), math.ceil(total_bytes / MOST_BYTES))
    shape = shape_of(profile, scale)
    files, bytes_ = max(1, round(len(profile.sizes) / scale)), max(1, round(total_bytes / scale))
    jobs = [TreeJob(operation, "own", files, bytes_, shape) for operation, *__ in WORKLOADS]
    trial_s = sum(expected_s(job, prepares=False) for job in jobs) + 2.0
    minutes = max(3, math.ceil(2 * 9 * trial_s / 60))  # twice the time of three rounds of three candidates
    image = max(2, math.ceil(room(jobs) / 0.75 / IMAGE_STEP_BYTES)) * IMAGE_STEP_BYTES
    once = f"all of it, {files:,} files" if scale == 1 else f"one in {scale:,}, that is {files:,} files"
    lines = [
        f"# Made from a directory with {len(profile.sizes):,} files in {len(profile.directories):,} directories,",
        f"# {size_text(total_bytes)} in total: {once}.",
        "# Sizes, compressibility, depths and files in a directory are kept; names are not.",
        f"# A candidate writes about {size_text(sum(writes_bytes(job, prepares=False) for job in jobs))} a round.",
        "schema = 1",
        'name = "my-files"',
        f'title = "{N_("My own files")}"',
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


def shape_of(profile: TreeProfile, scale: int = 1) -> TreeShape:
    """The shape of a tree with one in `scale` of the directories."""
    sizes, directories = _quantiles(sorted(profile.sizes)), _quantiles(sorted(profile.directories))
    return TreeShape(
        sizes=tuple(sizes),
        random_shares=tuple(round(share, 2) for share in _random_shares(profile, sizes)),
        directories=max(1, round(len(profile.directories) / scale)),
        files_in_directory=tuple(files for files, _ in directories),
        depths=tuple(depth for _, depth in directories),
    )


def _random_shares(profile: TreeProfile, sizes: Sequence[int]) -> Iterator[float]:
    """Incompressible share for each size, cycling through sampled files of about that size; for the last size, the
    mean."""
    kinds = [size.bit_length() for size in sizes[:-1]]
    for kind, many in Counter(kinds).items():  # the sizes are sorted
        shares = sorted(profile.random_shares[kind])
        yield from (shares[int((at + 0.5) / many * len(shares))] for at in range(many))
    largest = [size for size in profile.sizes if size >= sizes[-2]]
    left = sum(size * fmean(profile.random_shares[size.bit_length()]) for size in largest)
    yield left / sum(largest) if any(largest) else 0.0


def _quantiles(values: Sequence[T]) -> list[T]:
    return [values[round(step / STEPS * (len(values) - 1))] for step in range(STEPS + 1)]


def _random_share(path: str, dice: random.Random) -> float | None:
    """Compressed size of two parts of a file, over their size; None if it cannot be read.

    The access time is preserved if that is permitted.
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
