"""What a run that was started as root may do for its user, and what the programs may do that it measures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard import results
from fswizard.errors import ExitCode
from fswizard.model.codec import to_json
from tests.fakes.host import ROOMY
from tests.loop import root_disk
from tests.loop.devices import Bench, signatures
from tests.loop.machine_state import left_of_a_run, names_in, wait_until
from tests.loop.people import PASSWORD, PROMPT, USERS, User
from tests.loop.terminals import on_a_terminal, start_quick_run, talk
from tests.loop.test_device_target import plan
from tests.loop.tiny_run import LASTING, LIMIT_S, MAIN

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, pytest.mark.fio, USERS]

AS_ROOT = """
from fswizard.disks import rights
from fswizard.session.process import NAMESPACES
program = f"import sys; sys.path[:] = {sys.path!r}; " + sys.argv[1]
begun = rights.start((*NAMESPACES, sys.executable, "-c", program, *sys.argv[2:]), b"")
said, complaints = begun.stdout.read(), begun.stderr.read()
sys.exit(complaints.decode()) if complaints else print(said.decode())
"""
"""Starts a program as the process of a run is started."""
LOOK = f"""
exec({Path(root_disk.__file__).read_text()!r})
import asyncio, json, os, sys
from fswizard.disks import as_root
from fswizard.disks.root import open_root
from fswizard.system import commands

async def look(place, scripts):
    async with open_root(0) as disks:
        disk = await image(disks, Path(place))
        await made_and_mounted(disk)
        seen = {{name: await said(disk, "sh", "-c", script) for name, script in scripts.items()}}
        others = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", disk.directory)
        seen["others"] = as_root.run(others, 60.0).stderr.decode()
        seen["image"] = os.fstat(disk.parts[0].file.descriptor).st_uid
        seen["plain"] = commands.query(("cat", "/proc/self/status")).output
        seen["listed"] = open("/proc/self/mountinfo").read().count(disk.directory)
        await umount(disk)
    return seen

as_root.become(as_root.caller(os.environ), {{}})
os.environ.update(LD_BIND_NOW="1", BASH_ENV="/nowhere", PYTHONPATH="/nowhere")
with as_root.root():
    os.set_inheritable(os.open("/etc/shadow", os.O_RDONLY), True)
    os.set_inheritable(os.open("/", os.O_RDONLY), True)
print(json.dumps(asyncio.run(look(sys.argv[1], json.loads(sys.argv[2])))))
"""
SCRIPTS = {
    "status": "cat /proc/self/status",
    "environment": "env -u PWD",
    "descriptors": "ls /proc/self/fd; readlink /proc/self/fd/0",
    "files": "touch file && stat --format='%u %a' . file",
    "signals": "kill -KILL 1 2>&1; kill -KILL -1; true",
    "devices": "mknod disk b 7 0 2>&1; umount . 2>&1; chown 0 file 2>&1; head -c 1 /dev/loop-control 2>&1; "
    "cat /proc/$PPID/environ /proc/1/mem 2>&1",
}


@pytest.fixture
def place(trusted: User) -> Iterator[Path]:
    """An empty directory of the user's."""
    place = trusted.home / "place"
    place.mkdir(mode=0o700)
    shutil.chown(place, trusted.uid, trusted.gid)
    yield place
    shutil.rmtree(place)


def rights_in(status: str) -> dict[str, str]:
    return dict(line.split(":", 1) for line in status.splitlines() if ":" in line)


