"""ZFS, whose pools have their own way: made with zpool, exported and imported where others are unmounted and mounted.

A pool lies on one device or on several, has a name that nobody else's has, is found by those devices and its GUID
alone, and is imported only while it is mounted. Two programs are called zpool: OpenZFS's talks to the kernel's module,
and zfs-fuse's to a daemon, which is started here for each mount, in directories that only this namespace has.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fswizard.privileged import mounts, processes, programs, stage, system_calls, waiting
from fswizard.privileged.identity import Person
from fswizard.privileged.jobs import Body
from fswizard.privileged.mounts import Mount
from fswizard.privileged.protocol import Refusal

NAME = re.compile(r"fswizard-[0-9a-f]{16}")
MARK = "fswizard:pool"
"""Property that every pool of ours carries from its making on, with its name as value: no other pool has it."""
KERNEL_NODE = "/dev/zfs"
"""There while the kernel's module is loaded."""
DAEMON = "zfs-fuse"
DAEMON_DIRECTORIES = ("/var/run/zfs", "/var/lock/zfs", "/var/lib/zfs")
"""Where zfs-fuse has its socket, its lock and its list of pools."""
GUID, LOG = f"{stage.DIRECTORY}/guid", f"{stage.DIRECTORY}/log"
START_LIMIT_S = 20.0
STOP_LIMIT_S = 20.0
BUSY_LIMIT_S = 60.0
"""zfs-fuse hears of an umount a moment after the kernel did, which on a busy machine are seconds."""
ANSWER_LIMIT_S = 10
COUNTERS = ("read_errors", "write_errors", "checksum_errors")
FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(slots=True)
class Pool:
    """What `zpool create` makes of a device."""

    name: str
    device: int
    """Descriptor of the block device it lies on."""
    others: tuple[int, ...] = ()
    """Of further ones that it is spread over."""
    counted: dict[str, int] = field(default_factory=dict)
    """Errors of earlier mounts: the pool forgets them at every export."""

    @property
    def directory(self) -> str:
        """Holds its devices' nodes and nothing else, so that import looks at no other device.

        The kernel's module opens it from outside this namespace. By its usual name OpenZFS would partition a disk.
        """
        return f"{stage.DIRECTORY}/{self.name}" if has_daemon() else f"/dev/{self.name}"

    @property
    def node(self) -> str:
        return f"{self.directory}/disk"

    @property
    def devices(self) -> dict[str, int]:
        """Each device's node, and its descriptor."""
        further = {f"{self.node}-{number}": device for number, device in enumerate(self.others, 2)}
        return {self.node: self.device, **further}


def new(device: int) -> Pool:
    return Pool(f"fswizard-{os.urandom(8).hex()}", device)


def has_daemon() -> bool:
    """Whether zpool is the one of zfs-fuse, which no distribution installs beside OpenZFS's."""
    try:
        programs.find(DAEMON)
    except Refusal as refusal:
        if refusal.code == "missing":
            return False
        raise
    return True


def create(pool: Pool, arguments: tuple[str, ...], spread: tuple[str, ...] = (), *, degraded: bool = False) -> Body:
    """Make the pool and export it; `spread` says how its nodes go together. `degraded` puts the last one out of use."""
    ours = {
        "-o": ("cachefile=none", "failmode=continue"),
        "-O": (f"mountpoint={stage.MOUNT}", "canmount=noauto", "setuid=off", "devices=off", f"{MARK}={pool.name}"),
    }
    options = [part for flag, values in ours.items() for value in values for part in (flag, value)]

    def body() -> int:
        _prepare(pool)
        with _daemon():
            code = _zpool("create", *options, *arguments, pool.name, *(spread or (pool.node,)))
            if code == 0 and degraded:
                code = _zpool("offline", pool.name, [*pool.devices][-1])
            if code == 0:
                Path(GUID).write_text(_asked("list", "-H", "-o", "guid", pool.name))
                code = _export(pool)
        return code

    return body


def mount(pool: Pool, directory: int, person: Person) -> Body:
    """Import the pool, and mount it over the open `directory`; what fails is undone."""

    def body() -> int:
        _prepare(pool)
        _start()
        guid = Path(GUID).read_text().strip()
        code = _zpool("import", "-d", pool.directory, "-o", "cachefile=none", guid)
        if code == 0:
            code = _mount(pool, directory, person)
            if code:
                mounts.unmount(stage.MOUNT)
                _export(pool)
        if code:
            _stop()
        return code

    return body


def umount(pool: Pool, path: str) -> int:
    """Unmount, export, and forget everything that is cached of it; the exit code."""
    code = mounts.unmount(path) or _export(pool)
    if code == 0:
        _stop()
        for device in pool.devices.values():
            os.fsync(device)
            system_calls.drop_buffers(device)  # zfs-fuse reads through them, and they stay while the helper lives
    return code


def sync(pool: Pool) -> int:
    """Have zfs-fuse write everything out: it hears nothing of syncfs(2), but a new property waits for the disk."""
    if not has_daemon():
        return 0
    code = _call("zfs", "set", f"fswizard:synced={time.monotonic_ns()}", pool.name)
    for device in pool.devices.values():
        os.fsync(device)
    return code


def discard(pool: Pool) -> None:
    """Whatever became of it, the pool is imported nowhere from here on."""
    if has_daemon():
        _stop()
    elif is_imported(pool.name):
        destroy(pool.name)


def forget(pool: Pool) -> None:
    """Take the devices' nodes away."""
    with contextlib.suppress(OSError):
        for name in os.listdir(pool.directory):
            os.unlink(f"{pool.directory}/{name}")
        os.rmdir(pool.directory)


