"""The pictures of a run that goes on, each drawn from a snapshot."""

from __future__ import annotations

import shlex

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.plan import FIRST_LOOK
from fswizard.model.units import duration_text, figure_text, rounds_text, seconds_text
from fswizard.tui.drawing import WIDEST, cut, fit, heading, lines, meter, text
from fswizard.tui.runstate import STAGES, LogCommand, LogEntry, LogNote, RunState
from fswizard.tui.widgets.graph import chart, graph, nice_top
from fswizard.tui.widgets.ratios import ratio_table

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MARKS = {
    "step": ("·", "$faint"),
    "doubt": ("!", "bold $warning"),
    "failed": ("✗", "bold $error"),
    "skipped": ("»", "$muted"),
    "discarded": ("!", "bold $warning"),
    "round": ("✓", "bold $success"),
    "end": ("■", "bold $primary"),
}


def title(state: RunState) -> Content:
    """Which round, whose turn, at what."""
    step, plan = state.step, state.plan
    if step is None:
        return text("Starting")
    if not step.round:
        return text(plan.recipe.title, (f" · {STAGES[step.stage]}", "$muted"))
    workload = next((w.title for w in plan.recipe.workloads if w.name == step.workload), STAGES[step.stage])
    early = step.round <= plan.minimum_rounds
    rounds = f" of at least {plan.minimum_rounds}" if early else f" of at most {plan.maximum_rounds}"
    return text(
        f"Round {step.round}", (rounds, "$muted"), (" · ", "$faint"), (step.candidate or STAGES["raw"], "$primary"),
        (" · ", "$faint"), (workload, ""),
    )  # fmt: skip


def doing(state: RunState, spinner: int, width: int) -> Content:
    """What is happening now, in words, with the step's own progress."""
    step = state.step
    words = state.text or (step.title if step else "starting the run")
    bar = 24 if width >= 90 else 12 if width >= 60 else 0
    share = (
        text(meter(state.fraction, bar), (f" {state.fraction:4.0%}", "$muted"))
        if state.fraction and bar
        else Content("")
    )
    room = min(width, WIDEST) - 2 - (share.cell_length + 2 if share else 0)
    return text(
        (SPINNER[spinner % len(SPINNER)] + " ", "$primary"),
        fit((cut(words, room), ""), room),
        "  " if share else "",
        share,
    )


def left_text(state: RunState, elapsed_s: float) -> str:
    """Time gone and time left, in words."""
    gone = f"{duration_text(elapsed_s)} elapsed"
    return f"{gone} · about {duration_text(state.left_s)} remaining" if state.left_s is not None else gone


def progress(state: RunState, elapsed_s: float, width: int, budget: str = "") -> Content:
    """The whole run as a bar, what it takes in all, and below it whose turn it is in this round."""
    words = left_text(state, elapsed_s)
    share = f" {state.run_fraction:4.0%}"
    bar = max(8, width - cell_len(words) - len(share) - 3) if width >= 60 else max(4, width - len(share))
    line = text(meter(state.run_fraction, bar), (share, "bold"), (f"   {words}" if width >= 60 else "", "$muted"))
    takes = [text((cut(f"Takes {budget}", width), "$muted"))] if budget else []
    return lines((line, *takes, _turns(state, width)))


def _turns(state: RunState, width: int) -> Content:
    if not state.tried:
        return text(("preparing", "$faint"))
    pieces = []
    waiting = [c.name for c in state.plan.candidates if c.name not in state.tried]
    for name in state.tried[:-1]:
        pieces.append(text(("✓ ", "$success"), (name, "$muted")))
    total = len(state.plan.recipe.workloads)
    dots = "●" * len(state.done) + "◉" + "○" * max(0, total - len(state.done) - 1)
    pieces.append(text(("▶ ", "bold $primary"), (state.tried[-1], "bold"), (f" {dots}", "$primary")))
    for name in waiting:
        out = state.out(name) or ("failed" if any(f.candidate == name for f in state.failures) else "")
        pieces.append(text(("✂ " if out else "· ", "$faint"), (name, "$faint strike" if out else "$faint")))
    return fit(Content("   ").join(pieces), width)


def now(state: RunState, width: int, *, height: int) -> Content:
    """Throughput as a curve of `height` lines, and latency. A curve that is over stays, fainter, until the next one."""
    rate = _rate(state.rate, state.rate_unit)
    median = seconds_text(state.latency_s) if state.latency_s is not None else "–"
    worst = seconds_text(state.worst_latency_s) if state.worst_latency_s is not None else "–"
    going = state.step is not None and state.measured == state.step.number
    style = "$primary" if going else "$line"
    if height <= 1:
        words = f"  median {median}  worst {worst}" if width >= 52 else ""
        room = max(4, width - 11 - cell_len(words))
        return text(fit((rate, "bold"), 11), (graph(state.rates, room, 1)[0], style), (words, "$muted"))
    top = nice_top(max(state.rates, default=0.0))
    label = _rate(top, state.rate_unit) if state.rates else ""
    rows = chart(state.rates, width, height, top=top, label=label, style=style)
    third = max(8, width // 3)
    widths = (third - 2, third + 4, third - 2)
    names = [fit((name, "$muted"), wide) for name, wide in zip(("now", "median latency", "worst"), widths)]
    figures = [
        fit((figure, style), wide)
        for figure, style, wide in zip((rate, median, worst), ("bold $primary", "bold", "bold"), widths)
    ]
    return lines((*rows, Content(""), Content("").join(names), Content("").join(figures)))


def _rate(rate: float | None, unit: str) -> str:
    return "–" if rate is None else figure_text(rate, unit)


def standing(state: RunState, width: int, *, spaced: bool) -> Content:
    """The ratios so far."""
    rounds = state.judgement.rounds if state.judgement else 0
    words = f"So far, after {rounds_text(rounds)}: right of the line is better" if rounds else "So far"
    early = 0 < rounds < FIRST_LOOK
    note = [text((f"first verdict after round {FIRST_LOOK}", "$faint"))] if early else []
    if state.forecast:
        note = [text((cut(state.forecast.text, width), "$muted"))]
    table = ratio_table(state.standing, width, state.plan.baseline, out=state.out, spaced=spaced)
    if note and spaced:
        note.insert(0, Content(""))
    return lines((heading(words, width), table, *note))


def tail(state: RunState, width: int, height: int) -> Content:
    """The last programs and notes."""
    return lines(log_line(entry, width) for entry in state.log[-max(1, height) :])


def log_line(entry: LogEntry, width: int) -> Content:
    """One line for a program or a note."""
    if isinstance(entry, LogNote):
        glyph, style = MARKS[entry.kind]
        return fit(text((f"{glyph} ", style), (cut(entry.text, width - 2), "$muted")), width)
    return fit(_command_line(entry, width), width)


def _command_line(command: LogCommand, width: int) -> Content:
    if command.exit_code is None:
        end = text(("running", "$primary"))
    elif command.exit_code == 0:
        end = text((duration_text(command.seconds), "$faint"))
    else:
        end = text((f"exit {command.exit_code}", "bold $error"))
    mark = ("# ", "$warning") if command.as_root else ("$ ", "$success")
    room = max(4, width - 2 - end.cell_length - 2)
    return text(mark, fit(cut(shlex.join(command.argv), room), room), "  ", end)
