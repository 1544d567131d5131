"""Base class of widgets that draw lines."""

from __future__ import annotations

from itertools import zip_longest
from typing import Generic, TypeVar

from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from fswizard.tui.drawing import Piece, text

Shown = TypeVar("Shown")


class Lines(Widget, Generic[Shown]):
    """Draws a value, such as the state of a run. Only changed lines are sent to the terminal."""

    _value: Shown | None = None
    _lines: tuple[Content, ...] = ()

    def draw(self, value: Shown, width: int, height: int) -> list[Content]:
        """The lines for a value."""
        raise NotImplementedError

    def show(self, value: Shown) -> None:
        """Draw another value."""
        self._value = value
        before, self._lines = self._lines, tuple(self.draw(value, *self.size))
        pairs = enumerate(zip_longest(before, self._lines, fillvalue=Content("")))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if not new.is_same(old)]
        if changed:
            self.refresh(*changed, layout=len(before) != len(self._lines))

    def on_resize(self) -> None:
        if self._value is not None:
            self.show(self._value)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.draw(self._value, width, 0)) if self._value is not None else 0

    def render_line(self, y: int) -> Strip:
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        return Visual.to_strips(self, self._lines[y], self.size.width, 1, self.visual_style, pad=True)[0]


def fitted(piece: Piece, width: int, *, ellipsis: bool = True) -> Content:
    """Exactly `width` cells."""
    return text(piece).truncate(max(0, width), ellipsis=ellipsis, pad=True)
