"""A list of options with headings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from fswizard.language import _
from fswizard.tui.drawing import text
from fswizard.tui.widgets.table import MOVES


class Options(OptionList, inherit_bindings=False):
    """Textual's list with our key descriptions. The highlight stays on its option when the options change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("home", "first", _("first"), show=False),
        Binding("end", "last", _("last"), show=False),
    ]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(markup=False, **arguments)

    def show(self, options: Iterable[Option]) -> None:
        """Replace the options."""
        key = self.key
        self.set_options(options)
        self.action_first()
        self.highlight(key)

    @property
    def keys(self) -> list[str]:
        """Keys of all selectable options, from top to bottom."""
        return [option.id or "" for option in self.options if not option.disabled]

    @property
    def key(self) -> str:
        """Key of the highlighted option; empty if there is none."""
        option = self.highlighted_option
        return option.id or "" if option else ""

    def highlight(self, key: str) -> None:
        """Highlight the option with that key, if it exists."""
        if key in self.keys:
            self.highlighted = self.get_option_index(key)

    def scroll_to_highlight(self, top: bool = False) -> None:
        super().scroll_to_highlight(top)
        if self.keys[:1] == [self.key]:  # show the heading above the first one, too
            self.scroll_home(animate=False)


def heading(message: str) -> Option:
    """A heading for the options below it; it cannot be chosen."""
    return Option(text((message, "bold $muted")), disabled=True)
