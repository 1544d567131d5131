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

RECTANGLE = re.compile(r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"([^>]*)/>')


class SeenPicture(SVGImageExtension):
    """Pictures are alike where they look alike: a blank line may be one piece or several."""

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        return _joined(serialized_data) == _joined(snapshot_data)


def _joined(picture: str) -> str:
    """Rectangles of one colour, side by side, as one."""
    parts: list[str | list[str]] = []
    for part in re.split(r"(<rect [^>]*/>)", picture):
        found = RECTANGLE.fullmatch(part)
        last = parts[-1] if parts else ""
        if found is None:
            if part:
                parts.append(part)
            continue
        fill, x, y, width, rest = found.groups()
        if isinstance(last, list) and [fill, y, rest] == [last[0], last[2], last[4]]:
            last[3] = f"{float(x) + float(width) - float(last[1]):.1f}"
        else:
            parts.append([fill, x, y, f"{float(width):.1f}", rest])
    return "".join(part if isinstance(part, str) else " ".join(part) for part in parts)


Compare = Callable[[App[object], str], str]
"""Says what differs from the picture of that name, in words; nothing where they are alike."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual sleeps until its process is idle; here the wizard's own queues say when it is."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", handled)


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
