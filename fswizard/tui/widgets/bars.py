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
        super().__init__()
        self._steps = steps
        self._current = steps.index(current)

    def render(self) -> Content:
        """As much as fits: the program's name with all steps, all steps, or the current step."""
        current, titles = self._current, []
        for number, step in enumerate(self._steps):
            title = _(step.title)
            if number == current:
                titles.append(text(("● ", "bold $text-primary"), (title, "bold")))
            elif number < current:
                titles.append(text(("✓ ", "$text-success"), (title, "$muted")))
            else:
                titles.append(text((f"○ {title}", "$muted")))
        for brand, gap in (("fswizard", " ── "), ("", "  "), ("", " ")):
            bar = text((brand, "bold $text-primary"), "   " if brand else "", text((gap, "$line")).join(titles))
            if bar.cell_length <= self.size.width:
                return bar
        position = p_("step of the wizard", "{number} of {count}", number=current + 1, count=len(titles))
        return text(titles[current], (f"  {position}", "$muted"))
