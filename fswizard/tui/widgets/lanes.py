"""The race as a picture: a lane for each workload on one time line, a column for each trial, in its colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import _, p_, shown
from fswizard.model.events import Step
from fswizard.model.plan import Plan
from fswizard.model.race import Lane, Lap, Race
from fswizard.model.run_state import RunState
from fswizard.model.units import figure_text
from fswizard.report.colours import kind_of
from fswizard.tui.drawing import cut, cut_among, filesystem_ink, fit, lines, text
from fswizard.tui.widgets.braille import LINES, area

HEADROOM = 1.25
"""Times the best figure: so high a lane is. What was faster for a while is cut off there."""
ROUNDS_SHOWN = (2, 3, 4, 6, 8, 12)
"""Numbers of rounds that the time line makes room for; each time it is full, it grows to the next."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a candidate is drawn wherever it appears."""

    ink: str
    texture: int
    """Tells candidates of the same filesystem apart, which share a colour."""


@lru_cache(maxsize=8)
def _looks(kinds: tuple[tuple[str, str], ...]) -> Mapping[str, Look]:
    seen: dict[str, int] = {}
    looks = {}
    for name, kind in kinds:
        looks[name] = Look(filesystem_ink(kind), seen.get(kind, 0))
        seen[kind] = seen.get(kind, 0) + 1
    return looks


def looks_of(plan: Plan) -> Mapping[str, Look]:
    return _looks(tuple((candidate.name, kind_of(plan, candidate.name)) for candidate in plan.measured))


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a trial on the time line."""

    round: int
    candidate: str
    """Empty for one that is still to come."""
    start: int
    """First cell."""
    width: int


def time_line(race: Race, plan: Plan, alive: int, width: int) -> tuple[Slot, ...]:
    """A place for each trial so far, and for those to come in the rounds that are shown, on `width` cells.

    `alive` candidates take part in what is to come. Where there is no room for all, the oldest rounds give way.
    """
    trials = list(race.trials)
    now = max((number for number, __ in trials), default=1)
    least = max(plan.minimum_rounds, now)
    shown = min(next((rounds for rounds in ROUNDS_SHOWN if rounds >= least), least), max(plan.maximum_rounds, least))
    for number in range(now, shown + 1):
        missing = alive - sum(round_ == number for round_, __ in trials)
        trials += [(number, "")] * max(0, missing)
    rounds = [list(group) for _, group in groupby(trials, key=lambda trial: trial[0])]
    while sum(map(len, rounds)) + len(rounds) - 1 > width and len(rounds) > 1:
        rounds.pop(0)
    count, between = sum(map(len, rounds)), len(rounds) - 1
    each = max(1, (width - between) // max(1, count))
    gap = min(3, (width - each * count) // between) if between else 0
    slots, start = [], 0
    for group in rounds:
        for number, candidate in group:
            slots.append(Slot(number, candidate, start, each))
            start += each
        start += gap
    return tuple(slot for slot in slots if slot.start + slot.width <= width)


@lru_cache(maxsize=2048)
def _course(lap: Lap, level: float, *, shaped: bool, width: float, height: int, texture: int) -> tuple[str, ...]:
    """The area of a lap whose mean stands at `level`, where 1 is the best of its lane."""
    mean = lap.curve.mean
    heights = [each / mean * level for each in lap.curve.means] if shaped and mean else [level]
    return area([each / _top(height) for each in heights], width, height, texture)


def _top(height: int) -> float:
    """Where a lane of `height` lines ends, as a multiple of the best figure; the lines of single ones do not touch."""
    return HEADROOM if height > 1 else 8 / 7


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the lines of a picture have in common."""

    slots: tuple[Slot, ...]
    looks: Mapping[str, Look]
    discarded: tuple[int, ...]
    step: Step | None
    """The lap that is measured."""
    fraction: float | None
    """Of it."""


