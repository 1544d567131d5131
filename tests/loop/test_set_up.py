"""A disk is set up for good, by the helper or by the script, on a machine whose /etc is a copy."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from textual.widgets import Input

from fswizard.demo import find_story
from fswizard.filesystems import parse_candidate
from fswizard.privileged import rights, set_up_plan
from fswizard.targets import SetUpChoices, plan_set_up, script
from fswizard.tui.app import FswizardApp
from fswizard.tui.widgets.choice_list import ChoiceList
from tests.builders import write_result
from tests.fakes.machine import make_program
from tests.loop.channel import HELPER, called_directly
from tests.loop.devices import BTRFS_SIZE, SIZE, Bench, Case, digest, run
from tests.loop.people import USERS, User
from tests.loop.private_machine import FSTAB, PrivateMachine, copy_of_etc, private_machine, request
from tests.loop.small_machine import SmallMachine
from tests.loop.terminals import talk
from tests.tui.driving import at_step, keys_of, shows, until

pytestmark = [pytest.mark.root, pytest.mark.loop]

POINT = "/mnt/media/films"
XFS_SIZE = 310 << 20
ALWAYS = "nosuid,nodev,nofail,x-systemd.device-timeout=5s"
UNCONFIRMED = "nobody confirmed on a terminal within the last 15 minutes"


@pytest.fixture
def machine(bench: Bench) -> PrivateMachine:
    return private_machine(bench)


def require_in_place(machine: PrivateMachine, columns: str) -> str:
    """The disk is mounted by its line in fstab, and its owner's; the UUID."""
    *before, line = machine.fstab.splitlines()
    assert before == FSTAB.splitlines()
    source, *others = line.split()
    assert " ".join(others) == columns
    (copy,) = machine.beside
    assert copy.startswith("fstab.fswizard-2") and (machine.etc / copy).read_text() == FSTAB
    assert os.stat(machine.etc / copy).st_mode == os.stat(machine.etc / "fstab").st_mode
    assert f"UUID={machine.said('findmnt', '-no', 'UUID', POINT)}" == source
    assert machine.said("findmnt", "-no", "LABEL", POINT) == "films"
    assert {"nosuid", "nodev"} <= {*machine.said("findmnt", "-no", "OPTIONS", POINT).split(",")}
    test_file = f"{POINT}/{set_up_plan.TEST_FILE}"
    assert machine.said("cat", test_file) == set_up_plan.TEST_WORDS
    assert machine.said("stat", "--format=%U", POINT, test_file) == "daemon\ndaemon"
    return source.removeprefix("UUID=")


def require_untouched(machine: PrivateMachine) -> None:
    assert (machine.fstab, machine.beside) == (FSTAB, [])
    assert machine.said("ls", "-A", "/mnt") == ""
    assert f" {POINT} " not in machine.said("cat", "/proc/self/mountinfo")


@pytest.mark.parametrize(
    ("candidate", "size_bytes", "columns"),
    [
        ("ext4:noatime", SIZE, f"{POINT} ext4 noatime,errors=remount-ro,{ALWAYS} 0 2"),
        pytest.param("xfs", XFS_SIZE, f"{POINT} xfs {ALWAYS} 0 0", marks=pytest.mark.xfs),
        pytest.param("btrfs:compress=zstd:1", BTRFS_SIZE, f"{POINT} btrfs compress=zstd:1,{ALWAYS} 0 0",
                     marks=pytest.mark.btrfs),
    ],
)  # fmt: skip
def test_a_disk_is_made_mounted_and_entered_in_fstab(
    bench: Bench, machine: PrivateMachine, candidate: str, size_bytes: int, columns: str
) -> None:
    disk = bench.disk(size_bytes)
    steps, ending = machine.set_up(request(disk.path, candidate))
    assert "done" in ending, ending
    assert steps[:3] == ["wipe", "make", "uuid"] and steps[-2:] == ["own", "test"]
    uuid = require_in_place(machine, columns)
    assert ending["done"]["uuid"] == uuid
    for command in set_up_plan.undo(POINT, uuid):
        machine.said("sh", "-c", command)
    assert machine.fstab == f"{FSTAB}\n"
    assert f" {POINT} " not in machine.said("cat", "/proc/self/mountinfo")


