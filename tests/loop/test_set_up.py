"""A disk is set up for good, as root or by the script, on a machine with a copy of /etc."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fswizard.disks.set_up_plan import SetUpPlan, plan_set_up, script, undo_commands
from fswizard.drives.contents import probe
from fswizard.filesystems import parse_candidate
from tests.builders import write_result
from tests.fakes.machine import make_program
from tests.loop.devices import BTRFS_SIZE, SIZE, START, Bench, Case, digest, partition, run
from tests.loop.private_machine import FSTAB, PrivateMachine, order, private_machine, process
from tests.loop.tiny_run import MAIN
from tests.recording import recorded_result

pytestmark = [pytest.mark.root, pytest.mark.loop]

POINT = "/mnt/films"
XFS_SIZE = 310 << 20
ALWAYS = "nosuid,nodev,nofail,x-systemd.device-timeout=5s"
EXT4 = f"{POINT} ext4 errors=remount-ro,{ALWAYS} 0 2"
OWNER = pwd.getpwnam("daemon")
FAILED = 'subprocess.CompletedProcess(command, 3, b"", b"made to fail")'


@pytest.fixture
def disk(bench: Bench) -> Case:
    """A partition, made before the machine is, so that it is no longer mounted when it is removed."""
    return partition(bench)


@pytest.fixture
def machine(bench: Bench, disk: Case) -> PrivateMachine:
    return private_machine(bench)


@pytest.fixture(autouse=True)
def by_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was called by another account, which becomes the owner."""
    monkeypatch.setenv("SUDO_UID", str(OWNER.pw_uid))


def planned(device: str, candidate: str = "ext4") -> SetUpPlan:
    return plan_set_up(parse_candidate(candidate), device, POINT)


def require_in_place(machine: PrivateMachine, columns: str) -> str:
    """The disk is mounted by its line in fstab, and its owner's; the UUID."""
    *before, line = filter(None, machine.fstab.splitlines())
    assert before == FSTAB.splitlines()
    source, *others = line.split()
    assert " ".join(others) == columns
    (copy,) = machine.beside
    assert copy.startswith("fstab.fswizard-2") and (machine.etc / copy).read_text().rstrip("\n") == FSTAB
    assert os.stat(machine.etc / copy).st_mode == os.stat(machine.etc / "fstab").st_mode
    uuid, label, options = machine.said("findmnt", "-no", "UUID,LABEL,OPTIONS", POINT).split()
    assert (f"UUID={uuid}", label) == (source, "films")
    assert {"nosuid", "nodev"} <= {*options.split(",")}
    assert machine.said("stat", "--format=%U", POINT) == "daemon"
    return uuid


def require_untouched(machine: PrivateMachine) -> None:
    assert (machine.fstab.rstrip("\n"), machine.beside) == (FSTAB, [])
    assert machine.said("ls", "-A", "/mnt") == ""
    assert f" {POINT} " not in machine.mounts


def start_over(machine: PrivateMachine) -> None:
    """Take away what stands there of a set-up."""
    if f" {POINT} " in machine.mounts:
        machine.said("umount", POINT)
    machine.said("sh", "-c", f"rm -rf {POINT} /etc/fstab.fswizard-* && printf %s {shlex.quote(FSTAB)} > /etc/fstab")


NTFS = f"{POINT} ntfs-3g uid={OWNER.pw_uid},gid={OWNER.pw_gid},{ALWAYS} 0 0"


