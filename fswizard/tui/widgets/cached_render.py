"""Widgets whose lines are kept until something about them changes.

With every picture Textual asks all widgets of a screen for all their lines, also where one line of one of them changed
(textual/_compositor.py, _get_renders), and each works out its background anew for that.
"""

from __future__ import annotations

from typing import Any

from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static


class Kept(Widget):
    """Draws only after a refresh, in another size, or with other styles."""

    _kept: tuple[Region, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = (crop, super().render_lines(crop))
        return self._kept[1]

    def refresh(self, *regions: Region, **how: Any) -> Any:
        self._kept = None
        return super().refresh(*regions, **how)

    def notify_style_update(self) -> None:
        self._kept = None
        super().notify_style_update()


class KeptStatic(Kept, Static):
    """Words."""


class KeptVertical(Kept, Vertical):
    """One below the other."""
