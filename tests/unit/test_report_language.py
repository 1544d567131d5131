"""In which language a report is: the reader's for people, English for programs and where it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard import language
from fswizard.advice import conclude
from fswizard.report import FORMATS
from fswizard.sharing import export
from fswizard.tui.screens.export import SHORT
from tests.builders import make_result
from tests.fakes.translation import catalog_of, known

TRANSLATED = {
    "Use {candidate}: {reason}": "{candidate} nehmen: {reason}",
    "{comparison} here": "{comparison} hier",
    "{times} as fast as {candidate}": "{times} so schnell wie {candidate}",
}
RESULT = make_result({"ext4": (100.0, 101.0, 102.0), "xfs": (300.0, 305.0, 299.0)}, elapsed_s=60.0)
ENGLISH = {name: export(RESULT, name, full=name != SHORT) for name, kind in FORMATS.items() if not kind.drawn}


@pytest.fixture(autouse=True)
def _german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(catalog_of("de", TRANSLATED), tmp_path, monkeypatch)
    language.choose("de")


@pytest.mark.parametrize("name", ENGLISH)
def test_people_read_their_language_and_programs_english(name: str) -> None:
    assert conclude(RESULT).answer.verdict == "xfs nehmen: 3× so schnell wie ext4 hier"
    written = str(export(RESULT, name, full=name != SHORT))
    assert (written == ENGLISH[name]) == FORMATS[name].english
    assert ('lang="de"' in written) == ('lang="en"' in str(ENGLISH[name])) == (name in ("html", "svg"))
    assert export(RESULT, name, english=True, full=name != SHORT) == ENGLISH[name]