@pytest.mark.sfdisk
@pytest.mark.parametrize(
    ("candidate", "size_bytes", "columns"),
    [
        ("ext4:noatime", SIZE, f"{POINT} ext4 noatime,errors=remount-ro,{ALWAYS} 0 2"),
        pytest.param("xfs", XFS_SIZE, f"{POINT} xfs {ALWAYS} 0 0", marks=pytest.mark.xfs),
        pytest.param("btrfs:compress=zstd:1", BTRFS_SIZE, f"{POINT} btrfs compress=zstd:1,{ALWAYS} 0 0",
                     marks=pytest.mark.btrfs),
        pytest.param("ntfs-3g", SIZE, NTFS, marks=pytest.mark.ntfs_3g),
    ],
)  # fmt: skip
def test_a_disk_gets_one_aligned_partition_and_is_made_mounted_and_entered_in_fstab(
    bench: Bench, machine: PrivateMachine, candidate: str, size_bytes: int, columns: str
) -> None:
    disk = bench.attach(bench.file("whole", size_bytes), "--partscan")
    steps, error, said = machine.set_up(order(disk, candidate))
    bench.undo.callback(subprocess.run, ["partx", "--delete", disk], check=False)
    assert error == "", said
    assert len(steps) == len({*steps}) and steps[-1] in ("mounting it", "giving it to its owner")
    uuid = require_in_place(machine, columns)
    assert said["uuid"] == uuid
    assert machine.said("findmnt", "-no", "SOURCE", POINT).startswith(f"{disk}p1")
    table = json.loads(machine.said("sfdisk", "--json", disk))["partitiontable"]
    (part,) = table["partitions"]
    assert table["label"] == "gpt" and part["start"] == START
    assert part["size"] * 512 > size_bytes - (3 << 20)
    for command in undo_commands(POINT, uuid):
        machine.said("sh", "-c", command)
    assert machine.fstab == f"{FSTAB}\n"
    assert machine.said("ls", "-A", "/mnt") == ""


@pytest.mark.sfdisk
def test_a_partitions_path_that_leads_to_another_device_is_not_written(bench: Bench, machine: PrivateMachine) -> None:
    """As in a container, whose /dev keeps nodes of partitions that have got other numbers."""
    disk, other = bench.attach(bench.file("whole"), "--partscan"), bench.disk()
    before = digest(other.file)
    stale = f"subprocess.run(['mount', '--bind', {other.path!r}, '{disk}p1'], check=True)"
    here = f"if command[0] == 'partx': done = real(command, given); {stale}; return done"
    _, error, _ = machine.set_up(order(disk), here)
    bench.undo.callback(subprocess.run, ["partx", "--delete", disk], check=False)
    assert error == "RunFailed"
    assert digest(other.file) == before
    require_untouched(machine)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "in fstab": ({"mount_point": "/mnt/listed"}, "/mnt/listed is in /etc/fstab"),
    "above one in fstab": ({"mount_point": "/mnt/outer"}, "/mnt/outer/in\\x1b[31mner is in /etc/fstab"),
    "mounted": ({"mount_point": "/mnt/mounted"}, "/mnt/mounted exists"),
    "mounted by a dead program": ({"mount_point": "/mnt/dead"}, "/mnt/dead exists"),
    "a link": ({"mount_point": "/mnt/link"}, "/mnt/link exists"),
    "an expected label": ({"mount_point": "/mnt/backup"}, "taken by /etc/fstab"),
    "an escape": ({"mount_point": "/mnt/\x1b[2J"}, "mount point"),
    "an option of mount": ({"candidate": "ext4:suid"}, "no option"),
    "another disk": ({"diskseq": 1}, "no longer the disk"),
    "no disk": ({"number": "../../8:0"}, "no block device"),
    "another serial number": ({"identifier": "Z84"}, "'Z84' is not the"),
    "unseen contents": ({"content_type": ""}, "holds ext4"),
    "a number for a text": ({"mount_point": 7}, "str"),
}


DEAD_MOUNT = """
import ctypes, os
fuse = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
assert ctypes.CDLL(None).mount(b"none", b"/mnt/dead", b"fuse", 0, options) == 0
"""
"""Ends right after it mounted: nobody can ask what is there (ENOTCONN)."""
SEVERAL = """
for order in json.load(sys.stdin):
    try:
        print(json.dumps(["", str(list(setting_up.carry_out(order)))]))
    except setting_up.FswizardError as error:
        print(json.dumps([type(error).__name__, error.message]))
"""
"""Several orders, one after the other."""


