"""Widgets whose lines are kept until something about them changes; a canvas is drawn by a function, for its width.

With every picture Textual asks all widgets of a screen for all their lines, also where one line of one of them changed
(textual/_compositor.py, _get_renders), and each works out its background again for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.segment import Segment
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

Drawing = Callable[[int], Content]
"""Content for a width in cells."""


def nothing(width: int) -> Content:
    """Draws nothing."""
    return Content("")


class Cached(Widget):
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


class CachedStatic(Cached, Static):
    """Words."""


class CachedVertical(Cached, Vertical):
    """One below the other."""


class Canvas(Cached):
    """Shows what its function draws; redrawn when the width changes or another function is given."""

    ALLOW_SELECT = True
    DEFAULT_CSS = "Canvas { height: auto; width: 1fr; }"

    def __init__(self, draw: Drawing = nothing, **arguments: Any) -> None:
        super().__init__(markup=False, **arguments)
        self.auto_links = False
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
        if after.plain.count("\n") != before.plain.count("\n"):
            self.refresh(layout=True)
        elif not after.is_same(before):
            self.refresh(*self._changed(before, after))

    def _changed(self, before: Content, after: Content) -> Iterable[Region]:
        """Regions in which two pictures of the same height differ; none to draw everything again."""
        return ()

    def notify_style_update(self) -> None:
        self._drawn = None
        super().notify_style_update()

    def on_resize(self) -> None:
        self._drawn = None  # what is drawn may depend on the height too
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._content(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._content(self.content_size.width)

    def _content(self, width: int) -> Content:
        width = max(1, width)
        if self._drawn is None or self._drawn[0] != width:
            self._drawn = (width, self._draw(width))
        return self._drawn[1]


class LiveCanvas(Canvas):
    """For what changes many times a second: draws only the lines that changed. They cannot be selected."""

    ALLOW_SELECT = False

    def _changed(self, before: Content, after: Content) -> Iterable[Region]:
        pairs = enumerate(zip(before.split(allow_blank=True), after.split(allow_blank=True)))
        return [Region(0, y, self.content_size.width, 1) for y, (old, new) in pairs if not new.is_same(old)]

    def render_line(self, y: int) -> Strip:
        """Without the places that a selection needs in every piece of text: half of what drawing costs."""
        width, base = self.content_size.width, self.visual_style
        lines = self._content(width).split(allow_blank=True)
        parts = lines[y].render(base, end="", parse_style=self.app.stylesheet.parse_style) if y < len(lines) else ()
        strip = Strip([Segment(words, (base + style).rich_style) for words, style in parts])
        return strip.adjust_cell_length(width, base.rich_style)
