"""The language in which the wizard is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fswizard import language
from fswizard.tui.app import FswizardApp
from tests.fakes.translation import catalog_of, known
from tests.fakes.wizard import Clock, FakeMachine, running_state
from tests.tui.driving import screen_text, settled

TRANSLATED = {"Filesystems": "Dateisysteme", "help": "Hilfe", "Help": "Über diese Seite", "Run": "Lauf"}
VIDEO = {"Copying a video onto the disk": "Video kopieren"}


@pytest.fixture(autouse=True)
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A translation of few sentences."""
    catalog = catalog_of("de", {**TRANSLATED, **VIDEO})
    known(catalog, tmp_path, monkeypatch)


async def test_a_run_is_shown_in_the_language_of_the_start() -> None:
    language.choose("de")
    wizard = FswizardApp(machine=FakeMachine(), start="run", running=running_state(), clock=Clock())
    async with wizard.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        assert "Lauf" in screen_text(wizard)
        assert all(title in screen_text(wizard) for title in VIDEO.values())


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
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert "Hilfe" in done.stdout
