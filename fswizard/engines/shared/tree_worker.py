"""A directory tree that is the same every time: a program of the standard library alone, run where it is measured.

    tree_worker.py make SHAPE FILES TOTAL_BYTES DIRECTORY [CHANGED_EVERY]
    tree_worker.py install SHAPE FILES TOTAL_BYTES DIRECTORY
    tree_worker.py read SHAPE FILES TOTAL_BYTES DIRECTORY SEED

`install` makes the system calls of `dpkg --unpack`, see `Dpkg`; `read` reads the tree in a random order, as starting
programs do. With CHANGED_EVERY every n-th file begins with other content. The program prints how many seconds it took,
without the start of the interpreter.

SHAPE is `small-files`, `mixed`, `video`, or the path of a JSON file with `sizes`, `random_shares`, `directories`,
`files_in_directory` and `depths`, as in a recipe's table `tree`. The tree has those sizes, that share of each file that
does not compress, and directories with those numbers of files and depths; subdirectories go to directories that have
some already, as in real trees (Agrawal and others, FAST 2007). Otherwise sizes follow a log-normal distribution, and
files compress to half; a `video` does not compress. Sizes add up to TOTAL_BYTES.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
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

    def write(
        self,
        descriptor: int,
        size: int,
        share: float,
        *,
        at_once: int = WRITE_BYTES,
        first: random.Random | None = None,
    ) -> None:
        """Write a whole file; `first` chooses other bytes for its first write."""
        share = round(share * SHARES) / SHARES
        if share not in self._pools:
            self._pools[share] = _pool(share)
        pool, left = self._pools[share], size
        while left:
            length = min(left, at_once)
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


class Dpkg:
    """Packages unpacked below a directory with the system calls of `dpkg --unpack` (1.21.22).

    Files of a package are written under other names while the kernel begins to write them to the disk; then each is
    awaited, synced and renamed. The database records each step, synced too.
    """

    WRITE_BYTES = 32_768
    PADDING = (b"#padding\n" * 512)[:4608]
    WAIT_BEFORE, WRITE = 1, 2
    """Flags of sync_file_range."""

    def __init__(self, root: str) -> None:
        self.root, self.database = root, f"{root}/var/lib/dpkg"
        self.content = Content()
        self.installed: list[bytes] = []
        self.updates = 0
        self.made = set[str]()
        self.sync_file_range = ctypes.CDLL(None, use_errno=True).sync_file_range
        self.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
        for name in ("info", "triggers", "updates"):
            os.makedirs(f"{self.database}/{name}", exist_ok=True)
        for name, content in (("status", b""), ("info/format", b"1\n")):
            with open(f"{self.database}/{name}", "wb") as file:
                file.write(content)

    def __enter__(self) -> Dpkg:
        for name in ("lock-frontend", "lock"):
            os.close(os.open(f"{self.database}/{name}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o660))
        self.update = self._padded()
        triggers = f"{self.database}/triggers"
        os.close(os.open(f"{triggers}/Lock", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        unincorporated = os.open(f"{triggers}/Unincorp.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._write_status()
        os.close(unincorporated)
        os.rename(f"{triggers}/Unincorp.new", f"{triggers}/Unincorp")
        self._sync_directory("triggers")
        return self

    def __exit__(self, *_: object) -> None:
        self._write_status()
        os.close(self.update)
        os.unlink(f"{self.database}/updates/tmp.i")

    def unpack(self, package: str, files: Sequence[tuple[str, int, float]]) -> None:
        """`files` are as of `entries`, with paths below the root, each directory before its contents."""
        paths = [path for path, _, _ in files]
        entries = dict.fromkeys(entry for path in paths for entry in (*_above(path), path))
        control = f"Package: {package}\nVersion: 1\nArchitecture: all\nDescription: {package * 80}\n".encode()
        self._control(control, "".join(f"{'0' * 32}  {path}\n" for path in paths).encode())
        self._update(control)
        for path, size, share in files:
            for directory in _above(path):
                self._make_directory(directory)
            self._begin(f"{self.root}/{path}", size, share)
        for path in paths:
            descriptor = os.open(f"{self.root}/{path}.dpkg-new", os.O_WRONLY)
            self._range(descriptor, self.WAIT_BEFORE)
            os.close(descriptor)
        for path in paths:
            self._sync(f"{self.root}/{path}.dpkg-new")
            os.rename(f"{self.root}/{path}.dpkg-new", f"{self.root}/{path}")
        self._replace(f"info/{package}.list", "".join(f"/{entry}\n" for entry in entries).encode())
        self._sync_directory("info")
        os.rename(f"{self.database}/tmp.ci/md5sums", f"{self.database}/info/{package}.md5sums")
        self._sync_directory("info")
        self._update(control)
        for entry in entries:
            _missing(os.rmdir, f"{self.root}/{entry}.dpkg-tmp")
        self._update(control)
        self.installed.append(control)
        os.unlink(f"{self.database}/tmp.ci/control")
        os.rmdir(f"{self.database}/tmp.ci")

    def _control(self, control: bytes, md5sums: bytes) -> None:
        """The control files, which `tar` unpacks and dpkg then syncs."""
        place = f"{self.database}/tmp.ci"
        os.mkdir(place, 0o777)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOCTTY | os.O_NONBLOCK
        for name, content in (("control", control), ("md5sums", md5sums)):
            descriptor = os.open(f"{place}/{name}", flags, 0o600)
            os.write(descriptor, content)
            os.utime(descriptor, (0, 0))
            self._own(descriptor, 0o644)
            os.close(descriptor)
        os.utime(place, (0, 0))
        self._own(place)
        for name in os.listdir(place):
            self._sync(f"{place}/{name}")
        self._sync_directory("tmp.ci")

    def _make_directory(self, path: str) -> None:
        if path in self.made:
            return
        self.made.add(path)
        whole = f"{self.root}/{path}"
        self._look(whole)
        os.mkdir(f"{whole}.dpkg-new", 0)
        self._own(f"{whole}.dpkg-new", 0o755)
        os.utime(f"{whole}.dpkg-new", (0, 0))
        os.rename(f"{whole}.dpkg-new", whole)

    def _look(self, path: str) -> None:
        """Look for an older version and for leftovers of an interrupted dpkg, as dpkg does: there are none."""
        _missing(os.lstat, path)
        _missing(os.rename, f"{path}.dpkg-tmp", path)
        for ending in ("new", "tmp"):
            _missing(os.rmdir, f"{path}.dpkg-{ending}")

    def _begin(self, path: str, size: int, share: float) -> None:
        self._look(path)
        descriptor = os.open(f"{path}.dpkg-new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0)
        self.content.write(descriptor, size, share, at_once=self.WRITE_BYTES)
        self._range(descriptor, self.WRITE)
        self._own(descriptor, 0o644)
        os.close(descriptor)
        os.utime(f"{path}.dpkg-new", (0, 0))

    def _own(self, what: int | str, mode: int | None = None) -> None:
        with contextlib.suppress(PermissionError):  # filesystems without owners, where dpkg would stop
            os.chown(what, os.getuid(), os.getgid())
            if mode is not None:
                os.chmod(what, mode)

    def _range(self, descriptor: int, flags: int) -> None:
        if self.sync_file_range(descriptor, 0, 0, flags):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    def _sync(self, path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def _sync_directory(self, name: str) -> None:
        descriptor = os.open(f"{self.database}/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_DIRECTORY)
        os.fsync(descriptor)
        os.close(descriptor)

    def _replace(self, name: str, content: bytes) -> None:
        path = f"{self.database}/{name}"
        descriptor = os.open(f"{path}-new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.fchmod(descriptor, 0o644)
        if content:
            os.write(descriptor, content)
        os.fsync(descriptor)
        os.close(descriptor)
        if name == "status":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{path}-old")
            with contextlib.suppress(PermissionError):  # filesystems without hard links, where dpkg would stop
                os.link(path, f"{path}-old")
        os.rename(f"{path}-new", path)

    def _write_status(self) -> None:
        """Write the whole status, which includes all updates so far."""
        self._replace("status", b"\n".join(self.installed))
        self._sync_directory("")
        for number in range(self.updates):
            os.unlink(f"{self.database}/updates/{number:04d}")
        self._sync_directory("updates")
        self.updates = 0

    def _padded(self) -> int:
        """The file of the next update, with its space allocated."""
        descriptor = os.open(f"{self.database}/updates/tmp.i", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.write(descriptor, self.PADDING[:4096])
        os.write(descriptor, self.PADDING[4096:])
        return descriptor

    def _update(self, content: bytes) -> None:
        """Write one update, and sync it before anything else happens."""
        os.lseek(self.update, 0, os.SEEK_SET)
        os.write(self.update, content)
        os.ftruncate(self.update, len(content))
        os.fsync(self.update)
        os.close(self.update)
        os.rename(f"{self.database}/updates/tmp.i", f"{self.database}/updates/{self.updates:04d}")
        self._sync_directory("updates")
        self.updates += 1
        self.update = self._padded()


def _above(path: str) -> Iterator[str]:
    """The parent directories of a path, the uppermost first."""
    for at, letter in enumerate(path):
        if letter == "/":
            yield path[:at]


def _missing(call: Callable[..., object], *paths: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        call(*paths)


def install(shape: str, files: int, total_bytes: int, directory: str) -> None:
    """Unpack the tree as packages of a hundred files, below a directory that does not exist yet."""
    listed = [(os.path.normpath(path), size, share) for path, size, share in entries(shape, files, total_bytes)]
    with Dpkg(directory) as dpkg:
        for number in range(0, len(listed), PACKAGE_FILES):
            package = sorted(listed[number : number + PACKAGE_FILES], key=lambda entry: entry[0].split("/"))
            dpkg.unpack(f"package-{number:06d}", package)


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
        elif what == "install":
            install(shape, int(files), int(total_bytes), directory)
        else:
            make(shape, int(files), int(total_bytes), directory, changed_every=number)
    except OSError as error:
        sys.exit(f"tree_worker: {error}")
    print(time.monotonic() - began_s)


if __name__ == "__main__":
    main()
