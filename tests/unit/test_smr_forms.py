"""smartctl's output says the same in each of the forms that it is printed in."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fswizard.drives.smartctl_forms import documents, holds_documents
from fswizard.drives.smartctl_output import parse, parse_each
from fswizard.drives.smr import judge_smr

RECORDED = Path(__file__).parents[1] / "recorded" / "smartctl"
RECORDINGS = sorted(path.name for path in RECORDED.glob("*.json"))
SHINGLED: dict[str, Any] = {
    "json_format_version": [1, 0],
    "smartctl": {"version": [7, 4], "messages": [{"string": 'it\'s "odd": yes', "severity": "information"}]},
    "device": {"name": "/dev/sdx", "protocol": "ATA"},
    "model_name": "WDC WD40EFAX-68JH4N1",
    "rotation_rate": 5400,
    "trim": {"supported": True},
    "zoned_device": {"capabilities": "Device managed zones"},
    "sparse": [None, [1, 2], {}, []],
}
HOST_MANAGED = {**SHINGLED, "model_name": "HSH721414ALN6M0", "device_type": {"name": "host managed zoned block device"}}


def assignments(value: Any, path: str = "json") -> Iterator[str]:
    """As `smartctl --json=g` prints it."""
    if isinstance(value, dict | list):
        yield f"{path} = {'{}' if isinstance(value, dict) else '[]'};"
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from assignments(inner, f"{path}.{key}" if isinstance(value, dict) else f"{path}[{key}]")
    else:
        yield f"{path} = {json.dumps(value)};"


def yaml(value: Any) -> Iterator[str]:
    """As `smartctl --json=y` prints it."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        mark = f"{key}:" if isinstance(value, dict) else "-"
        if isinstance(inner, dict | list) and inner:
            nested = list(yaml(inner))
            if mark == "-":
                yield f"- {nested.pop(0)}"
            else:
                yield mark
            yield from (f"  {line}" for line in nested)
        elif isinstance(inner, str):
            quoted = inner.replace("'", "''")
            yield f"{mark} '{quoted}'"
        else:
            yield f"{mark} {json.dumps(inner)}"


def spelled(document: Any) -> dict[str, str]:
    return {
        "json": json.dumps(document),
        "assignments": "\n".join(assignments(document)) + "\n",
        "yaml": "\n".join(["---", *yaml(document)]) + "\n",
    }


@pytest.mark.parametrize("name", RECORDINGS)
def test_each_form_of_a_recording_says_the_same(name: str) -> None:
    document = json.loads((RECORDED / name).read_text("utf-8"))
    readings = {form: parse(text.encode()) for form, text in spelled(document).items()}
    assert readings["assignments"] == readings["yaml"] == readings["json"]
    assert readings["json"].facts.model


@pytest.mark.parametrize("form", ["json", "assignments", "yaml"])
def test_lists_nesting_and_quotes_come_through(form: str) -> None:
    text = spelled(SHINGLED)[form]
    assert holds_documents(text)
    assert list(documents(text)) == [SHINGLED]
    assert judge_smr(parse(text.encode()).facts).kind == "drive-managed"


@pytest.mark.parametrize("form", ["json", "assignments", "yaml"])
def test_several_in_one_file_are_told_apart(form: str) -> None:
    text = spelled(SHINGLED)[form] + spelled(HOST_MANAGED)[form]
    readings = list(parse_each(text.encode()))
    assert [judge_smr(reading.facts).kind for reading in readings] == ["drive-managed", "host-managed"]


@pytest.mark.skipif(shutil.which("smartctl") is None, reason="smartctl is not installed")
def test_what_smartctl_itself_prints_is_read() -> None:
    def printed(form: str) -> dict[str, Any]:
        done = subprocess.run(["smartctl", f"--json={form}", "-i", "/dev/null"], capture_output=True, check=False)
        (document,) = documents(done.stdout.decode())
        return {**document, "local_time": None, "smartctl": {**document["smartctl"], "argv": None}}

    assert printed("g") == printed("gs") == printed("y") == printed("ys") == printed("c")
    assert printed("y")["smartctl"]["messages"][0]["severity"] == "error"


@pytest.mark.parametrize("form", ["assignments", "yaml"])
def test_a_cut_file_makes_no_disk_what_it_is_not(form: str) -> None:
    text = spelled(SHINGLED)[form]
    for end in range(0, len(text), 3):
        assert judge_smr(parse(text[:end].encode()).facts).kind in ("unknown", "drive-managed")


@pytest.mark.parametrize(
    "text", ["---\nsmartctl:\n - :\n  x", "json = {};\njson.a = {;\n", "---\nsmartctl:\n" + "- " * 999]
)
def test_nonsense_is_no_output_of_smartctl(text: str) -> None:
    facts = parse(text.encode()).facts
    assert facts.problem
    assert judge_smr(facts).kind == "unknown"


def test_a_text_for_people_below_a_rule_is_still_read() -> None:
    output = b"---\n" + (RECORDED / "WDC_WD40EFAX-68JH4N1.txt").read_bytes()
    assert judge_smr(parse(output).facts).kind == "drive-managed"
