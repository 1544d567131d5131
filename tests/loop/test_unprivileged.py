"""Somebody who has no rights."""

from __future__ import annotations

import re
import shutil

import pytest

from fswizard import results
from tests.loop.machine_state import names_in
from tests.loop.people import USERS, User

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, pytest.mark.fio, USERS]


def test_directories_need_no_rights_and_nothing_is_formatted(nobody: User) -> None:
    for name in ("first", "second"):
        (nobody.home / name).mkdir()
        (nobody.home / name / "precious").write_text("mine")
        shutil.chown(nobody.home / name, nobody.uid, nobody.gid)
    target = f"dir:{nobody.home / 'first'},{nobody.home / 'second'}"
    done = nobody.run("run", "tiny.toml", "--target", target, "--rounds", "1..1", "--output", "result.jsonl")
    result = results.load(nobody.home / "result.jsonl")
    assert result.outcome == "finished"
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
    done = nobody.run(*looks, script=EACH)
    codes = re.findall(r"^ended: (\d+)$", done.stdout, re.MULTILINE)
    assert len(codes) == len(looks), done.stderr
    assert codes.pop(looks.index("doctor")) in "04", "by 4 it says that something is missing"
    assert set(codes) == {"0"}, done.stderr
