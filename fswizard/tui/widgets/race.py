"""The race: a lane for each workload on one time line, a column for each trial in its filesystem's colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from textual.content import Content

from fswizard.language import _, p_
from fswizard.model.plan import Plan
from fswizard.model.race import Lane, Trial
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text
from fswizard.report.colours import key_of
from fswizard.tui.drawing import Piece, text
from fswizard.tui.widgets.braille import LINES, area
from fswizard.tui.widgets.lines import Lines, fitted

HEADROOM = 1.25
"""Height of a lane relative to the best figure; higher peaks are cut off."""
GAP = 2
"""Cells between two rounds."""
LEAST_HEIGHT = 3
"""Minimum lines of a lane with its title."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """Colour and texture of a candidate, the same wherever it is drawn."""

    ink: str
    texture: int = 0
    """Distinguishes candidates of the same filesystem, which share a colour."""


def appearances_of(plan: Plan) -> Mapping[str, Appearance]:
    """By name of the candidate."""
    appearances: dict[str, Appearance] = {}
    for candidate in plan.candidates:
        ink = f"$fs-{key_of(candidate.filesystem.name)}"
        appearances[candidate.name] = Appearance(ink, sum(appearance.ink == ink for appearance in appearances.values()))
    return appearances


@dataclass(frozen=True, slots=True)
class TimeLine:
    """All trials side by side, grouped by round; a trial that is still to come has no name."""

    rounds: tuple[tuple[Trial, ...], ...]
    now: Trial | None
    """The trial that is being measured."""
    each: int
    """Cells of a trial."""
    width: int
    """Cells of the whole line."""
    discarded: tuple[int, ...]
    """Rounds that do not count."""
    appearances: Mapping[str, Appearance] = field(compare=False)

    @classmethod
    def of(cls, state: RunState, width: int) -> TimeLine:
        """The time line for a width; the oldest rounds are omitted if necessary."""
        step, rounds = state.measuring_step, dict[int, list[Trial]]()
        for trial in state.race.trials:
            rounds.setdefault(trial[0], []).append(trial)
        current = max(rounds, default=1)
        for number in range(current, max(current, state.plan.minimum_rounds) + 1):
            trials = rounds.setdefault(number, [])
            trials += [(number, "")] * (state.alive - len(trials))
        line = [tuple(rounds[number]) for number in sorted(rounds) if rounds[number]]
        while len(line) > 1 and sum(len(trials) + GAP for trials in line) > width + GAP:
            line.pop(0)
        each = max(1, (width - GAP * (len(line) - 1)) // max(1, sum(map(len, line))))
        now = (step.round, step.candidate) if step else None
        return cls(tuple(line), now, each, width, state.result.discarded_rounds, appearances_of(state.plan))

    def appearance(self, trial: Trial) -> Appearance:
        """Colour and texture of a trial; it has none if its round does not count."""
        number, candidate = trial
        if not candidate or number in self.discarded:
            return Appearance("$line")
        return self.appearances[candidate]

    def heads(self) -> list[Content]:
        """The number of each round, and the name above each trial."""
        room, numbers, names = max(1, self.each - 1), list[Content](), list[Content]()
        for trials in self.rounds:
            width, number = self.each * len(trials), trials[0][0]
            message = _("round {round}", round=number) if width >= 9 else f"{number}"
            numbers.append(fitted((message, "$muted"), width))
            heads = []
            for trial in trials:
                ink = self.appearance(trial).ink
                if trial == self.now:
                    ink = f"bold underline {ink}"
                heads.append(fitted(fitted((trial[1] or "·", ink), room, ellipsis=room > 3), self.each))
            names.append(Content("").join(heads))
        return [Content(GAP * " ").join(row) for row in (numbers, names)]


class Race(Lines[RunState]):
    """Progress and figures of all candidates at all workloads, over the whole run."""

    def draw(self, state: RunState, width: int, height: int) -> list[Content]:
        """Lanes in the available height, always including the one that is being measured."""
        lanes, step = state.race.lanes, state.measuring_step
        line = TimeLine.of(state, width)
        rows = line.heads()[-height:]
        each = max(LEAST_HEIGHT, (height - len(rows)) // len(lanes))
        room = max(1, (height - len(rows)) // each)
        names = [lane.workload.name for lane in lanes]
        current = names.index(step.workload) if step else 0
        first = max(0, min(current - room // 2, len(lanes) - room))
        for number, lane in list(enumerate(lanes))[first : first + room]:
            measured = step is not None and number == current
            rows.append(_title(lane, line, measured))
            rows += drawn(lane, line, each - 1, (state.fraction or 1.0) if measured else 0.0)
        return rows


@lru_cache(maxsize=64)
def drawn(lane: Lane, line: TimeLine, height: int, done: float) -> list[Content]:
    """The shapes of a lane's trials; `done` is the completed share of its current step, 0 without one.

    Below them are a rule at the bottom, and one at the speed of the bare disk if that was measured.
    """
    rules = [(" ", "")] * (height - 1) + [(LINES[0], "$line")]
    if lane.bare and lane.best:
        dots = round(lane.speed(lane.bare) / lane.best / HEADROOM * 4 * height)
        if 0 < dots <= 4 * height:
            rules[height - 1 - (dots - 1) // 4] = (LINES[(dots - 1) % 4], "$muted")
    rows: list[list[Piece]] = [[] for _ in rules]
    for trials in line.rounds:
        for place, trial in enumerate(trials):
            shape, ink = _shape(lane, trial, line, height, done)
            for row, cells, (dot, rule) in zip(rows, shape, rules):
                row.append((" " * GAP if row and place == 0 else "", ""))
                row += [(cells, ink), (dot * (line.each - len(cells)), rule)]
    return [text(*row) for row in rows]


def _shape(lane: Lane, trial: Trial, line: TimeLine, height: int, done: float) -> tuple[Sequence[str], str]:
    """The lines of one trial, and its colour: throughput over time, or the figure if it is something else."""
    measurement, appearance = lane.measurements.get(trial), line.appearance(trial)
    if measurement is None or not (measurement.failed or lane.level(measurement)):
        return [""] * height, ""
    if measurement.failed:
        return [*[""] * (height - 1), "✗"], "$text-error"
    level, curve = lane.level(measurement) / HEADROOM, measurement.curve
    heights = [level]
    if lane.shaped and curve.mean:
        heights = [rate / curve.mean * level for rate in curve.means]
    share = done if done and trial == line.now and measurement.figure is None else 1.0
    reach = share * (line.each - 0.5 if line.each > 1 else 1.0)
    return [row.rstrip() for row in area(heights, reach, height, appearance.texture)], appearance.ink


def _title(lane: Lane, line: TimeLine, measured: bool) -> Content:
    """The workload, and as many of the best figures as fit."""
    name = text((_(lane.workload.title), "$muted"))
    if measured:
        name = text(("▶ ", "bold $text-primary"), (_(lane.workload.title), "bold"))
    unit, figures = lane.workload.metric.unit, list[Content]()
    for candidate, figure in lane.figures(line.discarded).items():
        weight = "" if figures else "bold"
        ink = line.appearances[candidate].ink
        figures.append(text("  ", (candidate, ink), (f" {figure_text(figure, unit)}", weight)))
    if lane.bare:
        message = p_("without a filesystem", "disk {figure}", figure=figure_text(lane.bare, unit))
        figures.append(text("  ", (message, "$muted")))
    room = line.width - min(name.cell_length, line.width // 2)
    while sum(figure.cell_length for figure in figures) > room:
        figures.pop()
    right = Content("").join(figures)
    return fitted(name, line.width - right.cell_length) + right
