"""The race: a lane for each workload on one time line, a column for each trial in its filesystem's colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from textual.content import Content

from fswizard.language import _, p_
from fswizard.model.plan import Plan
from fswizard.model.race import Lane, Measurement
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text
from fswizard.report.colours import key_of
from fswizard.tui.drawing import filesystem_ink, text
from fswizard.tui.widgets.braille import LINES, area
from fswizard.tui.widgets.lines import Lines, fitted

HEADROOM = 1.25
"""Height of a lane relative to the best figure; higher peaks are cut off."""
GAP = Content("  ")
"""Separator of rounds."""
LEAST_HEIGHT = 3
"""Minimum lines of a lane with its title."""

Ground = tuple[tuple[str, str], ...]
"""Character and colour of the background, for each line of a lane."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """Colour and texture of a candidate, the same wherever it is drawn."""

    ink: str
    texture: int = 0
    """Distinguishes candidates of the same filesystem, which share a colour."""


COLOURLESS = Appearance("$line")


def appearances_of(plan: Plan) -> Mapping[str, Appearance]:
    """By name of the candidate."""
    appearances: dict[str, Appearance] = {}
    for candidate in plan.candidates:
        ink = filesystem_ink(key_of(candidate.filesystem.name))
        appearances[candidate.name] = Appearance(ink, sum(appearance.ink == ink for appearance in appearances.values()))
    return appearances


@dataclass(frozen=True, slots=True)
class Slot:
    """Position of a trial on the time line."""

    round: int
    candidate: str
    """Empty for a future trial."""
    appearance: Appearance
    measured: bool
    """It is being measured now."""


@dataclass(frozen=True, slots=True)
class TimeLine:
    """All trials side by side, grouped by round."""

    rounds: tuple[tuple[Slot, ...], ...]
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
        step, discarded, appearances = state.measuring_step, state.result.discarded_rounds, appearances_of(state.plan)
        names: dict[int, list[str]] = {}
        for number, name in state.race.trials:
            names.setdefault(number, []).append(name)
        current = max(names, default=1)
        for number in range(current, max(current, state.plan.minimum_rounds) + 1):
            measured = names.setdefault(number, [])
            measured += [""] * (state.alive - len(measured))
        now = (step.round, step.candidate) if step is not None else None
        rounds = []
        for number in sorted(names):
            counted = {} if number in discarded else appearances
            slots = (Slot(number, name, counted.get(name, COLOURLESS), now == (number, name)) for name in names[number])
            if names[number]:
                rounds.append(tuple(slots))
        while len(rounds) > 1 and sum(len(slots) + len(GAP) for slots in rounds) > width + len(GAP):
            rounds.pop(0)
        count = sum(map(len, rounds))
        each = max(1, (width - len(GAP) * (len(rounds) - 1)) // max(1, count))
        return cls(tuple(rounds), each, width, discarded, appearances)

    def heads(self) -> list[Content]:
        """The number of each round, and the name above each trial."""
        room = max(1, self.each - 1)
        numbers, names = [], []
        for slots in self.rounds:
            width, number = self.each * len(slots), slots[0].round
            message = _("round {round}", round=number) if width >= 9 else f"{number}"
            numbers.append(fitted((message, "$muted"), width))
            heads = []
            for slot in slots:
                ink = f"bold underline {slot.appearance.ink}" if slot.measured else slot.appearance.ink
                name = fitted((slot.candidate or "·", ink), room, ellipsis=room > 3)
                heads.append(fitted(name, self.each))
            names.append(Content("").join(heads))
        return [GAP.join(numbers), GAP.join(names)]


class Race(Lines):
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
        for number in range(first, min(first + room, len(lanes))):
            measured = step is not None and number == current
            rows.append(_title(lanes[number], line, measured))
            rows += drawn(lanes[number], line, each - 1, (state.fraction or 1.0) if measured else 0.0)
        return rows


@lru_cache(maxsize=64)
def drawn(lane: Lane, line: TimeLine, height: int, done: float) -> list[Content]:
    """The shapes of a lane's trials; `done` is the completed share of its current step, 0 without one."""
    ground = _ground(lane, height)
    rounds = []
    for slots in line.rounds:
        columns = []
        for slot in slots:
            measurement = lane.measurements.get((slot.round, slot.candidate))
            shape, ink = ("",) * len(ground), slot.appearance.ink
            if measurement is not None and measurement.failed:
                shape, ink = (*shape[1:], "✗"), "$text-error"
            elif measurement is not None and lane.level(measurement):
                share = done if done and slot.measured and measurement.figure is None else 1.0
                reach = share * (line.each - 0.5 if line.each > 1 else 1.0)
                shape = area(_heights(lane, measurement), reach, len(ground), slot.appearance.texture)
            columns.append(_column(shape, ink, line.each, ground))
        rounds.append([Content("").join(row) for row in zip(*columns)])
    return list(map(GAP.join, zip(*rounds)))


def _heights(lane: Lane, measurement: Measurement) -> tuple[float, ...]:
    """Throughput over time, or the figure if it is something else, as shares of the lane's height."""
    level = lane.level(measurement) / HEADROOM
    if lane.shaped and measurement.curve.mean:
        return tuple(rate / measurement.curve.mean * level for rate in measurement.curve.means)
    return (level,)


@lru_cache(maxsize=1024)
def _column(shape: tuple[str, ...], ink: str, width: int, ground: Ground) -> list[Content]:
    """The lines of one trial, from top to bottom."""
    cells = [row.rstrip() for row in shape]
    return [text((row, ink), (dot * (width - len(row)), rule)) for row, (dot, rule) in zip(cells, ground)]


def _ground(lane: Lane, height: int) -> Ground:
    """A rule at the bottom, and one at the speed of the bare disk if that was measured."""
    ground = [(" ", "")] * (height - 1) + [(LINES[0], "$line")]
    if lane.bare and lane.best:
        dots = round(lane.speed(lane.bare) / lane.best / HEADROOM * 4 * height)
        if 0 < dots <= 4 * height:
            ground[height - 1 - (dots - 1) // 4] = (LINES[(dots - 1) % 4], "$muted")
    return tuple(ground)


def _title(lane: Lane, line: TimeLine, measured: bool) -> Content:
    """The workload, and as many of the best figures as fit."""
    name = text((_(lane.workload.title), "$muted"))
    if measured:
        name = text(("▶ ", "bold $text-primary"), (_(lane.workload.title), "bold"))
    unit, figures = lane.workload.metric.unit, list[Content]()
    for candidate, figure in lane.figures(line.discarded).items():
        weight = "" if figures else "bold"
        figures.append(
            text("  ", (candidate, line.appearances[candidate].ink), (f" {figure_text(figure, unit)}", weight))
        )
    if lane.bare:
        message = p_("without a filesystem", "disk {figure}", figure=figure_text(lane.bare, unit))
        figures.append(text("  ", (message, "$muted")))
    room = line.width - min(name.cell_length, line.width // 2)
    while sum(figure.cell_length for figure in figures) > room:
        figures.pop()
    right = Content("").join(figures)
    return fitted(name, line.width - right.cell_length) + right
