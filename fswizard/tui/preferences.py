"""Weights and needs beside a result: sliders and check boxes in one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from fswizard.language import N_, _, number
from fswizard.model.recipe import Workload
from fswizard.tui.choices import next_value, toggled
from fswizard.tui.drawing import cut_among, fit, slider, text, tick
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

WEIGHTS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)
WEIGHT = "w:"
NEED = "n:"


class PreferenceList(ChoiceList):
    """Holds the weights and needs as they stand now; posts ChoiceList.Changed and ChoiceList.Ticked after a change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "tick", N_("tick")),
        Binding("enter", "screen.back", N_("done")),
    ]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(ticks=True, changes=True, **arguments)
        self.weights: dict[str, float] = {}
        self.needs: tuple[str, ...] = ()
        self._titles: dict[str, str] = {}
        self._offered: Mapping[str, str] = {}

    def offer(self, workloads: Sequence[Workload], needs: Sequence[str], features: Mapping[str, str]) -> None:
        """Show these workloads with their weights, and the features that may be asked for: name to words."""
        self.weights = {workload.name: workload.weight for workload in workloads}
        self._titles = {workload.name: _(workload.title) for workload in workloads}
        self.needs = tuple(needs)
        self._offered = features
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter and space tick a need; left and right change a weight, where Enter goes back to the report."""
        need = self.key.startswith(NEED)
        return {"tick": need, "change": not need, "screen.back": not need}.get(action, True)

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        if self.is_attached:
            self.screen.refresh_bindings()

    def _fill(self) -> None:
        rows = [headline("weights", _("How much each counts"))]
        rows += [ListRow(WEIGHT + name, partial(self._slider, name)) for name in self.weights]
        if self._offered:
            rows += [gap("between"), headline("needs", _("Must have"))]
            rows += [ListRow(NEED + name, partial(self._tick, name)) for name in self._offered]
        self.rows = tuple(rows)

    def _slider(self, name: str, width: int, on: bool) -> Content:
        """A workload, a slider for its weight, and the weight."""
        weight = self.weights[name]
        words = number(f"{weight:>4g}")
        room = width - len(WEIGHTS) - 2 - cell_len(words)
        style = "bold" if weight else "$muted"
        title = cut_among(self._titles[name], self._titles.values(), room - 1)
        return text(
            fit((title, style if on or not weight else ""), room), slider(WEIGHTS, weight, active=on), (words, style)
        )

    def _tick(self, name: str, width: int, on: bool) -> Content:
        return text(tick(name in self.needs), f" {self._offered[name]}")

    @on(ChoiceList.Changed)
    def _turn(self, event: ChoiceList.Changed) -> None:
        name = event.key.removeprefix(WEIGHT)
        if name not in self.weights:
            return
        weights = {**self.weights, name: next_value(WEIGHTS, self.weights[name], event.direction)}
        if any(weights.values()):
            self.weights = weights
            self.redraw()

    @on(ChoiceList.Ticked)
    def _toggle(self, event: ChoiceList.Ticked) -> None:
        if event.key.startswith(NEED):
            self.needs = toggled(self.needs, event.key.removeprefix(NEED))
            self.redraw()
