"""What packages install beside the program fits it; the packages themselves are built by `make test-packages`."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

import fswizard
from fswizard.cli import SUBCOMMANDS
from tests.fakes.command_line import fswizard as run

PACKAGING = Path(__file__).parents[2] / "packaging"
SHARE = PACKAGING / "share"
BASH = SHARE / "bash-completion/completions/fswizard"


def completed(*words: str) -> set[str]:
    """What bash offers for the last of `words`."""
    program = (
        f"source {BASH}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; "
        '_fswizard; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return set(subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split())


def test_manual_page_and_completions_are_those_of_the_commands() -> None:
    made = runpy.run_path(str(PACKAGING / "share.py"))["files"]()
    for path, text in made.items():
        assert (SHARE / path).read_text("utf-8") == text, "make them anew: .venv/bin/python packaging/share.py"


def test_bash_completes_commands_their_options_and_recipes() -> None:
    assert completed("fswizard", "dri") == {"drives"}
    assert completed("fswizard", "") >= set(SUBCOMMANDS)
    assert completed("fswizard", "run", "--we") == {"--weights"}
    assert {"quick", "archive-disk"} <= completed("fswizard", "run", "")
    assert not completed("fswizard", "clean", "/et"), "bash itself completes files then"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_program_prints_what_a_shell_reads(shell: str) -> None:
    text = run("--completions", shell).stdout
    assert text in {path.read_text("utf-8") for path in SHARE.rglob("*fswizard*") if path.is_file()}
    assert all(name in text for name in (*SUBCOMMANDS, "write-budget", "archive-disk"))


def test_the_debian_package_has_the_version_of_the_program() -> None:
    version = re.escape(fswizard.__version__)
    assert re.match(rf"fswizard \({version}-\d+\) ", (PACKAGING / "debian/changelog").read_text())
