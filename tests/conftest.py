"""Says at the start which tests this machine allows; keeps them apart from the user's files, and from each other."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from fswizard import language
from fswizard.disks import memory_limit
from fswizard.disks.locations import IN_MEMORY, filesystem_type
from fswizard.filesystems import availability, catalogue
from fswizard.system import commands, programs
from tests.long.simulated import real_time
from tests.long.uml import kernel

REQUIRE_ALL = bool(os.environ.get("FSWIZARD_REQUIRE_ALL"))
"""Set in CI: a test that cannot run for want of something fails instead of being skipped."""

for _name in ("SUDO_UID", "PKEXEC_UID", "DOAS_USER"):
    os.environ.pop(_name, None)  # root's runs in tests are root's, not those of whoever started the tests by sudo

# A shell without job control starts what it puts in the background with SIGINT ignored, as nohup does with SIGHUP, and
# programs pass that on. The programs under test start as in a terminal all the same.
for _number, _usual in {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}.items():
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _usual)


@dataclass(frozen=True)
class Lack:
    """Why tests with a marker cannot run here, and how to get what they need."""

    why: str
    how: str

    def __str__(self) -> str:
        return f"{self.why}; {self.how}"


def _root() -> Lack | None:
    return None if os.geteuid() == 0 else Lack("not root", "sudo make test")


def _cgroup() -> Lack | None:
    how = "leave the container, or mount the memory controller at /sys/fs/cgroup"
    there = any(way.startswith("cgroup") for way in memory_limit.ways())
    return None if there else Lack("the kernel offers no memory cgroup that is root's", how)


def _loop() -> Lack | None:
    if (lack := _root()) is not None:
        return lack
    found = subprocess.run(["losetup", "--find"], capture_output=True, check=False).returncode == 0
    return None if found else Lack("the kernel offers no loop device", "modprobe loop, or leave the container")


def _sudo() -> Lack | None:
    if commands.find("sudo") is None:
        return _package("sudo")
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    return None if allowed else Lack("sudo asks for a password", "run `sudo true` first, or run them as root")


def _program(*names: str, package: str) -> Callable[[], Lack | None]:
    return lambda: _package(package) if any(commands.find(name) is None for name in names) else None


def _filesystem(name: str) -> Callable[[], Lack | None]:
    def look() -> Lack | None:
        state = availability(catalogue()[name])
        return _loop() if state.usable else Lack(state.reason.rstrip("."), state.hint)

    return look


def _nbd() -> Lack | None:
    if commands.find("nbdkit") is None or commands.find("nbdfuse") is None:
        return _package("nbdkit libnbd-bin fuse3")
    return None if Path("/dev/fuse").exists() else Lack("the kernel offers no /dev/fuse", "modprobe fuse")


def _nbdkit_plugin() -> Lack | None:
    there = real_time.HEADER.exists() and commands.find("cc") is not None
    return None if there else _package("nbdkit-plugin-dev gcc libc6-dev")


def _udevd() -> Lack | None:
    there = any(Path(place, "systemd-udevd").exists() for place in ("/lib/systemd", "/usr/lib/systemd"))
    return None if there else _package("udev")


def _udisks() -> Lack | None:
    if (lack := _root()) is not None:
        return lack
    there = Path("/usr/libexec/udisks2/udisksd").exists() and Path("/usr/lib/polkit-1/polkitd").exists()
    programs_there = all(map(commands.find, ("dbus-daemon", "dbus-send", "udiskie")))
    return None if there and programs_there and _udevd() is None else _package("udisks2 dbus polkitd udev udiskie")


def _uml() -> Lack | None:
    there = kernel.SOURCES.exists() and all(map(commands.find, ("cc", "make", "flex", "bison", "bc")))
    return None if there else _package(kernel.PACKAGES)


def _package(names: str) -> Lack:
    return Lack(f"{names} not installed", " ".join(programs.install_command(names.split())))


_VM_PACKAGES = "qemu-system-x86 mmdebstrap genext2fs"
NEEDS: dict[str, tuple[str, Callable[[], Lack | None]]] = {
    "root": ("needs root", _root),
    "cgroup": ("limits memory", _cgroup),
    "loop": ("formats and mounts loop devices", _loop),
    "sudo": ("gets root by sudo without a password", _sudo),
    "fio": ("measures with fio", _program("fio", package="fio")),
    "xfs": ("makes XFS", _filesystem("xfs")),
    "btrfs": ("makes btrfs", _filesystem("btrfs")),
    "ntfs_3g": ("makes NTFS", _filesystem("ntfs-3g")),
    "sfdisk": ("partitions a disk", _program("sfdisk", package="fdisk")),
    "shellcheck": ("has a script checked", _program("shellcheck", package="shellcheck")),
    "borg": ("backs up with borg", _program("borg", package="borgbackup")),
    "rsync": ("copies with rsync", _program("rsync", package="rsync")),
    "git": ("asks git", _program("git", package="git")),
    "sqlite3": ("works with sqlite3", _program("sqlite3", package="sqlite3")),
    "strace": ("watches system calls", _program("strace", package="strace")),
    "dpkg": ("unpacks packages", _program("dpkg", "dpkg-deb", package="dpkg")),
    "tmux": ("looks at a real terminal", _program("tmux", package="tmux")),
    "cc": ("compiles C", _program("cc", package="gcc libc6-dev")),
    "rsvg": ("draws an SVG", _program("rsvg-convert", package="librsvg2-bin")),
    "chromium": ("shows a page in a browser", _program("chromium", package="chromium")),
    "nbd": ("simulates failing and slow disks", _nbd),
    "nbdkit_plugin": ("compiles a plugin of nbdkit", _nbdkit_plugin),
    "udevd": ("starts a udevd", _udevd),
    "udisks": ("has the services of a desktop session", _udisks),
    "uml": ("runs a simulated machine", _uml),
    "vm": ("boots a virtual machine", _program("qemu-system-x86_64", "mmdebstrap", "genext2fs", package=_VM_PACKAGES)),
}


@cache
def lack_of(marker: str) -> Lack | None:
    return NEEDS[marker][1]()


LOCKED = ("conftest.py", "builders.py")
"""Files that say whose turn it is, and who uses devices."""
ROOMS = ("long", "loop", "tui", "unit")
"""The order of the rooms: long tests first, so that at the end no worker waits for another one's long test."""

