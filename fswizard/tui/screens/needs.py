"""A window with the features that a filesystem can be required to have."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from fswizard.filesystems import NEEDS, parse_candidate
from fswizard.language import N_, _
from fswizard.tui.candidates import FEATURES, SIGNS, Pairs, feature_sign
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Facts, Row, Table


class NeedsScreen(Window[None]):
    """What is ticked is required at once."""

    CSS_PATH = "needs.tcss"
    TITLE = N_("Must have")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "back", N_("done")),
        Binding("escape", "back", show=False),
    ]

    table = getters.query_one("#features", Table)
    who = getters.query_one("#who", Facts)

    def body(self) -> ComposeResult:
        yield Table(Column(), Column(flexible=True), ticks=True, id="features")
        yield Facts(id="who")

    def on_mount(self) -> None:
        self._show()
        self.table.focus()

    def _show(self) -> None:
        self.table.show(
            Row(name, ((_(words), "bold"), (_(NEEDS[name]), "$muted")), name in self.choices.needs)
            for name, words in FEATURES.items()
            if name in NEEDS
        )

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        self.wizard.choose(needs=toggled(self.choices.needs, event.key))
        self._show()

    @on(DataTable.RowHighlighted)
    def _explain(self) -> None:
        """Which of the candidates have the feature, and how far it goes."""
        pairs: Pairs = []
        for name in self.choices.candidates:
            feature = parse_candidate(name).filesystem.feature(self.table.key)
            sign = feature_sign(feature)
            words = _(feature.value if feature else "no")
            pairs.append((name, text((f"{sign} ", SIGNS[sign]), words)))
        self.who.show(pairs)
