"""The pictures of a run that goes on, each drawn from a snapshot."""

from __future__ import annotations

import shlex

from rich.cells import cell_len
from textual.content import Content

from fswizard.advice.words import more_text
from fswizard.language import N_, _, n_, p_, shown
from fswizard.model.analysis import Ratio
from fswizard.model.events import Stage
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.run_state import LogEntry, LogNote, RunState
from fswizard.model.units import duration_text, figure_text, seconds_text, speed_text
from fswizard.report.colours import kind_of
from fswizard.tui.drawing import (
    WIDEST,
    bullet,
    cut,
    cut_among,
    filesystem_ink,
    fit,
    heading,
    lines,
    meter,
    signed,
    text,
    wrap,
)
from fswizard.tui.widgets.braille import area, nice_top, swatch
from fswizard.tui.widgets.lanes import Look, looks_of

BEYOND = 1.6
"""Intervals are cut at this multiple of the best ratio: wide ones would leave no room for the rest."""
STAGES: dict[Stage, str] = {
    "prepare": N_("preparing"),
    "raw": N_("bare device"),
    "wait": N_("waiting"),
    "format": N_("formatting"),
    "mount": N_("mounting"),
    "fill": N_("preparing test files"),
    "workload": N_("measuring"),
    "check": N_("checking"),
    "clean": N_("cleaning up"),
}
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MARKS = {
    "step": ("·", "$muted"),
    "doubt": ("!", "bold $text-warning"),
    "failed": ("✗", "bold $text-error"),
    "skipped": ("»", "$muted"),
    "discarded": ("!", "bold $text-warning"),
    "round": ("✓", "bold $text-success"),
    "end": ("■", "bold $text-primary"),
}


def title(state: RunState) -> Content:
    """Which round, whose turn, at what."""
    step, plan = state.step, state.plan
    if step is None:
        return text(_("Starting"))
    stage = _(STAGES[step.stage])
    if not step.round:
        look = " · " + _("first look at {candidate}", candidate=step.candidate) if step.candidate else ""
        return text(_(plan.recipe.title), (look, _ink(plan, step.candidate)), (f" · {stage}", "$muted"))
    workload = next((_(w.title) for w in plan.recipe.workloads if w.name == step.workload), stage)
    rounds = ""
    if step.round <= plan.minimum_rounds:
        rounds = p_("round", "of at least {rounds}", rounds=plan.minimum_rounds)
    return text(
        _("Round {round}", round=step.round), (f" {rounds}", "$muted"), (" · ", "$muted"),
        (step.candidate or _(STAGES["raw"]), _ink(plan, step.candidate)),
        (" · ", "$muted"), (workload, ""),
    )  # fmt: skip


def _ink(plan: Plan, candidate: str) -> str:
    """That of the bare device where there is no candidate."""
    return filesystem_ink(kind_of(plan, candidate)) if candidate else "$text-primary"


def doing(state: RunState, spinner: int, width: int) -> Content:
    """What is happening now, in words, with the step's own progress."""
    step = state.step
    words = shown(state.text or (step.title if step else "")) or _("starting the run")
    bar = 24 if width >= 90 else 12 if width >= 60 else 0
    share = Content("")
    if state.fraction and bar:
        share = text("  ", meter(state.fraction, bar), (f" {state.fraction:4.0%}", "$muted"))
    room = min(width, WIDEST) - 2 - share.cell_length
    return text((SPINNER[spinner % len(SPINNER)] + " ", "$text-primary"), fit(cut(words, room), room), share)


def progress(state: RunState, elapsed_s: float, width: int, budget: str = "", *, turns: bool = True) -> Content:
    """The whole run as a bar, what it takes in all, and with `turns` below it whose turn it is in this round."""
    words = _("{time} elapsed", time=duration_text(elapsed_s))
    if state.left_s:
        words += " · " + _("at most {time} to go", time=duration_text(state.left_s))
    share = f" {state.run_fraction:4.0%}"
    bar = max(8, width - cell_len(words) - len(share) - 3) if width >= 60 else max(4, width - len(share))
    rows = [text(meter(state.run_fraction, bar), (share, "bold"), (f"   {words}" if width >= 60 else "", "$muted"))]
    if budget:
        rows.append(text((cut(_("Takes {budget}", budget=budget), width), "$muted")))
    if turns:
        rows.append(_turns(state, width))
    return lines(rows)


