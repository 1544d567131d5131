"""Scratch images without a password, through the real udisksd, polkitd and udevd."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fswizard import results
from fswizard.disks.bus import loops
from tests.fakes.host import ROOMY
from tests.loop.desktop import Desktop, desktop
from tests.loop.machine_state import wait_until
from tests.loop.people import USERS, User, user, with_packages
from tests.loop.tiny_run import MAIN
from tests.recipe_texts import writing

pytestmark = [pytest.mark.loop, pytest.mark.udisks, pytest.mark.fio, USERS]
CANDIDATES = ("ext4:noatime", "xfs", "btrfs:compress=zstd:1")


@pytest.fixture(scope="module")
def somebody() -> Iterator[User]:
    """Without any right."""
    with user("") as made:
        yield with_packages(made)


@pytest.fixture
def session(somebody: User) -> Iterator[Desktop]:
    with desktop(somebody) as opened:
        yield opened


def fswizard(somebody: User, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        somebody.command(f"{ROOMY}\n{MAIN}", *arguments), cwd=somebody.home, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    """What it said on standard error by its end, with that exit code."""
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == code, stdout + stderr
    assert "Traceback" not in stderr
    return stderr


def own_loops(somebody: User) -> list[str]:
    """Loop devices on files of this user's."""
    return [loop.name for loop in loops() if loop.file.startswith(str(somebody.home))]


def short(*candidates: str, seconds: float = 0.0, size: str = "320M") -> str:
    return writing(size, "8M", seconds, rw="write", candidates=candidates)


def run(somebody: User, text: str, output: str, *arguments: str) -> subprocess.Popen[str]:
    recipe = somebody.home / f"{Path(output).stem}.toml"
    recipe.write_text(text)
    target = ("--target", f"image:320M@{somebody.home}", "--output", output)
    return fswizard(somebody, "run", recipe.name, *target, *arguments)


@pytest.mark.xfs
@pytest.mark.btrfs
def test_a_user_without_rights_measures_and_nothing_is_left(session: Desktop) -> None:
    output = "three.jsonl"
    said = ended(run(session, short(*CANDIDATES), output, "--rounds", "2..2"))
    assert "No password needed" in said
    result = results.load(session.home / output)
    assert result.outcome == "finished" and result.plan.by_udisks
    assert not result.failures
    assert {sample.candidate for sample in result.samples if sample.primary and sample.candidate} == set(CANDIDATES)
    assert {command.as_root for command in result.plan.commands} == {False}
    assert own_loops(session) == []
    assert not list(session.home.glob("fswizard-*"))
    assert not session.in_session("ls", "-A", "/media").strip() or not session.in_session(
        "find", "/media", "-mindepth", "2"
    )


def test_options_that_udisks2_lacks_need_root_and_say_so(session: Desktop) -> None:
    for name, reason in {
        "ext4:data=writeback": "data=writeback",
        "nilfs2": "NILFS2",
        "xfs:logbsize=256k": "logbsize",
    }.items():
        done = subprocess.run(
            session.command(WHY, name), capture_output=True, text=True, check=True, cwd=session.home
        )  # fmt: skip
        assert reason in done.stdout


WHY = """
from fswizard.disks.way import why_root
from fswizard.filesystems import parse_candidates
from fswizard.model.plan import Target
print(why_root(Target("image", "."), parse_candidates(sys.argv[1])))
"""


def test_where_polkit_allows_nothing_the_run_says_what_to_do(somebody: User) -> None:
    with desktop(somebody, actions="") as elsewhere:
        done = subprocess.run(
            elsewhere.command(WHY, "ext4"), capture_output=True, text=True, check=True, cwd=elsewhere.home
        )
        assert "own screen" in done.stdout
        said = ended(run(elsewhere, short("ext4"), "refused.jsonl"), code=4)
        assert "own screen" in said and "--target dir:" in said
    assert own_loops(somebody) == []


def test_an_automounter_beside_it_does_not_disturb(somebody: User) -> None:
    automounter = "exec udiskie --no-notify --no-tray --automount"
    with desktop(somebody, automounter=automounter) as session:
        ended(run(session, short("ext4:noatime", "ext4"), "automounted.jsonl", "--rounds", "2..2"))
        result = results.load(session.home / "automounted.jsonl")
        assert result.outcome == "finished" and not result.failures
    assert own_loops(somebody) == []


@pytest.mark.parametrize(
    "words", ["writing the whole", "formatting", "mounting", "round 1", "unmounting, and removing"]
)
def test_a_run_that_is_killed_leaves_nothing(session: Desktop, words: str) -> None:
    output = f"killed-{words.split(maxsplit=1)[0].strip(',')}.jsonl"
    seconds = 600.0 if words == "round 1" else 0.0
    process = run(session, short("ext4", "ext4:noatime", seconds=seconds), output, "--rounds", "1..1")
    assert process.stderr is not None
    assert any(words in line for line in process.stderr)
    (the_run,) = psutil.Process(process.pid).children()
    the_run.kill()
    process.communicate()
    wait_until(lambda: own_loops(session) == [], 60, "the loop device is detached")
    ended(fswizard(session, "clean"))
    assert not list(session.home.glob("fswizard-*"))
    assert not session.in_session("find", "/media", "-mindepth", "2").strip()
