"""`fswizard run` as people call it, with the means by which it may be ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.loop.machine_state import assert_nothing_lives, loops_on, wait_until
from tests.loop.tiny_run import FSWIZARD, LIMIT_S
from tests.recipe_texts import writing

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

RECIPE = writing("64M", "4M", 0.0, rw="write", candidates=("ext4", "ext2"))


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(RECIPE)
    return path


def start(recipe: Path, directory: Path, *arguments: str) -> subprocess.Popen[str]:
    argv = [*FSWIZARD, "run", str(recipe), "--target", f"image:64M@{directory}"]
    return subprocess.Popen(
        [*argv, "--output", str(directory / "result.jsonl"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path: Path, words: str) -> None:
    """Until the result file says `words`."""
    wait_until(lambda: path.exists() and words in path.read_text(), LIMIT_S, f"the result says {words}")


def fswizard(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*FSWIZARD, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S)


def test_a_run_ends_with_a_report_on_stdout_and_a_result_file(recipe: Path, tmp_path: Path) -> None:
    process = start(recipe, tmp_path, "--rounds", "3..3")
    stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, stderr
    assert max(map(len, stdout.splitlines())) <= 80
    assert "ext2" in stdout
    document = json.loads(fswizard("report", str(tmp_path / "result.jsonl"), "--format", "json").stdout)
    assert document["schema"] == 1
    verdicts = {"faster", "slower", "tie", "undecided", "failed"}
    for ratio in (*document["ratios"], *document["overall"]):
        assert ratio["verdict"] in verdicts
        assert ratio["low"] <= ratio["ratio"] <= ratio["high"]
    rounds = {(s["candidate"], s["round"]) for s in document["samples"] if s["primary"] and s["round"]}
    assert rounds == {(candidate, number) for candidate in ("ext4", "ext2") for number in (1, 2, 3)}
    assert document["advice"]["headline"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.jsonl", "short.toml"]


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(other, marks=pytest.mark.slow) for other in (signal.SIGINT, signal.SIGHUP))],
)
def test_a_signal_ends_the_run_in_good_order(recipe: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = start(recipe, tmp_path, "--rounds", "12..12")
    wait_for(tmp_path / "result.jsonl", '"round": 2')
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "ext2" in stdout, "what was measured is reported"
    assert loops_on(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.jsonl", "short.toml"]


def test_after_sigkill_nothing_is_mounted_and_clean_removes_the_image(recipe: Path, tmp_path: Path) -> None:
    process = start(recipe, tmp_path, "--rounds", "12..12")
    wait_for(tmp_path / "result.jsonl", '"round": 2')
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert children
    assert_nothing_lives(tmp_path, children)

    report = fswizard("report", str(tmp_path / "result.jsonl"))
    assert report.returncode == 0, report.stderr
    assert "ext2" in report.stdout
    cleaned = fswizard("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert "removed" in cleaned.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.jsonl", "short.toml"]
    assert "Nothing was left behind" in fswizard("clean").stderr


def test_an_existing_result_file_is_not_overwritten(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "result.jsonl").write_text("precious")
    process = start(recipe, tmp_path)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode in (1, 2)
    assert "result.jsonl" in stderr and "Traceback" not in stderr
    assert (tmp_path / "result.jsonl").read_text() == "precious"


def test_directories_are_compared_without_formatting_anything(recipe: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious").write_text("mine")
    argv = [*FSWIZARD, "run", str(recipe), "--rounds", "1..1"]
    argv += ["--target", f"dir:{tmp_path / 'first'},{tmp_path / 'second'}", "--output", str(tmp_path / "result.jsonl")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert "mkfs" not in done.stdout
    for name in ("first", "second"):
        assert [path.name for path in (tmp_path / name).iterdir()] == ["precious"]


def test_plan_shows_the_exact_commands_and_changes_nothing(recipe: Path, tmp_path: Path) -> None:
    done = fswizard("plan", str(recipe), "--target", f"image:64M@{tmp_path}", "--candidates", "ext2:noatime")
    assert done.returncode == 0, done.stderr
    assert "# mkfs.ext2 -q -F" in done.stdout
    assert "-t ext2 -o noatime,errors=remount-ro,nosuid,nodev DEVICE MOUNT" in done.stdout
    assert "fio --name=write" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["short.toml"]
