"""What workloads do with files and what the programs do that they stand for: the same system calls in the same order.

`strace` watches both: the programs that a workload starts while it is measured, and what somebody types into a shell.
Compared are the calls that change something or bring it to the disk, and reads: with flags, modes, sizes and offsets.
Of calls that failed, only those count that look for what is not there, as the filesystem has to search for it.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from fswizard.engines import Engine
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.progress.workload_events import Doing, WorkloadEvent
from fswizard.system.commands import LocalProcess
from tests.fakes.local_context import LocalContext

pytestmark = pytest.mark.strace

Calls = list[tuple[str, ...]]
SYNC = {"fsync", "fdatasync", "syncfs", "sync", "msync"}
WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "splice"}
READS = {"read", "pread64", "preadv", "preadv2", "fadvise64", "readahead", "lseek", "FS_IOC_FIEMAP"}
BY_DESCRIPTOR = (
    SYNC | WRITES | READS | {"ftruncate", "fallocate", "sync_file_range", "copy_file_range", "ioctl", "mmap"}
    | {"fchmod", "fchown", "fsetxattr"}
)  # fmt: skip
BY_PATH = {"open", "creat", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "truncate", "chmod", "chown"}
BY_PATH |= {"lchown", "setxattr", "lsetxattr", "removexattr"}
BY_DIRECTORY = {"openat", "openat2", "mkdirat", "unlinkat", "renameat", "renameat2", "linkat", "symlinkat"}
BY_DIRECTORY |= {"fchmodat", "fchownat", "utimensat", "newfstatat"}
SAME = {"renameat": "rename", "renameat2": "rename", "linkat": "link", "mkdirat": "mkdir", "symlinkat": "symlink"}
SAME |= {"openat": "open", "utimensat": "utime", "unlinkat": "unlink", "newfstatat": "lstat"}
SAME |= {"fchmod": "chmod", "fchmodat": "chmod", "fchown": "chown", "fchownat": "chown"}
SEARCHES = {"lstat", "rename", "rmdir", "unlink"}


def _strace(to: str) -> tuple[str, ...]:
    names = ",".join(f"?{name}" for name in sorted(BY_DESCRIPTOR | BY_PATH | BY_DIRECTORY))
    return ("strace", "-ff", "-ttt", "-y", "-s", "0", "-e", f"trace={names}", "-o", to)


def _calls_in(place: str, root: str) -> Calls:
    lines = sorted(line for file in Path(place).iterdir() for line in file.read_text().splitlines())
    return [call for line in lines if (call := _call(line, root))]


def _call(line: str, root: str) -> tuple[str, ...] | None:
    found = re.fullmatch(r"[\d.]+ (\w+)\((.*)\) += (\S+)(?: (E[A-Z]+) .*|.*)", line)
    if found is None:  # it is no call
        return None
    name, error = found[1], found[4]
    words = re.split(r", (?![^\[{]*[\]}])", found[2])
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
    kind = "rmdir" if "AT_REMOVEDIR" in rest else SAME.get(name, name)
    if error or kind == "lstat":
        searched = error == "ENOENT" and kind in SEARCHES and (kind != "lstat" or "AT_SYMLINK_NOFOLLOW" in rest)
        return (kind, *below, error) if searched else None
    if kind == "ioctl":
        kind, rest = rest[0], []
    if kind in ("utime", "unlink", "rmdir", "rename", "link", "symlink"):
        rest = []
    return (kind, *below, *(rest[:2] if kind == "chown" else rest))


@dataclass
class TracedContext(LocalContext):
    """Has `strace` watch whatever is started while something is measured."""

    place: str = ""
    measuring: bool = False

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], limited: bool = False) -> LocalProcess:
        if self.measuring:
            argv = [*_strace(f"{self.place}/calls-{len(self.started)}"), *argv]
        return await LocalContext.start(self, argv, env=env, limited=limited)

    def tell(self, what: WorkloadEvent) -> None:
        self.measuring = self.measuring or (isinstance(what, Doing) and what.measured)


def traced(job: Engine, directory: Path, scratch: Path, *laid_out: Path) -> Calls:
    """What a workload does while it is measured, the sync that ends it included; `laid_out` is there already."""
    with tempfile.TemporaryDirectory() as place:
        context = TracedContext(str(directory), str(scratch), laid_out={*map(str, laid_out)}, place=place)
        asyncio.run(job.run(context, context.tell, seed=7))
        return _calls_in(place, str(directory))


def by_hand(*commands: str, at: Path) -> Calls:
    """What somebody types into a shell, the last being the sync for which they wait."""
    calls: Calls = []
    for line in (*commands, f"sync --file-system {at}"):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run([*_strace(f"{place}/calls"), "sh", "-c", line], check=True, capture_output=True, cwd=at)
            calls += _calls_in(place, str(at))
    return calls


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Where the workload works, where we work by hand, and a scratch directory on another filesystem."""
    (ours := tmp_path / "ours").mkdir()
    (theirs := tmp_path / "theirs").mkdir()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        yield ours, theirs, Path(scratch)