def picture(state: RunState, width: int, height: int) -> Content:
    """At most `height` lines of `width` cells: above, whose turn it was when; below, a lane for each workload."""
    race = state.race
    each = (height - 2) // max(1, len(race.lanes))
    beside = each < 3
    title = min(28, width // 3) if beside else 0
    figure = 20 if beside and width >= 72 else 0
    room = width - (title + 2 if title else 0) - (figure + 2 if figure else 0)
    slots = time_line(race, state.plan, state.alive, room)
    frame = _Frame(slots, looks_of(state.plan), race.discarded, race.lap_step, state.fraction)
    margin = Content(" " * (title + 2 if title else 0))
    rows = [margin + _rounds(slots) if race.trials else _before(state, width), margin + _names(frame)]
    if len(race.lanes) + 2 > height:
        rows = rows[1:]
    for lane in _shown(race.lanes, frame.step, height - len(rows)):
        here = frame.step is not None and frame.step.workload == lane.workload.name
        part = frame if here else replace(frame, step=None)
        if beside:
            rows += _with_margins(_lane(lane, part, max(1, each)), lane, part, (title, room, figure))
        else:
            rows += [_title(lane, part, width), *_lane(lane, part, each - 1)]
    return lines(rows[:height])


def _shown(lanes: Sequence[Lane], step: Step | None, room: int) -> Sequence[Lane]:
    """Those that have room, the one in which something happens among them."""
    here = next((n for n, lane in enumerate(lanes) if step and lane.workload.name == step.workload), 0)
    first = max(0, min(here - room // 2, len(lanes) - room))
    return lanes[first : first + max(1, room)]


def _with_margins(drawn: Sequence[Content], lane: Lane, frame: _Frame, widths: tuple[int, int, int]) -> list[Content]:
    """What the lane is about at its left, and who is ahead at its right."""
    title, room, figure = widths
    left = fit(_name(lane, frame, title), title)
    ahead = fit(next(_figures(lane, frame), Content("")), figure)
    rows = []
    for number, row in enumerate(drawn, 1):
        last = number == len(drawn)
        words = (left if last else Content(" " * title)) + Content("  ") + fit(row, room)
        rows.append(words + Content("  ") + ahead if figure and last else words)
    return rows


def _before(state: RunState, room: int) -> Content:
    """What is done while the lanes are empty."""
    said = shown(state.text or (state.step.title if state.step else "")) or _("starting the run")
    return text((cut(_("before round 1: {step}", step=said), room), "$muted"))


def _rounds(slots: Sequence[Slot]) -> Content:
    """Above each round its number, where there is room."""
    pieces, here = list[Content | str](), 0
    for number, slots_of_round in groupby(slots, key=lambda slot: slot.round):
        group = [*slots_of_round]
        first, last = group[0], group[-1]
        room = last.start + last.width - first.start
        words = _("round {round}", round=number) if room >= 9 else f"{number}"
        pieces += [" " * (first.start - here), fit((words, "$muted"), room)]
        here = first.start + room
    return text(*pieces)


def _names(frame: _Frame) -> Content:
    """Above each trial whose it is."""
    pieces, here, step = list[Content | str](), 0, frame.step
    for slot in frame.slots:
        room = slot.width - (slot.width > 1)
        name = cut_among(slot.candidate, frame.looks, room) if room > 3 else slot.candidate[:room]
        going = step is not None and (step.round, step.candidate) == (slot.round, slot.candidate)
        ink = frame.looks[slot.candidate].ink if slot.candidate in frame.looks else "$line"
        pieces += [" " * (slot.start - here), fit((name or "·", f"bold underline {ink}" if going else ink), room)]
        here = slot.start + room
    return text(*pieces)


def _figures(lane: Lane, frame: _Frame) -> Iterator[Content]:
    """What each candidate reached, best first."""
    for place, (name, figure) in enumerate(lane.figures(frame.discarded).items()):
        words = figure_text(figure, lane.workload.metric.unit)
        yield text((cut_among(name, frame.looks, 14), frame.looks[name].ink), (f" {words}", "" if place else "bold"))


def _name(lane: Lane, frame: _Frame, width: int) -> Content:
    """What the lane is about, marked where something happens in it."""
    if frame.step is None:
        return text((cut(_(lane.workload.title), width), "$muted"))
    return text(("▶ ", "bold $text-primary"), (cut(_(lane.workload.title), width - 2), "bold"))


def _title(lane: Lane, frame: _Frame, width: int) -> Content:
    """What the lane is about, and what each candidate reached, as far as there is room."""
    room = width - min(cell_len(_(lane.workload.title)), max(16, width // 2)) - 4
    shown: list[Content] = []
    disk = Content("")
    if lane.bare:
        figure = figure_text(lane.bare, lane.workload.metric.unit)
        disk = text((p_("without a filesystem", "disk {figure}", figure=figure), "$muted"))
    for piece in filter(None, (*_figures(lane, frame), disk)):
        room -= piece.cell_length + 2
        if room < 0:
            break
        shown.append(piece)
    right = Content("  ").join(shown)
    left = width - right.cell_length - 2
    return fit(_name(lane, frame, left), left) + Content("  ") + right


def _lane(lane: Lane, frame: _Frame, height: int) -> list[Content]:
    """Its laps, on the ground that shows what is to come and how fast the bare device is."""
    laps = {(lap.round, lap.candidate): lap for lap in lane.laps}
    bare = lane.speed(lane.bare) / lane.best if lane.bare and lane.best else 0.0
    dots = round(bare / _top(height) * 4 * height)
    grounds = [(" ", "")] * (height - 1) + [(LINES[0], "$line")]
    if 0 < dots <= 4 * height:
        grounds[height - 1 - (dots - 1) // 4] = (LINES[(dots - 1) % 4], "$muted")
    pieces: list[list[str | tuple[str, str]]] = [[] for _ in range(height)]
    here = 0
    for slot in frame.slots:
        drawn, style = _lap(lane, laps.get((slot.round, slot.candidate)), frame, slot, height)
        for row, cells, (ground, ink) in zip(pieces, drawn, grounds):
            filled = cells.rstrip()
            row += [" " * (slot.start - here), (filled, style), (ground * (slot.width - len(filled)), ink)]
        here = slot.start + slot.width
    return [text(*row) for row in pieces]


def _lap(lane: Lane, lap: Lap | None, frame: _Frame, slot: Slot, height: int) -> tuple[Sequence[str], str]:
    """Its lines and their colour: as much of its place as is done."""
    nothing = [""] * height
    if lap is None:
        return nothing, ""
    if lap.failed:
        return [*nothing[1:], "✗"], "$text-error"
    level, look, step = lane.level(lap), frame.looks[slot.candidate], frame.step
    if not level:
        return nothing, ""
    width = slot.width - (0.5 if slot.width > 1 else 0.0)
    if step and (step.round, step.candidate) == (slot.round, slot.candidate) and lap.figure is None and frame.fraction:
        width *= frame.fraction
    drawn = _course(lap, level, shaped=lane.shaped, width=width, height=height, texture=look.texture)
    return drawn, "$line" if slot.round in frame.discarded else look.ink
