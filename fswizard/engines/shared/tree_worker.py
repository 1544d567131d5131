"""A directory tree that is the same every time: a program of the standard library alone, run where it is measured.

    tree_worker.py make|install SHAPE FILES TOTAL_BYTES DIRECTORY [CHANGED_EVERY]
    tree_worker.py read SHAPE FILES TOTAL_BYTES DIRECTORY SEED

`install` writes each file under another name, syncs it and renames it, as package managers do; `read` reads the tree
in a random order, as starting programs do. With CHANGED_EVERY every so manieth file begins with other content.

SHAPE is `small-files`, `source`, `mixed`, or the path of a JSON file with `sizes`, `files_at_depth`,
`directories_at_depth` and `random_share`, as in a recipe's table `tree`. Otherwise half of every 4 KiB is random and
half repeats, so the files compress to a little over a half, and sizes follow a log-normal distribution.
They add up to TOTAL_BYTES.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

SEED = 8_000_002
PAGE = 4096
POOL_PAGES = 512
WRITE_BYTES = 1 << 20
SPREADS = {"small-files": 0.9, "source": 1.4, "mixed": 2.2}
"""Standard deviation of the logarithm of a file's size, for each shape."""
ENDINGS = {"source": ("c", "h", "S", "txt"), "mixed": ("c", "txt", "jpg", "bin")}


def entries(shape: str, files: int, total_bytes: int) -> list[tuple[str, int]]:
    """The (path, size) pairs of a tree, in the order of their creation."""
    dice = random.Random(f"{SEED} {os.path.basename(shape)} {files} {total_bytes}")
    if shape not in SPREADS:
        own = _own(shape)
        paths = _own_files(own["files_at_depth"], _own_directories(own["directories_at_depth"], dice), dice)
        sizes = _own_sizes(own["sizes"], files, total_bytes)
        dice.shuffle(sizes)
        return list(zip(paths, sizes))
    names = _portage(files) if shape == "small-files" else _project(files, ENDINGS[shape], dice)
    return list(zip(names, _sizes(files, total_bytes, SPREADS[shape], dice)))


def directories(shape: str, files: int, total_bytes: int) -> list[str]:
    """The directories that stand there even where no file lies in them, parents first."""
    if shape in SPREADS:
        return []
    dice = random.Random(f"{SEED} {os.path.basename(shape)} {files} {total_bytes}")
    levels = _own_directories(_own(shape)["directories_at_depth"], dice)
    return [path for level in levels for path in level]


def _own(shape: str) -> dict[str, Any]:
    with open(shape) as file:
        return dict(json.load(file))


def _own_directories(counts: list[int], dice: random.Random) -> list[list[str]]:
    """Paths of the directories of each depth; each lies in one that is drawn among those above."""
    levels = [["."]]
    for count in counts[1:]:
        levels.append([f"{dice.choice(levels[-1])}/part-{number:04d}" for number in range(count)])
    return levels


def _own_files(counts: list[int], levels: list[list[str]], dice: random.Random) -> list[str]:
    drawn = (dice.choice(level) for count, level in zip(counts, levels) for _ in range(count))
    return sorted(f"{directory}/file-{number:06d}" for number, directory in enumerate(drawn))


def _own_sizes(quantiles: list[int], files: int, total_bytes: int) -> list[int]:
    """From between the quantiles, evenly; the largest few make up for what is missing in the sum."""
    sizes = []
    for number in range(files):
        at = (number + 0.5) / files * (len(quantiles) - 1)
        low, high = (math.log1p(size) for size in quantiles[int(at) : int(at) + 2])
        sizes.append(round(math.expm1(low + (high - low) * (at % 1))))
    few = max(1, files // (len(quantiles) - 1))
    rest, largest = total_bytes - sum(sizes[:-few]), sum(sizes[-few:])
    if rest > 0 and largest:
        sizes[-few:] = [round(size * rest / largest) for size in sizes[-few:]]
    return sizes


def _sizes(files: int, total_bytes: int, spread: float, dice: random.Random) -> list[int]:
    drawn = [dice.lognormvariate(0, spread) for _ in range(files)]
    scale = total_bytes / sum(drawn)
    sizes = [int(size * scale) for size in drawn]
    sizes[sizes.index(max(sizes))] += total_bytes - sum(sizes)
    return sizes


def _portage(files: int) -> Iterator[str]:
    """category/package/ with five files, of which two lie in files/ below: like a tree of package recipes."""
    in_category = math.isqrt(files // 5) or 1
    for number in range(files):
        package, kind = divmod(number, 5)
        name = ("Manifest", "metadata.xml", "package-1.ebuild", "files/fix.patch", "files/init.conf")[kind]
        yield f"category-{package // in_category:03d}/package-{package:05d}/{name}"


def _project(files: int, endings: tuple[str, ...], dice: random.Random) -> Iterator[str]:
    """Directories of about twelve files, each below a directory drawn among the earlier ones."""
    directories = ["."]
    for number in range(files):
        if number % 12 == 0 and number:
            directories.append(f"{dice.choice(directories)}/part-{len(directories):04d}")
        yield f"{directories[-1]}/file-{number:06d}.{dice.choice(endings)}"


def _pool(dice: random.Random, random_share: float) -> memoryview:
    part = round(PAGE * random_share)
    noise = dice.getrandbits(8 * part * POOL_PAGES).to_bytes(part * POOL_PAGES, "little") if part else b""
    words = (b"the same line comes again and again\n" * PAGE)[: PAGE - part]
    return memoryview(b"".join(noise[part * page : part * (page + 1)] + words for page in range(POOL_PAGES)))


def make(
    shape: str, files: int, total_bytes: int, directory: str, *, changed_every: int = 0, install: bool = False
) -> None:
    """Write the tree below a directory that does not exist yet."""
    dice, other = random.Random(SEED), random.Random(SEED + 1)
    pool = _pool(dice, 0.5 if shape in SPREADS else _own(shape)["random_share"])
    made = set()
    for path in directories(shape, files, total_bytes):
        os.makedirs(os.path.join(directory, path), exist_ok=True)
    for number, (path, size) in enumerate(entries(shape, files, total_bytes)):
        parent = os.path.join(directory, os.path.dirname(path))
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        whole = os.path.join(directory, path)
        name = f"{whole}.new" if install else whole
        descriptor = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o666)
        left = size
        while left:
            length = min(left, WRITE_BYTES)
            start = dice.randrange(len(pool) - length)
            if changed_every and number % changed_every == 0 and left == size:
                start = other.randrange(len(pool) - length)
            left -= os.write(descriptor, pool[start : start + length])
        if install:
            os.fsync(descriptor)
        os.close(descriptor)
        if install:
            os.rename(name, whole)


def read(shape: str, files: int, total_bytes: int, directory: str, seed: int) -> None:
    """Read every file of the tree whole, in an order that the seed decides."""
    paths = [path for path, _ in entries(shape, files, total_bytes)]
    random.Random(seed).shuffle(paths)
    buffer = bytearray(WRITE_BYTES)
    for path in paths:
        with open(os.path.join(directory, path), "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def main() -> None:
    what, shape, files, total_bytes, directory, *more = sys.argv[1:]
    number = int(more[0]) if more else 0
    try:
        if what == "read":
            read(shape, int(files), int(total_bytes), directory, number)
        else:
            install = what == "install"
            make(shape, int(files), int(total_bytes), directory, changed_every=number, install=install)
    except OSError as error:
        sys.exit(f"tree_worker: {error}")


if __name__ == "__main__":
    main()