def _turns(state: RunState, width: int) -> Content:
    if not state.tried:
        return text((_("preparing"), "$muted"))
    pieces = [text(("✓ ", "$text-success"), (name, "$muted")) for name in state.tried[:-1]]
    total = len(state.plan.recipe.workloads)
    dots = "●" * len(state.done) + "◉" + "○" * max(0, total - len(state.done) - 1)
    pieces.append(text(("▶ ", "bold $text-primary"), (state.tried[-1], "bold"), (f" {dots}", "$text-primary")))
    failed = [failure.candidate for failure in state.failures]
    for name in (candidate.name for candidate in state.plan.candidates if candidate.name not in state.tried):
        out = state.out(name) or name in failed
        pieces.append(text(("✂ " if out else "· ", "$muted"), (name, "$muted strike" if out else "$muted")))
    return fit(Content("   ").join(pieces), width)


def now(state: RunState, width: int, *, height: int) -> Content:
    """Throughput as a curve of `height` lines, and latency. A curve that is over stays, fainter, until the next one."""
    step = state.step
    going = step is not None and state.measured == step.number
    ink = looks_of(state.plan)[step.candidate].ink if step and step.candidate else "$text-primary"
    rate, median, worst = "–", "–", "–"
    if state.rate is not None:
        rate = figure_text(state.rate, state.rate_unit)
    if state.latency_s is not None:
        median = seconds_text(state.latency_s)
    if state.worst_latency_s is not None:
        worst = seconds_text(state.worst_latency_s)
    words = ""
    if height <= 1 and width >= 52:
        words = f"  {p_('latency', 'median {time}', time=median)}  {p_('latency', 'worst {time}', time=worst)}"
    room = width if height > 1 else max(4, width - 11 - cell_len(words))
    curve = ("",) * height  # over as much of its room as is done of the step
    if state.rates:
        top = nice_top(max(state.rates))
        share = state.fraction if going and state.fraction else 1.0
        curve = area([each / top for each in state.rates], share * room, height)
    drawn = [text((row.ljust(room), ink if going else "$line")) for row in curve]
    if height <= 1:
        return text(fit((rate, "bold"), 11), *drawn, (words, "$muted"))
    third = max(8, width // 3)
    latency = _("median latency")
    latency = latency if cell_len(latency) < third - 1 else _("latency")
    labels = (p_("rate", "now"), latency, p_("latency", "worst"))
    names = Content("").join(fit((label, "$muted"), third) for label in labels)
    figures = ((rate, f"bold {ink}"), (median, "bold"), (worst, "bold"))
    return lines((names, Content("").join(fit(figure, third) for figure in figures), *drawn))


def leaderboard(state: RunState, width: int, *, tall: bool) -> Content:
    """Who is ahead, as bars from zero that fade where the interval begins; two lines for each where there is room."""
    if state.first_look and not state.race.trials:
        return first_look(state, width)
    ratios, rounds = state.standing, state.analysis.rounds if state.analysis else 0
    drawn = [ratio for ratio in ratios if ratio.ratio > 0 and ratio.verdict != "failed"]
    best = max((ratio.ratio for ratio in drawn), default=1.0)
    top = max((min(ratio.high or ratio.ratio, BEYOND * best) for ratio in drawn), default=1.0)
    names = [ratio.candidate for ratio in ratios]
    longest = max(map(cell_len, names), default=4)
    words = [_words(state, ratio) for ratio in ratios]
    wide = max((each.cell_length for each in words), default=0)
    name = min(longest, max(8, width - 6 - wide) if tall else max(8, width // 4))
    title = n_("Leaderboard after {count} round", "Leaderboard after {count} rounds", rounds)
    rows = [heading(title if rounds else _("Leaderboard"), width)]
    for place, (ratio, word) in enumerate(zip(ratios, words)):
        look = looks_of(state.plan)[ratio.candidate]
        style = "$muted strike" if state.out(ratio.candidate) else f"bold {look.ink}"
        shown_name = (cut_among(ratio.candidate, names, name), style)
        head = text(_place(state, ratio, place), " ", (f"{swatch(look.texture)} ", look.ink), shown_name)
        bar = fading(ratio, top, max(4, width - 3 if tall else width - name - wide - 8), look)
        if tall:
            rows += [fit(head, width - word.cell_length) + word, Content("   ") + bar]
        else:
            rows.append(fit(head, name + 6) + bar + Content("  ") + word)
    if state.more:
        rows += wrap((more_text(state.more), "$muted"), width)
    elif rounds < FIRST_LOOK and not state.ended:
        rows.append(text((_("first verdict after round {round}", round=FIRST_LOOK), "$muted")))
    return lines(rows)


def first_look(state: RunState, width: int) -> Content:
    """What each candidate reached before the rounds, in the order of the plan, as that decides nothing."""
    names, looked = [candidate.name for candidate in state.plan.measured], state.first_look
    name, top = min(max(map(cell_len, names)), max(8, width // 2 - 3)), max(looked.values())
    rows = [heading(_("First look"), width)]
    for each in names:
        look = looks_of(state.plan)[each]
        figure = figure_text(looked[each], "B/s") if each in looked else "–"
        room = max(4, width - name - 14)
        bar = text(("█" * round(looked.get(each, 0.0) / top * room), look.ink))
        head = text((f"{swatch(look.texture)} ", look.ink), (cut_among(each, names, name), f"bold {look.ink}"))
        rows.append(fit(head, name + 3) + fit(bar, room) + text("  ", fit(figure, 9, "right")))
    words = _("A small copy each, for a first impression. It does not count; round 1 begins once the disk is prepared.")
    return lines((*rows, *wrap((words, "$muted"), width)))


def _place(state: RunState, ratio: Ratio, place: int) -> Content:
    """Its number, and whether it went up or down with the last round."""
    if ratio.ratio <= 0:
        return text(("– ", "$muted"))
    before = state.order_before
    moved = before.index(ratio.candidate) - place if ratio.candidate in before else 0
    arrow = ("↑", "$text-success") if moved > 0 else ("↓", "$text-error") if moved < 0 else (" ", "")
    return text((f"{place + 1}", "bold"), arrow)


def _words(state: RunState, ratio: Ratio) -> Content:
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


def fading(ratio: Ratio, top: float, width: int, look: Look) -> Content:
    """A bar from zero to the ratio, which fades from where its interval begins to where that ends."""
    if ratio.verdict == "failed":
        return fit((cut(shown(ratio.text), width), "$muted"), width)
    if ratio.ratio <= 0:
        return text((" " * width, "on $panel"))
    low, middle, high = (
        min(width, max(1, round(bound / top * width)))
        for bound in (ratio.low or ratio.ratio, ratio.ratio, ratio.high or ratio.ratio)
    )
    half = (middle + high + 1) // 2
    drawn = "█" * low + "▓" * (middle - low) + "▒" * (half - middle) + "░" * (high - half)
    return text((drawn, f"{look.ink} on $panel"), (" " * (width - high), "on $panel"))


def notes(state: RunState, width: int, height: int) -> Content:
    """What happened besides programs: the newest, as many as have room."""
    rows: list[Content] = []
    for entry in reversed(state.log):
        if isinstance(entry, LogNote) and entry.kind != "step":
            glyph, style = MARKS[entry.kind]
            words = bullet((glyph, style), (entry.words, "$muted"), width).split()
            if len(rows) + len(words) > height - 1:
                break
            rows = [*words, *rows]
    return lines((heading(_("What happened"), width), *rows)) if rows else Content("")


def log_line(entry: LogEntry, width: int, on: bool) -> Content:
    """One line for a program or a note."""
    if isinstance(entry, LogNote):
        glyph, style = MARKS[entry.kind]
        return text((f"{glyph} ", style), (cut(entry.words, width - 2), "$muted"))
    if entry.exit_code is None:
        end = text((p_("program", "running"), "$text-primary"))
    elif entry.exit_code == 0:
        end = text((duration_text(entry.seconds), "$muted"))
    else:
        end = text((p_("program", "exit {code}", code=entry.exit_code), "bold $text-error"))
    mark = ("# ", "$text-warning") if entry.as_root else ("$ ", "$text-success")
    room = max(4, width - 2 - end.cell_length - 2)
    return text(mark, fit(cut(shlex.join(entry.argv), room), room), "  ", end)
