"""Who is ahead: a row for each candidate, with a bar that fades over its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import _, n_, shown
from fswizard.model.analysis import Ratio
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text, speed_text
from fswizard.tui.drawing import signed, text
from fswizard.tui.widgets.braille import swatch
from fswizard.tui.widgets.lines import Lines, fitted
from fswizard.tui.widgets.race import looks_of

BEYOND = 1.6
"""Intervals are cut at this multiple of the best ratio: wide ones would leave no room for the rest."""
ONE_LINE = 60
"""Cells from which on name, verdict and bar stand on one line."""


@dataclass(frozen=True, slots=True)
class Row:
    """Of the leaderboard."""

    name: Content
    verdict: Content
    bar: Callable[[int], Content]
    """For a number of cells."""


class Leaderboard(Lines[RunState]):
    """Best first; before the first round, what the first look at each candidate measured."""

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        title, rounds = _("Leaderboard"), state.analysis.rounds if state.analysis else 0
        if rounds:
            title = n_("Leaderboard after {count} round", "Leaderboard after {count} rounds", rounds)
        rows = _standings(state)
        if state.first_look and not state.race.trials:
            title, rows = _("First look"), _first_look(state)
        rule = "─" * (width - 1 - cell_len(title))
        lines = [text(("─", "$line"), (title, "bold $muted"), (rule, "$line"))]
        names = max(row.name.cell_length for row in rows) + 2
        verdicts = max(row.verdict.cell_length for row in rows) + 2
        for row in rows:
            if width >= ONE_LINE:
                bar = row.bar(width - names - verdicts)
                lines.append(fitted(row.name, names) + fitted(row.verdict, verdicts) + bar)
            else:
                lines.append(fitted(row.name, width - row.verdict.cell_length) + row.verdict)
                lines.append(Content("   ") + row.bar(width - 3))
        return lines


def _bar(shares: tuple[float, float, float], ink: str, width: int) -> Content:
    """From zero to the high end of an interval; it fades from the low end on."""
    low, middle, high = (round(min(1.0, share) * width) for share in shares)
    half = (middle + high + 1) // 2
    bar = "█" * low + "▓" * (middle - low) + "▒" * (half - middle) + "░" * (high - half)
    return text((bar, f"{ink} on $panel"), (" " * (width - high), "on $panel"))


def _standings(state: RunState) -> list[Row]:
    """The candidates as they stand."""
    ratios, looks, rows = state.standing, looks_of(state.plan), []
    best = max(ratio.ratio for ratio in ratios)
    whole = max(min(ratio.high or ratio.ratio, BEYOND * best) for ratio in ratios) or 1.0
    for place, ratio in enumerate(ratios):
        look, name = looks[ratio.candidate], ratio.candidate
        style = "$muted strike" if state.out(name) else f"bold {look.ink}"
        head = _place(state, ratio, place) + text((f" {swatch(look.texture)} ", look.ink), (name, style))
        low, high = ratio.low or ratio.ratio, ratio.high or ratio.ratio
        bar = partial(_bar, (low / whole, ratio.ratio / whole, high / whole), look.ink)
        if ratio.verdict == "failed":
            bar = partial(fitted, (shown(ratio.text), "$muted"))
        rows.append(Row(head, _verdict(state, ratio), bar))
    return rows


def _first_look(state: RunState) -> list[Row]:
    """The candidates in the order of the plan, as the look decides nothing."""
    rows = []
    for name, look in looks_of(state.plan).items():
        rate = state.first_look.get(name, 0.0)
        share = rate / max(state.first_look.values())
        head = text((f"{swatch(look.texture)} ", look.ink), (name, f"bold {look.ink}"))
        figure = text(figure_text(rate, "B/s") if rate else "–")
        rows.append(Row(head, figure, partial(_bar, (share, share, share), look.ink)))
    return rows


def _place(state: RunState, ratio: Ratio, place: int) -> Content:
    """Its number, and whether it went up or down with the last round."""
    if ratio.ratio <= 0:
        return text(("– ", "$muted"))
    before, number = state.order_before, text((f"{place + 1}", "bold"))
    moved = before.index(ratio.candidate) - place if ratio.candidate in before else 0
    if moved > 0:
        return number + text(("↑", "$text-success"))
    return number + text(("↓", "$text-error") if moved < 0 else " ")


def _verdict(state: RunState, ratio: Ratio) -> Content:
    """How it does against the baseline, as far as that is proven."""
    if ratio.verdict == "failed":
        return signed("failed")
    if out := state.out(ratio.candidate):
        return text((f"{'»' if out == 'skipped' else '✂'} {_(out)}", "$muted"))
    if ratio.candidate == state.plan.baseline:
        return text((f"◆ {_('baseline')}", "$muted"))
    if ratio.ratio <= 0:
        return text((f"· {_('waiting')}", "$muted"))
    return signed(ratio.verdict, "" if ratio.verdict == "alike" else speed_text(ratio.ratio))
