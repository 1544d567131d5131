"""A recipe from a directory of the user: numbers, sizes, depths and compressibility of its files, but no names."""

from __future__ import annotations

import math
import os
import random
import stat
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.engines.tree import DEEPEST, TreeJob, TreeOperation, TreeShape
from fswizard.errors import UsageError
from fswizard.model.estimates import expected_s, room, writes_bytes
from fswizard.model.keys import toml_lines
from fswizard.model.metrics import DURATION
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, size_text

STEPS = 128
"""Number of steps between quantiles of the sizes."""
MOST_FILES = 30_000
MOST_BYTES = 1 << 30
"""Limits beyond which trees are scaled down, so that a round takes a minute and not an hour."""
SAMPLED_FILES = 200
BLOCK_BYTES = 4096
SEED = 8_000_001
PLACE_FOR_IMAGE = 256 << 20
WORKLOADS: tuple[tuple[TreeOperation, str, str], ...] = (
    ("copy-onto", "Copying my files onto the disk", "cp -a of files that are in memory, then one sync."),
    ("delete-onto", "Deleting the copy", "rm -rf, uncached, then one sync."),
    ("untar", "Unpacking my files", "tar --extract of an archive that is in memory, then one sync."),
    ("tar", "Packing my files", "tar --create, uncached, then one sync."),
    ("find", "Searching my files", "find with a condition on the size, uncached."),
    (
        "read",
        "Reading my files in random order",
        "Every file read in full, uncached, one after another in random order.",
    ),
)


@dataclass(slots=True)
class Look:
    """Numbers about a directory."""

    sizes: list[int] = field(default_factory=list)
    """Sizes of the regular files in bytes."""
    files_at_depth: Counter[int] = field(default_factory=Counter)
    directories_at_depth: Counter[int] = field(default_factory=Counter)
    random_share: float = 0.5
    """Compressed size of the sampled blocks, over their size."""


def look(directory: Path, stopped: Callable[[], bool] = lambda: False) -> Look:
    """Look at the directory until `stopped()`: follow no link, enter no other filesystem, write nothing.

    Raises UsageError if it cannot be read or has no files.
    """
    seen, sampled, dice = Look(), list[str](), random.Random(SEED)
    try:
        device = directory.stat().st_dev
        os.scandir(directory).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a valid directory name"
        raise UsageError(f"{safe(str(directory))}: {reason}.", "Name a directory that you can read.") from error
    waiting = [(str(directory), 0)]
    while waiting and not stopped():
        path, depth = waiting.pop()
        seen.directories_at_depth[depth] += 1
        try:
            entries = list(os.scandir(path))
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it has just been deleted
            if status.st_dev != device:
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting.append((entry.path, min(depth + 1, DEEPEST - 1)))
            elif stat.S_ISREG(status.st_mode):
                seen.sizes.append(status.st_size)
                seen.files_at_depth[depth] += 1
                _draw(sampled, entry.path, len(seen.sizes), dice)
    if not seen.sizes:
        raise UsageError(f"{safe(str(directory))}: it contains no files.", "Name a directory that contains files.")
    seen.random_share = _random_share(sampled, dice)
    return seen


def recipe_text(seen: Look, name: str = "my-files", title: str = "My own files") -> str:
    """A recipe in TOML whose generated tree has the same distribution, scaled down if it is too large."""
    total_bytes, scale = sum(seen.sizes), _scale(seen)
    shape = _shape(seen, scale)
    files, bytes_ = sum(shape.files_at_depth), max(1, round(total_bytes / scale))
    jobs = [TreeJob(operation, "own", files, bytes_, shape) for operation, _, _ in WORKLOADS]
    trial_s = sum(expected_s(job, prepares=False) for job in jobs) + 2.0
    minutes = usual_minutes(trial_s)
    image = max(2, math.ceil(room(jobs) / 0.75 / PLACE_FOR_IMAGE)) * PLACE_FOR_IMAGE
    once = f"all of it, {files:,} files" if scale == 1 else f"one in {scale:,}, that is {files:,} files"
    lines = [
        f"# Made from a directory with {len(seen.sizes):,} files in {sum(seen.directories_at_depth.values()):,} "
        "directories,",
        f"# {size_text(total_bytes)} in total: {once}. Sizes, depths and compressibility are kept; names are not.",
        f"# A candidate writes about {size_text(sum(writes_bytes(job, prepares=False) for job in jobs))} a round.",
        "schema = 1",
        *toml_lines({"name": name, "title": title}),
        'why = "Files like mine: copied, deleted, packed, searched and read."',
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
        "# Sizes are quantiles in equal steps; the sum of the largest few makes up for those between them.",
        "[tree]",
        f"random_share = {shape.random_share:.3f}",
        f"files_at_depth = {list(shape.files_at_depth)}",
        f"directories_at_depth = {list(shape.directories_at_depth)}",
        f"sizes = {list(shape.sizes)}",
    ]
    return "\n".join(lines) + "\n"


def usual_minutes(trial_s: float) -> int:
    """Time limit in minutes for trials of `trial_s`: twice the time of three rounds of three candidates."""
    return max(3, math.ceil(2 * 9 * trial_s / 60))


def _scale(seen: Look) -> int:
    most = max(len(seen.sizes), sum(seen.directories_at_depth.values()))
    return max(1, math.ceil(most / MOST_FILES), math.ceil(sum(seen.sizes) / MOST_BYTES))


def _shape(seen: Look, scale: int) -> TreeShape:
    sizes = sorted(seen.sizes)
    deepest = max(seen.directories_at_depth)
    files = _shares([seen.files_at_depth[depth] for depth in range(deepest + 1)], scale)
    directories = _shares([seen.directories_at_depth[depth] for depth in range(deepest + 1)], scale)
    return TreeShape(
        sizes=tuple(sizes[round(step / STEPS * (len(sizes) - 1))] for step in range(STEPS + 1)),
        files_at_depth=files,
        directories_at_depth=(1, *(max(1, count) for count in directories[1:])),
        random_share=round(seen.random_share, 3),
    )


def _shares(counts: list[int], scale: int) -> tuple[int, ...]:
    """Every count divided by `scale`, rounded so that the sum is right; at least one in all."""
    shares, before, passed = [], 0, 0
    for count in counts:
        passed += count
        now = max(1, round(passed / scale)) if passed else 0
        shares.append(now - before)
        before = now
    return tuple(shares)


def _draw(sampled: list[str], path: str, number: int, dice: random.Random) -> None:
    """Keep a few files, all with the same probability."""
    if len(sampled) < SAMPLED_FILES:
        sampled.append(path)
    elif (place := dice.randrange(number)) < SAMPLED_FILES:
        sampled[place] = path


def _random_share(paths: list[str], dice: random.Random) -> float:
    read = left = 0
    for path in paths:
        for block in _blocks(path, dice):
            read += len(block)
            left += min(len(block), len(zlib.compress(block)))
    return left / read if read else 0.5


def _blocks(path: str, dice: random.Random) -> list[bytes]:
    """A few blocks of a file, without changing its access time if that is allowed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags | os.O_NOATIME)
        except PermissionError:  # only a file's owner may ask for that
            descriptor = os.open(path, flags)
    except OSError:
        return []
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return []
        starts = {dice.randrange(max(1, status.st_size // BLOCK_BYTES)) for _ in range(3)}
        return [block for start in starts if (block := os.pread(descriptor, BLOCK_BYTES, start * BLOCK_BYTES))]
    except OSError:
        return []
    finally:
        os.close(descriptor)
