"""The parts depend on each other in one direction, start fast and have one clock; and what people install."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomli

import fswizard

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", directory, ROOT]
    subprocess.run(command, check=True)
    return next(directory.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_carries_recipes_and_catalogue(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    tables = {path.name for path in (ROOT / "fswizard/filesystems/catalogue").glob("*.toml")}
    recipes = {path.relative_to(ROOT / "recipes") for path in (ROOT / "recipes").rglob("*") if path.is_file()}
    assert {f"fswizard/filesystems/catalogue/{name}" for name in tables} <= inside
    assert {f"fswizard/shipped_recipes/{path}" for path in recipes} <= inside
    assert "fswizard/tui/fswizard.tcss" in inside or not (ROOT / "fswizard/tui/fswizard.tcss").exists()
    assert not {name for name in inside if name.startswith("tests/")}


def test_the_wheel_is_told_to_carry_the_program_and_its_recipes() -> None:
    """What comes of it is looked at with --slow: to build a wheel takes seconds and a network."""
    build = tomli.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    force, shared = {"recipes": "fswizard/shipped_recipes"}, {"packaging/share": "share"}
    assert build["wheel"] == {"packages": ["fswizard"], "force-include": force, "shared-data": shared}


def test_the_readme_earns_every_dependency() -> None:
    for dependency in tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]:
        name = dependency.split(">")[0]
        assert f"\n- `{name}`" in (ROOT / "README.md").read_text(), name


@pytest.mark.slow
def test_an_installed_wheel_works(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", wheel], check=True)
    program = tmp_path / "venv/bin/fswizard"

    def ask(*arguments: str) -> str:
        done = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    assert fswizard.__version__ in ask("--version")
    assert '"quick"' in ask("recipes", "--json")
    assert "btrfs" in ask("doctor", "--json")