_CLONE_NEWNS, _MS_REC, _MS_SLAVE, _MS_SHARED = 0x20000, 0x4000, 0x80000, 0x100000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes, too")
    parser.addoption("--smoke", action="store_true", help="of the tests of the screens, only those marked smoke")


def pytest_configure(config: pytest.Config) -> None:
    for marker, (text, _) in NEEDS.items():
        config.addinivalue_line("markers", f"{marker}: {text}")
    config.addinivalue_line("markers", "slow: takes long on purpose; runs with --slow, in a part of make test-all")
    config.addinivalue_line("markers", "smoke: of the tests of the screens, one of the few that make quick runs")
    # No deadline, as other programs may keep the machine busy; in CI the same examples each time, elsewhere new ones.
    examples = 100 if config.getoption("--slow") else 20
    settings.register_profile("fswizard", deadline=None, derandomize=REQUIRE_ALL, max_examples=examples)
    settings.load_profile("fswizard")
    if filesystem_type(tempfile.gettempdir()) in IN_MEMORY:  # images must lie on a disk
        tempfile.tempdir = os.environ["TMPDIR"] = "/var/tmp"
    if os.geteuid() == 0:
        _keep_mounts_to_ourselves()


def _keep_mounts_to_ourselves() -> None:
    """Mounts of this process's tests are seen by them alone, and go with it, so that runs side by side do not meet.

    What is unmounted here goes in namespaces below, too, as on a desktop: a run's copy would keep a device busy.
    Without the right to do so, which a container may lack, nothing can be mounted either.
    """
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNS) == 0:
        for kind in (_MS_SLAVE, _MS_SHARED):
            assert libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | kind), None) == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        room = item.path.relative_to(Path(__file__).parent).parts[0]
        return ROOMS.index(room) if room in ROOMS else len(ROOMS)

    items.sort(key=place)
    if config.getoption("--smoke"):
        screens = [item for item in items if item.path.parent.name == "tui"]
        config.hook.pytest_deselected(items=[item for item in screens if not item.get_closest_marker("smoke")])
        items[:] = [item for item in items if item not in screens or item.get_closest_marker("smoke")]


def pytest_report_header(config: pytest.Config) -> list[str]:
    lacks = {marker: lack_of(marker) for marker in NEEDS}
    lines = [f"tests on: {', '.join(marker for marker, lack in lacks.items() if lack is None) or 'plain ones only'}"]
    lines += [f"tests off: {marker} ({lack})" for marker, lack in lacks.items() if lack is not None]
    if not config.getoption("--slow"):
        lines.append("tests off: slow (add --slow)")
    return lines


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("slow") and not item.config.getoption("--slow"):
        pytest.skip("slow: add --slow")
    for marker in NEEDS:
        lack = lack_of(marker) if item.get_closest_marker(marker) else None
        if lack is not None:
            pytest.skip(f"{marker}: {lack}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A desktop session has a udevd, which looks at every device: no other test has one meanwhile.

    Whoever wants all devices for itself holds up who comes later, so that its turn comes.
    """
    alone = item.get_closest_marker("udisks") is not None
    if not alone and item.get_closest_marker("loop") is None:
        return (yield)
    with ExitStack() as held:
        turn, devices = (held.enter_context(Path(__file__).with_name(name).open()) for name in LOCKED)
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(devices, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_UN)
        try:
            return (yield)
        finally:
            fcntl.flock(devices, fcntl.LOCK_UN)  # a child that is left may have it open, too


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail") and not item.get_closest_marker("slow"):
        report.outcome = "failed"
        report.longrepr = f"skipped although everything is required here: {report.longrepr[2]}"
    return report


@pytest.fixture(autouse=True)
def _own_directories() -> Iterator[None]:
    """Results, recipes and caches of a test are its own, and it reads English."""
    with tempfile.TemporaryDirectory(prefix="fswizard-test-") as home, pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(Path(home, name.lower())))
        for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
            patch.delenv(name, raising=False)
        patch.setenv("LANG", "C.UTF-8")
        yield
        language.choose(language.ENGLISH)
