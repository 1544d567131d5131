"""A window with the features that can be required of a filesystem."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from fswizard.language import N_, _
from fswizard.model.needs import NEEDS
from fswizard.tui.choices import toggled
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Row, Table


class NeedsScreen(Window[None]):
    """Ticked features are required immediately."""

    TITLE = N_("Must have")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "back", _("done")),
        Binding("escape", "back", show=False),
    ]

    table = getters.query_one("#features", Table)

    def body(self) -> ComposeResult:
        yield Table(Column(), Column(flexible=True), ticks=True, id="features")

    def on_mount(self) -> None:
        self._show()
        self.table.focus()

    def _show(self) -> None:
        self.table.show(
            Row(name, ((_(name), "bold"), (_(text), "$muted")), name in self.choices.needs)
            for name, (_noun, text) in NEEDS.items()
        )

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        self.wizard.choose(needs=toggled(self.choices.needs, event.key))
        self._show()
