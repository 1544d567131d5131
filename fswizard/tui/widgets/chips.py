"""A row of words that can be set: left and right choose, space sets, and so does a click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.style import Style

from fswizard.language import N_
from fswizard.tui.drawing import lines, text
from fswizard.tui.widgets.canvas import Canvas


class Chips(Canvas, can_focus=True):
    """On as many lines as it takes, behind a label."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", N_("choose"), key_display="←"),
        Binding("right", "move(1)", N_("choose"), key_display="→"),
        Binding("space", "set", N_("set"), key_display="space"),
        Binding("down", "app.focus_next", N_("list"), key_display="↓"),
        Binding("up", "app.focus_previous", show=False),
    ]

    class Chosen(Message):
        """Another one is highlighted, or the row has the focus now."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Set(Chosen):
        """Set or clear one."""

    def __init__(self, label: str, words: Mapping[str, str], **arguments: Any) -> None:
        """`words` by key."""
        super().__init__(self._drawn_for, **arguments)
        self._label = label
        self._words = dict(words)
        self._set: frozenset[str] = frozenset()
        self._place = 0

    @property
    def key(self) -> str:
        """Of the one that is highlighted."""
        return list(self._words)[self._place]

    def show_set(self, keys: frozenset[str]) -> None:
        """These are set."""
        self._set = keys
        self.show(self._drawn_for)

    def action_move(self, direction: int) -> None:
        self._choose((self._place + direction) % len(self._words))

    def action_set(self) -> None:
        self.post_message(self.Set(self.key))

    def on_click(self, event: events.Click) -> None:
        if (key := event.style.meta.get("chip")) in self._words:
            self._choose(list(self._words).index(key))
            self.action_set()

    def on_focus(self) -> None:
        self._choose(self._place)

    def on_blur(self) -> None:
        self.show(self._drawn_for)

    def _choose(self, place: int) -> None:
        self._place = place
        self.show(self._drawn_for)
        self.post_message(self.Chosen(self.key))

    def _drawn_for(self, width: int) -> Content:
        indent = cell_len(self._label) + 1
        rows = [text((self._label, "bold $muted"))]
        for key, words in self._words.items():
            on, here = key in self._set, self.has_focus and key == self.key
            ground = "$block-cursor-background" if on else "$primary-muted" if here else "$panel"
            ink = "bold $block-cursor-foreground" if on else "bold $foreground" if here else "$muted"
            chip = text(("✓" if on else " ", ink), (words, f"underline {ink}" if here else ink), " ")
            chip = chip.stylize_before(f"on {ground}").stylize(Style.from_meta({"chip": key}))
            if rows[-1].cell_length > indent and rows[-1].cell_length + 1 + chip.cell_length > width:
                rows.append(text(" " * (indent - 1)))
            rows[-1] += text(" ", chip)
        return lines(rows)
