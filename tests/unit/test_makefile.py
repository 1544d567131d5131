"""What `make` does before anything of the program runs: its virtual environment, whole or made anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def make(directory: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *words], cwd=directory, capture_output=True, text=True, check=False, env={**outer, **variables}
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory with a blank in its name, and a virtual environment in it that has this one's pip."""
    made = tmp_path / "a checkout"
    made.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, made)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made / ".venv"], check=True)
    (packages,) = made.glob(".venv/lib/python*/site-packages")
    (packages / "pip.pth").write_text(sysconfig.get_path("purelib"))
    return made


def is_kept(checkout: Path) -> bool:
    make(checkout, "--dry-run", "clean")
    return (checkout / ".venv").exists()


def test_a_virtual_environment_that_works_is_kept(checkout: Path) -> None:
    assert is_kept(checkout)
    (checkout / ".venv").rename(checkout / "elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    assert not is_kept(checkout), "it has no pip, as where Python became another version"


def test_one_that_was_moved_or_has_outlived_its_python_is_made_anew(checkout: Path) -> None:
    moved = checkout.with_name("moved")
    checkout.rename(moved)
    assert not is_kept(moved)
    moved.rename(checkout)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    for python in checkout.glob(".venv/bin/python*"):
        python.unlink()
        python.symlink_to("/nonexistent/python3")
    assert not is_kept(checkout)


def test_without_network_one_sentence_says_so_and_other_faults_are_shown_as_they_are(checkout: Path) -> None:
    """Costs two starts of pip, whose words for that change."""
    offline = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_NO_CACHE_DIR": "1"}
    done = make(checkout, ".venv/.run-ready", **offline)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert said == ["Python packages could not be fetched: connect this machine to the network and try again."]
    assert "127.0.0.1" in (checkout / ".venv/pip.log").read_text()
    (checkout / "pyproject.toml").write_text("nonsense")
    assert "key/value pair" in make(checkout, ".venv/.run-ready").stderr
