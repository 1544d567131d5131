"""Keys are pressed when the wizard has handled the one before, however busy the machine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.app import App

from tests.fakes.desktop import at_the_desktop
from tests.tui.driving import handled, screen_text

Compare = Callable[[App[object], str], str]
"""Says what differs from the picture of that name, in words; nothing where they are alike."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual sleeps until its process is idle; here the wizard's own queues say when it is."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", handled)


@pytest.fixture(autouse=True)
def recorded_machine() -> Iterator[None]:
    """The wizard's machine is a recorded one, unless a module says otherwise."""
    with at_the_desktop():
        yield


@pytest.fixture(autouse=True)
def _no_recipes_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def picture(snapshot: SnapshotAssertion, tmp_path: Path) -> Compare:
    """Compares what stands on the screen with a picture that was looked at and found good."""
    pictures = snapshot.use_extension(SVGImageExtension)

    def compare(app: App[object], name: str) -> str:
        drawn = app.export_screenshot(title=app.title, simplify=True)
        if drawn == pictures(name=name):
            return ""
        (tmp_path / f"{name}.svg").write_text(drawn, "utf-8")
        return f"{name} is not as it was, see {tmp_path}:\n{screen_text(app)}\n"

    return compare


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "smoke: one of those that walk through every screen within seconds")
