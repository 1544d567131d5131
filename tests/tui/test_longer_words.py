"""The screens in two languages that nobody speaks: one 40 % longer than English, and one whose letters are wide."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from fswizard import language
from fswizard.tui.widgets.bars import _keys
from tests.fakes.translation import compiled
from tests.fakes.wizard import app
from tests.tui.driving import STEPS, at_step, footer, question, screen_text, settled

ROOT = Path(__file__).parents[2]
KEPT = re.compile(r"(\{[^}]*\}|`[^`]*`|\[/?[^\]]*\]|--\S+|\n)")
"""Fields, commands, markup and switches."""


def longer(text: str) -> str:
    """Each word takes 40 % more columns."""
    return re.sub(r"\w{3,}", lambda word: word[0] + word[0][-1] * round(0.4 * len(word[0])), text)


def wide(text: str) -> str:
    """Each pair of letters is one wide letter, as long as English."""
    return re.sub(r"\w{2,}", lambda word: "語" * ((len(word[0]) + 1) // 2), text)


def translated(text: str, how: Callable[[str], str]) -> str:
    return "".join(part if KEPT.fullmatch(part) else how(part) for part in KEPT.split(text))


@pytest.fixture(scope="module", params=[longer, wide], ids=["longer", "wide"])
def spoken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a translation of every sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "packaging"))
        messages = importlib.import_module("messages")
    catalog = messages.Catalog(locale="de")
    for message in messages.extracted():
        if isinstance(message.id, tuple):
            catalog.add(
                message.id, tuple(translated(form, request.param) for form in message.id), context=message.context
            )
        elif message.id:
            catalog.add(message.id, translated(message.id, request.param), context=message.context)
    return compiled(catalog, tmp_path_factory.mktemp("locale"))


@pytest.mark.parametrize("step", STEPS)
async def test_each_step_keeps_its_words_whole_at_80_columns(
    step: str, spoken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "DIRECTORY", spoken)
    language.choose("de")
    wizard = app(step)
    async with wizard.run_test(size=(80, 24)) as pilot:
        await at_step(pilot, step)
        await settled(pilot)
        shown = screen_text(wizard)
        assert all(cell_len(line) <= 80 for line in shown.splitlines())
        assert "…" not in question(wizard)
        for words, __ in _keys(wizard.screen):
            assert words in " ".join(footer(wizard).split()), f"{words} is cut in the bar of keys"
