"""The leaderboard: a row for each candidate, with a bar that fades over its interval."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import _, n_
from fswizard.model.analysis import Ratio
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text, speed_text
from fswizard.tui.drawing import keyed, signed, text
from fswizard.tui.widgets.braille import swatch
from fswizard.tui.widgets.lines import Lines, fitted
from fswizard.tui.widgets.race import appearances_of

BEYOND = 1.6
"""Intervals are cut at this multiple of the best ratio, as wide ones would leave no space for the rest."""
ONE_LINE, NAME, VERDICT = 60, 18, 17
"""Minimum width for a single line per candidate, and the widths of name and verdict on it."""


class Leaderboard(Lines[RunState]):
    """Candidates, best first. Until the first round is over: the first look in the order of the plan."""

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        title, rounds = _("Leaderboard"), state.analysis.rounds if state.analysis else 0
        if rounds:
            title = n_("Leaderboard after {count} round", "Leaderboard after {count} rounds", rounds)
        appearances, ratios = appearances_of(state.plan), state.standing
        first_look = state.first_look if not rounds else {}
        if first_look:
            title = _("First look")
            ratios = tuple(Ratio(name, "", "", first_look.get(name, 0.0)) for name in appearances)
        best = max(ratio.ratio for ratio in ratios)
        whole = max(min(ratio.high or ratio.ratio, BEYOND * best) for ratio in ratios) or 1.0
        lines = [text(("─", "$line"), (title, "bold $muted"), ("─" * (width - 1 - cell_len(title)), "$line"))]
        for rank, ratio in enumerate(ratios):
            appearance = appearances[ratio.candidate]
            style = "$muted strike" if state.dropped(ratio.candidate) else f"bold {appearance.ink}"
            number, verdict = f"{rank + 1} " if ratio.ratio > 0 else "– ", _verdict(state, ratio)
            if first_look:
                number, verdict = "", text(figure_text(ratio.ratio, "B/s") if ratio.ratio else "–")
            name = text((number, "bold"), (f" {swatch(appearance.texture)} ", appearance.ink), (ratio.candidate, style))
            if width >= ONE_LINE:
                bar = _bar(ratio, whole, appearance.ink, width - NAME - VERDICT - 1)
                lines.append(fitted(name, NAME) + " " + fitted(verdict, VERDICT) + bar)
            else:
                bar = _bar(ratio, whole, appearance.ink, width - 3)
                lines += [fitted(name, width - 1 - verdict.cell_length) + " " + verdict, Content("   ") + bar]
        return lines


def _bar(ratio: Ratio, whole: float, ink: str, width: int) -> Content:
    """A bar from zero to the high end of the interval, fading from its low end; or the reason of a failure."""
    if ratio.verdict == "failed":
        return fitted(keyed(_(ratio.text), "$muted"), width)
    ends = (ratio.low or ratio.ratio, ratio.ratio, ratio.high or ratio.ratio)
    low, middle, high = (round(min(1.0, end / whole) * width) for end in ends)
    half = (middle + high + 1) // 2
    bar = "█" * low + "▓" * (middle - low) + "▒" * (half - middle) + "░" * (high - half)
    return text((bar, f"{ink} on $panel"), (" " * (width - high), "on $panel"))


def _verdict(state: RunState, ratio: Ratio) -> Content:
    """The proven result compared with the baseline."""
    if ratio.verdict == "failed":
        return signed("failed")
    if state.dropped(ratio.candidate):
        label = f"✂ {_('dropped')}"
    elif ratio.candidate == state.plan.baseline:
        label = f"◆ {_('baseline')}"
    elif ratio.ratio <= 0:
        label = f"· {_('waiting')}"
    else:
        return signed(ratio.verdict, "" if ratio.verdict == "alike" else speed_text(ratio.ratio))
    return text((label, "$muted"))
