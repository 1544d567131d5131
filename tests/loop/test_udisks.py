"""Scratch images without a password, through the real udisksd, polkitd and udevd."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fswizard import results
from fswizard.disks.bus import loops
from tests.loop.desktop import Desktop, desktop
from tests.loop.devices import Bench
from tests.loop.machine_state import wait_until
from tests.loop.people import USERS, User
from tests.recipe_texts import writing

pytestmark = [pytest.mark.loop, pytest.mark.udisks, pytest.mark.fio, USERS]
CANDIDATES = ("ext4:noatime", "xfs", "btrfs:compress=zstd:1")


@pytest.fixture
def session(nobody: User) -> Iterator[Desktop]:
    with desktop(nobody) as opened:
        yield opened


def own_loops(somebody: User) -> list[str]:
    """Loop devices on files of this user's."""
    return [name for name, file in loops().items() if file.startswith(str(somebody.home))]


def arguments(somebody: User, output: str, *candidates: str, seconds: float = 0.0) -> list[str]:
    recipe = somebody.home / f"{Path(output).stem}.toml"
    size = "320M" if "xfs" in candidates else "64M"
    recipe.write_text(writing(size, "8M", seconds, rw="write", candidates=candidates))
    target = ("--target", f"image:{size}@{somebody.home}", "--output", output)
    return ["run", recipe.name, *target, "--rounds", "1..1"]


@pytest.mark.xfs
@pytest.mark.btrfs
def test_a_user_without_rights_measures_and_nothing_is_left(session: Desktop) -> None:
    done = session.run(*arguments(session, "three.jsonl", *CANDIDATES))
    assert "No password needed" in done.stderr
    result = results.load(session.home / "three.jsonl")
    assert result.outcome == "finished" and result.plan.by_udisks
    assert not result.failures
    assert {sample.candidate for sample in result.samples if sample.primary and sample.candidate} == set(CANDIDATES)
    assert {command.as_root for command in result.plan.commands} == {False}
    assert own_loops(session) == []
    assert not list(session.home.glob("fswizard-*"))
    assert not session.in_session("find", "/media", "-mindepth", "2").strip()


def test_an_automounter_beside_it_does_not_disturb(nobody: User) -> None:
    with desktop(nobody, automounter="exec udiskie --no-notify --no-tray --automount") as session:
        session.run(*arguments(session, "automounted.jsonl", "ext4:noatime", "ext4"))
        result = results.load(session.home / "automounted.jsonl")
        assert result.outcome == "finished" and not result.failures
    assert own_loops(nobody) == []


@pytest.mark.parametrize(
    "words",
    [
        *("formatting", "round 1"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("writing the whole", "mounting", "unmounting, and")),
    ],
)
def test_a_run_that_is_killed_leaves_nothing(session: Desktop, words: str) -> None:
    output = f"killed-{words.split(maxsplit=1)[0].strip(',')}.jsonl"
    seconds = 600.0 if words == "round 1" else 0.0
    process = session.start(*arguments(session, output, "ext4", "ext4:noatime", seconds=seconds))
    assert process.stderr is not None
    assert any(words in line for line in process.stderr)
    (the_run,) = psutil.Process(process.pid).children()
    the_run.kill()
    process.communicate()
    wait_until(lambda: own_loops(session) == [], 60, "the loop device is detached")
    session.run("clean")
    assert not list(session.home.glob("fswizard-*"))
    assert not session.in_session("find", "/media", "-mindepth", "2").strip()


RELEASED = """\
import os, sys
from fswizard.disks import bus
bus.RELEASE_S, real = 1.0, bus.loops
bus.loops = lambda: dict(sorted(real().items(), key=lambda loop: loop[1] == sys.argv[2]))  # one's own comes last
file = os.open(sys.argv[2], os.O_RDWR)
bus.Bus().set_up(file)
print(*bus.release(sys.argv[1:]))
"""


def test_loop_devices_of_others_stay_attached_and_mounted_and_do_not_keep_ones_own(
    bench: Bench, session: Desktop
) -> None:
    others, own = bench.made("mkfs.ext4", "-q"), session.home / "own"
    point = bench.directory / "point"
    point.mkdir()
    session.in_session("mount", others.path, str(point))
    own.write_bytes(bytes(1 << 20))
    os.chown(own, session.uid, session.gid)
    left = session.run(str(others.file), str(own), script=RELEASED).stdout
    assert left.split() == [Path(others.path).name]
    assert session.in_session("findmnt", "-no", "SOURCE", str(point)).strip() == others.path
    assert str(others.file) in loops().values()
    assert own_loops(session) == []
