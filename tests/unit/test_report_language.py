"""In which language a report is: the reader's for people, English for programs and where it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard import language
from fswizard.advice import again, conclude
from fswizard.cli.report import exported
from fswizard.report import FORMATS
from fswizard.tui.screens.export import SHORT, made
from tests.builders import make_result
from tests.fakes.translation import catalog_of, known

TRANSLATED = {
    "Use {candidate}: {reason}": "{candidate} nehmen: {reason}",
    "{comparison} here": "{comparison} hier",
    "{times} as fast as {candidate}": "{times} so schnell wie {candidate}",
    "Faster than {candidate}: {tests}.": "Schneller als {candidate}: {tests}.",
    "How it was measured": "Wie gemessen wurde",
    "Disk": "Platte",
}
RESULT = make_result({"ext4": (100.0, 101.0, 102.0), "xfs": (300.0, 305.0, 299.0)}, elapsed_s=60.0)
ENGLISH = {
    name: exported(conclude(RESULT), name, full=name != SHORT) for name, kind in FORMATS.items() if not kind.drawn
}


@pytest.fixture(autouse=True)
def _german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(catalog_of("de", TRANSLATED), tmp_path, monkeypatch)
    language.choose("de")


@pytest.mark.parametrize("name", ENGLISH)
def test_people_read_their_language_and_programs_english(name: str) -> None:
    findings = conclude(RESULT)
    assert findings.answer.verdict == "xfs nehmen: 3× so schnell wie ext4 hier"
    written = exported(findings, name, full=name != SHORT)
    assert (written == ENGLISH[name]) == FORMATS[name].english
    assert exported(findings, name, english=True, full=name != SHORT) == ENGLISH[name]
    assert made(findings, name, english=True)[0] == ENGLISH[name]


def test_a_page_and_a_picture_name_their_language() -> None:
    findings = conclude(RESULT)
    for name in ("html", "svg"):
        written, english = exported(findings, name), ENGLISH[name]
        assert isinstance(written, str) and 'lang="de"' in written
        assert isinstance(english, str) and 'lang="en"' in english


def test_findings_are_concluded_again_only_in_another_language() -> None:
    findings = conclude(RESULT)
    assert again(findings) is findings
    with language.in_english():
        assert again(findings).answer.verdict == "Use xfs: 3× as fast as ext4 here"