def test_what_is_measured_has_no_rights_but_the_users_own_and_nobody_else_has_them(trusted: User, place: Path) -> None:
    seen = json.loads(trusted.run(LOOK, str(place), json.dumps(SCRIPTS), script=AS_ROOT).stdout)
    for name in ("status", "plain"):
        status = rights_in(seen[name])
        assert {*status["Uid"].split()} == {str(trusted.uid)}, name
        assert {*status["Gid"].split()} == {str(trusted.gid)}, name
        groups = os.getgrouplist(trusted.name, trusted.gid)
        assert {*map(int, status["Groups"].split())} == {*groups}, name
        assert {int(status[each], 16) for each in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {0}, name
    assert int(rights_in(seen["status"])["CapBnd"], 16) == 0
    assert rights_in(seen["status"])["NoNewPrivs"].strip() == "1"
    assert {line.partition("=")[0] for line in seen["environment"].splitlines()} == {"PATH", "HOME", "LC_ALL", "TMPDIR"}
    assert seen["descriptors"].split() == ["0", "1", "2", "3", "/dev/null"], "the last one is its own list"
    assert "not permitted" in seen["signals"]
    refused = [line for line in seen["devices"].splitlines() if "ermi" in line or "must be" in line or "denied" in line]
    assert len(refused) == len(seen["devices"].splitlines()) >= 5, seen["devices"]
    assert seen["files"].splitlines() == [f"{trusted.uid} 700", f"{trusted.uid} 644"]
    assert "Permission denied" in seen["others"]
    assert seen["image"] == trusted.uid, "quotas count it as the user's"
    assert seen["listed"] == 1
    assert "/run/fswizard" not in Path("/proc/self/mounts").read_text(), "the host sees the mount"


CLAIM = f"""
exec({Path(root_disk.__file__).read_text()!r})
import asyncio, json, os, sys
from fswizard.disks import as_root
from fswizard.disks.root import open_root
from fswizard.model.codec import from_json
from fswizard.model.plan import Member

async def claim(member):
    async with open_root(0) as disks:
        disk = disks.claim([member], [""])
        await made_and_mounted(disk)
        print(await said(disk, "sh", "-c", "echo hello > file; cat file"))
        await umount(disk)
        await disk.require_same()
        await disk.wipe()

as_root.become(as_root.caller(os.environ), {{}})
asyncio.run(claim(from_json(Member, json.loads(sys.argv[1]))))
"""


def test_a_disk_that_the_user_may_not_even_read_is_measured_for_them(trusted: User, bench: Bench) -> None:
    case = bench.disk(96 << 20)
    (member,) = plan(case).target.members
    assert trusted.run(CLAIM, json.dumps(to_json(member)), script=AS_ROOT).stdout.split() == ["hello"]
    assert signatures(case) == ""


# Paths of the user's, which others may have changed since the plan was made

ATTEMPT = """
import asyncio
from dataclasses import replace
from pathlib import Path
from fswizard import recipes, results
from fswizard.errors import FswizardError
from fswizard.filesystems import parse_candidates
from fswizard.session import Choices, FollowedRun, make_plan, start
from fswizard.disks.choice import TargetChoice

async def ended(run):
    return [event async for event in run.events()][-1]

target = TargetChoice("image", str(Path.home() / "place"), 64 << 20)
plan = make_plan(Choices(recipes.load(Path("tiny.toml")), parse_candidates("ext4"), target=target, rounds=(1, 1)))
changed = replace(plan, target=replace(plan.target, path=sys.argv[1]))
try:
    start(changed, Path(sys.argv[2]))
    last = asyncio.run(ended(FollowedRun(Path(sys.argv[2]))))
    print(last.outcome, "|", last.text)
except FswizardError as error:
    print(type(error).__name__, "|", error.message)
"""


@pytest.fixture
def sticky(tmp_path: Path) -> Iterator[Path]:
    """A directory where everybody may write."""
    directory = Path("/var/tmp") / f"fswizard-sticky-{os.getpid()}"
    directory.mkdir()
    directory.chmod(0o1777)
    yield directory
    shutil.rmtree(directory)


def link(path: Path, target: Path) -> Path:
    """A link of somebody else's."""
    path.symlink_to(target)
    os.lchown(path, 65534, 65534)
    return path


def attempt(user: User, target: Path, result: Path) -> str:
    return user.run(str(target), str(result), script=ATTEMPT).stdout


def test_a_result_is_written_where_the_user_may_write_and_through_no_link(
    trusted: User, place: Path, sticky: Path, tmp_path: Path
) -> None:
    closed, own = tmp_path / "closed", trusted.home / "own"
    closed.mkdir(mode=0o700)
    own.write_text("mine")
    shutil.chown(own, trusted.uid, trusted.gid)
    for result in (
        closed / "result.jsonl", Path("/etc/fswizard-result.jsonl"), link(sticky / "one", closed / "result.jsonl"),
        link(sticky / "two", trusted.home / "new"), link(sticky / "three", own), link(sticky / "four", closed) / "r",
    ):  # fmt: skip
        assert attempt(trusted, place, result).startswith("UsageError"), result
    assert names_in(closed) == [] and own.read_text() == "mine"
    assert not Path("/etc/fswizard-result.jsonl").exists() and not (trusted.home / "new").exists()
    assert left_of_a_run(place) == []


def test_an_image_is_made_where_the_user_could_make_it_and_others_cannot_change_the_way(
    trusted: User, place: Path, sticky: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for number, target in enumerate((closed, Path("/root"), Path("/usr"), link(sticky / "place", closed))):
        assert attempt(trusted, target, trusted.home / f"attempt-{number}.jsonl").startswith("failed"), target
    assert names_in(closed) == []
    assert left_of_a_run(place) == []


# How root's rights are had


def arguments(user: User, name: str) -> list[str]:
    target = ("--target", f"image:64M@{user.home}", "--output", f"{name}.jsonl")
    return ["run", f"{name}.toml", *target, "--rounds", "1..1"]


def command(user: User, name: str) -> list[str]:
    return user.command(f"{ROOMY}\n{MAIN}", *arguments(user, name))


def is_theirs(user: User, result: str) -> None:
    """All that was made, and nothing else is left."""
    assert [path for path in user.home.rglob("*") if path.lstat().st_uid != user.uid] == []
    assert (user.home / result).exists()
    assert not list(user.home.glob("fswizard-*"))


def test_sudo_asks_for_the_password_on_the_terminal_and_nowhere_else(asked: User) -> None:
    said = talk(command(asked, "tiny"), asked.home, {PROMPT: PASSWORD})
    assert 0 < said.find("sudo asks for your password") < said.find(PROMPT)
    assert PASSWORD not in said
    assert results.load(asked.home / "tiny.jsonl").outcome == "finished", said
    is_theirs(asked, "tiny.jsonl")


def test_the_wizard_lets_sudo_ask_on_its_terminal_and_then_measures(asked: User) -> None:
    """Seconds, as a wizard has to come up."""
    recipes = asked.home / ".config/fswizard/recipes"
    recipes.mkdir(parents=True)
    (recipes / "quick.toml").write_text((asked.home / "tiny.toml").read_text().replace('"short"', '"quick"'))
    subprocess.run(["chown", "--recursive", f"{asked.name}:", asked.home], check=True)
    script = f"import os; os.environ['TERM'] = 'linux'\n{ROOMY}\n{MAIN}"
    with on_a_terminal(["env", f"--chdir={asked.home}", *asked.command(script)], (120, 36)) as terminal:
        start_quick_run(terminal)
        terminal.await_text(PROMPT)
        terminal.type(f"{PASSWORD}\n")

        def ended() -> bool:
            return any('"RunEnded"' in path.read_text() for path in asked.home.rglob("results/*.jsonl"))

        wait_until(lambda: terminal.take(0.1) and ended(), LIMIT_S, "the result")
    (result,) = asked.home.rglob("results/*.jsonl")
    assert results.load(result).outcome == "finished"
    is_theirs(asked, str(result))


def test_control_c_on_the_terminal_ends_the_run_in_good_order(trusted: User) -> None:
    (trusted.home / "lasting.toml").write_text(LASTING)
    with on_a_terminal(["env", f"--chdir={trusted.home}", *command(trusted, "lasting")]) as terminal:
        terminal.await_text("round 1")
        terminal.type("\x03")
        said = terminal.read()
        assert terminal.process.wait(LIMIT_S) in (ExitCode.PARTIAL, ExitCode.CANCELLED), said
    (trusted.home / "lasting.toml").unlink()
    assert results.load(trusted.home / "lasting.jsonl").outcome in ("stopped", "cancelled")
    is_theirs(trusted, "lasting.jsonl")


@pytest.mark.parametrize("terminal", [True, False])
def test_without_the_password_nothing_begins(asked: User, terminal: bool) -> None:
    (asked.home / "no.toml").write_text((asked.home / "tiny.toml").read_text())
    if terminal:
        said = talk(["sudo", "-K"], asked.home, {}) + talk(command(asked, "no"), asked.home, {PROMPT: "wrong"})
    else:
        said = asked.run(*arguments(asked, "no"), code=ExitCode.MISSING).stderr
    assert "needs root" in said and "--target dir:" in said
    assert not (asked.home / "no.jsonl").exists()
    assert not list(asked.home.glob("fswizard-*"))