def kinds(calls: Calls) -> list[str]:
    return [kind for kind, *_ in calls]


def _people_have(folder: Path) -> int:
    """A folder with what a generated one lacks; the bytes to be written when it is copied."""
    (folder / "below").mkdir(parents=True)
    for name, content in (("zeros.img", bytes(400_000)), ("below/noise.jpg", os.urandom(300_000)), ("empty", b"")):
        (folder / name).write_bytes(content)
    (folder / "link").symlink_to("empty")
    (folder / "same.jpg").hardlink_to(folder / "below/noise.jpg")
    return 700_000


def test_copying_onto_a_disk_makes_the_calls_of_cp_and_one_sync(places: tuple[Path, Path, Path]) -> None:
    ours, theirs, scratch = places
    source = scratch / "mixed-15-900000"
    written_bytes = _people_have(source)
    calls = traced(TreeJob("copy-onto", "mixed", 15, 900_000), ours, scratch, source)
    assert calls == by_hand(f"cp -a {source} {source.name}-onto", at=theirs)
    assert sum(int(call[2]) for call in calls if call[0] == "write") == written_bytes
    assert [kind for kind in kinds(calls) if kind in SYNC] == ["syncfs"]
    assert {call[2] for call in calls if call[0] == "open"} == {"O_WRONLY|O_CREAT|O_EXCL", "O_RDONLY|O_NONBLOCK"}


@pytest.mark.sqlite3
@pytest.mark.parametrize("journal, syncs", [("wal", 1), ("delete", 4)])
def test_transactions_make_the_calls_of_a_program_with_a_database(
    journal: Literal["wal", "delete"], syncs: int, places: tuple[Path, Path, Path]
) -> None:
    ours, theirs, scratch = places
    calls = traced(SqliteJob(journal, 20), ours, scratch)
    name = f"sqlite-{journal}-20"
    (theirs / name).mkdir()
    subprocess.run(["sqlite3", theirs / name / "database", f".read {scratch}/{name}-first.sql"], check=True)
    statements = (scratch / f"{name}-then.sql").read_text().splitlines()
    # All settings are left as SQLite has them.
    (scratch / "plain.sql").write_text("\n".join(s for s in statements if not s.startswith("PRAGMA")))
    assert calls == by_hand(f"sqlite3 {name}/database < {scratch}/plain.sql", at=theirs)
    assert kinds(calls)[-1] == "syncfs"
    one_more = traced(SqliteJob(journal, 21), ours, scratch)
    assert kinds(one_more).count("fdatasync") - kinds(calls).count("fdatasync") == syncs


@pytest.mark.dpkg
def test_an_installation_syncs_each_file_before_it_has_its_name(places: tuple[Path, Path, Path]) -> None:
    """In a container, too, where dpkg is often set to leave that out."""
    ours, _, scratch = places
    calls = traced(TreeJob("install", "mixed", 110, 700_000), ours, scratch)
    placed = [
        call[:2] for call in calls if call[0] in ("fsync", "rename") and re.search(r"/file-.*\.dpkg-new$", call[1])
    ]
    paths = dict.fromkeys(path for _, path in placed)
    assert len(paths) == 110
    assert placed == [(kind, path) for path in paths for kind in ("fsync", "rename")]
