"""What the figures amount to: ratios, verdicts, advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from fswizard.model.forecast import Forecast
from fswizard.model.metrics import Better, is_stall
from fswizard.model.plan import MAXIMUM_ROUNDS
from fswizard.model.result import Doubt, Result
from fswizard.model.units import ratio_text

Verdict = Literal["faster", "slower", "beaten", "tie", "undecided", "failed"]
"""The word for a ratio, the same in every room. `beaten`, of overall ratios alone, and only as `Judgement.standing`
tells them: proven slower than a leader, though not than the baseline."""
Tone = Literal["good", "bad", "even", "muted"]
TIE = 1.05
"""Ratios between 1/TIE and TIE make no difference that matters."""
WINNERS_CURSE = 0.4
"""Share of a lead that chance added where it just cleared 1 in the last of the most rounds. Source: simulation."""
NEAR = 1.10
"""Ratios between 1/NEAR and NEAR are told as an answer where a run could prove neither a tie nor a difference."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign of each verdict, shown beside its word, or alone where the word does not fit."""

    glyph: str
    tone: Tone
    """What its colour says."""


SIGNS: Mapping[Verdict, Sign] = {
    "faster": Sign("▲", "good"),
    "slower": Sign("▼", "bad"),
    "beaten": Sign("▽", "muted"),
    "tie": Sign("═", "even"),
    "undecided": Sign("○", "muted"),
    "failed": Sign("✗", "bad"),
}


@dataclass(frozen=True, slots=True)
class Ratio:
    """Candidate over baseline; above 1 means that the candidate did better, for latencies and durations too."""

    candidate: str
    baseline: str
    workload: str
    """Name of the workload; empty for the overall ratio."""
    ratio: float
    """0 for `failed`."""
    low: float | None = None
    """95 % interval, valid although the program looks after every round; None under `FIRST_LOOK` rounds."""
    high: float | None = None
    rounds: int = 0
    verdict: Verdict = "undecided"
    text: str = ""
    """For `failed`: why."""

    def interval(self, dash: str = "–") -> str:
        """`1.15–1.28`; empty where there is none. Of one that says next to nothing, only that: `<0.01–>99`."""
        if not self.low or not self.high:
            return ""
        low = "<0.01" if self.low < 0.01 else ratio_text(self.low)
        return f"{low}{dash}{'>99' if self.high >= 99.5 else ratio_text(self.high)}"

    @property
    def why(self) -> str:
        """Of one that failed: `failed: volume full`."""
        return f"failed: {self.text}" if self.text else "failed"

    @property
    def shrunk(self) -> float:
        """The ratio without what chance added, so that it is as often too high as too low; `ratio` where undecided.

        A lead is noticed in the round in which it looks large. That says little of one that is clear early.
        """
        if not self.low or not self.high or self.verdict not in ("faster", "slower"):
            return self.ratio
        lead, half_width = math.log(self.ratio), math.log(self.high / self.low) / 2
        late = half_width / lead * min(1.0, self.rounds / MAXIMUM_ROUNDS)
        return math.exp(lead * (1 - WINNERS_CURSE * late**2))

    @property
    def spread(self) -> str:
        """Half the interval in percent, as `±15%`; empty where there is none."""
        if not self.low or not self.high:
            return ""
        percent = (math.sqrt(self.high / self.low) - 1) * 100
        return f"±{percent:.0f}%" if percent < 999.5 else "±>999%"