@pytest.mark.sfdisk
def test_a_disk_gets_a_partition_table_with_one_aligned_partition(bench: Bench, machine: PrivateMachine) -> None:
    disk = Case(bench.attach(bench.file(), "--partscan"), bench.directory / "disk")
    steps, ending = machine.set_up(request(disk.path, partition=True))
    bench.undo.callback(subprocess.run, ["partx", "--delete", disk.path], check=False)
    assert "done" in ending, ending
    assert steps[:4] == ["wipe", "partition", "reread", "make"]
    require_in_place(machine, f"{POINT} ext4 errors=remount-ro,{ALWAYS} 0 2")
    assert machine.said("findmnt", "-no", "SOURCE", POINT) == f"{disk.path}p1"
    table = json.loads(machine.said("sfdisk", "--json", disk.path))["partitiontable"]
    (part,) = table["partitions"]
    assert table["label"] == "gpt" and part["start"] == 2048
    assert part["size"] * 512 > SIZE - (3 << 20)
    machine.said("umount", POINT)


@pytest.mark.sfdisk
@pytest.mark.ntfs_3g
def test_ntfs_belongs_to_its_owner_by_its_line(bench: Bench, machine: PrivateMachine) -> None:
    disk = bench.attach(bench.file(), "--partscan")
    _, ending = machine.set_up(request(disk, "ntfs-3g", partition=True))
    bench.undo.callback(subprocess.run, ["partx", "--delete", disk], check=False)
    assert "done" in ending, ending
    owner = pwd.getpwnam("daemon")
    require_in_place(machine, f"{POINT} ntfs-3g uid={owner.pw_uid},gid={owner.pw_gid},{ALWAYS} 0 0")
    machine.said("umount", POINT)


REFUSED = {
    "no path": ({"mount_point": "films"}, "is not a path such as /mnt/data"),
    "dots": ({"mount_point": "/mnt/../etc"}, "is not a path such as /mnt/data"),
    "a blank": ({"mount_point": "/mnt/my films"}, "is not a path such as /mnt/data"),
    "a line end": ({"mount_point": "/mnt/a\nb"}, "is not a path such as /mnt/data"),
    "the root directory": ({"mount_point": "/"}, "is not a path such as /mnt/data"),
    "the system's": ({"mount_point": "/usr/local/bin"}, "/usr belongs to the system"),
    "of users": ({"mount_point": "/home/anna"}, "/home belongs to the system"),
    "holds mount points": ({"mount_point": "/mnt"}, "/mnt holds mount points. Choose one in it, such as /mnt/data."),
    "in fstab": ({"mount_point": "/srv/backup"}, "/etc/fstab has /srv/backup already"),
    "above one in fstab": ({"mount_point": "/mnt/outer"}, "/etc/fstab has /mnt/outer/inner already"),
    "mounted": ({"mount_point": "/mnt/mounted"}, "/mnt/mounted is mounted already"),
    "above a mount": ({"mount_point": "/mnt/above"}, "/mnt/above/mounted is mounted already"),
    "not empty": ({"mount_point": "/mnt/full"}, "/mnt/full is not empty. Choose another mount point, such"),
    "a link": ({"mount_point": "/mnt/link"}, "/mnt/link is not a directory of its own"),
    "below a link": ({"mount_point": "/mnt/link/data"}, "/mnt/link is not a directory of its own"),
    "below what others can change": ({"mount_point": "/mnt/open/data"}, "other accounts can change /mnt/open"),
    "below what others can't enter": ({"mount_point": "/mnt/closed/data"}, "can't look into /mnt/closed"),
    "an expected label": ({"label": "backup"}, "the label backup is taken (/etc/fstab names it)"),
    "a long label": ({"label": "a" * 17}, "is not 1 to 16 letters"),
    "no label": ({"label": ""}, "is not 1 to 16 letters"),
    "an option as label": ({"label": "-F"}, "is not 1 to 16 letters"),
    "an unknown owner": ({"owner": "nobody-at-all"}, "there is no account 'nobody-at-all'"),
    "no name of an owner": ({"owner": "daemon; id"}, "is not the name of an account"),
    "setuid programs": ({"options": ["suid"]}, "'suid' is not allowed"),
    "another's journal": ({"arguments": ["-J", "device=/dev/sda1"]}, "'device=/dev/sda1' is not allowed"),
    "another type": ({"mount_type": "xfs"}, "does not mount ext4"),
    "a pool": ({"filesystem": "zfs", "arguments": []}, "zfs is not set up by this program"),
    "a pass of its own": ({"fsck_pass": 1}, "fsck looks at it in pass 2"),
    "a start that waits for a loop device": ({"may_be_absent": False}, "is gone when this machine starts again"),
    "another disk": ({"diskseq": 1}, "is no longer the disk that was chosen"),
    "another size": ({"size_bytes": SIZE - 512}, "has changed its size"),
    "another serial number": ({"serial": "Z84"}, "'Z84' is not the"),
    "unseen contents": ({"shown": ""}, "holds ext4, but you were shown nothing"),
    "NTFS on a whole disk": (
        {"filesystem": "ntfs-3g", "arguments": [], "mount_type": "ntfs-3g"}, "NTFS needs a partition"
    ),
}  # fmt: skip