def test_what_does_not_fit_is_refused_and_nothing_is_written(bench: Bench, disk: Case) -> None:
    """One machine for all of them, as making it takes a while."""
    made = "cd /mnt && mkdir mounted dead && ln -s nowhere link && mount -t tmpfs none mounted"
    made += f" && {shlex.join([sys.executable, '-c', DEAD_MOUNT])}"
    fstab = f"{FSTAB}\nnone  /mnt/outer/in\x1b[31mner  tmpfs  noauto  0  0\nnone /mnt/listed tmpfs noauto\n"
    machine = private_machine(bench, fstab, made)
    run("mkfs.ext4", "-q", "-L", "archive", disk.path)
    before = digest(disk.file)
    orders = [order(disk.path, **{"content_type": "ext4", **changes}) for changes, _ in REFUSED.values()]
    nonsense = [{}, [], ["ext4"], "ext4", None, {"candidate": "ext4"}]
    done = machine.run(*process(instead=SEVERAL), given=json.dumps([*orders, *nonsense]))
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(orders) + len(nonsense), done.stderr
    for (name, (_, words)), (kind, text) in zip(REFUSED.items(), said):
        assert kind in ("Refused", "UsageError"), (name, kind, text)
        assert words.lower() in text.lower() and "\x1b" not in text, (name, text)
    assert {kind for kind, _ in said[len(orders) :]} == {"Refused"}
    assert (machine.fstab, machine.beside, digest(disk.file)) == (fstab, [], before)


def test_what_others_can_change_is_refused(disk: Case, machine: PrivateMachine) -> None:
    machine.said("chmod", "777", "/mnt")
    assert "Other accounts can change /mnt" in machine.set_up(order(disk.path))[2][0]
    machine.said("chmod", "755", "/mnt")
    (machine.etc / "fstab").chmod(0o666)
    assert "Other accounts can change /etc/fstab" in machine.set_up(order(disk.path))[2][0]


def test_a_loop_device_is_set_up_only_where_its_file_is_roots_alone(
    bench: Bench, disk: Case, machine: PrivateMachine
) -> None:
    for place, mode in ((disk.file, 0o666), (bench.directory, 0o777)):
        before = place.stat().st_mode
        place.chmod(mode)
        assert f"Other accounts can change {place}" in machine.set_up(order(disk.path))[2][0]
        place.chmod(before)
    hidden = f"mount -t tmpfs none {bench.directory} && touch {disk.file}"
    machine.said("sh", "-c", hidden)
    assert "on another file" in machine.set_up(order(disk.path))[2][0]


def test_nobody_else_can_keep_the_lock(bench: Bench, disk: Case, machine: PrivateMachine) -> None:
    lock = machine.etc / "lock"
    etc = os.open(machine.etc, os.O_RDONLY)
    bench.undo.callback(os.close, etc)
    fcntl.flock(etc, fcntl.LOCK_SH)
    with lock.open() as ours:
        fcntl.flock(ours, fcntl.LOCK_SH)
        assert "being set up" in machine.set_up(order(disk.path))[2][0]
        fcntl.flock(ours, fcntl.LOCK_UN)
        assert machine.set_up(order(disk.path))[1] == ""


def test_a_kill_before_any_command_leaves_fstab_old_or_new_and_whole(disk: Case, machine: PrivateMachine) -> None:
    commands, whole = planned(disk.path).commands, order(disk.path)
    for number in range(len(commands)):
        done = machine.run(
            *process(f"if len(commands) == {number + 1}: os.kill(os.getpid(), 9)"),
            given=json.dumps([*whole[:-1], machine_sees(disk)]),
        )
        assert "written" not in done.stdout
        lines = [line for line in machine.fstab.splitlines() if line]
        assert lines[:3] == FSTAB.splitlines() and len(lines) in (3, 4), commands[number]
        assert len(lines) == 3 or (lines[3].startswith("UUID=") and lines[3].endswith("  2"))
        assert f" {POINT} " not in machine.mounts or len(lines) == 4, commands[number]
        start_over(machine)
    assert machine.set_up(order(disk.path, content_type="ext4"))[1] == "", "what a killed one left is no hindrance"
    require_in_place(machine, EXT4)


