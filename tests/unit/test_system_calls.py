"""What workloads do with files and what the programs do that they stand for: the same system calls in the same order.

`strace` watches both. Compared are the calls that change something or bring it to the disk, and reads: with flags,
modes, sizes and offsets. Calls that failed, such as looking for what is not there, do not count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from fswizard.engines.shared import tree_worker
from fswizard.engines.shared.timed import TimedEngine
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from tests.fakes.local_context import LocalContext

pytestmark = pytest.mark.strace

Calls = list[tuple[str, ...]]
SYNC = {"fsync", "fdatasync", "syncfs", "sync", "msync"}
BY_DESCRIPTOR = SYNC | {
    *("write", "pwrite64", "writev", "read", "pread64", "ftruncate", "fallocate", "sync_file_range", "copy_file_range"),
    *("fchmod", "fchown", "fadvise64"),
}
BY_PATH = {"mkdir", "rmdir", "unlink", "rename", "link", "chmod", "chown"}
BY_DIRECTORY = {"openat", "mkdirat", "unlinkat", "renameat2", "linkat", "fchmodat", "fchownat", "utimensat"}
SAME = {"renameat2": "rename", "linkat": "link", "mkdirat": "mkdir", "openat": "open", "utimensat": "utime"}
SAME |= {"fchmod": "chmod", "fchmodat": "chmod", "fchown": "chown", "fchownat": "chown"}
READS = {"read", "pread64", "fadvise64"}
DATABASE = "var/lib/dpkg/"
DPKG = ("dpkg", "--no-force-unsafe-io", "--force-not-root", "--log=/dev/null", "--unpack")
"""As an administrator calls it, on a machine of any kind; containers have it leave out what they would not wait for."""


def calls_of(argv: Sequence[str], root: Path, env: Mapping[str, str] | None = None) -> Calls:
    """What a program does below `root`, by paths from there."""
    names = ",".join(sorted(BY_DESCRIPTOR | BY_PATH | BY_DIRECTORY))
    with tempfile.TemporaryDirectory() as place:
        strace = ["strace", "-ff", "-ttt", "-y", "-s", "0", "-e", f"trace={names}", "-o", f"{place}/calls", *argv]
        subprocess.run(strace, check=True, capture_output=True, cwd=root, env=env)
        lines = sorted(line for file in Path(place).iterdir() for line in file.read_text().splitlines())
    return [call for line in lines if (call := _call(line, str(root)))]


def _call(line: str, root: str) -> tuple[str, ...] | None:
    found = re.fullmatch(r"[\d.]+ (\w+)\((.*)\) += (?!-1)\S+.*", line)
    if found is None:  # it failed, or is no call
        return None
    name, words = found[1], re.split(r", (?![^\[{]*[\]}])", found[2])
    paths, rest = [], []
    base = ""
    for word in words:
        if described := re.fullmatch(r"(?:AT_FDCWD|\d+)<(.*?)>(?:\(deleted\))?", word):
            base = described[1]
            paths += [base] if name in BY_DESCRIPTOR or words[1:2] == ["NULL"] else []
        elif (quoted := re.fullmatch(r'"(.*)"', word)) and name not in BY_DESCRIPTOR:
            paths.append(os.path.join(base or root, quoted[1]))
        elif not word.startswith(('"', "[", "NULL")):
            rest.append(word.replace("|O_CLOEXEC", ""))
    if not any(path == root or path.startswith(f"{root}/") for path in paths):
        return None
    below = [os.path.relpath(path, root) if path.startswith(root) else "elsewhere" for path in paths]
    kind = "rmdir" if "AT_REMOVEDIR" in rest else {"unlinkat": "unlink"}.get(name, SAME.get(name, name))
    if kind in ("utime", "unlink", "rmdir", "rename", "link"):
        rest = []
    return (kind, *below, *(rest[:2] if kind == "chown" else rest))


def traced(job: TimedEngine, directory: Path, scratch: Path) -> Calls:
    """The measured part of a workload, with the sync that ends it."""
    context = LocalContext(str(directory), str(scratch))
    job.bring(context, 7)
    timed = job.timed(context.directory, context.scratch, "7")
    for work in (*(work for wanted in timed.lay_out for work in wanted.works), *timed.warm_up):
        subprocess.run(work.argv, check=True, capture_output=True, cwd=directory)
    planned = job.commands()[-len(timed.works) - 1 :]
    argvs = [[_placed(word, directory, scratch) for word in command.argv] for command in planned]
    return [call for argv in argvs for call in calls_of(argv, directory)]


def _placed(word: str, directory: Path, scratch: Path) -> str:
    return word.replace("MOUNT", str(directory)).replace("SCRATCH", str(scratch)).replace("SEED", "7")


def by_hand(*commands: str, at: Path, synced: bool = True) -> Calls:
    """What somebody types into a shell, the last being the sync for which they wait."""
    lines = [*commands, *([f"sync --file-system {at}"] if synced else [])]
    return [call for line in lines for call in calls_of(("sh", "-c", line), at)]


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Where the workload works, where we work by hand, and a scratch directory on another filesystem."""
    (ours := tmp_path / "ours").mkdir()
    (theirs := tmp_path / "theirs").mkdir()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        yield ours, theirs, Path(scratch)


def kinds(calls: Calls) -> list[str]:
    return [kind for kind, *_ in calls]


