"""A recipe that imitates a directory of the user: sizes and compressibility of files, and their number per
directory."""

from __future__ import annotations

import math
import os
import random
import stat
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from fswizard.engines.shared.operations import TreeOperation
from fswizard.engines.tree import DEEPEST, TreeJob, TreeShape
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
    random_shares: dict[int, float] = field(default_factory=dict)
    """Mean of compressed size over size of some files, by the bit length of their size."""


def scan(directory: Path) -> TreeProfile:
    """Scan a directory without following links, entering other filesystems, or writing anything.

    Raises UsageError if it cannot be read or has no files.
    """
    try:
        device = directory.stat().st_dev
        os.scandir(directory).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or _("not a valid directory name")
        raise UsageError(f"{safe(str(directory))}: {reason}.", _("Name a directory that you can read.")) from error
    profile, dice = TreeProfile(), random.Random(SEED)
    counts, sampled = Counter[int](), defaultdict[int, list[str]](list)
    for path, below, names in os.walk(directory):
        if not os.path.lexists(path) or os.lstat(path).st_dev != device:
            below.clear()
            continue
        before = len(profile.sizes)
        for file in (os.path.join(path, name) for name in names):
            try:
                status = os.lstat(file)
            except OSError:
                continue  # it has just been deleted
            if stat.S_ISREG(status.st_mode):
                profile.sizes.append(status.st_size)
                kind = status.st_size.bit_length()
                counts[kind] += 1
                # A few files of each size are kept, all with the same probability.
                if len(sampled[kind]) < SAMPLED_FILES:
                    sampled[kind].append(file)
                elif (index := dice.randrange(counts[kind])) < SAMPLED_FILES:
                    sampled[kind][index] = file
        depth = len(Path(path).relative_to(directory).parts)
        profile.directories.append((len(profile.sizes) - before, min(depth, DEEPEST)))
    if not profile.sizes:
        text = _("{path}: it contains no files.", path=safe(str(directory)))
        raise UsageError(text, _("Name a directory that contains files."))
    for kind, paths in sampled.items():
        shares = [share for path in paths if (share := _random_share(path, dice)) is not None]
        profile.random_shares[kind] = fmean(shares or [0.5])
    return profile


@in_english()
def recipe_text(profile: TreeProfile) -> str:
    """A recipe in TOML for a generated tree with the same distribution, scaled down if it is too large."""
    total_bytes, most = sum(profile.sizes), max(len(profile.sizes), len(profile.directories))
    scale = max(1, math.ceil(most / MOST_FILES), math.ceil(total_bytes / MOST_BYTES))
    sizes, directories = _quantiles(sorted(profile.sizes)), _quantiles(sorted(profile.directories))
    shape = TreeShape(
        sizes=tuple(sizes),
        random_shares=tuple(round(profile.random_shares[size.bit_length()], 2) for size in sizes),
        directories=max(1, round(len(profile.directories) / scale)),
        files_in_directory=tuple(files for files, _ in directories),
        depths=tuple(depth for _, depth in directories),
    )
    files, bytes_ = max(1, round(len(profile.sizes) / scale)), max(1, round(total_bytes / scale))
    jobs = [TreeJob(operation, "own", files, bytes_, shape) for operation, *__ in WORKLOADS]
    trial_s = sum(expected_s(job, prepares=False) for job in jobs) + 2.0
    minutes = max(3, math.ceil(2 * 9 * trial_s / 60))  # twice the time of three rounds of three candidates
    image = max(2, math.ceil(room(jobs) / 0.75 / IMAGE_STEP_BYTES)) * IMAGE_STEP_BYTES
    text = f"""\
# Made from a directory with {len(profile.sizes):,} files in {len(profile.directories):,} directories,
# {size_text(total_bytes)} in total: one in {scale:,}, that is {files:,} files.
# Sizes, compressibility, depths and files in a directory are kept; names are not.
# A candidate writes about {size_text(sum(writes_bytes(job, prepares=False) for job in jobs))} a round.
schema = 1
name = "my-files"
title = "{N_("My own files")}"
why = "{N_("Files like mine: copied, deleted, packed, searched and read.")}"
minutes = {minutes}
image = "{binary_size_text(image)}"
candidates = ["ext4", "xfs", "btrfs"]
"""
    for operation, what, why in WORKLOADS:
        text += f"""
[[workload]]
name = "{operation}"
title = "{what}"
engine = "{TreeJob.engine}"
metric = "{DURATION.name}"
why = "{why}"
operation = "{operation}"
shape = "own"
files = {files}
total = "{bytes_}"
"""
    text += "\n# Quantiles in equal steps; the sum of the largest few makes up for those between them.\n[tree]\n"
    for key, value in asdict(shape).items():
        text += f"{key} = {list(value) if isinstance(value, tuple) else value}\n"
    return text


def _quantiles(values: Sequence[T]) -> list[T]:
    return [values[round(step / STEPS * (len(values) - 1))] for step in range(STEPS + 1)]


def _random_share(path: str, dice: random.Random) -> float | None:
    """Compressed size of a part of a file, over its size; None if it cannot be read.

    The access time is preserved if that is permitted.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags | os.O_NOATIME)
        except PermissionError:  # only a file's owner may ask for that
            descriptor = os.open(path, flags)
        with open(descriptor, "rb", buffering=0) as file:
            file.seek(dice.randrange(max(1, os.stat(descriptor).st_size // CHUNK_BYTES)) * CHUNK_BYTES)
            chunk = file.read(CHUNK_BYTES)
    except OSError:
        return None
    return min(1.0, len(zlib.compress(chunk)) / len(chunk)) if chunk else None
