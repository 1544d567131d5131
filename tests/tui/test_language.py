"""The wizard in other languages than English."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from fswizard import language
from tests.fakes.translation import catalog_of, compiled
from tests.tui.driving import STEPS, at, question, screen_text


@pytest.mark.parametrize("code", [code for code in language.languages() if code != "en"])
@pytest.mark.parametrize("step", STEPS)
async def test_each_step_has_its_words_whole_at_80_columns(step: str, code: str) -> None:
    language.choose(code)
    async with at(step, size=(80, 24)) as pilot:
        assert all(cell_len(line) <= 80 for line in screen_text(pilot.app).splitlines())
        assert step == "result" or "…" not in question(pilot.app)


def test_keys_are_described_in_the_language_of_the_start(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from fswizard import language
language.DIRECTORY = Path(sys.argv[1])
language.choose("de")
from fswizard.tui.screens.base import StepScreen
print(*(binding.description for binding in StepScreen.BINDINGS))
"""
    argv = [sys.executable, "-c", code, compiled(catalog_of("de", {"help": "Hilfe"}), tmp_path)]
    assert "Hilfe" in subprocess.run(argv, capture_output=True, text=True, check=True).stdout