def test_copying_onto_a_disk_makes_the_calls_of_cp_and_one_sync(places: tuple[Path, Path, Path]) -> None:
    ours, theirs, scratch = places
    job = TreeJob("copy-onto", "mixed", 15, 900_000)
    calls = traced(job, ours, scratch)
    name = f"mixed-15-{900_000}"
    assert calls == by_hand(f"cp -a {scratch}/{name} {name}-onto", at=theirs)
    assert sum(int(size) for kind, _, size in (call for call in calls if call[0] == "write")) == 900_000
    assert [kind for kind in kinds(calls) if kind in SYNC] == ["syncfs"]
    assert {call[2] for call in calls if call[0] == "open"} == {"O_WRONLY|O_CREAT|O_EXCL", "O_RDONLY|O_NONBLOCK"}


def test_unpacking_makes_the_calls_of_tar_and_one_sync(places: tuple[Path, Path, Path]) -> None:
    ours, theirs, scratch = places
    calls = traced(TreeJob("untar", "small-files", 40, 90_000), ours, scratch)
    name = f"small-files-40-{90_000}"
    (theirs / f"{name}-unpacked").mkdir()
    unpacked = by_hand(f"tar -xf {scratch}/{name}.tar -C {name}-unpacked", at=theirs)
    assert [call for call in calls if call[1] != f"{name}-unpacked"] == [
        call for call in unpacked if call[1] != f"{name}-unpacked"
    ]
    assert [kind for kind in kinds(calls) if kind in SYNC] == ["syncfs"]


@pytest.mark.sqlite3
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_transactions_make_the_calls_of_a_program_with_a_database(
    journal: str, places: tuple[Path, Path, Path]
) -> None:
    ours, theirs, scratch = places
    job = SqliteJob("wal" if journal == "wal" else "delete", 20)
    calls = traced(job, ours, scratch)
    name = f"sqlite-{journal}-20"
    assert calls == by_hand(f"mkdir {name}", f"sqlite3 {name}/database < {scratch}/{name}.sql", at=theirs)
    per_transaction = {"wal": 1, "delete": 3}[journal]
    assert kinds(calls).count("fdatasync") + kinds(calls).count("fsync") >= 20 * per_transaction
    assert kinds(calls)[-1] == "syncfs"


@pytest.mark.dpkg
def test_an_installation_makes_the_calls_of_dpkg(places: tuple[Path, Path, Path]) -> None:
    ours, theirs, scratch = places
    files, total_bytes = 110, 700_000
    listed = tree_worker.entries("mixed", files, total_bytes)
    calls = traced(TreeJob("install", "mixed", files, total_bytes), ours, scratch)
    packages = [
        _package(f"package-{at:06d}", listed[at : at + tree_worker.PACKAGE_FILES], scratch)
        for at in range(0, files, tree_worker.PACKAGE_FILES)
    ]
    root = theirs / f"mixed-{files}-{total_bytes}-installed"
    for name in ("info", "triggers", "updates"):
        (root / DATABASE / name).mkdir(parents=True)
    (root / DATABASE / "status").touch()
    (root / DATABASE / "info/format").write_text("1\n")
    path = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C"}
    argv = (*DPKG[:1], f"--root={root}", *DPKG[1:], *packages)
    theirs_calls = calls_of(argv, theirs, env={**os.environ, **path})
    assert _changing(calls) == [*_changing(theirs_calls), ("syncfs", ".")]


def _package(name: str, files: Sequence[tuple[str, int]], scratch: Path) -> str:
    """A package with these files, made with dpkg-deb."""
    place = scratch / name
    (place / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b>\nDescription: Made for a test\n"
    (place / "DEBIAN/control").write_text(control)
    (place / "DEBIAN/md5sums").write_text("".join(f"{'0' * 32}  {os.path.normpath(path)}\n" for path, _ in files))
    for path, size in files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(b"x" * size)
    subprocess.run(["dpkg-deb", "-Znone", "--build", place, f"{place}.deb"], check=True, capture_output=True)
    return f"{place}.deb"


def _changing(calls: Calls) -> Calls:
    """From where dpkg locks its database on, without what it reads, nor how much at once it notes of each package."""
    locked = next(number for number, call in enumerate(calls) if call[1].endswith("lock-frontend"))
    changing = Calls()
    for kind, path, *rest in calls[locked:]:
        noting = DATABASE in path and kind in ("write", "ftruncate")
        call = (kind, path) if noting else (kind, path, *rest)
        reading = kind in READS or (kind == "open" and rest[0].startswith("O_RDONLY"))
        if not reading and not (noting and call == changing[-1]):
            changing.append(call)
    return changing


def test_a_call_more_or_another_flag_is_seen(tmp_path: Path) -> None:
    program = "import os; d = os.open('a', os.O_WRONLY | os.O_CREAT{0}); os.write(d, b'x' * 10); {1}os.rename('a', 'b')"
    seen = [
        calls_of((sys.executable, "-c", program.format(flag, sync)), tmp_path)
        for flag, sync in (("", ""), (" | os.O_SYNC", ""), ("", "os.fsync(d); "))
    ]
    assert seen[0] == [("open", "a", "O_WRONLY|O_CREAT", "0777"), ("write", "a", "10"), ("rename", "a", "b")]
    assert seen[1][0] == ("open", "a", "O_WRONLY|O_CREAT|O_SYNC", "0777")
    assert seen[2][2] == ("fsync", "a")
