"""What `fswizard smr` prints for others: the table of models, and a report on one disk."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fswizard.cli.smr_export import Reported, report, table
from fswizard.drives.models import shipped_table
from fswizard.drives.probe import ProbeResult
from fswizard.drives.smartctl_output import parse
from fswizard.drives.smr import judge_smr
from fswizard.model.drive import Evidence
from tests.builders import make_drive
from tests.fakes.command_line import fswizard

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
ROWS = shipped_table().rows


def test_the_table_is_markdown_with_a_link_and_no_pattern_in_each_row() -> None:
    lines = table(ROWS, "markdown").splitlines()
    assert len(lines) == len(ROWS) + 2
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        assert len(cells) == 6, line
        assert cells[5].startswith("<http") and cells[5].endswith(">")
        assert not set(cells[0]) & set("[](){}*+?|^$"), cells[0]


def test_the_table_is_csv_with_the_same_rows() -> None:
    header, *rows = csv.reader(io.StringIO(table(ROWS, "csv")))
    assert header[0] == "models" and header[-1] == "source"
    assert [row[-1] for row in rows] == [row.source for row in ROWS]
    assert next(row for row in rows if "WD20EFAX" in row[0])[1] == "shingled, drive-managed"


def test_a_report_has_model_firmware_marks_and_probe_and_nothing_personal() -> None:
    output = (RECORDED / "ST8000AS0002-1NA17Z.txt").read_bytes()
    named = output.replace(b"Serial Number:    --", b"Serial Number:    Z8400SECRET")
    assert named != output
    facts = parse(named).facts
    probe = ProbeResult("drive-managed", Evidence("write-cliff", "drive-managed", "strong", "It fell."), 9.0, 10)
    text = report(Reported.of_facts(facts), judge_smr(facts), probe)
    for words in (
        "ST8000AS0002-1NA17Z",
        facts.firmware,
        "8.00 TB, 5980 rpm, sectors of 4096 bytes, ACS-2, ACS-3",
        "It fell.",
    ):
        assert words in text, words
    assert "SECRET" not in text


def test_a_report_on_an_attached_disk_leaves_out_what_is_about_the_machine() -> None:
    drive = make_drive("unknown", name="sdq", serial="SECRET")
    of_machine = Evidence("behind-bridge", "unknown", "weak", "The USB bridge calls it 'x'.")
    verdict = judge_smr(parse(b"").facts)
    text = report(Reported.of_drive(drive), type(verdict)("unknown", "weak", (of_machine,)))
    assert drive.model in text
    assert not {"SECRET", "sdq", "bridge"} & set(text.replace(".", " ").split())


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("--table",), "| models |"),
        (("--table", "csv"), "models,recording"),
        (("--submit", "WD40EFAX"), "- Model: WD40EFAX"),
    ],
)
def test_the_command_prints_them(words: tuple[str, ...], printed: str) -> None:
    done = fswizard("smr", *words)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def test_another_form_of_the_table_is_refused() -> None:
    done = fswizard("smr", "--table", "xml")
    assert (done.returncode, "`markdown` or `csv`" in done.stderr) == (2, True)
