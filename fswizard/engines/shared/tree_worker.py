"""A directory tree that is the same every time: a program of the standard library alone, run where it is measured.

    tree_worker.py make SHAPE FILES TOTAL_BYTES DIRECTORY [CHANGED_EVERY]
    tree_worker.py packages SHAPE FILES TOTAL_BYTES DIRECTORY
    tree_worker.py deliver SHAPE FILES TOTAL_BYTES DIRECTORY
    tree_worker.py read SHAPE FILES TOTAL_BYTES DIRECTORY SEED

`packages` writes the tree for dpkg-deb; `deliver` brings each file as a message into a Maildir, several at a time;
`read` reads the tree in a random order, as starting programs do. With CHANGED_EVERY every n-th file begins with other
content. The program prints how many seconds it took, without the start of the interpreter.

SHAPE is `small-files`, `mixed`, `video`, or the path of a JSON file with `sizes`, `random_shares`, `directories`,
`files_in_directory` and `depths`, as in a recipe's table `tree`. The tree has those sizes, that share of each file that
does not compress, and directories with those numbers of files and depths; subdirectories go to directories that have
some already, as in real trees (Agrawal and others, FAST 2007). Otherwise sizes follow a log-normal distribution, and
files compress to half; a `video` does not compress. Sizes add up to TOTAL_BYTES.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

SEED = 8_000_002
WRITE_BYTES = 1 << 20
POOL_BYTES = 2 * WRITE_BYTES
SHARES = 16
"""Steps of the share that does not compress."""
MIXED_BYTES = 512
"""Random and repeating bytes alternate in pieces of this size, so that small files compress as well as large ones."""
SPREADS = {"small-files": 0.9, "mixed": 2.2, "video": 0.5}
"""Standard deviation of the logarithm of a file's size, for each shape."""
ENDINGS = {"mixed": ("c", "txt", "jpg", "bin"), "video": ("mkv",)}
PACKAGE_FILES = 100
"""Files in a package; a Debian 12 with 819 packages has 119 in each, on average."""
DELIVERIES_AT_ONCE = 16
"""As many as filebench's `varmail` has threads."""


def entries(shape: str, files: int, total_bytes: int) -> list[tuple[str, int, float]]:
    """Path, size in bytes, and share that does not compress, of each file of a tree in the order of their creation."""
    dice = random.Random(f"{SEED} {os.path.basename(shape)} {files} {total_bytes}")
    if shape in SPREADS:
        names = _portage(files) if shape == "small-files" else _project(files, ENDINGS[shape], dice)
        sizes = _sizes(files, total_bytes, SPREADS[shape], dice)
        return list(zip(names, sizes, [1.0 if shape == "video" else 0.5] * files))
    described = _described(shape)
    places = [path for path, count in _directories(described, files, dice) for _ in range(count)]
    sizes = _between(described["sizes"], files, total_bytes)
    contents = list(zip(sizes, _nearest(described["random_shares"], files)))
    dice.shuffle(contents)
    return sorted((f"{place}/file-{at:06d}", *content) for at, (place, content) in enumerate(zip(places, contents)))


def directories(shape: str, files: int, total_bytes: int) -> list[str]:
    """The directories of a tree that a JSON file describes, which may be empty, parents first."""
    if shape in SPREADS:
        return []
    dice = random.Random(f"{SEED} {os.path.basename(shape)} {files} {total_bytes}")
    return [path for path, _ in _directories(_described(shape), files, dice)]


def _described(shape: str) -> dict[str, Any]:
    with open(shape) as file:
        return dict(json.load(file))


