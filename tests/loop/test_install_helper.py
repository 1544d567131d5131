"""`fswizard install-helper` by people with sudo, over layers that hide what it writes from the rest of the machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.privileged.install import INSTALLED, POLICIES, POLICY
from fswizard.targets import helper_copy
from tests.loop.people import EXPLAIN, PASSWORD, PROMPT, USERS, User
from tests.loop.terminals import talk

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, USERS]

MAIN = """
sys.path.insert(1, {packages!r})
from fswizard.__main__ import main
main()
"""
START = """
import asyncio
from fswizard.targets import helper_copy, privilege
from fswizard.targets.helper import Helper

async def main():
    async with Helper.start() as helper:
        print("works for", helper.uid)

print("by", *helper_copy.command("images"))
print("authorised:", privilege.authorise())
asyncio.run(main())
"""


def command(made: User, *words: str) -> list[str]:
    return made.command(MAIN.format(packages=str(made.home / "packages")), *words)


def without_terminal(made: User) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(made, "install-helper"), capture_output=True, text=True, check=False, cwd=made.home,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[list[Path]]:
    """What is written below /usr/libexec and /usr/share lands here, and this process's namespace alone sees it."""
    made = []
    for place in ("/usr/libexec", "/usr/share"):
        upper, work = (tmp_path / f"{kind}-{Path(place).name}" for kind in ("upper", "work"))
        upper.mkdir(0o755)
        work.mkdir()
        options = f"lowerdir={place},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "-o", options, "fswizard-test", place], check=True)
        made.append(upper)
    yield made
    for place in ("/usr/libexec", "/usr/share"):
        subprocess.run(["umount", place], check=True)


def written(layers: list[Path]) -> list[str]:
    return [str(path) for layer in layers for path in layer.rglob("*") if path.is_file()]


def test_the_helper_is_installed_with_a_password_renewed_and_taken_away(layers: list[Path], asked: User) -> None:
    """Costs some starts of the program, each as somebody else."""
    shown = talk(command(asked, "install-helper"), asked.home, {PROMPT: PASSWORD})
    words = ("takes root: sudo may ask for your password.", PROMPT, "Root has a copy of the helper now")
    assert -1 not in (places := [shown.find(each) for each in words]) and places == sorted(places), shown
    assert helper_copy.fault() == ""
    assert (POLICIES / POLICY).stat().st_mode & 0o777 == 0o644
    (line,) = re.findall(r"USER (ALL=.*)", shown)
    with asked.allowed(line.strip().removeprefix("ALL=(root) ")):
        said = asked.run(START).splitlines()
        assert said == [f"by {INSTALLED}/__main__.py images", "authorised: sudo", f"works for {asked.uid}"]
        changed = asked.home / "fswizard/privileged/jobs.py"
        before = changed.read_bytes()
        changed.write_bytes(before + b"# newer\n")
        said = asked.run(EXPLAIN)
        assert said.startswith("wrong-helper | ")
        assert "needs root, and the installed helper does not belong to this version" in said
        assert "`fswizard install-helper` renews it" in said
        talk(command(asked, "install-helper"), asked.home, {PROMPT: PASSWORD})
        assert "works for" in asked.run(START)
        changed.write_bytes(before)
        assert "wrong-helper" in asked.run(EXPLAIN)
    shown = talk(command(asked, "install-helper", "--remove"), asked.home, {PROMPT: PASSWORD})
    assert "Removed." in shown
    assert written(layers) == []
    assert not os.path.lexists(INSTALLED.parent)


def test_without_a_terminal_sudo_is_not_waited_for(layers: list[Path], asked: User, trusted: User) -> None:
    done = without_terminal(asked)
    assert (done.returncode, done.stdout) == (4, "")
    assert "Root's rights were not given." in done.stderr
    assert written(layers) == []
    done = without_terminal(trusted)
    assert (done.returncode, helper_copy.fault()) == (0, ""), done.stderr


def test_root_gets_a_copy_from_a_home_that_root_cannot_read(layers: list[Path], trusted: User) -> None:
    """As on a network or in a FUSE; without two capabilities root reads no more than anybody else."""
    trusted.home.chmod(0o700)
    shut = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]

    def run(command: list[str]) -> str:
        return subprocess.run(
            [*shut, *command], capture_output=True, text=True, check=True, cwd=trusted.home, stdin=subprocess.DEVNULL
        ).stdout

    said = run(trusted.command(EXPLAIN))
    assert said.startswith("unreadable-helper | Making and mounting filesystems needs root, and root can't read")
    assert "`fswizard install-helper` gives root a copy" in said
    run(command(trusted, "install-helper"))
    assert helper_copy.fault() == ""
    assert run(trusted.command(EXPLAIN)) == ""


def test_where_others_could_change_it_nothing_is_installed(layers: list[Path], trusted: User) -> None:
    os.chmod("/usr/libexec", 0o775)
    done = without_terminal(trusted)
    assert done.returncode == 3
    assert "other accounts can change /usr/libexec" in done.stderr
    assert written(layers) == []