def test_what_does_not_fit_is_refused_and_nothing_is_written(bench: Bench) -> None:
    """One machine for all of them, as making it takes a while."""
    made = (
        "cd /mnt && mkdir mounted above above/mounted full open && mkdir -m 700 closed"
        " && touch full/file && chmod 777 open && ln -s full link"
        " && mount -t tmpfs none mounted && mount -t tmpfs none above/mounted"
    )
    fstab = f"{FSTAB}\nnone  /mnt/outer/inner  tmpfs  noauto  0  0\n"
    machine = private_machine(bench, fstab, made)
    disk = bench.made("mkfs.ext4", "-q", "-L", "archive")
    before = digest(disk.file)
    for name, (changes, words) in REFUSED.items():
        steps, ending = machine.set_up(request(disk.path, **changes))
        assert (steps, ending["error"]["code"]) == ([], "refused"), (name, ending)
        assert words in "{text}. {hint}".format(**ending["error"]), (name, ending)
    assert (machine.fstab, machine.beside, digest(disk.file)) == (fstab, [], before)
    for line in ('{"id": 1, "verb": "hello"}', '{"id": 1, "verb": "claim"}', "nonsense", "{}"):
        done = machine.run(*HELPER, rights.SET_UP, given=f"{line}\n")
        assert json.loads(done.stdout)["error"]["code"] in ("invalid", "refused")


def test_a_link_or_a_file_of_others_in_place_of_fstab_is_refused(bench: Bench, machine: PrivateMachine) -> None:
    disk, fstab = bench.disk(), machine.etc / "fstab"
    fstab.chmod(0o666)
    assert "is not a plain file of root's" in machine.set_up(request(disk.path))[1]["error"]["text"]
    fstab.rename(machine.etc / "real")
    fstab.symlink_to("real")
    assert "is a link" in machine.set_up(request(disk.path))[1]["error"]["text"]
    fstab.unlink()
    assert "there is no /etc/fstab" in machine.set_up(request(disk.path))[1]["error"]["text"]


def test_a_mount_that_fails_leaves_fstab_and_directories_as_they_were(bench: Bench, machine: PrivateMachine) -> None:
    no_power_of_two = request(bench.disk().path, options=["inode_readahead_blks=3"])
    steps, ending = machine.set_up(no_power_of_two)
    assert steps[-1] == "mount" and ending["error"]["text"].startswith("mount failed: ")
    back = ["/etc/fstab is as it was", "/mnt/media/films is removed", "/mnt/media is removed"]
    assert ending["error"]["undone"] == back
    require_untouched(machine)


def test_an_fstab_that_somebody_changes_meanwhile_is_theirs(bench: Bench) -> None:
    real = Path(shutil.which("mkfs.ext4", path="/usr/sbin:/sbin") or "").resolve()
    kept = bench.directory / "mkfs.ext4"
    shutil.copy2(real, kept)
    make_program(bench.directory, "fake", f'echo "# theirs" >> /etc/fstab && exec {shlex.quote(str(kept))} "$@"')
    machine = private_machine(bench, FSTAB + "\n", f"mount --bind {bench.directory}/fake {real}")
    steps, ending = machine.set_up(request(bench.disk().path))
    assert steps[-1] == "fstab" and "was changed meanwhile" in ending["error"]["text"]
    assert machine.fstab == f"{FSTAB}\n# theirs\n" and machine.beside == []
    assert machine.said("ls", "-A", "/mnt") == ""


