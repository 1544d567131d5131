"""What the helper runs, word for word, and who may have changed the programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.privileged import commands, grammar, groups, programs
from fswizard.privileged.protocol import Refusal
from tests.fakes.clock import SimulatedClock
from tests.fakes.machine import make_program

NAME = "fswizard-0123456789abcdef"
MOUNT = "mount --no-canonicalize --no-mtab"
CALLED = commands.DeviceNames(("/dev/loop0", "/dev/loop1"), "/dev/loop0", NAME, groups.uuid_of(NAME), "/m")
"""What the helper's commands call two devices, and what is made of them."""


def words(*argvs: commands.Command) -> list[str]:
    return [" ".join(argv) for argv in argvs]


@pytest.mark.parametrize(("kind", "alone"), [("ext4", " --internal-only"), ("ntfs-3g", "")])
def test_a_mount_looks_nothing_up_and_starts_no_program_but_a_filesystem_that_is_one(kind: str, alone: str) -> None:
    (told,) = words(*commands.mount(CALLED, kind, ("noatime",), 1000, 1000))
    added = ",".join(grammar.added_options(kind, 1000, 1000))
    assert told == f"{MOUNT}{alone} -t {kind} -o noatime,{added} /dev/loop0 /m"


def test_members_forget_and_a_missing_device_is_put_out_of_use() -> None:
    assert words(commands.wipe("/dev/sda")) == ["wipefs --all /dev/sda"]
    assert words(*commands.stop_array("/dev/md127", ("/dev/sda", "/dev/sdb"))) == [
        "mdadm --stop --config=none /dev/md127",
        "mdadm --zero-superblock --config=none /dev/sda",
        "mdadm --zero-superblock --config=none /dev/sdb",
    ]
    told = words(*commands.create_pool(CALLED, (), "mirror", missing=1))
    assert told[1:] == [f"zpool offline {NAME} /dev/{NAME}/disk-2", f"zpool export {NAME}"]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for the cleaner writes down what it was started with."""
    make_program(tmp_path, commands.CLEANER, f'echo "$*" >> {tmp_path}/told')
    monkeypatch.setattr(programs, "find", lambda name: str(tmp_path / name))
    return tmp_path / "told"


@pytest.mark.parametrize(
    ("options", "kernel", "arguments"),
    [
        ("noatime,lazytime", "noatime,lazytime", "/dev/loop0 /m\n"),
        ("pp=600,order=strict", "order=strict", "-p 600 /dev/loop0 /m\n"),
        ("nogc,noatime", "noatime", None),
        ("ro", "ro", None),
    ],
)
def test_options_go_to_whom_they_mean(options: str, kernel: str, arguments: str | None, told: Path) -> None:
    mount, *starting = commands.mount(CALLED, "nilfs2", options.split(","), 1000, 1000)
    assert mount[-4:] == ("-o", f"{kernel},errors=remount-ro,nosuid,nodev", "/dev/loop0", "/m")
    assert [programs.call(command) for command in starting] == [0] * len(starting)
    assert (told.read_text() if told.exists() else None) == arguments


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a program is looked for: below a directory that is root's alone."""
    place = Path(tempfile.mkdtemp(prefix=".fswizard-test-", dir="/root"))
    make_program(place / "bin", "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", f"{place}/current/bin")
    (place / "current").symlink_to(place)
    yield place
    shutil.rmtree(place)


def test_the_systems_own_programs_are_found_and_one_that_everybody_could_replace_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert programs.find("mount").endswith("/mount")
    assert "/usr/local" not in programs.ROOT_PATH
    # The sticky bit of /tmp does not keep anybody from putting something where nothing was.
    make_program(tmp_path, "mkfs.ext4", "exit 0")
    monkeypatch.setattr(programs, "ROOT_PATH", str(tmp_path))
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")
    with pytest.raises(Refusal, match=r"mkfs\.none is not installed"):
        programs.find("mkfs.none")


