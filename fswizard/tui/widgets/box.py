"""A line to type into."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class TextBox(Input):
    """Textual's own, with a cursor that stands still and Enter among the keys that are shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "take this")]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(select_on_focus=False, **arguments)
        self.cursor_blink = False