def test_it_goes_on_to_its_end_when_the_client_is_gone(bench: Bench, machine: PrivateMachine) -> None:
    command = [*machine.enter, *HELPER, rights.SET_UP]
    reader, writer = os.pipe()
    helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writer, env=called_directly())
    os.close(writer)
    assert helper.stdin
    with helper.stdin as line:
        line.write(json.dumps(request(bench.disk().path)).encode() + b"\n")
    assert b"wipe" in os.read(reader, 1000)
    os.close(reader)
    helper.terminate()
    assert helper.wait(60) == 0
    require_in_place(machine, f"{POINT} ext4 errors=remount-ro,{ALWAYS} 0 2")


@pytest.mark.sudo
@USERS
def test_it_is_a_right_of_its_own_and_takes_a_yes(bench: Bench, nobody: User) -> None:
    disk, command = bench.disk(), shlex.join(HELPER)
    for_set_up = request(disk.path)
    with nobody.allowed(f"NOPASSWD: {command} images", f"NOPASSWD: {command} erase"):
        allowed = subprocess.run(
            [*nobody.become, "sudo", "-n", "--", *HELPER, "set-up"], capture_output=True, check=False
        )
        assert allowed.returncode == 1 and b"password" in allowed.stderr
    with nobody.allowed(f"NOPASSWD: {command} set-up", f"NOPASSWD: {command} confirm *"):
        for right in ("images", "erase", "erase-unattended", "set-up images"):
            argv = [*nobody.become, "sudo", "-n", "--", *HELPER, *right.split()]
            assert subprocess.run(argv, capture_output=True, check=False).returncode == 1
        machine = private_machine(bench)
        become = [*nobody.become, "sudo", "-n", "--"]
        steps, ending = machine.set_up(for_set_up, become)
        assert steps == [] and UNCONFIRMED in ending["error"]["text"]
        require_untouched(machine)
        confirm = [*machine.enter, *become, *HELPER, "confirm", for_set_up["number"]]
        talk(confirm, nobody.home, {"anything else cancels: ": "yes"})
        assert "done" in machine.set_up(for_set_up, become)[1]
        require_in_place(machine, f"{POINT} ext4 errors=remount-ro,{ALWAYS} 0 2")


CHOICES = SetUpChoices("films", POINT, "daemon", partition=False)


def test_the_script_does_the_same_and_knows_the_disk_again(bench: Bench, machine: PrivateMachine) -> None:
    disk, other = bench.disk(), bench.attach(bench.file("other", SIZE + (1 << 20)))
    words = script(plan_set_up(parse_candidate("ext4:noatime"), disk.path, CHOICES))
    path = bench.directory / "set-up.sh"
    for right, wrong, reason in (
        (f"chosen={disk.path}", f"chosen={other}", "is another disk"),
        ("content=''", "content=xfs", "holds something else than was shown: nothing"),
        (f"point={POINT}", "point=/srv/backup", "has /srv/backup already"),
        (f"chosen={disk.path}", "chosen=/dev/nothing", "is not there"),
    ):
        path.write_text(words.replace(right, wrong))
        assert reason in machine.run("sh", str(path)).stderr
        require_untouched(machine)
    path.write_text(words)
    said = machine.said("sh", str(path))
    assert "Done. To undo it: umount" in said
    require_in_place(machine, f"{POINT} ext4 noatime,errors=remount-ro,{ALWAYS} 0 2")
    assert "is mounted" in machine.run("sh", str(path)).stderr


def test_a_script_that_fails_leaves_fstab_as_it_was(bench: Bench, machine: PrivateMachine) -> None:
    words = script(plan_set_up(parse_candidate("ext4"), bench.disk().path, CHOICES))
    path = bench.directory / "set-up.sh"
    path.write_text(words.replace("errors=remount-ro", "inode_readahead_blks=3"))
    assert machine.run("sh", str(path)).returncode
    assert machine.fstab == FSTAB and f" {POINT} " not in machine.said("cat", "/proc/self/mountinfo")


