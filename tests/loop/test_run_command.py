"""`fswizard run` as people call it, with the means by which it may be ended."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.loop.machine_state import loops_on, names_in
from tests.loop.tiny_run import LIMIT_S, TWO_KINDS, fswizard, tiny_run, wait_for

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]


def test_a_run_ends_with_a_report_on_stdout_and_a_result_file(recipe: Path, tmp_path: Path) -> None:
    target, output = f"image:64M@{tmp_path}", str(tmp_path / "result.jsonl")
    done = fswizard("run", str(recipe), "--target", target, "--output", output, "--rounds", "3..3", code=0)
    assert max(map(len, done.stdout.splitlines())) <= 80
    verdict = done.stdout.splitlines()[0].partition("   ")[0]
    document = json.loads(fswizard("report", output, "--format", "json").stdout)
    assert document["answer"]["verdict"] in verdict
    assert {ratio["rounds"] for ratio in document["analysis"]["overall"]} == {3}
    primary = [sample for sample in document["result"]["samples"] if sample["primary"] and sample["round"]]
    assert {sample["candidate"] for sample in primary} >= {"ext4", "ext2"}
    assert names_in(tmp_path) == ["result.jsonl", "short.toml"]


def test_a_signal_ends_the_run_in_good_order(tmp_path: Path) -> None:
    elsewhere = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": ""}  # another home than the account's
    with tiny_run(tmp_path, "--rounds", "12..12", recipe=TWO_KINDS, env=elsewhere) as started:
        wait_for(started.file, '"sample":{"round":2')
        started.process.send_signal(signal.SIGTERM)
        stdout, stderr = started.process.communicate(timeout=LIMIT_S)
    assert started.process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "ext2" in stdout, "what was measured is reported"
    assert loops_on(started.place) == []
