"""It starts fast, is installed whole, and its clock copes with having been stopped."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fswizard
from fswizard.system import clock

ROOT = Path(__file__).parents[2]
PACKAGE = Path(fswizard.__file__).parent


def test_the_command_line_loads_nothing_slow() -> None:
    program = "import fswizard.cli, fswizard.__main__, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"textual", "rich", "psutil", "pyudev", "asyncio", "msgspec"}


@pytest.mark.slow
def test_an_installed_wheel_works_and_carries_recipes_and_catalogue(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    tables = {f"fswizard/filesystems/catalogue/{path.name}" for path in PACKAGE.glob("filesystems/catalogue/*.toml")}
    recipes = {f"fswizard/shipped_recipes/{path.name}" for path in ROOT.glob("recipes/*.toml")}
    assert tables | recipes <= inside
    assert not {name for name in inside if name.startswith("tests/") or "/published/" in name}
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", wheel], check=True)
    program = tmp_path / "venv/bin/fswizard"
    printed = subprocess.run([program, "recipes"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "quick: " in printed


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
