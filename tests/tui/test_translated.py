"""The steps in each language that fswizard speaks: the words of a screen stand whole at 80 columns."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from fswizard import language
from tests.fakes.wizard import app
from tests.tui.driving import STEPS, at_step, question, screen_text, settled


@pytest.mark.parametrize("code", [code for code in language.languages() if code != "en"])
@pytest.mark.parametrize("step", STEPS)
async def test_each_step_has_its_words_whole_at_80_columns(step: str, code: str) -> None:
    language.choose(code)
    wizard = app(step)
    async with wizard.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, step)
        await settled(pilot)
        shown = screen_text(wizard)
        assert all(cell_len(line) <= 80 for line in shown.splitlines())
        assert step == "result" or "…" not in question(wizard)
        assert "^p" in shown.splitlines()[-1]
