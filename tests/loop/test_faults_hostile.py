"""Recipes, arguments, result files and tools that mean harm or talk nonsense: refused with a reason, nothing run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.command_line import fswizard
from tests.loop.tiny_run import RECIPE
from tests.loop.tiny_run import fswizard as real_fswizard
from tests.recipe_texts import writing

CONTROL = {chr(number) for number in range(32)} - {"\n"} | {"\x7f", "\u202e", "\u2066"}


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """With exit code 2 and a reason, in harmless text, and without a traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 4000
    assert not CONTROL & set(done.stderr)
    for word in words:
        assert word in done.stderr


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file that must never come into being."""
    path = tmp_path / "canary"
    yield path
    assert not path.exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('filename = "../../etc/passwd"', "filename"),
        ('rw = "randwrite --exec_prerun=touch CANARY"', "rw"),
        ('rw = "$(touch CANARY)"', "rw"),
        ("seconds = 1e308", "seconds"),
        ("jobs = 999999999999999999999999999999", "jobs"),
        ('name = "--output=CANARY"', "name"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_hostile_recipe_is_refused_by_file_and_key(tmp_path: Path, canary: Path, line: str, words: str) -> None:
    key = line.partition(" =")[0]
    head, mark, workload = RECIPE.partition("[[workload]]")
    kept = [text for text in workload.splitlines() if not text.startswith(f"{key} =")]
    recipe = tmp_path / "hostile.toml"
    recipe.write_text("\n".join([head + mark, *kept, line.replace("CANARY", str(canary))]))
    assert_refused(fswizard("run", str(recipe), "--target", f"dir:{tmp_path}"), "hostile.toml", words)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--target", "image:1T;touch CANARY@/tmp"),
        ("--target", "image:1G@/proc"),
        ("--target", "image:1G@/dev/null"),
        ("--target", "dir:/nowhere/$(touch CANARY)"),
        ("--target", "dir:" + "x" * 5000),
        ("--target", "\x1b]0;evil\x07"),
        ("--candidates", "ext4:noatime --help"),
        ("--candidates", "xfs:$(touch CANARY)"),
        ("--candidates", "btrfs:device=/dev/sda"),
        ("--candidates", "../../bin/sh"),
        ("--time", "1e999s"),
        ("--need", "\x1b[31m"),
        ("--resume", "/dev/zero"),
        ("--resume", "/etc/passwd"),
    ],
    ids=lambda value: ascii(" ".join(value))[:40],
)
def test_hostile_arguments_are_refused(tmp_path: Path, canary: Path, arguments: tuple[str, str]) -> None:
    option, value = arguments
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE)
    given = (option, value.replace("CANARY", str(canary)))
    own = () if option in ("--target", "--resume") else ("--target", f"dir:{tmp_path}")
    if option == "--candidates":
        own = ("--target", "image:128M@/var/tmp")
    which = () if option == "--resume" else (str(recipe),)
    assert_refused(fswizard("run", *which, *own, *given))


def test_a_hostile_directory_is_shown_escaped(tmp_path: Path) -> None:
    evil = tmp_path / "\x1b]52;c;eA==\x07\u202e[b] x"
    evil.mkdir()
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(writing("64M", "8M", 0.1))
    done = real_fswizard(
        "run", str(recipe), "--target", f"dir:{evil}", "--rounds", "1..1", "--output", str(tmp_path / "r")
    )
    assert done.returncode == 0, done.stderr
    assert not CONTROL & set(done.stdout + done.stderr)
    assert list(evil.iterdir()) == []
    for shown in ("text", "markdown", "html", "csv", "json"):
        text = fswizard("report", str(tmp_path / "r"), "--format", shown).stdout
        assert text and not (CONTROL - {"\r"}) & set(text)


@pytest.mark.parametrize(
    "script",
    ["head -c 200000 /dev/urandom", "yes | head -c 20000000", "printf '\\033]0;x\\007'; exit 139"],
    ids=["noise", "20 MB", "control characters and a crash"],
)
def test_drives_are_listed_whatever_tools_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    for name in ("lsblk", "blkid", "smartctl", "udevadm", "findmnt", "wipefs", "zpool"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = fswizard("drives", "--json")
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), (list, dict))
    assert not CONTROL & set(done.stderr)
