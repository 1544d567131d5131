"""What people install: the wheel, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomli

import fswizard

ROOT = Path(__file__).parents[2]


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
    assert build["wheel"] == {"packages": ["fswizard"], "force-include": {"recipes": "fswizard/shipped_recipes"}}


def test_the_readme_earns_every_dependency() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]
    readme = (ROOT / "README.md").read_text()
    for dependency in project["dependencies"]:
        name = dependency.split(">")[0]
        assert any(line.startswith(f"- `{name}`") for line in readme.splitlines()), name


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
