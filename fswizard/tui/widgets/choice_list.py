"""A list of choices: up and down choose, space ticks, left and right change, and the mouse does the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fswizard.language import N_
from fswizard.tui.drawing import fit, heading, lines, text

Draw = Callable[[int, bool], Content]
"""Draws a row for a width in cells; the second argument says whether the row is highlighted."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """One line, or several, of a list."""

    key: str
    draw: Draw | Content
    """What stands in the row, beside the cursor; cut where it is too wide."""
    choosable: bool = True
    """False for headings and remarks, which have no cursor and the whole width."""

    def lines(self, width: int, on: bool) -> Content:
        """The row at a width in cells, with the cursor where it is highlighted."""
        room = width - 1 if self.choosable else width
        content = self.draw if isinstance(self.draw, Content) else self.draw(room, on)
        head = text(("▌" if on else " ", "$text-primary") if self.choosable else "")
        return lines(head + fit(line, room) for line in content.split(allow_blank=True))


def gap(key: str) -> ListRow:
    """An empty line."""
    return ListRow(key, Content(""), False)


def headline(key: str, words: str) -> ListRow:
    """A section's name with a rule."""
    return ListRow(key, lambda width, on: heading(words, width), False)


class ChoiceList(OptionList, inherit_bindings=False):
    """A list whose rows draw themselves for the width there is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "up", N_("choose"), key_display="↑"),
        Binding("down", "down", N_("choose"), key_display="↓"),
        Binding("left", "change(-1)", N_("change"), key_display="←"),
        Binding("right", "change(1)", N_("change"), key_display="→"),
        Binding("space", "tick", N_("tick"), key_display="space"),
        Binding("home", "first", N_("first"), show=False),
        Binding("end", "last", N_("last"), show=False),
        Binding("k", "up", N_("choose"), show=False),
        Binding("j", "down", N_("choose"), show=False),
    ]

    class Chosen(Message):
        """Another row is highlighted."""

        def __init__(self, rows: ChoiceList, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> ChoiceList:
            return self.rows

    class Ticked(Chosen):
        """Space or a click on a row of a list that ticks."""

    class Changed(Chosen):
        """Left or right on a row."""

        def __init__(self, rows: ChoiceList, key: str, direction: int) -> None:
            super().__init__(rows, key)
            self.direction = direction

    class Clicked(Chosen):
        """A click on a row of a list that does not tick."""

    def __init__(
        self,
        rows: Sequence[ListRow] = (),
        *,
        ticks: bool = False,
        changes: bool = False,
        keeps_highlight: bool = False,
        **arguments: Any,
    ) -> None:
        """With `ticks`, space and clicks tick rows; with `changes`, left and right change the highlighted one.

        With `keeps_highlight` the highlight is a choice, and stays visible while another widget has the focus.
        """
        super().__init__(markup=False, compact=True, **arguments)
        self._keeps = keeps_highlight
        self.set_class(keeps_highlight, "-keeps")
        self._rows: tuple[ListRow, ...] = ()
        self._drawn_width = 0
        self._ticks = ticks
        self._changes = changes
        self.rows = tuple(rows)

    @property
    def rows(self) -> tuple[ListRow, ...]:
        return self._rows

    @rows.setter
    def rows(self, rows: Sequence[ListRow]) -> None:
        """Show other rows; the highlight stays on the same key where that is still there."""
        kept = self.key
        same_keys = [row.key for row in rows] == [row.key for row in self._rows]
        self._rows = tuple(rows)
        if same_keys:
            self.redraw()
            return
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options([Option(Content(""), id=row.key, disabled=not row.choosable) for row in self._rows])
        keys = [row.key for row in self._rows if row.choosable]
        if keys:
            wanted = kept if kept in keys else keys[0]
            self.highlighted = next(i for i, row in enumerate(self._rows) if row.key == wanted)
        self.redraw()

    @property
    def key(self) -> str:
        """Key of the highlighted row; empty when there is none."""
        if self.highlighted is None or self.highlighted >= len(self._rows):
            return ""
        return self._rows[self.highlighted].key

    def highlight(self, key: str) -> None:
        """Move the highlight to the row with this key, where it exists."""
        for number, row in enumerate(self._rows):
            if row.key == key and row.choosable:
                self.highlighted = number

    def find(self, words: str) -> bool:
        """Move the highlight to the next row in which these words stand; whether there is one."""
        count, width = len(self._rows), self._row_width
        for step in range(1, count + 1):
            number = ((self.highlighted or 0) + step) % count
            row = self._rows[number]
            if row.choosable and words.casefold() in row.lines(width, False).plain.casefold():
                self.highlighted = number
                return True
        return False

    def redraw(self) -> None:
        """Redraw all rows."""
        if self.option_count != len(self._rows):
            return  # they are being exchanged
        width = self._row_width
        lit = self.highlighted if self._keeps or self.has_focus else None
        for number, row in enumerate(self._rows):
            self.replace_option_prompt_at_index(number, row.lines(width, number == lit))

    @property
    def _row_width(self) -> int:
        return max(10, self.scrollable_content_region.width or 76)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "tick":
            return self._ticks
        if action == "change":
            return self._changes
        return True

    def action_up(self) -> None:
        """Up; from the first row to what stands before the list."""
        if self._edge(-1):
            self.screen.focus_previous()
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        """Down; from the last row to what stands after the list."""
        if self._edge(1):
            self.screen.focus_next()
        else:
            self.action_cursor_down()

    def action_tick(self) -> None:
        if self.key:
            self.post_message(self.Ticked(self, self.key))

    def action_change(self, direction: int) -> None:
        if self.key:
            self.post_message(self.Changed(self, self.key, direction))

    def on_mount(self) -> None:
        self.watch(self, "show_vertical_scrollbar", self._fit, init=False)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        if self._row_width != self._drawn_width:
            self._drawn_width = self._row_width
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        """A click on an arrow changes the row that it stands in."""
        direction, number = event.style.meta.get("change"), event.style.meta.get("option")
        if direction is not None and number is not None and self._changes:
            event.prevent_default()
            self.highlighted = number
            self.post_message(self.Changed(self, self._rows[number].key, direction))

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        self.redraw()
        if self.key:
            self.post_message(self.Chosen(self, self.key))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Only the mouse selects here: Enter belongs to the screen."""
        event.stop()
        if event.option_id is not None:
            kind = self.Ticked if self._ticks else self.Clicked
            self.post_message(kind(self, event.option_id))

    def _edge(self, direction: int) -> bool:
        choosable = [number for number, row in enumerate(self._rows) if row.choosable]
        return not choosable or self.highlighted == (choosable[0] if direction < 0 else choosable[-1])