def machine_sees(disk: Case) -> str:
    return (probe(disk.path) or {}).get("ID_FS_TYPE", "")


@pytest.mark.parametrize("how", [f"return {FAILED}", f"real(command, given); return {FAILED}"])
def test_a_failure_of_any_command_is_taken_back_also_if_it_had_done_its_work(
    disk: Case, machine: PrivateMachine, how: str
) -> None:
    commands, whole = planned(disk.path).commands, order(disk.path)
    for number, command in enumerate(commands):
        here = f"if len(commands) == {number + 1}: {how}"
        _, error, said = machine.set_up([*whole[:-1], machine_sees(disk)], here)
        if command.startswith("mount ") and how.startswith("real"):
            assert error == "", "it is mounted, which is what counts"
            start_over(machine)
            continue
        assert error == "RunFailed" and "made to fail" in said[0], (command, said)
        assert "not so" not in said[1], (command, said)
        require_untouched(machine)


def test_what_could_not_be_taken_back_is_said(disk: Case, machine: PrivateMachine) -> None:
    """The rename is done, its fsync fails, and so does everything that would take the line out."""
    here = f"if command in (('sync', '/etc'), ('umount', {POINT!r})) or command[0] == 'mv' in commands: return {FAILED}"
    _, error, said = machine.set_up(order(disk.path), here)
    assert error == "RunFailed"
    assert "not so that /etc/fstab is as it was: sync failed: made to fail" in said[1]
    assert f"{POINT} is removed" in said[1]


def test_something_else_that_is_mounted_there_is_noticed(disk: Case, machine: PrivateMachine) -> None:
    """Whatever it says of its source."""
    fake = ("mount", "-t", "tmpfs", disk.path, POINT)
    _, error, said = machine.set_up(order(disk.path), f"if command[0] == 'mount': return real({fake!r})")
    assert error == "RunFailed" and "something else is mounted" in said[0].lower()
    require_untouched(machine)


def test_what_others_write_to_fstab_meanwhile_stays(bench: Bench, disk: Case) -> None:
    real = Path(shutil.which("mkfs.ext4", path="/usr/sbin:/sbin") or "").resolve()
    kept = bench.directory / "mkfs.ext4"
    shutil.copy2(real, kept)
    make_program(bench.directory, "fake", f'echo "# theirs" >> /etc/fstab && exec {shlex.quote(str(kept))} "$@"')
    machine = private_machine(bench, FSTAB + "\n", f"mount --bind {bench.directory}/fake {real}")
    replaced = "if command[0] == 'test' and len(commands) > 3: real(('sed', '-i', '$ a# new', '/etc/fstab'))"
    _, error, _ = machine.set_up(order(disk.path), replaced)
    assert error == "RunFailed" and machine.fstab.startswith(f"{FSTAB}\n# theirs\n# new\n")
    assert "UUID=" not in machine.fstab
    assert machine.said("ls", "-A", "/mnt") == ""
    machine.said("sh", "-c", "rm -f /etc/fstab.fswizard-*")  # may be of the same second as the next one
    assert machine.set_up(order(disk.path, content_type="ext4"))[1] == ""
    assert machine.fstab.startswith(f"{FSTAB}\n# theirs\n# new\n") and "\nUUID=" in machine.fstab


def test_it_goes_on_to_its_end_when_the_client_is_gone(disk: Case, machine: PrivateMachine) -> None:
    reader, writer = os.pipe()
    started = subprocess.Popen([*machine.enter, *process()], stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)
    assert started.stdin
    with started.stdin as line:
        line.write(json.dumps(order(disk.path)).encode())
    assert b"removing" in os.read(reader, 1000)
    os.close(reader)
    started.terminate()
    started.wait(60)
    require_in_place(machine, EXT4)


