"""Says at the start which tests this machine allows; keeps them apart from the user's files, and from each other."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
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


def _runs(*argv: str) -> bool:
    return commands.find(argv[0]) is not None and commands.query(argv).exit_code == 0


def _has_cgroup() -> bool:
    with memory_limit.limited(memory_limit.LEAST_BYTES) as limit:
        return limit is not None


FILESYSTEMS = {"xfs": "xfs", "btrfs": "btrfs", "ntfs_3g": "ntfs-3g"}
PROGRAMS = {
    "fio": ("fio", "fio"),
    "sfdisk": ("sfdisk", "fdisk"),
    "shellcheck": ("shellcheck", "shellcheck"),
    "borg": ("borg", "borgbackup"),
    "rsync": ("rsync", "rsync"),
    "sqlite3": ("sqlite3", "sqlite3"),
    "strace": ("strace", "strace"),
    "dpkg": ("dpkg-deb", "dpkg"),
    "cc": ("cc", "gcc libc6-dev"),
    "rsvg": ("rsvg-convert", "librsvg2-bin"),
    "nbd": ("nbdkit nbdfuse /dev/fuse", "nbdkit libnbd-bin fuse3"),
    "nbdkit_plugin": (f"{real_time.HEADER} cc", "nbdkit-plugin-dev gcc libc6-dev"),
    "udisks": (
        "/lib/systemd/systemd-udevd /usr/libexec/udisks2/udisksd /usr/lib/polkit-1/polkitd "
        "dbus-daemon dbus-send udiskie",
        "udev udisks2 dbus polkitd udiskie",
    ),
    "uml": (f"{kernel.SOURCES} cc make flex bison bc", kernel.PACKAGES),
    "vm": ("qemu-system-x86_64 mmdebstrap genext2fs", "qemu-system-x86 mmdebstrap genext2fs"),
}
"""Programs and files that tests with a marker need, and the packages of Debian that have them."""
RIGHTS: dict[str, tuple[Callable[[], bool], str]] = {
    "root": (lambda: os.geteuid() == 0, "not root; sudo make test"),
    "cgroup": (_has_cgroup, "not root, or the kernel offers no memory cgroup; sudo make test, or leave the container"),
    "loop": (
        lambda: os.geteuid() == 0 and _runs("losetup", "--find"),
        "not root, or the kernel offers no loop device; sudo make test, modprobe loop, or leave the container",
    ),
    "sudo": (lambda: _runs("sudo", "-n", "true"), "no sudo without a password; install it, or run `sudo true` first"),
}
"""What else markers stand for: whether it is there, and what to do otherwise."""
MARKERS = (*RIGHTS, *FILESYSTEMS, *PROGRAMS)


@cache
def lack_of(marker: str) -> str:
    """Why tests with a marker cannot run here; empty if they can."""
    if marker in RIGHTS:
        there, lack = RIGHTS[marker]
        return "" if there() else lack
    if marker in FILESYSTEMS:
        state = availability(catalogue()[FILESYSTEMS[marker]])
        return "" if state.usable else f"{state.reason} {state.hint}"
    wanted, packages = (words.split() for words in PROGRAMS[marker])
    if all(Path(each).exists() if "/" in each else commands.find(each) for each in wanted):
        return ""
    return f"{' '.join(packages)} not installed; {' '.join(programs.install_command(packages))}"


LOCKED = ("conftest.py", "builders.py")
"""Files that say whose turn it is, and who uses devices."""

_CLONE_NEWNS, _MS_REC, _MS_SLAVE, _MS_SHARED = 0x20000, 0x4000, 0x80000, 0x100000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes, too")


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", f"{marker}: skipped where that is not to be had")
    config.addinivalue_line("markers", "slow: takes long on purpose; runs with --slow, in a part of make test-all")
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


def pytest_report_header(config: pytest.Config) -> list[str]:
    lacks = {marker: lack_of(marker) for marker in MARKERS}
    lines = [f"tests on: {', '.join(marker for marker in lacks if not lacks[marker]) or 'plain ones only'}"]
    lines += [f"tests off: {marker} ({lack})" for marker, lack in lacks.items() if lack]
    return lines if config.getoption("--slow") else [*lines, "tests off: slow (add --slow)"]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("slow") and not item.config.getoption("--slow"):
        pytest.skip("slow: add --slow")
    for marker in MARKERS:
        if item.get_closest_marker(marker) and (lack := lack_of(marker)):
            pytest.skip(f"{marker}: {lack}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A desktop session has a udevd, which looks at every device, so no other test has a device at the same time.

    A test that waits for all devices holds up later ones, so that its turn comes.
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