@pytest.mark.root
def test_a_program_behind_links_is_found_and_the_store_of_nixos_may_be_added_to(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "bin" / "mkfs.ext3").symlink_to("../bin/./mkfs.ext4")
    assert programs.find("mkfs.ext3") == f"{place}/current/bin/mkfs.ext3"
    monkeypatch.setattr(programs, "NIX_STORE", str(place / "bin"))
    (place / "bin").chmod(0o1775)
    assert programs.find("mkfs.ext4")
    (place / "bin").chmod(0o775)
    with pytest.raises(Refusal):
        programs.find("mkfs.ext4")


@pytest.mark.root
@pytest.mark.parametrize("changeable", ["", "bin", "bin/mkfs.ext4"])
@pytest.mark.parametrize("how", ["group", "everybody", "owner"])
def test_who_can_change_anything_on_the_way_could_change_the_program(place: Path, changeable: str, how: str) -> None:
    at = place / changeable
    if how == "owner":
        os.chown(at, 65534, 65534)
    else:
        at.chmod(at.stat().st_mode | (0o020 if how == "group" else 0o1002))
    with pytest.raises(Refusal, match=f"others can change {place}"):
        programs.find("mkfs.ext4")


@pytest.mark.root
def test_a_link_of_somebody_elses_leads_nowhere(place: Path) -> None:
    os.chown(place / "current", 65534, 65534, follow_symlinks=False)
    with pytest.raises(Refusal, match="others can change"):
        programs.find("mkfs.ext4")


# What is asked again for a while


BUSY, DONE, BAD = (1, b"Device is BUSY\n"), (0, b""), (1, b"No such device\n")


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> SimulatedClock:
    simulated = SimulatedClock()
    monkeypatch.setattr(programs, "time", simulated)
    return simulated


def answering(*answers: tuple[int, bytes]) -> Iterator[subprocess.CompletedProcess[bytes]]:
    """One after the other; the last one again and again."""
    while True:
        for code, stderr in answers:
            yield subprocess.CompletedProcess(("mdadm",), code, b"", stderr)


def test_it_is_asked_once_or_until_it_is_over_or_given_up_with_the_last_answer(time: SimulatedClock) -> None:
    began_s, answers = time.monotonic(), iter(range(100))
    assert programs.poll(lambda: "yes", bool, 10.0) == "yes"
    assert time.monotonic() == began_s, "once where that is enough"
    assert programs.poll(lambda: next(answers), lambda number: number == 7, 10.0) == 7
    began_s = time.monotonic()
    assert programs.poll(lambda: time.monotonic() - began_s, lambda _: False, 10.0) == pytest.approx(10.0, abs=0.02)


@pytest.mark.usefixtures("time")
@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ((DONE,), 0, b""),
        ((BUSY, BUSY, DONE), 0, b""),
        ((BUSY, BAD, DONE), 1, b"No such device\n"),
        ((BUSY,), 1, b"Device is BUSY\n"),
    ],
    ids=["free", "let go later", "another failure", "never let go"],
)
def test_a_program_runs_again_while_something_is_in_use(
    answers: tuple[tuple[int, bytes], ...], code: int, said: bytes, capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    runs = answering(*answers)
    monkeypatch.setattr(programs, "run", lambda command: next(runs))
    assert programs.run_until_free(("mdadm", "--stop"), (b"busy",), 10.0) == code
    assert capfdbinary.readouterr().err == said, "of its last run alone"


@pytest.mark.usefixtures("time")
def test_a_daemon_that_stays_is_told_from_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([[11, 12], [12], []])
    monkeypatch.setattr(programs, "pids_of", lambda name: next(left))
    monkeypatch.setattr("os.waitpid", lambda pid, options: (0, 0))
    assert programs.gone("mount.ntfs-3g", 20.0)
    monkeypatch.setattr(programs, "pids_of", lambda name: [12])
    assert not programs.gone("mount.ntfs-3g", 20.0)
