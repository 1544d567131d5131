"""The language: F4 shows the wizard in another one, at the same step, and it is that one the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard import language
from fswizard.system import files
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


async def test_f4_shows_the_step_in_the_next_language_and_it_is_kept() -> None:
    wizard = FswizardApp(machine=FakeMachine(), start="purpose", clock=Clock())
    async with wizard.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("f4")
        await settled(pilot)
        assert "Dateisysteme" in screen_text(wizard)
        assert "F1 Hilfe" in screen_text(wizard)
        assert files.setting(language.SETTING) == "de"
        await pilot.press("f4")
        await settled(pilot)
        assert "Dateisysteme" not in screen_text(wizard)
        assert "F1 help" in screen_text(wizard)
    assert files.setting(language.SETTING) == "en"


async def test_without_a_translation_there_is_no_key_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "DIRECTORY", tmp_path / "none")
    wizard = FswizardApp(machine=FakeMachine(), start="purpose", clock=Clock())
    async with wizard.run_test(size=(120, 36)) as pilot:
        await pilot.press("f4")
        await settled(pilot)
        assert "Dateisysteme" not in screen_text(wizard)
        assert "f4" not in wizard.screen.active_bindings
    assert files.setting(language.SETTING) == ""


async def test_a_run_goes_on_in_another_language() -> None:
    machine = FakeMachine()
    running = running_state()
    wizard = FswizardApp(machine=machine, start="run", running=running, clock=Clock())
    async with wizard.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("f4")
        await settled(pilot)
        assert "Lauf" in screen_text(wizard)
        assert all(title in screen_text(wizard) for title in VIDEO.values())
        assert wizard.running is running
        assert not running.stopping
