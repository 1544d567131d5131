"""What packages install beside the program fits it; the packages themselves are built by `make test-packages`."""

from __future__ import annotations

import io
import re
import runpy
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import fswizard
from fswizard.cli import SUBCOMMANDS
from fswizard.privileged.install import INSTALLED
from fswizard.targets import helper_copy, privilege
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


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("debian/changelog", r"fswizard \(VERSION-\d+\) "),
        ("fswizard.spec", r"Version: +VERSION$"),
        ("PKGBUILD", r"pkgver=VERSION$"),
    ],
)
def test_packages_have_the_version_of_the_program(file: str, line: str) -> None:
    expected = "^" + line.replace("VERSION", re.escape(fswizard.__version__))
    assert re.search(expected, (PACKAGING / file).read_text("utf-8"), re.MULTILINE)


def test_the_table_of_trials_is_whole_and_has_the_words_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = runpy.run_path(str(PACKAGING / "trials.py"))
    assert (PACKAGING / "TRIALS.md").read_text("utf-8") == trials["table"](list(trials["rows_kept"]().values()))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(helper_copy, "INSTALLED", INSTALLED)
    for name, state, copy in (
        ("password", "sudo-asks", helper_copy.PACKAGE),
        ("allowed", "sudo-asks", INSTALLED),
        ("no root", "none", helper_copy.PACKAGE),
    ):
        monkeypatch.setattr(helper_copy, "path", lambda copy=copy: copy)
        error = privilege.missing(state)
        assert trials["REFUSALS"][name].words == f"fswizard: {error.message}\n  {error.hint}"


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
    text = (PACKAGING / "debian-zipapp/copyright").read_text("utf-8")
    assert packages_inside() <= set(re.findall(r"[\w-]+", text))
    paths = re.findall(r"\]\((?![a-z]+:|#)([^)\s]+)\)", README)
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []


ROOT = PACKAGING.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_pictures_of_the_readme_show_elsewhere_once_a_repository_is_named() -> None:
    """On an index of packages, nothing lies beside the README."""
    absolute = runpy.run_path(str(PACKAGING / "metadata.py"))["absolute"]
    text = "![A run](screenshots/run.png) [Using it](fswizard/USAGE.md) [site](https://example.org) [up](#top)"
    assert absolute(text, "https://example.org/me/fswizard/", "1.2") == (
        "![A run](https://example.org/me/fswizard/raw/v1.2/screenshots/run.png) "
        "[Using it](https://example.org/me/fswizard/blob/v1.2/fswizard/USAGE.md) [site](https://example.org) [up](#top)"
    )
    assert not re.search(r"\]\((?![a-z]+:|#)", absolute(README, "https://example.org/f", "1"))


@pytest.mark.parametrize("repository", ["", "https://example.org/f"])
def test_packages_carry_the_readme(repository: str) -> None:
    hook = runpy.run_path(str(PACKAGING / "metadata.py"))["CustomMetadataHook"](str(ROOT), {})
    metadata = {"version": "1", "urls": {"Repository": repository} if repository else {}}
    hook.update(metadata)
    assert metadata["readme"]["content-type"] == "text/markdown"  # type: ignore[index]
    assert (metadata["readme"]["text"] == README) == (not repository)  # type: ignore[index]