@pytest.mark.shellcheck
@pytest.mark.parametrize("candidate", ["ext4:noatime", "xfs", "btrfs", "ntfs-3g"])
def test_shellcheck_finds_nothing_in_the_script(bench: Bench, candidate: str) -> None:
    path = bench.directory / "set-up.sh"
    choices = SetUpChoices("films", POINT, "daemon")
    path.write_text(script(plan_set_up(parse_candidate(candidate), bench.disk(XFS_SIZE).path, choices)))
    assert subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False).stdout == ""


@pytest.fixture
def own_etc(bench: Bench) -> Path:
    """This process, and all that it starts, have a copy of /etc and an empty /srv, in its own mount namespace."""
    assert os.readlink("/proc/self/ns/mnt") != os.readlink(f"/proc/{os.getppid()}/ns/mnt"), (
        "the real /etc would be changed"
    )
    etc = copy_of_etc(bench)
    for options in (["--bind", str(etc), "/etc"], ["-t", "tmpfs", "-o", "mode=0755", "none", "/srv"]):
        run("mount", *options)
        bench.undo.callback(run, "umount", options[-1])
    return etc


RESULT = find_story("ssd-tie").result


def test_the_command_shows_what_it_would_do_and_does_it_once_confirmed(bench: Bench, own_etc: Path) -> None:
    disk, result = bench.disk(), bench.directory / "result.jsonl"
    write_result(result, RESULT)
    command = [
        sys.executable, "-m", "fswizard", "set-up", str(result), "--disk", disk.path, "--candidate", "ext4:noatime",
        "--mount-point", "/srv/films", "--label", "films", "--owner", "daemon", "--no-partition",
    ]  # fmt: skip

    def said(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more],
            capture_output=True,
            text=True,
            check=False,
            env=called_directly(),
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    shown = said()
    assert shown.returncode == 0, shown.stderr
    assert f"  # mkfs.ext4 -m 0 -L films {disk.path}\n" in shown.stdout and "Nothing was changed." in shown.stdout
    assert '\nmkfs.ext4 -m 0 -L films "$disk"\n' in said("--script").stdout
    wrong = said("--erase", "Z84")
    assert wrong.returncode and "'Z84' is not the file's path" in wrong.stderr
    assert (own_etc / "fstab").read_text() == FSTAB
    done = said("--erase", str(disk.file))
    bench.undo.callback(run, "umount", "/srv/films")
    assert done.returncode == 0, done.stderr
    assert "Your disk is at /srv/films" in done.stderr
    assert Path("/srv/films", set_up_plan.TEST_FILE).owner() == "daemon"
    again = said("--erase", str(disk.file))
    assert again.returncode and "is mounted on /srv/films" in again.stderr


async def test_the_wizard_sets_up_a_disk_after_what_stands_for_it_was_typed(bench: Bench, own_etc: Path) -> None:
    disk = bench.disk()
    app = FswizardApp(SmallMachine(), start="result", result=RESULT)
    async with app.run_test(size=(120, 36)) as pilot:
        await at_step(pilot, "result")
        await shows(pilot, "set it up")
        await pilot.press("u")
        rows = app.screen.query_one("#disks", ChoiceList)
        await until(pilot, lambda: disk.path in keys_of(app, "#disks"), "the disk in the list")
        rows.highlight(disk.path)
        await pilot.press("space")
        rows.highlight("partition")
        await pilot.press("space")
        for name, value in (("label", "films"), ("mount", "/srv/films"), ("owner", "daemon")):
            app.screen.query_one(f"#{name}", Input).value = value
        await pilot.press("enter")
        await shows(pilot, "erase and start")
        app.screen.query_one("#serial", Input).value = str(disk.file)
        await pilot.press("enter")
        await shows(pilot, "Your disk is at /srv/films.")
        bench.undo.callback(run, "umount", "/srv/films")
    assert Path("/srv/films", set_up_plan.TEST_FILE).owner() == "daemon"
    assert (own_etc / "fstab").read_text().startswith(f"{FSTAB}\nUUID=")