@dataclass(frozen=True, slots=True)
class Judgement:
    """All ratios of a result."""

    by_workload: tuple[Ratio, ...] = ()
    overall: tuple[Ratio, ...] = ()
    """Against the baseline, best first, failed ones last; the baseline itself stands at ratio 1."""
    leaders: tuple[str, ...] = ()
    """Candidates that nobody is proven to beat, best estimate first."""
    dropped: tuple[str, ...] = ()
    """Candidates proven slower than the leader."""
    tied: bool = False
    """All leaders are within ±5 % of each other, proven."""
    rounds: int = 0
    """Rounds that count: the most that any candidate finished."""
    pairs: tuple[Ratio, ...] = ()
    """Overall ratio of every two candidates that did not fail, the one with the better estimate over the other."""

    def of(self, candidate: str, workload: str = "") -> Ratio | None:
        ratios = self.by_workload if workload else self.overall
        return next((r for r in ratios if r.candidate == candidate and r.workload == workload), None)

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """`overall` as every table tells it: who is out of the race is not called `undecided` there."""
        return tuple(
            replace(ratio, verdict="beaten") if ratio.candidate in self.dropped and ratio.verdict != "slower" else ratio
            for ratio in self.overall
        )

    def pair(self, one: str, other: str) -> Ratio | None:
        """The overall ratio of two candidates, whichever of them stands over the other."""
        return next((r for r in self.pairs if {r.candidate, r.baseline} == {one, other}), None)

    def unbeaten(self, among: Sequence[str]) -> tuple[str, ...]:
        """Those that none of the others is proven to beat, in the order given; one at least, unless there are none."""
        beaten = set()
        for pair in self.pairs:
            if pair.candidate in among and pair.baseline in among and pair.verdict in ("faster", "slower"):
                beaten.add(pair.baseline if pair.verdict == "faster" else pair.candidate)
        return tuple(name for name in among if name not in beaten) or tuple(among[:1])

    def all_tie(self, among: Sequence[str]) -> bool:
        """Whether at least two are given and every two of them are proven to be within ±5 %."""
        tied = {frozenset((pair.candidate, pair.baseline)) for pair in self.pairs if pair.verdict == "tie"}
        return len(among) > 1 and all(frozenset(pair) in tied for pair in combinations(among, 2))

    def all_near(self, among: Sequence[str]) -> bool:
        """Whether at least two are given and every two of them are proven to be within ±10 %."""
        near = {
            frozenset((p.candidate, p.baseline))
            for p in self.pairs
            if p.low and p.high and p.low >= 1 / NEAR and p.high <= NEAR
        }
        return len(among) > 1 and all(frozenset(pair) in near for pair in combinations(among, 2))


@dataclass(frozen=True, slots=True)
class Summary:
    """What all rounds together say of one metric of one candidate."""

    candidate: str
    workload: str
    """Empty for figures of the cell as a whole, such as the time of mkfs."""
    metric: str
    unit: str
    better: Better
    median: float
    worst: float
    rounds: int
    primary: bool = False
    of_bare_device: Ratio | None = None
    """To what the device does without a filesystem, above 1 is better than it; None where that was not measured.

    Its baseline is empty; without an interval where the device was measured once, before the rounds.
    """


@dataclass(frozen=True, slots=True)
class Need:
    """A feature that the user cannot do without."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence of the recommendation's why."""

    code: str
    """`speed`, `slower`, `beaten`, `cost`, `redundancy`, `feature`, `failure`, `stall`, `excluded`, `use`."""
    text: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommendation."""

    choice: tuple[str, ...]
    """Candidates to choose from: one winner, or those that tie; empty when nothing could be measured."""
    tie: bool
    headline: str
    reasons: tuple[Reason, ...] = ()
    commands: tuple[str, ...] = ()
    """mkfs line and fstab line of the first choice, to be copied; the device and directory are placeholders."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A ratio that somebody published, beside the one that was measured here."""

    work: str
    """What they did, in their words."""
    candidate: str
    here: Ratio
    there: float
    """Theirs, of the same two filesystems: above 1 is better."""
    runs: int
    """Of theirs: the fewer of the two filesystems."""


@dataclass(frozen=True, slots=True)
class Published:
    """What somebody measured on the same kind of disk with the same kind of work."""

    name: str
    """Of the figures, for `fswizard published NAME`."""
    title: str
    disk: str
    year: str
    """Empty where they do not tell."""
    source: str
    ratios: tuple[Beside, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report tells."""

    result: Result
    judgement: Judgement
    doubts: tuple[Doubt, ...]
    advice: Advice
    summaries: tuple[Summary, ...] = ()
    published: tuple[Published, ...] = ()
    """Never made up for: empty where nothing fits."""
    forecast: Forecast | None = None
    """What more rounds would bring; None where there is nothing to forecast, or none to come."""

    @property
    def baseline(self) -> str:
        """What ratios are to: the plan's baseline, or the best candidate that has figures where that has none."""
        return self.judgement.overall[0].baseline if self.judgement.overall else self.result.plan.baseline

    @property
    def first(self) -> str:
        """The first choice; the baseline where there is none."""
        return self.advice.choice[0] if self.advice.choice else self.baseline

    @property
    def worst_stalls(self) -> Mapping[str, float]:
        """Candidate to its longest wait in seconds, in any workload and any round that counts."""
        worst: dict[str, float] = {}
        for summary in self.summaries:
            if is_stall(summary.metric):
                worst[summary.candidate] = max(worst.get(summary.candidate, 0.0), summary.worst)
        return worst

    def figure(self, candidate: str, workload: str) -> Summary | None:
        """What a candidate's ratio at a workload is made of."""
        found = (s for s in self.summaries if s.primary and (s.candidate, s.workload) == (candidate, workload))
        return next(found, None)

    def share(self, workload: str) -> Ratio | None:
        """What the first choice reached of the bare device's figure; None where that was not measured."""
        figure = self.figure(self.first, workload)
        return figure.of_bare_device if figure else None
