"""Widgets that draw lines of their own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from fswizard.model.run_state import RunState
from fswizard.tui.drawing import Piece, text


class Lines(Widget):
    """Draws a run. Of a new picture, only the lines that differ are sent to the terminal."""

    _state: RunState | None = None
    _lines: tuple[Content, ...] = ()

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        """The picture of a state."""
        raise NotImplementedError

    def show(self, state: RunState) -> None:
        """Draw another state."""
        self._state = state
        before, self._lines = self._lines, tuple(self.draw(state, *self.size))
        pairs = enumerate(zip_longest(before, self._lines, fillvalue=Content("")))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if not new.is_same(old)]
        if changed:
            self.refresh(*changed, layout=len(before) != len(self._lines))

    def on_resize(self) -> None:
        if self._state is not None:
            self.show(self._state)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        base = self.visual_style
        line = self._lines[y] if y < len(self._lines) else Content("")
        parts = line.render(base, end="", parse_style=self.app.stylesheet.parse_style)
        strip = Strip(Segment(words, (base + style).rich_style) for words, style in parts)
        return strip.adjust_cell_length(self.size.width, base.rich_style)


class Meter(Lines):
    """A share as a bar and in percent; nothing where it is unknown."""

    def __init__(self, share: Callable[[RunState], float | None], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._share = share

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        share, room = self._share(state), max(0, width - 6)
        if share is None:
            return []
        done = round(share * room)
        return [text(("━" * done, "$text-primary"), ("─" * (room - done), "$line"), (f"  {share:4.0%}", "bold"))]


def fitted(piece: Piece, width: int, *, ellipsis: bool = True) -> Content:
    """Exactly `width` cells."""
    return text(piece).truncate(max(0, width), ellipsis=ellipsis, pad=True)
