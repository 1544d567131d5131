"""Who may call the helper: whoever came by another way than sudo or pkexec is refused, and told what to do."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import Any

import pytest

from tests.loop import channel
from tests.loop.people import EXPLAIN, SYSTEM_PYTHON, USERS, User

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, USERS]

HELPER = [*channel.HELPER, "images"]
HELLO = b'{"id": 7, "verb": "hello"}\n'
CALL = f"""
import subprocess
sys.exit(subprocess.run(sys.argv[1:], input={HELLO!r}).returncode)
"""
SUDO = ["sudo", "-n", "env", *(f"--unset=SUDO_{name}" for name in ("UID", "GID", "USER", "COMMAND"))]

START = """
import asyncio
from fswizard.targets.helper import Helper
from fswizard.errors import Missing

async def main():
    try:
        async with Helper.start() as helper:
            print("works for", helper.uid)
    except Missing as error:
        print(error.message, "|", error.hint)
"""


def answer(said: bytes | str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said)
    return found


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ([*SUDO, "DOAS_USER=somebody", *HELPER], "use sudo or pkexec instead of doas"),
        ([*SUDO, "su", "-", "root", "-c", shlex.join(HELPER)], "neither sudo nor pkexec says who calls, and user WHO"),
        ([*SUDO, "SUDO_UID=0", *HELPER], "SUDO_UID is '0', and user WHO"),
        ([*SUDO, "SUDO_UID=65534", *HELPER], "SUDO_UID is '65534', and user WHO"),
        ([*SUDO, "PKEXEC_UID=0", *HELPER], "PKEXEC_UID is '0', and user WHO"),
    ],
    ids=["doas", "su", "forged root", "forged other", "forged pkexec"],
)
def test_root_by_another_way_is_nobody_the_helper_works_for(way: list[str], words: str, trusted: User) -> None:
    refused = answer(trusted.run(CALL, *way))
    assert refused["id"] == 7
    assert refused["error"]["code"] == "refused"
    assert words.replace("WHO", str(trusted.uid)) in refused["error"]["text"]


def test_root_whose_parents_ended_but_who_logged_in_as_somebody_is_refused() -> None:
    command, environment = [*channel.AS_NOBODY, *HELPER], channel.called_directly()
    done = subprocess.run(command, input=HELLO, capture_output=True, check=True, env=environment)
    assert "user 65534 logged in" in answer(done.stdout)["error"]["text"]


def test_the_front_says_so_before_anything_is_begun(trusted: User) -> None:
    explain = f"import sys; sys.path[:0] = ['.', 'packages']\n{EXPLAIN}"
    said = trusted.run(CALL, "sudo", "-n", SYSTEM_PYTHON, "-B", "-c", explain)
    assert said.startswith("unknown-caller | Making and mounting filesystems needs root, and fswizard runs as root for")
    assert "Start fswizard as yourself" in said
    assert f"user {trusted.uid} runs" in said


def test_what_the_helper_refuses_is_an_error_with_a_hint(trusted: User) -> None:
    forged = f"""{START}
from fswizard.targets import channel
channel.BY = {{"sudo": ("sudo", "-n", "env", "SUDO_UID=65534")}}
asyncio.run(main())
"""
    said = trusted.run(forged)
    assert said.startswith("The privileged helper: SUDO_UID is '65534'")
    assert "| Start fswizard as yourself" in said


def test_without_sudo_pkexec_is_asked_in_a_desktop_session(trusted: User) -> None:
    """A stand-in for pkexec, as polkit would ask in a window."""
    pkexec = trusted.home / "pkexec"
    pkexec.write_text(f'#!/bin/sh\nshift\nexec {shlex.join(SUDO)} "PKEXEC_UID=$(id -u)" "$@"\n')
    pkexec.chmod(0o755)
    os.chown(pkexec, trusted.uid, trusted.gid)
    without_sudo = f"""{START}
import os
from fswizard.targets import privilege
from fswizard.system import commands
find, stand_ins = commands.find, {{"sudo": None, "pkexec": {str(pkexec)!r}}}
commands.find = lambda name: stand_ins[name] if name in stand_ins else find(name)
print(privilege.state())
os.environ["DISPLAY"] = ":0"
print(privilege.authorise())
asyncio.run(main())
"""
    assert trusted.run(without_sudo).split("\n")[:3] == ["none", "pkexec", f"works for {trusted.uid}"]


def test_root_by_itself_is_told_from_root_for_somebody(trusted: User) -> None:
    done = subprocess.run(HELPER, input=HELLO, capture_output=True, check=True, env=channel.called_directly())
    assert answer(done.stdout)["ok"]["uid"] == 0
    said = answer(trusted.run(CALL, "sudo", "-n", *HELPER))
    assert said["ok"]["uid"] == trusted.uid