def test_the_script_does_the_same_and_knows_the_disk_again(bench: Bench, disk: Case, machine: PrivateMachine) -> None:
    other = bench.attach(bench.file("other", SIZE + (1 << 20)))
    words = script(planned(disk.path, "ext4:noatime"))
    path = bench.directory / "set-up.sh"
    for right, wrong, reason in (
        (f"chosen={disk.path}", f"chosen={other}", "another disk"),
        ("content=''", "content=xfs", "holds something else than was shown: nothing"),
        (f"point={POINT}", "point=/srv/backup", "/srv/backup is mounted or in /etc/fstab"),
        (f"point={POINT}", "point=/mnt", "/mnt is mounted or in /etc/fstab"),
        (f"chosen={disk.path}", "chosen=/dev/nothing", "is not there"),
    ):
        path.write_text(words.replace(right, wrong))
        assert reason in machine.run("sh", str(path)).stderr
        require_untouched(machine)
    path.write_text(words)
    said = machine.said("sh", str(path))
    assert "Done. To undo it: umount" in said
    uuid = require_in_place(machine, f"{POINT} ext4 noatime,errors=remount-ro,{ALWAYS} 0 2")
    assert "; ".join(undo_commands(POINT, uuid)) in said
    assert "is in use" in machine.run("sh", str(path)).stderr


def test_a_script_that_fails_takes_back_what_it_did(bench: Bench, disk: Case, machine: PrivateMachine) -> None:
    plan, path = planned(disk.path), bench.directory / "set-up.sh"
    lines = script(plan).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("# Making"))
    no_steps = ("#", " ", "}", "undo_", "trap", "exec", "uuid=", "printf '%s\\n' \"Done")
    for number, line in enumerate(lines[begin:], begin):
        if line and not line.startswith(no_steps):
            changed = [*lines[:number], "false", *lines[number + 1 :]]
            changed[changed.index("content=''")] = f"content={machine_sees(disk)}"
            path.write_text("\n".join(changed))
            assert machine.run("sh", str(path)).returncode, line
            require_untouched(machine)


@pytest.mark.shellcheck
def test_shellcheck_finds_nothing_in_the_script(bench: Bench) -> None:
    path = bench.directory / "set-up.sh"
    path.write_text(script(planned(bench.disk().path, "ext4:noatime")))
    assert subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False).stdout == ""


RESULT = recorded_result("ssd-tie")


def test_the_command_shows_what_it_would_do_and_does_it_once_confirmed(
    bench: Bench, disk: Case, machine: PrivateMachine
) -> None:
    result = bench.directory / "result.jsonl"
    write_result(result, RESULT)
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {MAIN}", "set-up", str(result)]
    command += ["--disk", disk.path, "--candidate", "ext4:noatime", "--mount-point", POINT]

    def said(*more: str) -> subprocess.CompletedProcess[str]:
        return machine.run(*command, *more)

    shown = said()
    assert shown.returncode == 0, shown.stderr
    assert f"  # mkfs.ext4 -m 0 -L films {disk.path}\n" in shown.stdout and "Nothing was changed." in shown.stdout
    assert '\nmkfs.ext4 -m 0 -L films "$disk"\n' in said("--script").stdout
    wrong = said("--erase", "Z84")
    assert wrong.returncode and "'Z84' is not the file's path" in wrong.stderr
    require_untouched(machine)
    done = said("--erase", str(disk.file))
    assert done.returncode == 0, done.stderr
    assert "Your disk is at /mnt/films" in done.stderr
    require_in_place(machine, f"{POINT} ext4 noatime,errors=remount-ro,{ALWAYS} 0 2")
    again = said("--erase", str(disk.file))
    assert again.returncode and "is mounted on /mnt/films" in again.stderr
