"""What packages install beside the program fits it; the packages themselves are built by `make test-packages`."""

from __future__ import annotations

import re
import runpy
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from fswizard.cli import SUBCOMMANDS
from tests.fakes.command_line import fswizard as run

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
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
    assert completed("fswizard", "dri") == {"drives"}
    assert completed("fswizard", "") >= set(SUBCOMMANDS)
    assert completed("fswizard", "run", "--wr") == {"--write-budget"}
    assert {"quick", "archive-disk"} <= completed("fswizard", "run", "")
    assert not completed("fswizard", "clean", "/et"), "bash itself completes files then"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_program_prints_what_a_shell_reads(shell: str) -> None:
    text = run("--completions", shell).stdout
    assert text in {path.read_text("utf-8") for path in SHARE.rglob("*fswizard*") if path.is_file()}
    assert all(name in text for name in (*SUBCOMMANDS, "write-budget", "archive-disk"))


def packages_inside() -> set[str]:
    """fswizard and all Python packages that it needs, as they call themselves."""
    names: set[str] = set()
    waiting = [Requirement("fswizard")]
    while waiting:
        wanted = waiting.pop()
        distribution = metadata.distribution(wanted.name)
        names.add(distribution.metadata["Name"])
        for needed in map(Requirement, distribution.requires or ()):
            extras = wanted.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return names


def test_the_copyright_names_all_packages_inside_and_links_of_the_readme_lead_to_files() -> None:
    text = (PACKAGING / "debian/copyright").read_text("utf-8")
    assert packages_inside() <= set(re.findall(r"[\w-]+", text))
    paths = re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", (ROOT / "README.md").read_text("utf-8"))
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []
