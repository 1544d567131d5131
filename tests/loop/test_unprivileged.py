"""Somebody who is not root: with sudo, and without any."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from fswizard import results
from tests.fakes.host import ROOMY
from tests.loop.machine_state import (
    names_in,
)
from tests.loop.people import USERS, User
from tests.loop.tiny_run import MAIN

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, pytest.mark.fio, USERS]


def python(made: User, script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        made.command(f"{ROOMY}\n{script}", *arguments), cwd=made.home, text=True,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(made: User, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """To its end, with that exit code."""
    return ended(python(made, MAIN, *arguments), code)


def ended(process: subprocess.Popen[str], code: int) -> subprocess.CompletedProcess[str]:
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == code, stderr
    assert "Traceback" not in stderr
    return subprocess.CompletedProcess(process.args, code, stdout, stderr)


def test_directories_need_no_rights_and_nothing_is_formatted(nobody: User) -> None:
    for name in ("first", "second"):
        (nobody.home / name).mkdir()
        (nobody.home / name / "precious").write_text("mine")
        shutil.chown(nobody.home / name, nobody.uid, nobody.gid)
    target = f"dir:{nobody.home / 'first'},{nobody.home / 'second'}"
    done = run(nobody, "run", "tiny.toml", "--target", target, "--rounds", "2..2", "--output", "result.jsonl")
    result = results.load(nobody.home / "result.jsonl")
    assert result.outcome == "finished"
    assert {sample.round for sample in result.samples if sample.primary} == {1, 2}
    assert "mkfs" not in done.stdout
    assert names_in(nobody.home / "first") == names_in(nobody.home / "second") == ["precious"]
    assert (nobody.home / "result.jsonl").stat().st_uid == nobody.uid


EACH = """
from fswizard.__main__ import main
for arguments in sys.argv[1:]:
    sys.argv[1:] = arguments.split()
    try:
        main()
    except SystemExit as ended:
        print(f"ended: {ended.code}", flush=True)
"""


def test_what_only_looks_needs_no_rights(nobody: User) -> None:
    looks = (
        "drives",
        "drives --json",
        "recipes",
        "run tiny.toml --dry-run --target image:64M@.",
        "doctor",
        "history",
        "clean",
    )
    done = ended(python(nobody, EACH, *looks), 0)
    codes = re.findall(r"^ended: (\d+)$", done.stdout, re.MULTILINE)
    assert len(codes) == len(looks), done.stderr
    assert codes.pop(looks.index("doctor")) in "04", "by 4 it says that something is missing"
    assert set(codes) == {"0"}, done.stderr


def test_a_state_directory_of_roots_is_one_clear_error(nobody: User) -> None:
    state = nobody.home / ".local" / "state" / "fswizard"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    try:
        target = f"dir:{nobody.home}"
        done = run(nobody, "run", "tiny.toml", "--target", target, "--output", "denied.jsonl", code=2)
        assert "XDG_STATE_HOME" in done.stderr
        run(nobody, "clean")
    finally:
        shutil.rmtree(nobody.home / ".local")
