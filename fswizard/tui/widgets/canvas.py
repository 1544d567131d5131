"""A widget that is drawn for the width it has, by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Drawing = Callable[[int], Content]
"""Content for a width in cells."""


def nothing(width: int) -> Content:
    """Draws nothing."""
    return Content("")


class Canvas(Widget):
    """Shows what its function draws; drawn anew when the width changes or another function is given."""

    ALLOW_SELECT = True
    DEFAULT_CSS = "Canvas { height: auto; width: 1fr; }"

    def __init__(self, draw: Drawing = nothing, **arguments: Any) -> None:
        super().__init__(markup=False, **arguments)
        self._draw = draw
        self._drawn: tuple[int, Content] | None = None

    def show(self, draw: Drawing) -> None:
        """Draw with another function from now on; where the picture stays the same, nothing is sent."""
        self._draw = draw
        if self._drawn is None:
            self.refresh(layout=True)
            return
        width, before = self._drawn
        after = draw(width)
        self._drawn = (width, after)
        if _height(after) != _height(before):
            self.refresh(layout=True)
        elif not after.is_same(before):
            self.refresh()

    def notify_style_update(self) -> None:
        self._drawn = None
        super().notify_style_update()

    def on_resize(self) -> None:
        self._drawn = None  # what is drawn may depend on the height too
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return _height(self._content(width))

    def render(self) -> Content:
        return self._content(self.content_size.width)

    def _content(self, width: int) -> Content:
        width = max(1, width)
        if self._drawn is None or self._drawn[0] != width:
            self._drawn = (width, self._draw(width))
        return self._drawn[1]


def _height(content: Content) -> int:
    return content.plain.count("\n") + 1
