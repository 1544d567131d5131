"""What an account did whose one right is to start the helper for images, and can do no more."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.channel import AS_NOBODY, BARE, NOBODY, Channel, changed_helper, refused
from tests.loop.failing_host import failing_disk
from tests.loop.machine_state import LIMIT_S, loops_below, wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop]

BAD_START = """
import os, resource, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGALRM, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 1.5)
for limit in ("FSIZE", "STACK", "CPU"):
    number = getattr(resource, f"RLIMIT_{limit}")
    resource.setrlimit(number, (8 << 20, resource.getrlimit(number)[1]))
os.umask(0)
for number in range(3, 40):
    os.dup2(0, number)
    os.set_inheritable(number, True)
resource.setrlimit(resource.RLIMIT_NOFILE, (60, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory of nobody's that nobody reaches."""
    for directory in (tmp_path, *tmp_path.parents[:3]):
        if directory.stat().st_uid == os.getuid() and directory != Path("/tmp"):
            directory.chmod(directory.stat().st_mode | 0o711)
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, NOBODY, NOBODY)
    return place


def of_nobody(*before: str, program: Path | None = None) -> Channel:
    return Channel(before=(*AS_NOBODY, *before), SUDO_UID=str(NOBODY), **({"program": program} if program else {}))


def said(channel: Channel, directory: Path, *argv: str) -> dict[str, object]:
    return channel.ask("run", argv=list(argv), cwd=str(directory), env={}, memory_bytes=0)


def test_no_answer_says_what_lies_where_the_user_cannot_look(place: Path) -> None:
    closed = place.parent / "closed"
    closed.mkdir(0o700)
    shutil.copy("/bin/sleep", closed / "sleeper")
    with of_nobody() as channel:
        answers = [said(channel, place, str(closed / name), "1") for name in ("sleeper", "nothing")]
        for answer, name in zip(answers, ("sleeper", "nothing")):
            refused(answer, code="missing")
            assert answer["error"]["text"] == f"{closed / name} is not installed"  # type: ignore[index]
        places = [said(channel, directory, "true") for directory in (closed, closed / "nothing")]
        assert [answer["error"]["text"].split(": ")[1] for answer in places] == ["Permission denied"] * 2  # type: ignore[index]


def test_nothing_that_the_caller_sets_reaches_the_helper_and_its_limits_reach_the_users_programs(place: Path) -> None:
    with of_nobody("/usr/bin/python3", "-c", BAD_START) as channel:
        assert channel.ask("hello")["ok"]["uid"] == NOBODY
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{channel.helper_pid}/status").read_text().splitlines()
        )
        assert (status["Umask"], int(status["SigBlk"], 16)) == ("0077", 0)
        ignored = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE}
        settable = sum(1 << (number - 1) for number in signal.valid_signals())  # the C library keeps two for itself
        assert int(status["SigIgn"], 16) & settable == sum(1 << (number - 1) for number in ignored)
        assert resource.prlimit(channel.helper_pid, resource.RLIMIT_NOFILE)[0] == 4096
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS):
            assert resource.prlimit(channel.helper_pid, limit)[0] == resource.RLIM_INFINITY
        links = [os.readlink(link) for link in Path(f"/proc/{channel.helper_pid}/fd").iterdir()]
        assert len([link for link in links if link.startswith("socket:")]) == 1
        out = place / "limits"
        assert said(channel, place, "sh", "-c", "ulimit -n > limits; ulimit -f >> limits")["ended"]["exit_code"] == 0  # type: ignore[index]
        assert out.read_text().split() == ["60", str((8 << 20) // 512)]
        answer = channel.ask("attach", given=os.open(place, os.O_RDONLY), size_bytes=64 << 20)
        assert answer["ended"]["exit_code"] != 0, "the user's own limit of file sizes holds"


def test_with_few_descriptors_an_image_keeps_its_blocks_all_the_same(place: Path) -> None:
    with of_nobody("sh", "-c", 'ulimit -S -n 16; exec "$@"', "sh") as channel:
        handle = channel.attach(place)
        (device,) = loops_below(place)
        assert Path("/sys/block", device.split()[0], "queue/discard_max_bytes").read_text() == "0\n"
        assert "ok" in channel.ask("detach", handle=handle)


def test_a_limit_that_the_helper_cannot_lift_is_its_end() -> None:
    """Without CAP_SYS_RESOURCE, as in some containers."""
    lower = ("setpriv", "--bounding-set=-sys_resource", "sh", "-c", 'ulimit -n 16; exec "$@"', "sh")
    with of_nobody(*lower) as channel:
        refused(channel.ask("hello"), "the limit RLIMIT_NOFILE can't be set")


def test_room_that_is_promised_to_one_image_is_promised_to_no_other(place: Path) -> None:
    """The kernel takes an image's room as it is made, from what the user may have."""
    with of_nobody() as channel:
        channel.attach(place, 256 << 20)
        statuses = [link.stat() for link in Path(f"/proc/{channel.helper_pid}/fd").iterdir()]
        status = next(status for status in statuses if status.st_size == 256 << 20)
        assert status.st_blocks * 512 >= 256 << 20
        assert (status.st_uid, status.st_nlink) == (NOBODY, 0), "quotas count it as the user's"


@pytest.fixture
def impatient(tmp_path: Path) -> Path:
    """The helper, with a short time limit for what a filesystem of the user's may take."""
    return changed_helper(tmp_path, {"BEGIN_LIMIT_S = 10.0": "BEGIN_LIMIT_S = 0.3"})


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """A directory of a FUSE filesystem whose server is stopped."""
    with failing_disk(tmp_path) as disk:
        (pid,) = [int(each) for each in subprocess.check_output(["pgrep", "-f", f"nbdfuse {tmp_path}"]).split()]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield disk.file.parent
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.nbd
def test_a_filesystem_that_never_answers_keeps_neither_the_helper_nor_its_devices(
    silent: Path, impatient: Path, tmp_path: Path
) -> None:
    given = os.open(silent, os.O_PATH)
    with Channel(program=impatient) as channel:
        channel.attach(tmp_path)
        for answer in (
            said(channel, silent / "below", "true"),
            channel.ask("attach", given=given, size_bytes=64 << 20),
        ):
            refused(answer, "did not answer within 0.3 s", code="failed")
        assert channel.ask("hello")["ok"]["uid"] == 0
    wait_until(lambda: not loops_below(tmp_path / "#"), LIMIT_S, "its devices are gone")
    assert channel.process.returncode is not None


@pytest.mark.nbd
def test_no_image_is_made_where_a_program_serves_the_filesystem(tmp_path: Path) -> None:
    with failing_disk(tmp_path) as disk, Channel() as channel:
        given = os.open(disk.file.parent, os.O_PATH)
        refused(channel.ask("attach", given=given, size_bytes=64 << 20), "(FUSE)")


def test_a_client_that_closes_its_line_and_never_reads_ends_the_helper(tmp_path: Path) -> None:
    channel = Channel()
    channel.run(tmp_path, "head", "-c", "24000000", "/dev/zero")
    channel.send(json.dumps({"id": 2, "verb": "bare", "handle": 1, **BARE}).encode())
    channel.line.close()
    wait_until(lambda: channel.process.poll() is not None, LIMIT_S, "the helper ends")
    assert channel.process.stdout
    channel.process.stdout.close()


UDEV = """
import os, shutil, subprocess, sys, time
from pathlib import Path
place = Path(sys.argv[1])
sys.path[:0] = sys.argv[2:]
from tests.loop.channel import Channel

def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

def links(device):
    there = [link for link in Path("/dev/disk").rglob("*") if link.is_symlink() and link.resolve().name == device]
    return [str(link) for link in there if link.parent.name != "by-diskseq"]  # that says nothing of what lies there

for directory in ("/run", "/dev/disk"):
    os.makedirs(directory, exist_ok=True)
    run("mount", "-t", "tmpfs", "tmpfs", directory)
os.mkdir("/run/udev")
program = shutil.which("systemd-udevd", path="/lib/systemd:/usr/lib/systemd")
udevd = subprocess.Popen([program], stderr=subprocess.DEVNULL)

def named(label):
    image = place / label
    image.write_bytes(b"")
    os.truncate(image, 64 << 20)
    run("mkfs.ext4", "-q", "-F", "-L", label, str(image))
    device = Path(run("losetup", "--find", "--show", str(image))).name
    end = time.monotonic() + 60
    while not (found := links(device)) and time.monotonic() < end:
        time.sleep(0.05)
    return device, found

try:
    while subprocess.run(["udevadm", "control", "--ping"], capture_output=True).returncode and udevd.poll() is None:
        time.sleep(0.05)
    devices = [named("before")]
    with Channel() as channel:
        handle = channel.attach(place)
        own = next(link.parts[3] for link in Path("/sys/block").glob("loop1*/loop/backing_file")
                   if link.read_text().startswith(f"{place}/#"))
        for verb, fields in (("mkfs", {"filesystem": "ext4", "arguments": ["-q"]}),
                             ("mount", {"filesystem": "ext4", "options": []})):
            assert channel.ask(verb, handle=handle, **fields)["ended"]["exit_code"] == 0
        devices.append(named("after"))
        print(own, links(own), [found for _, found in devices])
    for device, _ in devices:
        run("losetup", "--detach", f"/dev/{device}")
finally:
    udevd.kill()
    udevd.wait()
"""


@pytest.mark.udevd
def test_udev_gives_no_name_to_what_lies_on_a_device_of_the_helpers(tmp_path: Path) -> None:
    """With a udevd of its own, which names what is attached before and after. Costs what starting udevd does."""
    program = [sys.executable, "-c", UDEV, str(tmp_path), str(Path(__file__).parents[2])]
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "slave", *program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    own, rest = done.stdout.split(" ", 1)
    ours, others = rest.split("] [[")
    assert (own[:5], ours) == ("loop1", "["), "the device of the helper has no name"
    assert "/dev/disk/by-label/before" in others and "/dev/disk/by-label/after" in others