def is_imported(name: str) -> bool:
    return name in _asked("list", "-H", "-o", "name").split()


def destroy(name: str) -> int:
    return _zpool("destroy", "-f", name)


def reclaim(name: str) -> None:
    """Destroy a pool of the kernel's module that a killed run left imported; Refusal where it may be another's."""
    if not NAME.fullmatch(name):
        raise Refusal("refused", f"{name!r:.40} is no pool of a run")
    pool = Pool(name, -1)
    if not has_daemon() and os.path.exists(KERNEL_NODE) and is_imported(name):
        mark = _output(("zfs", "get", "-H", "-o", "value", MARK, name)).strip()
        if mark != name or pool.node not in _asked("status", "-P", name):
            raise Refusal("refused", f"{name} does not bear the mark of a run")
        if destroy(name):
            raise Refusal("failed", f"{name} cannot be destroyed")
    forget(pool)


def counters(pool: Pool) -> dict[str, int]:
    """Errors since the pool was made, as `zpool status` tells."""
    now = errors(_asked("status", pool.name))
    return {name: pool.counted.get(name, 0) + now.get(name, 0) for name in (*COUNTERS, "data_errors")}


def note_errors(pool: Pool) -> None:
    """Remember what the pool has counted, before it is exported."""
    with contextlib.suppress(OSError):  # it is asked again when the candidate is checked
        pool.counted |= counters(pool)


def end(pool: Pool, mounted: Mount | None) -> None:
    """Destroy a pool of the kernel's module: it would outlive the helper."""
    if mounted is not None:
        mounts.unmount(mounted.path)
    with contextlib.suppress(OSError):
        discard(pool)


def errors(status: str) -> dict[str, int]:
    """The figures in the output of `zpool status`: of each column its highest, and how many files are damaged."""
    rows = re.findall(r"^\t\s*\S+\s+[A-Z]+\s+(\S+)\s+(\S+)\s+(\S+)", status, re.MULTILINE)
    figures = [[_number(text) for text in row] for row in rows if all(text[0].isdigit() for text in row)]
    found = {name: max((row[column] for row in figures), default=0) for column, name in enumerate(COUNTERS)}
    damaged = re.search(r"^errors: (\d+) data errors", status, re.MULTILINE)
    return {**found, "data_errors": int(damaged[1]) if damaged else 0}


def _number(text: str) -> int:
    """`12`, or `1.5K` as older versions write it."""
    return int(float(text.rstrip("KMGT")) * FACTORS[text[len(text.rstrip("KMGT")) :]])


def _prepare(pool: Pool) -> None:
    """Directories that this namespace alone has, and the devices' nodes."""
    stage.prepare()
    for directory in DAEMON_DIRECTORIES if has_daemon() else ():
        stage.hide(directory)
    os.makedirs(pool.directory, 0o700, exist_ok=True)
    for node, device in pool.devices.items():
        if not os.path.exists(node):
            os.mknod(node, stat.S_IFBLK | 0o600, os.fstat(device).st_rdev)


def _mount(pool: Pool, directory: int, person: Person) -> int:
    if not os.path.ismount(stage.MOUNT):  # zfs-fuse has mounted it already
        code = _call("zfs", "mount", pool.name)
        if code:
            return code
    os.chown(stage.MOUNT, person.uid, person.gid)
    os.chmod(stage.MOUNT, 0o700)
    stage.move(directory)
    return 0


def _export(pool: Pool) -> int:
    argv = [programs.find("zpool"), "export", pool.name]

    def export() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(argv, env=programs.ROOT_ENVIRONMENT, stderr=subprocess.PIPE, check=False)

    return waiting.let_go(export, (b"busy",), BUSY_LIMIT_S)


@contextlib.contextmanager
def _daemon() -> Iterator[None]:
    _start()
    try:
        yield
    finally:
        _stop()


def _start() -> None:
    """Start zfs-fuse and wait until it answers; OSError where it does not."""
    if not has_daemon():
        return
    _stop()
    argv = [programs.find(DAEMON), "--no-daemon", "--no-kstat-mount"]
    with open(LOG, "wb") as log:
        daemon = subprocess.Popen(
            argv, env=programs.ROOT_ENVIRONMENT, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    argv = [programs.find("zpool"), "list"]

    def answers() -> bool:
        done = subprocess.run(argv, env=programs.ROOT_ENVIRONMENT, capture_output=True, check=False)
        return done.returncode == 0

    if not waiting.until(answers, lambda answered: answered or daemon.poll() is not None, START_LIMIT_S):
        raise OSError(f"zfs-fuse does not answer. {Path(LOG).read_text('utf-8', 'replace')[-2000:]}")


def _stop() -> None:
    """End zfs-fuse, by force: it would wait three seconds for threads that have nothing left to do."""
    if has_daemon():
        processes.end(DAEMON, STOP_LIMIT_S, signal.SIGKILL)


def _zpool(*arguments: str) -> int:
    return _call("zpool", *arguments)


def _call(program: str, *arguments: str) -> int:
    return subprocess.call([programs.find(program), *arguments], env=programs.ROOT_ENVIRONMENT)


def _asked(*arguments: str) -> str:
    return _output(("zpool", *arguments))


def _output(argv: tuple[str, ...]) -> str:
    """What a program says; OSError where it fails or does not answer."""
    try:
        return subprocess.run(
            [programs.find(argv[0]), *argv[1:]], env=programs.ROOT_ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, check=True, timeout=ANSWER_LIMIT_S,
        ).stdout.decode("utf-8", "replace")  # fmt: skip
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise OSError(f"{' '.join(argv[:2])} failed: {(error.stderr or b'').decode('utf-8', 'replace')}") from error
