"""The bar above every step: the steps of the wizard."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from fswizard.language import _, p_
from fswizard.tui.drawing import text
from fswizard.tui.steps import WizardStep


class StepBar(Static, can_focus=False):
    """Steps on one line."""

    ALLOW_SELECT = False

    def __init__(self, steps: Sequence[WizardStep], current: WizardStep) -> None:
        super().__init__(markup=False)
        self._steps = steps
        self._current = current

    def render(self) -> Content:
        """As much as fits: the program's name with all steps, all steps, or the current step."""
        brand = text(("fswizard", "bold $text-primary"), "   ")
        titles = [self._step(step) for step in self._steps]
        for gap in (" ── ", "  ", " "):
            bar = text((gap, "$line")).join(titles)
            if brand.cell_length + bar.cell_length <= self.size.width:
                return brand + bar
            if bar.cell_length <= self.size.width:
                return bar
        number = self._steps.index(self._current) + 1
        position = p_("step of the wizard", "{number} of {count}", number=number, count=len(self._steps))
        return text(self._step(self._current), (f"  {position}", "$muted"))

    def _step(self, step: WizardStep) -> Content:
        if step == self._current:
            return text(("● ", "bold $text-primary"), (_(step.title), "bold"))
        if self._steps.index(step) < self._steps.index(self._current):
            return text(("✓ ", "$text-success"), (_(step.title), "$muted"))
        return text((f"○ {_(step.title)}", "$muted"))
