"""Throughput and latency of the current measurement."""

from __future__ import annotations

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


class Rates(Lines[RunState]):
    """Three figures, with the throughput as a curve below them, or at their right if there are only two lines."""

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        step, progress, rates = state.step, state.progress, state.measurement.curve.means
        ink = appearances_of(state.plan)[step.candidate].ink if step and step.candidate else "$text-primary"
        figures = {p_("rate", "now"): "–", _("latency"): "–", p_("latency", "worst"): "–"}
        if progress:
            latencies = [progress.latency_s, progress.worst_latency_s]
            shown = [figure_text(progress.rate, progress.rate_unit) if progress.rate is not None else "–"]
            shown += ["–" if latency_s is None else seconds_text(latency_s) for latency_s in latencies]
            figures = dict(zip(figures, shown))
        rows = [
            Content("").join(fitted((label, "$muted"), FIGURE) for label in figures),
            Content("").join(fitted((figure, f"bold {ink}"), FIGURE) for figure in figures.values()),
        ]
        if not any(rates):
            return rows
        inline = height == len(rows)
        room = width - FIGURE * len(figures) if inline else width
        heights = [rate / max(rates) for rate in rates]
        curve = area(heights, (state.fraction or 1.0) * room, height if inline else height - len(rows))
        drawn = [text((row, ink)) for row in curve]
        return [row + part for row, part in zip(rows, drawn)] if inline else rows + drawn
