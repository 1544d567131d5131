"""Base class of widgets that draw lines."""

from __future__ import annotations

from itertools import zip_longest

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from fswizard.model.run_state import RunState
from fswizard.tui.drawing import Piece, text


class Lines(Widget):
    """Draws the state of a run. Only changed lines are sent to the terminal."""

    _state: RunState | None = None
    _lines: tuple[Content, ...] = ()

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        """The lines for a state."""
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
        return len(self.draw(self._state, width, 0)) if self._state is not None else 0

    def render_line(self, y: int) -> Strip:
        base = self.visual_style
        line = self._lines[y] if y < len(self._lines) else Content("")
        parts = line.render(base, end="", parse_style=self.app.stylesheet.parse_style)
        strip = Strip(Segment(message, (base + style).rich_style) for message, style in parts)
        return strip.adjust_cell_length(self.size.width, base.rich_style)


def fitted(piece: Piece, width: int, *, ellipsis: bool = True) -> Content:
    """Exactly `width` cells."""
    return text(piece).truncate(max(0, width), ellipsis=ellipsis, pad=True)
