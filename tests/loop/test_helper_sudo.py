"""The helper for somebody who is not root, through sudo."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.privileged.install import INSTALLED
from tests.loop.channel import children
from tests.loop.machine_state import alive, descendants, loops_below, process_named, wait_until_gone
from tests.loop.people import EXPLAIN, PASSWORD, PROMPT, USERS, User
from tests.loop.terminals import talk

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, USERS]

CYCLE = """
import asyncio, os
from fswizard.targets import privilege
from fswizard.targets.helper import Helper

async def main(home):
    async with Helper.start() as helper:
        attached = await helper.attach(home, 64 << 20)
        directory = attached.directory
        await helper.order("mkfs", attached.handle, filesystem="ext4", arguments=["-q", "-F"])
        print((await helper.order("mount", attached.handle, filesystem="ext4", options=["noatime"])).output)
        {then}

asyncio.run(main(sys.argv[1]))
"""

WAIT = """
        process = await helper.run(["sh", "-c", "setsid sleep 1000 & sleep 1000"], cwd=directory)
        print(process.pid, flush=True)
        await asyncio.sleep(1000)
"""

ASK = """
import asyncio
from fswizard.targets import privilege
from fswizard.targets.helper import Helper

async def main():
    async with Helper.start() as helper:
        print("works for", helper.uid)

print("before:", privilege.state(), flush=True)
privilege.authorise()
print("after:", privilege.state(), flush=True)
asyncio.run(main())
"""

INTERRUPTED = """
import asyncio, os, signal
from fswizard.targets.helper import Helper

async def main(home):
    interrupted = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted.set)
    async with Helper.start() as helper:
        os.mkfifo(home + "/going")
        process = await helper.run(["sh", "-c", "cat going; echo workload went on"], cwd=home)
        print("ready", flush=True)
        await interrupted.wait()
        open(home + "/going", "w").close()
        print("the client knows")
        print((await process.wait()).output)
        print("helper went on", (await (await helper.run(["true"], cwd=home)).wait()).exit_code)

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture
def place(trusted: User) -> Iterator[Path]:
    """An empty directory of the user's."""
    place = trusted.home / "place"
    place.mkdir()
    shutil.chown(place, trusted.uid, trusted.gid)
    yield place
    shutil.rmtree(place)


def cycle(then: str) -> str:
    return CYCLE.replace("{then}", then.strip())


def test_workloads_run_as_the_user_and_without_capabilities(trusted: User, place: Path) -> None:
    look = """
        shell = "id -u; id -g; touch file && stat -c '%U %a' . file; grep -E '^(Uid|Cap|NoNew)' /proc/self/status"
        print((await (await helper.run(["sh", "-c", shell], cwd=directory)).wait()).output)
        print(helper.uid, os.path.exists(directory), (await helper.umount(attached.handle)).exit_code)
"""
    lines = trusted.run(cycle(look), str(place)).split("\n")
    assert lines[1:3] == [str(trusted.uid), str(trusted.gid)]
    assert lines[3:5] == [f"{trusted.name} 700", f"{trusted.name} 644"]
    assert lines[5].split()[1:] == [str(trusted.uid)] * 4
    assert [line.split()[1] for line in lines[6:11]] == ["0" * 16] * 5
    assert lines[11].split() == ["NoNewPrivs:", "1"]
    assert lines[12] == f"{trusted.uid} False 0"


def test_images_are_made_where_the_user_could_make_them(trusted: User, place: Path) -> None:
    """On the user's account: neither in a directory of others, nor where a directory can't be looked into."""
    (place / "closed").mkdir(mode=0o700)
    attach = f"""
        for directory in ({str(place / "closed")!r}, "/root", "/usr"):
            given = os.open(directory, os.O_PATH | os.O_DIRECTORY)
            job = await helper.ask("attach", given=given, size_bytes=64 << 20)
            try:
                await job.wait()
            except Exception as error:
                print(type(error).__name__, error)
        print(os.listdir(sys.argv[1]))
"""
    lines = trusted.run(cycle(attach), str(place)).split("\n")
    assert [line.split(":")[-1] for line in lines[1:4]] == [" Permission denied."] * 3
    assert lines[4] == "['closed']"


@pytest.mark.parametrize("victim", ["client", "sudo", "namespaces", "helper"])
def test_whatever_is_killed_nothing_is_left(trusted: User, place: Path, victim: str) -> None:
    command = trusted.command(cycle(WAIT), str(place))
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert client.stdout
    while not (line := client.stdout.readline()).strip().isdigit():
        assert line, "the client ended"
    assert "/run/fswizard" not in Path("/proc/mounts").read_text(), "the host sees the mount"
    below = descendants(client.pid)
    pids = {"client": client.pid, "sudo": process_named("sudo", client.pid)}
    pids["namespaces"] = process_named("fswizard-helper", client.pid)
    pids["helper"] = children(pids["namespaces"])[0]
    os.kill(pids[victim], signal.SIGKILL)
    try:
        wait_until_gone(lambda: alive(below) + loops_below(place), "nothing of the helper is left")
    finally:
        client.kill()
        client.communicate()


def test_sudo_asks_for_the_password_on_the_terminal_and_nowhere_else(asked: User) -> None:
    said = talk(asked.command(ASK), asked.home, {PROMPT: PASSWORD})
    assert "before: sudo-asks" in said
    assert 0 < said.find("Making and mounting filesystems needs root: sudo asks for your password.") < said.find(PROMPT)
    assert "after: sudo" in said
    assert f"works for {asked.uid}" in said
    assert PASSWORD not in said


def test_control_c_on_the_terminal_reaches_the_client_alone(trusted: User, place: Path) -> None:
    said = talk(trusted.command(INTERRUPTED, str(place)), trusted.home, {"ready": "\x03"})
    assert "the client knows" in said
    assert "workload went on" in said
    assert "helper went on 0" in said


def test_a_wrong_password_ends_with_what_can_be_done(asked: User) -> None:
    said = talk(asked.command(EXPLAIN), asked.home, {PROMPT: "wrong"})
    assert "sudo-asks | Making and mounting filesystems needs root" in said
    assert "--target dir:" in said


def test_without_a_terminal_nothing_is_asked(asked: User) -> None:
    said = asked.run(EXPLAIN)
    assert "there is no terminal where sudo could ask for your password" in said
    assert f"allow `{INSTALLED}/__main__.py images` in sudoers (NOPASSWD)" in said


def test_who_may_not_use_sudo_is_told_what_works_without(nobody: User) -> None:
    said = nobody.run(EXPLAIN)
    assert "needs root" in said
    assert "--target dir:" in said