def _directories(described: dict[str, Any], files: int, dice: random.Random) -> list[tuple[str, int]]:
    """Path and number of files of each directory, parents first."""
    number = described["directories"]
    counts = _between(described["files_in_directory"], number, files)
    top, *below = sorted(zip(_nearest(described["depths"], number), counts))
    made = [(".", top[1])]
    # A directory stands in the list of its depth twice, and once more for each of its subdirectories.
    parents = [[".", "."]]
    for depth, count in below:
        above = parents[min(max(depth, 1), len(parents)) - 1]
        parent = dice.choice(above)
        path = f"{parent}/part-{len(made):04d}"
        above.append(parent)
        level = path.count("/")
        parents[level : level + 1] = [[*(parents[level] if level < len(parents) else ()), path, path]]
        made.append((path, count))
    return made


def _between(quantiles: Sequence[int], number: int, total: int) -> list[int]:
    """`number` values between quantiles, smallest first; the largest few are scaled so that all add up to `total`."""
    values = []
    for position in range(number):
        at = (position + 0.5) / number * (len(quantiles) - 1)
        low, high = (math.log1p(value) for value in quantiles[int(at) : int(at) + 2])
        values.append(round(math.expm1(low + (high - low) * (at % 1))))
    few = max(1, number // (len(quantiles) - 1))
    if (rest := total - sum(values[:-few])) <= 0:
        few, rest = number, total
    largest = sum(values[-few:]) or 1
    values[-few:] = [round(value * rest / largest) for value in values[-few:]]
    values[-1] += total - sum(values)
    return values


def _nearest(quantiles: Sequence[Any], number: int) -> list[Any]:
    """`number` values, each that of the nearest quantile."""
    return [quantiles[round((position + 0.5) / number * (len(quantiles) - 1))] for position in range(number)]


def _sizes(files: int, total_bytes: int, spread: float, dice: random.Random) -> list[int]:
    drawn = [dice.lognormvariate(0, spread) for _ in range(files)]
    scale = total_bytes / sum(drawn)
    sizes = [int(size * scale) for size in drawn]
    sizes[sizes.index(max(sizes))] += total_bytes - sum(sizes)
    return sizes


def _portage(files: int) -> Iterator[str]:
    """category/package/ with five files, two of them in files/ below: like a tree of package recipes."""
    in_category = math.isqrt(files // 5) or 1
    for number in range(files):
        package, kind = divmod(number, 5)
        name = ("Manifest", "metadata.xml", "package-1.ebuild", "files/fix.patch", "files/init.conf")[kind]
        yield f"category-{package // in_category:03d}/package-{package:05d}/{name}"


def _project(files: int, endings: tuple[str, ...], dice: random.Random) -> Iterator[str]:
    """Directories of about twelve files, each in a random one of the earlier directories."""
    directories = ["."]
    for number in range(files):
        if number % 12 == 0 and number:
            directories.append(f"{dice.choice(directories)}/part-{len(directories):04d}")
        yield f"{directories[-1]}/file-{number:06d}.{dice.choice(endings)}"


class Content:
    """What files are filled with, of which a given share does not compress."""

    def __init__(self) -> None:
        self.dice = random.Random(SEED)
        self._pools: dict[float, memoryview] = {}

    def write(self, descriptor: int, size: int, share: float, *, first: random.Random | None = None) -> None:
        """Write a whole file; `first` chooses other bytes for its first write."""
        share = round(share * SHARES) / SHARES
        if share not in self._pools:
            self._pools[share] = _pool(share)
        pool, left = self._pools[share], size
        while left:
            length = min(left, WRITE_BYTES)
            start = self.dice.randrange(len(pool) - length)
            if first and left == size:
                start = first.randrange(len(pool) - length)
            left -= os.write(descriptor, pool[start : start + length])


def _pool(share: float) -> memoryview:
    """Lines that repeat, between bytes of a small alphabet: either half of what compression saves on ordinary files."""
    kept = math.sqrt(share)
    part, letters, dice = round(MIXED_BYTES * kept), round(256**kept), random.Random(f"{SEED} {share}")
    alphabet = bytes(byte * letters // 256 for byte in range(256))
    words = (b"the same line comes again and again\n" * MIXED_BYTES)[: MIXED_BYTES - part]
    pieces = (dice.randbytes(part).translate(alphabet) + words for _ in range(POOL_BYTES // MIXED_BYTES))
    return memoryview(b"".join(pieces))


def make(shape: str, files: int, total_bytes: int, directory: str, *, changed_every: int = 0) -> None:
    """Write the tree below a directory that does not exist yet."""
    content, other = Content(), random.Random(SEED + 1)
    made = set()
    for path in directories(shape, files, total_bytes):
        os.makedirs(os.path.join(directory, path), exist_ok=True)
    for number, (path, size, share) in enumerate(entries(shape, files, total_bytes)):
        parent = os.path.join(directory, os.path.dirname(path))
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        first = other if changed_every and number % changed_every == 0 else None
        descriptor = os.open(os.path.join(directory, path), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o666)
        content.write(descriptor, size, share, first=first)
        os.close(descriptor)


def packages(shape: str, files: int, total_bytes: int, directory: str) -> None:
    """Write the tree as directories that dpkg-deb makes packages of, a hundred files in each."""
    content, listed = Content(), entries(shape, files, total_bytes)
    for number in range(0, files, PACKAGE_FILES):
        name = f"package-{number:06d}"
        place = f"{directory}/{name}"
        os.makedirs(f"{place}/DEBIAN")
        os.chmod(f"{place}/DEBIAN", 0o755)  # whatever the user's umask is
        with open(f"{place}/DEBIAN/control", "w") as control:
            control.write(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: fswizard\nDescription: files\n")
        for path, size, share in listed[number : number + PACKAGE_FILES]:
            os.makedirs(os.path.dirname(f"{place}/{path}"), exist_ok=True)
            with open(f"{place}/{path}", "wb") as file:
                content.write(file.fileno(), size, share)


def deliver(shape: str, files: int, total_bytes: int, directory: str) -> None:
    """Deliver every file of the tree, in random order, into its folder: written, synced, then linked to where readers
    look, as Postfix does (src/local/maildir.c and src/global/mail_copy.c)."""
    content, messages = Content(), entries(shape, files, total_bytes)
    random.Random(SEED).shuffle(messages)
    for folder in {os.path.dirname(path) for path, _, _ in messages}:
        for part in ("tmp", "new", "cur"):
            os.makedirs(f"{directory}/{folder}/{part}", exist_ok=True)

    def one(message: tuple[str, int, float]) -> None:
        folder, name = os.path.split(message[0])
        tmp, new = f"{directory}/{folder}/tmp/{name}", f"{directory}/{folder}/new/{name}"
        descriptor = os.open(tmp, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        content.write(descriptor, *message[1:])
        os.fsync(descriptor)
        os.close(descriptor)
        os.link(tmp, new)
        os.unlink(tmp)

    with ThreadPoolExecutor(DELIVERIES_AT_ONCE) as pool:
        list(pool.map(one, messages))  # which raises their errors


def read(shape: str, files: int, total_bytes: int, directory: str, seed: int) -> None:
    """Read every file of the tree whole, in an order that the seed decides."""
    paths = [path for path, _, _ in entries(shape, files, total_bytes)]
    random.Random(seed).shuffle(paths)
    buffer = bytearray(WRITE_BYTES)
    for path in paths:
        with open(os.path.join(directory, path), "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def main() -> None:
    what, shape, files, total_bytes, directory, *more = sys.argv[1:]
    number = int(more[0]) if more else 0
    began_s = time.monotonic()
    try:
        if what == "read":
            read(shape, int(files), int(total_bytes), directory, number)
        elif what == "packages":
            packages(shape, int(files), int(total_bytes), directory)
        elif what == "deliver":
            deliver(shape, int(files), int(total_bytes), directory)
        else:
            make(shape, int(files), int(total_bytes), directory, changed_every=number)
    except OSError as error:
        sys.exit(f"tree_worker: {error}")
    print(time.monotonic() - began_s)


if __name__ == "__main__":
    main()
