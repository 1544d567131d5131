"""`fswizard report` and `fswizard history`, as somebody calls them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from fswizard import report, results
from fswizard.advice import conclude
from fswizard.stats import judge
from tests.fakes.command_line import fswizard
from tests.unit.report_findings import make_findings

RESULT = make_findings().result


@pytest.fixture
def newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = results.new_path(RESULT.plan)
    results.write_result(path, RESULT, judge(RESULT))
    return path


def test_without_a_name_the_newest_result_is_shown(newest: Path) -> None:
    done = fswizard("report")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == report.render(conclude(RESULT), "text")


def test_a_result_is_named_by_its_file_or_a_part_of_its_name(newest: Path) -> None:
    assert fswizard("report", str(newest)).stdout == fswizard("report", "ST8000AS0002").stdout != ""


def test_the_json_document_of_a_real_judgement_keeps_to_its_schema(newest: Path) -> None:
    schema = json.loads(Path(report.__file__).with_name("result.schema.json").read_text("utf-8"))
    document = json.loads(fswizard("report", "--format", "json").stdout)
    jsonschema.validate(document, schema)
    compared = [ratio for ratio in document["ratios"] if ratio["verdict"] != "failed"]
    assert all(ratio["low"] <= ratio["ratio"] <= ratio["high"] for ratio in compared)
    assert compared


def test_a_files_ending_chooses_the_format_and_nothing_is_overwritten(newest: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert fswizard("report", "--output", str(page)).returncode == 0
    written = page.read_text("utf-8")
    assert written.startswith("<!DOCTYPE html>")
    again = fswizard("report", "--output", str(page), "--format", "text")
    assert (again.returncode, page.read_text("utf-8")) == (2, written)
    assert "exists already" in again.stderr


def test_other_weights_rank_anew(newest: Path) -> None:
    even = json.loads(fswizard("report", "--format", "json").stdout)
    deleting = json.loads(fswizard("report", "--format", "json", "--weights", "large-files=0, random-append=0").stdout)
    overall = {ratio["candidate"]: ratio["ratio"] for ratio in deleting["overall"]}
    assert even["advice"]["choice"] == ["xfs"]
    assert overall["xfs"] == pytest.approx(1.25 / 1.76, rel=1e-3)
    assert "xfs" not in deleting["advice"]["choice"]


def test_a_need_leaves_out_who_does_not_meet_it(newest: Path) -> None:
    document = json.loads(fswizard("report", "--format", "json", "--need", "checksums").stdout)
    assert document["advice"]["choice"] == ["btrfs:noatime"]


def test_names_are_left_out_unless_asked_for(newest: Path) -> None:
    assert "annes-box" not in fswizard("report", "--format", "json").stdout
    assert "annes-box" in fswizard("report", "--format", "json", "--identify").stdout


def test_a_terminal_without_unicode_gets_ascii(newest: Path) -> None:
    done = fswizard("report", encoding="ascii")
    assert done.stdout.isascii()
    assert "+ faster" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "docx"), "no format 'docx'"),
        (("nothing-like-it",), "no result 'nothing-like-it'"),
        (("/nowhere.jsonl",), "cannot be read"),
        (("--weights", "speed=2"), "no workload speed"),
        (("--output", "/nowhere/a.txt"), "/nowhere/a.txt cannot be written"),
    ],
)
def test_wrong_choices_get_one_clear_message(newest: Path, arguments: tuple[str, ...], words: str) -> None:
    done = fswizard("report", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_every_cut_of_a_result_still_gives_a_report(newest: Path, tmp_path: Path) -> None:
    data = newest.read_bytes()
    header = data.index(b"\n", data.index(b"\n") + 1) + 1
    cut = tmp_path / "cut.jsonl"
    for place in random.Random(8).sample(range(header, len(data)), 200):
        cut.write_bytes(data[:place])
        findings = conclude(results.load(cut))
        assert findings.advice.headline in " ".join(report.render(findings, "text").split())


def test_the_history_lists_what_there_is_with_who_was_ahead(newest: Path) -> None:
    lines = fswizard("history").stdout.splitlines()
    assert lines[0] == newest.stem
    assert "quick on ST8000AS0002-1NA17Z: ext4; xfs; btrfs:noatime" in lines[1]
    assert lines[-1] == "    xfs ahead; 3 rounds, 7 min"


def test_nobody_is_ahead_who_was_measured_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    plan = replace(RESULT.plan, candidates=RESULT.plan.candidates[:1])
    names = {candidate.name for candidate in plan.candidates}
    samples = tuple(sample for sample in RESULT.samples if sample.candidate in names)
    alone = replace(RESULT, plan=plan, samples=samples, failures=())
    results.write_result(results.new_path(plan), alone, judge(alone))
    last = fswizard("history").stdout.splitlines()[-1]
    assert last.startswith("    ext4 measured, beside no other; 3 rounds")
    assert "ahead" not in last


def test_the_history_is_searched_by_disk_date_recipe_and_candidate(newest: Path) -> None:
    assert newest.stem in fswizard("history", "st8000", "2026-01", "quick", "btrfs").stdout
    done = fswizard("history", "WD40")
    assert (done.stdout, done.stderr) == ("", "There is no such result.\n")


def test_the_history_is_there_for_programs_too(newest: Path) -> None:
    (entry,) = json.loads(fswizard("history", "--json").stdout)
    assert (entry["path"], entry["leaders"], entry["rounds"]) == (str(newest), ["xfs"], 3)
