"""Works on a reproducible directory tree. A standalone program without dependencies, run on the filesystem.

    tree_worker.py make SHAPE FILES TOTAL_BYTES DIRECTORY [CHANGED_EVERY]
    tree_worker.py packages SHAPE FILES TOTAL_BYTES DIRECTORY
    tree_worker.py read SHAPE FILES TOTAL_BYTES DIRECTORY SEED

`make` writes the tree, `packages` writes it for dpkg-deb; `read` reads it in random order, like the start of programs.
With CHANGED_EVERY the content of every n-th file begins differently. The program prints the duration of this in
seconds, without the start of the interpreter and the listing of the tree.

SHAPE is `small-files`, `mixed` or `video`, whose sizes are log-normal, or the path of a JSON file with quantiles as in
a recipe's table `tree`; there, subdirectories are preferably created in directories that already have some, as in real
trees (Agrawal and others, FAST 2007). Sizes add up to TOTAL_BYTES.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

SEED = 8_000_002
WRITE_BYTES = 1 << 20
POOL_BYTES = 2 * WRITE_BYTES
SHARES = 16
"""Resolution of the incompressible share."""
MIXED_BYTES = 512
"""Random and repeating bytes alternate in pieces of this size, so that small files compress as well as large ones."""
SPREADS = {"small-files": 0.9, "mixed": 2.2, "video": 0.5}
"""Standard deviation of the logarithm of a file's size, by shape."""
PORTAGE = ("Manifest", "metadata.xml", "package-1.ebuild", "files/fix.patch", "files/init.conf")
"""Files of a package in a tree of package recipes."""
ENDINGS = {"mixed": ("c", "txt", "jpg", "bin"), "video": ("mkv",)}
PACKAGE_FILES = 20
"""Files in a package: half of the 942 packages of a Debian 12 have 18 files and directories or fewer."""
CONTROL = "Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: fswizard\nDescription: files\n"


