"""Throughput and latency of the current measurement."""

from __future__ import annotations

from itertools import zip_longest

from textual.content import Content

from fswizard.language import _, p_
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text, seconds_text
from fswizard.tui.drawing import text
from fswizard.tui.widgets.braille import area
from fswizard.tui.widgets.lines import Lines, fitted
from fswizard.tui.widgets.race import appearances_of

FIGURE = 12
"""Cells of a figure."""


class Rates(Lines):
    """Three figures, with the throughput as a curve below them, or at their right if there are only two lines."""

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        """The lines for a state."""
        step, progress = state.step, state.progress
        rate, latency_s, worst_s = None, None, None
        if progress:
            rate, latency_s, worst_s = progress.rate, progress.latency_s, progress.worst_latency_s
        ink = appearances_of(state.plan)[step.candidate].ink if step and step.candidate else "$text-primary"
        figures = {
            p_("rate", "now"): figure_text(rate, progress.rate_unit) if progress and rate is not None else "–",
            _("latency"): "–" if latency_s is None else seconds_text(latency_s),
            p_("latency", "worst"): "–" if worst_s is None else seconds_text(worst_s),
        }
        rows = [
            Content("").join(fitted((label, "$muted"), FIGURE) for label in figures),
            Content("").join(fitted((figure, f"bold {ink}"), FIGURE) for figure in figures.values()),
        ]
        inline = height == len(rows)
        room = width - FIGURE * len(figures) if inline else width
        rates = state.measurement.curve.means
        top = max(rates, default=0.0) or 1.0
        heights = tuple(rate / top for rate in rates) or (0.0,)
        curve = area(heights, (state.fraction or 1.0) * room, height if inline else height - len(rows))
        drawn = [text((row, ink)) for row in curve if rates]
        return [row + part for row, part in zip_longest(rows, drawn, fillvalue=Content(""))] if inline else rows + drawn
