"""Whom a process of root's works for, which programs it runs as root, and that it is the user but for that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.disks import as_root
from fswizard.errors import Missing, Refused
from tests.fakes.machine import make_program

NOBODY = 65534


@pytest.mark.parametrize(
    ("environment", "uid"),
    [
        ({"SUDO_UID": str(NOBODY)}, NOBODY),
        ({"PKEXEC_UID": str(NOBODY)}, NOBODY),
        ({"DOAS_USER": "nobody"}, NOBODY),
        ({"SUDO_UID": "0"}, 0),
        ({"USER": "nobody", "LOGNAME": "nobody"}, 0),
    ],
)
def test_who_calls_is_known(environment: dict[str, str], uid: int) -> None:
    assert as_root.caller(environment).pw_uid == uid


@pytest.mark.parametrize("name", ["SUDO_UID", "PKEXEC_UID", "DOAS_USER"])
@pytest.mark.parametrize("value", ["4123123", "-1", "", "nobody else", "9" * 30])
def test_an_account_that_is_not_there_is_refused_and_never_taken_for_root(name: str, value: str) -> None:
    with pytest.raises(Refused, match="not in the user database"):
        as_root.caller({name: value})


@pytest.fixture(autouse=True)
def _looked_for_anew() -> Iterator[None]:
    as_root.find.cache_clear()
    yield
    as_root.find.cache_clear()


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a program is looked for: below a directory that is root's alone."""
    place = Path(tempfile.mkdtemp(prefix=".fswizard-test-", dir="/root"))
    make_program(place / "bin", "mkfs.ext4", "exit 0")
    monkeypatch.setattr(as_root, "ROOT_PATH", f"{place}/current/bin")
    (place / "current").symlink_to(place)
    yield place
    shutil.rmtree(place)


def test_the_systems_own_programs_are_found_and_one_that_everybody_could_replace_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert os.path.basename(as_root.find("mount")) in ("mount", "busybox")
    assert "/usr/local" not in as_root.ROOT_PATH
    # The sticky bit of /tmp does not keep anybody from putting something where nothing was.
    make_program(tmp_path, "mkfs.ext4", "exit 0")
    monkeypatch.setattr(as_root, "ROOT_PATH", str(tmp_path))
    with pytest.raises(Refused, match="others can change"):
        as_root.find("mkfs.ext4")
    with pytest.raises(Missing, match=r"mkfs\.none is not installed"):
        as_root.find("mkfs.none")


@pytest.mark.root
def test_a_program_behind_links_is_found_and_the_store_of_nixos_may_be_added_to(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "bin" / "mkfs.ext3").symlink_to("../bin/./mkfs.ext4")
    assert as_root.find("mkfs.ext3") == f"{place}/bin/mkfs.ext4", "the links are not followed again when it is run"
    store = place / "store"
    make_program(store, "mkfs.xfs", "exit 0")
    (place / "bin" / "mkfs.xfs").symlink_to(store / "mkfs.xfs")
    monkeypatch.setattr(as_root, "NIX_STORE", str(store))
    store.chmod(0o1775)
    assert as_root.find("mkfs.xfs")
    as_root.find.cache_clear()
    store.chmod(0o775)
    with pytest.raises(Refused):
        as_root.find("mkfs.xfs")


@pytest.mark.root
@pytest.mark.parametrize("changeable", ["", "bin", "bin/mkfs.ext4"])
@pytest.mark.parametrize("how", ["group", "everybody", "owner"])
def test_who_can_change_anything_on_the_way_could_change_the_program(place: Path, changeable: str, how: str) -> None:
    at = place / changeable
    if how == "owner":
        os.chown(at, NOBODY, NOBODY)
    else:
        at.chmod(at.stat().st_mode | (0o020 if how == "group" else 0o1002))
    with pytest.raises(Refused, match=f"others can change {place}"):
        as_root.find("mkfs.ext4")


@pytest.mark.root
def test_a_link_to_where_others_can_write_leads_nowhere(place: Path, tmp_path: Path) -> None:
    make_program(tmp_path, "mkfs.xfs", "exit 0")
    tmp_path.chmod(0o777)
    (place / "bin" / "mkfs.xfs").symlink_to(tmp_path / "mkfs.xfs")
    with pytest.raises(Refused, match="others can change"):
        as_root.find("mkfs.xfs")


ACTS = """
import os, pwd
from fswizard.disks import as_root
os.environ["LD_PRELOAD"] = os.environ["BASH_ENV"] = "/evil"
as_root.become(pwd.getpwuid(65534), {"XDG_STATE_HOME": "/var/x"})
print(os.getresuid(), os.geteuid() == os.getegid() == 65534, 0 in os.getgroups(), sorted(os.environ))
try:
    open("/etc/shadow")
except PermissionError:
    print("no")
with as_root.root():
    print(os.geteuid(), os.getegid(), bool(open("/etc/shadow")))
print(as_root.run(("id", "--user"), 10.0).stdout, os.geteuid())
"""


@pytest.mark.root
def test_it_acts_as_the_user_but_for_a_moment_or_a_program() -> None:
    done = subprocess.run([sys.executable, "-c", ACTS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "(0, 65534, 0) True False ['HOME', 'LC_ALL', 'PATH', 'USER', 'XDG_STATE_HOME']",
        "no",
        "0 0 True",
        "b'0\\n' 65534",
    ]


DAEMON = """
import asyncio, subprocess
from fswizard.disks import as_root
daemon = "setsid sh -c 'exec sleep 61.25' > /dev/null 2>&1 < /dev/null &"
def running():
    return subprocess.run(["pgrep", "--full", "^sleep 61.25"], stdout=subprocess.DEVNULL).returncode == 0
async def main():
    process = await as_root.start(("sh", "-c", daemon), prefix=as_root.WITH_DAEMONS)
    while not running():
        await asyncio.sleep(0.01)
    await process.kill()
    while running():
        await asyncio.sleep(0.01)
asyncio.run(main())
"""


@pytest.mark.root
def test_a_daemon_ends_with_the_process_that_it_left() -> None:
    subprocess.run([sys.executable, "-c", DAEMON], check=True, timeout=60)