class Tree:
    """The files and directories of a tree, and the operations on it."""

    def __init__(self, shape: str, files: int, total_bytes: int) -> None:
        dice, self.dice = random.Random(f"{SEED} {os.path.basename(shape)} {files} {total_bytes}"), random.Random(SEED)
        self.pools: dict[float, memoryview] = {}
        """Content, by its incompressible share."""
        self.directories: list[str] = []
        """Directories to create first, parents first, as they may be empty."""
        self.entries: list[tuple[str, int, float]]
        """Path, size in bytes, and incompressible share of each file in the order of their creation."""
        if shape in SPREADS:
            drawn = [dice.lognormvariate(0, SPREADS[shape]) for _ in range(files)]
            scale = total_bytes / sum(drawn)
            sizes = [int(size * scale) for size in drawn]
            sizes[sizes.index(max(sizes))] += total_bytes - sum(sizes)
            names = _portage(files) if shape == "small-files" else _project(files, ENDINGS[shape], dice)
            self.entries = list(zip(names, sizes, [1.0 if shape == "video" else 0.5] * files))
            return
        with open(shape) as file:
            described = json.load(file)
        counts = _directories(described, files, dice)
        self.directories = list(counts)
        paths = [path for path, count in counts.items() for _ in range(count)]
        sizes, shares = _between(described["sizes"], files, total_bytes), _nearest(described["random_shares"], files)
        contents = list(zip(sizes, shares))
        dice.shuffle(contents)
        names = (f"{path}/file-{number:06d}" for number, path in enumerate(paths))
        self.entries = sorted((name, *content) for name, content in zip(names, contents))

    def make(self, directory: str, changed_every: int = 0) -> None:
        """Write the tree below a directory that does not exist yet."""
        other = random.Random(SEED + 1)
        for path in self.directories:
            os.makedirs(f"{directory}/{path}", exist_ok=True)
        for number, (path, size, share) in enumerate(self.entries):
            changed = changed_every and number % changed_every == 0
            self.write(f"{directory}/{path}", size, share, other if changed else None)

    def packages(self, directory: str) -> None:
        """Write the tree as source directories for dpkg-deb, with a few files in each."""
        for number, (path, size, share) in enumerate(self.entries):
            name = f"package-{number // PACKAGE_FILES * PACKAGE_FILES:06d}"
            package = f"{directory}/{name}"
            if number % PACKAGE_FILES == 0:
                os.makedirs(f"{package}/DEBIAN")
                os.chmod(f"{package}/DEBIAN", 0o755)  # whatever the user's umask is
                with open(f"{package}/DEBIAN/control", "w") as control:
                    control.write(CONTROL.format(name=name))
            self.write(f"{package}/{path}", size, share)

    def write(self, path: str, size: int, share: float, first: random.Random | None = None) -> None:
        """Create a file and its directory; `first` selects different bytes for its first write."""
        share = round(share * SHARES) / SHARES
        if share not in self.pools:
            self.pools[share] = _pool(share)
        pool, left = self.pools[share], size
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb", buffering=0) as file:
            while left:
                length = min(left, WRITE_BYTES)
                start = self.dice.randrange(len(pool) - length)
                if first and left == size:
                    start = first.randrange(len(pool) - length)
                left -= file.write(pool[start : start + length])

    def read(self, directory: str, seed: int) -> None:
        """Read every file of the tree whole, in an order determined by the seed."""
        paths = [path for path, _, _ in self.entries]
        random.Random(seed).shuffle(paths)
        buffer = bytearray(WRITE_BYTES)
        for path in paths:
            with open(f"{directory}/{path}", "rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass


def _directories(described: dict[str, Any], files: int, dice: random.Random) -> dict[str, int]:
    """Number of files by the path of each directory, parents first."""
    number = described["directories"]
    counts = _between(described["files_in_directory"], number, files)
    top, *below = sorted(zip(_nearest(described["depths"], number), counts))
    made = {".": top[1]}
    # A directory stands in the list of its depth twice, and once more for each of its subdirectories.
    parents = [[".", "."]]
    for depth, count in below:
        above = parents[min(max(depth, 1), len(parents)) - 1]
        parent = dice.choice(above)
        above.append(parent)
        path = f"{parent}/part-{len(made):04d}"
        level = path.count("/")
        if level == len(parents):
            parents.append([])
        parents[level] += [path, path]
        made[path] = count
    return made


def _between(quantiles: Sequence[int], number: int, total: int) -> list[int]:
    """`number` interpolated quantiles, smallest first; the largest few are scaled so that all add up to `total`."""
    values = []
    for position in range(number):
        at = (position + 0.5) / number * (len(quantiles) - 1)
        low, high = (math.log1p(value) for value in quantiles[int(at) : int(at) + 2])
        values.append(round(math.expm1(low + (high - low) * (at % 1))))
    few = max(1, number // (len(quantiles) - 1))
    rest = total - sum(values[:-few])
    if rest <= 0:
        few, rest = number, total
    largest = sum(values[-few:]) or 1
    values[-few:] = [round(value * rest / largest) for value in values[-few:]]
    values[-1] += total - sum(values)
    return values


def _nearest(quantiles: Sequence[Any], number: int) -> list[Any]:
    """`number` values, each that of the nearest quantile."""
    return [quantiles[round((position + 0.5) / number * (len(quantiles) - 1))] for position in range(number)]


def _portage(files: int) -> Iterator[str]:
    """category/package/ with five files, two of them in files/ below: like a tree of package recipes."""
    in_category = math.isqrt(files // 5) or 1
    for number in range(files):
        package, kind = divmod(number, 5)
        yield f"category-{package // in_category:03d}/package-{package:05d}/{PORTAGE[kind]}"


def _project(files: int, endings: tuple[str, ...], dice: random.Random) -> Iterator[str]:
    """Directories of about twelve files, each in a random one of the earlier directories."""
    made = ["."]
    for number in range(files):
        if number % 12 == 0 and number:
            made.append(f"{dice.choice(made)}/part-{len(made):04d}")
        yield f"{made[-1]}/file-{number:06d}.{dice.choice(endings)}"


def _pool(share: float) -> memoryview:
    """Repeated lines between bytes of a small alphabet. Each provides half of what compression saves on ordinary
    files."""
    random_share = math.sqrt(share)
    part, letters, dice = round(MIXED_BYTES * random_share), round(256**random_share), random.Random(f"{SEED} {share}")
    alphabet = bytes(byte * letters // 256 for byte in range(256))
    lines = (b"the same line comes again and again\n" * MIXED_BYTES)[: MIXED_BYTES - part]
    pieces = (dice.randbytes(part).translate(alphabet) + lines for _ in range(POOL_BYTES // MIXED_BYTES))
    return memoryview(b"".join(pieces))


def main(what: str, shape: str, files: str, total_bytes: str, directory: str, *more: str) -> None:
    tree, began_s = Tree(shape, int(files), int(total_bytes)), time.monotonic()
    getattr(tree, what)(directory, *map(int, more))
    print(time.monotonic() - began_s)


if __name__ == "__main__":
    main(*sys.argv[1:])
