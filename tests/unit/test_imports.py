"""The parts start fast and have one clock; and what people install."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fswizard
from fswizard.system import clock
from tests.fakes.clock import SimulatedClock

ROOT = Path(__file__).parents[2]
PACKAGE = Path(fswizard.__file__).parent
STARTING = ("system/commands.py", "disks/as_root.py", "disks/setting_up.py")
STARTERS = re.compile(
    r"subprocess\.\w+|asyncio\.create_subprocess_\w+|os\.(system|popen|exec|spawn|posix_spawn)\w*|pty\.spawn"
)


def loaded_by(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after `program`."""
    program += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["fswizard.cli", "fswizard.__main__"])
def test_the_command_line_loads_nothing_slow(module: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(f"import {module}")}
    assert not loaded & {"textual", "rich", "psutil", "pyudev", "asyncio", "msgspec"}


def test_programs_are_started_in_few_files() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() not in STARTING and STARTERS.search(text := path.read_text("utf-8")):
            calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            assert not any(STARTERS.fullmatch(call) for call in calls), path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", directory, ROOT]
    subprocess.run(command, check=True)
    return next(directory.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_carries_recipes_and_catalogue(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    tables = {f"fswizard/filesystems/catalogue/{path.name}" for path in PACKAGE.glob("filesystems/catalogue/*.toml")}
    recipes = {f"fswizard/shipped_recipes/{path.name}" for path in ROOT.glob("recipes/*.toml")}
    assert tables | recipes <= inside
    assert not {name for name in inside if name.startswith("tests/") or "/published/" in name}


@pytest.mark.slow
@pytest.mark.parametrize(("argument", "words"), [("--version", fswizard.__version__), ("recipes", "quick: ")])
def test_an_installed_wheel_works(argument: str, words: str, wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", wheel], check=True)
    program = tmp_path / "venv/bin/fswizard"
    assert words in subprocess.run([program, argument], cwd=tmp_path, capture_output=True, text=True, check=True).stdout


# The clock


PROGRAMS_OF_THEIR_OWN = (
    "disks/setting_up.py",
    *(f"engines/shared/{name}_worker.py" for name in ("direct", "fsync", "fileserver", "tree")),
)
WAITING = re.compile(
    r"\btime\.(time|monotonic|perf_counter|sleep|clock_gettime)|\bdatetime\.now|\basyncio\.(sleep\((?!0\))|timeout\(|wait_for\()"
    r"|\bimport sleep|\.call_later\(\d"
)


def test_nothing_else_in_the_program_waits_or_reads_the_time() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() not in (*PROGRAMS_OF_THEIR_OWN, "system/clock.py"):
            assert not WAITING.search(path.read_text()), path


async def test_the_real_clock_is_back_afterwards_and_waits_for_the_whole_limit_at_once() -> None:
    with pytest.raises(ValueError, match="over"), clock.use(SimulatedClock()) as time:
        assert clock.monotonic() == time.monotonic() == clock.monotonic()
        raise ValueError("over")
    assert clock.monotonic() != time.monotonic()
    assert [list(clock.turns(limit_s)) for limit_s in (60.0, -1.0)] == [[60.0], [0.0]]
    began_s = clock.monotonic()
    clock.sleep(0.01)
    await clock.pause(0.01)
    assert not await clock.ended(asyncio.get_running_loop().create_future(), 0.01)
    assert clock.monotonic() - began_s > 0.02
    running_s, since_boot_s = clock.monotonic(), clock.boottime()
    assert since_boot_s >= running_s
    assert clock.utc().timestamp() <= clock.wall()


async def test_a_program_that_was_stopped_takes_note_of_what_came_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time ran on: the limit is over when it goes on, and so is what was waited for."""
    monkeypatch.setattr(clock, "LONG_S", 0.0)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def stopped() -> None:
        over = loop.time() + 0.05
        while loop.time() < over:
            pass
        loop.call_soon(loop.call_soon, loop.call_soon, answer.set_result, None)  # read, passed on, understood

    loop.call_soon(stopped)
    assert await clock.ended(answer, 0.05)
