"""Keys are pressed when the wizard has handled the one before, however busy the machine is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.app import App

from tests.fakes.desktop import at_the_desktop
from tests.fakes.wizard import keep_results, two_results
from tests.tui.driving import handled, screen_text

RECTANGLE = re.compile(r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*/>')
CELL = 12.2
"""Width of a cell in a picture."""


class SeenPicture(SVGImageExtension):
    """Pictures are alike where they look alike: a blank line may be one piece or several."""

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        return _seen(serialized_data) == _seen(snapshot_data)


def _seen(picture: str) -> tuple[str, set[tuple[str, str, int]]]:
    """A picture without its backgrounds, and the colour of each cell that has one."""
    cells = set()
    for fill, x, y, width in RECTANGLE.findall(picture):
        first = round(float(x) / CELL)
        cells |= {(fill, y, cell) for cell in range(first, first + round(float(width) / CELL))}
    return RECTANGLE.sub("", picture), cells


Compare = Callable[[App[object], str], str]
"""Says what differs from the picture of that name, in words; nothing where they are alike."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual sleeps until its process is idle; here the wizard's own queues say when it is. Runs take no time."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", handled)
    monkeypatch.setattr("fswizard.tui.monitor.monotonic", lambda: 0.0)


@pytest.fixture(autouse=True)
def recorded_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The wizard's machine is a recorded one, unless a module says otherwise."""
    with at_the_desktop():
        keep_results(monkeypatch, *two_results())
        yield
        monkeypatch.undo()  # what a test replaced in the recorded machine, before that itself is taken back


@pytest.fixture(autouse=True)
def _no_recipes_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def picture(snapshot: SnapshotAssertion, tmp_path: Path) -> Compare:
    """Compares what stands on the screen with a picture that was looked at and found good."""
    pictures = snapshot.use_extension(SeenPicture)

    def compare(app: App[object], name: str) -> str:
        drawn = app.export_screenshot(title=app.title, simplify=True)
        if drawn == pictures(name=name):
            return ""
        (tmp_path / f"{name}.svg").write_text(drawn, "utf-8")
        return f"{name} is not as it was, see {tmp_path}:\n{screen_text(app)}\n"

    return compare


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "smoke: one of those that walk through every screen within seconds")
