"""The parts depend on each other in one direction, and the command line starts fast."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTERS = re.compile(
    r"subprocess\.\w+|asyncio\.create_subprocess_\w+|os\.(system|popen|exec|spawn|posix_spawn)\w*|pty\.spawn"
)


def loaded_by(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after `program`."""
    program += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_import_rules_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["fswizard.cli", "fswizard.__main__"])
def test_the_command_line_loads_nothing_slow(module: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(f"import {module}")}
    assert not loaded & {"textual", "rich", "psutil", "pyudev", "asyncio", "msgspec"}


def test_what_root_runs_loads_the_standard_library_alone() -> None:
    before = loaded_by("import fswizard")
    new = loaded_by(
        "import importlib, pkgutil, fswizard.privileged as room\n"
        "for found in pkgutil.walk_packages(room.__path__, 'fswizard.privileged.'):\n"
        "    found.name.endswith('__main__') or importlib.import_module(found.name)"
    )
    tops = {name for name in new - before if not name.startswith("fswizard.privileged")}
    assert {name.partition(".")[0] for name in tops} <= set(sys.stdlib_module_names)


def test_programs_are_started_in_one_place() -> None:
    room = ROOT / "fswizard"
    paths = {path for path in room.rglob("*.py") if path.relative_to(room).parts[0] != "privileged"}
    texts = {path: path.read_text("utf-8") for path in sorted(paths - {room / "system/commands.py"})}
    for path, text in texts.items():
        if not STARTERS.search(text):
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
        started = [call for node in calls if STARTERS.fullmatch(call := ast.unparse(node))]
        assert not started, path
