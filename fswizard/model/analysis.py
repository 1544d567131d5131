"""What the figures amount to: ratios, verdicts, advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from fswizard.language import ENGLISH, N_, _, p_, shown
from fswizard.model.forecast import Forecast
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN
from fswizard.model.plan import MAXIMUM_ROUNDS
from fswizard.model.result import Doubt, Result
from fswizard.model.units import ratio_text

Verdict = Literal["faster", "slower", "behind", "tie", "undecided", "failed"]
"""The word for a ratio, the same in every room. `behind`, of overall ratios alone, and only as `Analysis.standing`
gives them: proven slower than a leader, though not than the baseline."""
Tone = Literal["good", "bad", "even", "muted"]
TIE = 1.05
"""Ratios between 1/TIE and TIE make no difference that matters."""
WINNERS_CURSE = 0.4
"""Share of a lead that chance added where it just cleared 1 in the last of the most rounds. Source: simulation."""
NEAR = 1.10
"""Ratios between 1/NEAR and NEAR are reported as an answer where a run could prove neither a tie nor a difference."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign of each verdict, shown beside its word, or alone where the word does not fit."""

    glyph: str
    tone: Tone
    """What its colour says."""
    word: str
    """The verdict, to be translated where it is shown."""


SIGNS: Mapping[Verdict, Sign] = {
    "faster": Sign("▲", "good", N_("faster")),
    "slower": Sign("▼", "bad", N_("slower")),
    "behind": Sign("▽", "muted", N_("behind")),
    "tie": Sign("═", "even", N_("tie")),
    "undecided": Sign("○", "muted", N_("undecided")),
    "failed": Sign("✗", "bad", N_("failed")),
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

    def interval(self) -> str:
        """`1.15–1.28`, or `can't tell` where it is too wide to say anything; empty where there is none."""
        if not self.low or not self.high:
            return ""
        return _("can't tell") if self.vague else f"{ratio_text(self.low)}–{ratio_text(self.high)}"

    @property
    def vague(self) -> bool:
        """Whether the interval reaches beyond ten times, or a tenth of, the ratio itself."""
        return bool(self.low and self.high and self.high > 100 * self.low)

    def turned(self) -> Ratio:
        """The same comparison the other way round."""
        opposite: Mapping[Verdict, Verdict] = {"faster": "slower", "slower": "faster"}
        return replace(
            self,
            candidate=self.baseline,
            baseline=self.candidate,
            ratio=1 / self.ratio,
            low=1 / self.high if self.high else None,
            high=1 / self.low if self.low else None,
            verdict=opposite.get(self.verdict, self.verdict),
        )

    @property
    def why(self) -> str:
        """Of one that failed: `failed: volume full`."""
        if not self.text or "failed" in self.text:
            return shown(self.text) or _("failed")
        return _("failed: {reason}", reason=shown(self.text))

    def shrunk(self) -> Ratio:
        """Without what chance added to the ratio, so that it is as often too high as too low; as it is where undecided.

        A lead is noticed in the round in which it looks large. That says little of one that is clear early.
        """
        if not self.low or not self.high or self.verdict not in ("faster", "slower"):
            return self
        lead, half_width = math.log(self.ratio), math.log(self.high / self.low) / 2
        late = half_width / lead * min(1.0, self.rounds / MAXIMUM_ROUNDS)
        return replace(self, ratio=math.exp(lead * (1 - WINNERS_CURSE * late**2)))


@dataclass(frozen=True, slots=True)
class Hinge:
    """What a lead hangs on: one test, or tests of one kind, without which it is no longer proven."""

    workloads: tuple[str, ...]
    """Their names, that with the largest lead first."""
    rest: Ratio
    """Of the two candidates, over all other tests."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """All ratios of a result."""

    by_workload: tuple[Ratio, ...] = ()
    overall: tuple[Ratio, ...] = ()
    """Against the baseline, best first, failed ones last; the baseline itself stands at ratio 1."""
    leaders: tuple[str, ...] = ()
    """Candidates that nobody is proven to beat, best estimate first."""
    dropped: tuple[str, ...] = ()
    """Candidates proven slower than the leader."""
    rounds: int = 0
    """Rounds that count: the most that any candidate finished."""
    pairs: tuple[Ratio, ...] = ()
    """Overall ratio of every two candidates that did not fail, the one with the better estimate over the other."""
    hinges: Mapping[str, Hinge] = field(default_factory=dict)
    """Where one candidate leads alone: what its lead over another one hangs on, for those over whom it does."""

    def of(self, candidate: str, workload: str = "") -> Ratio | None:
        ratios = self.by_workload if workload else self.overall
        return next((r for r in ratios if r.candidate == candidate and r.workload == workload), None)

    def as_shown(self) -> Analysis:
        """With overall ratios and pairs `shrunk`, so that a difference has one figure wherever it is shown."""
        overall, pairs = (tuple(ratio.shrunk() for ratio in some) for some in (self.overall, self.pairs))
        return replace(self, overall=overall, pairs=pairs)

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """`overall` as every table shows it: who is out of the race is not called `undecided` there."""
        return tuple(
            replace(ratio, verdict="behind") if ratio.candidate in self.dropped and ratio.verdict != "slower" else ratio
            for ratio in self.overall
        )

    def pair(self, one: str, other: str) -> Ratio | None:
        """The overall ratio of `one` to `other`; None if they were not compared."""
        known = next((r for r in self.pairs if {r.candidate, r.baseline} == {one, other}), None)
        return known.turned() if known and known.candidate != one else known

    def part(self, candidate: str, other: str, workload: str) -> Ratio | None:
        """What one workload says of two candidates, one of them its baseline; None where it does not compare them."""
        for ratio in (self.of(candidate, workload), self.of(other, workload)):
            if ratio is not None and {ratio.candidate, ratio.baseline} == {candidate, other}:
                compared = ratio.verdict != "failed" and ratio.ratio > 0 and candidate != other
                return (ratio if ratio.candidate == candidate else ratio.turned()) if compared else None
        return None

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
    median: float
    worst: float
    rounds: int
    primary: bool = False
    of_bare_device: Ratio | None = None
    """To what the device does without a filesystem, above 1 is better than it; None where that was not measured.

    Its baseline is empty; without an interval where the device was measured once, before the rounds.
    """


def write_amplification(summaries: Sequence[Summary]) -> Mapping[str, float]:
    """Candidate to the bytes that the device wrote for each byte that programs wrote, over the workloads with both."""
    medians = {(s.metric, s.candidate, s.workload): s.median for s in summaries}
    asked: dict[str, float] = {}
    written: dict[str, float] = {}
    for (metric, candidate, workload), value in medians.items():
        device = medians.get((DEVICE_WRITTEN.name, candidate, workload))
        if candidate and metric == BYTES_WRITTEN.name and value > 0 and device is not None:
            asked[candidate] = asked.get(candidate, 0.0) + value
            written[candidate] = written.get(candidate, 0.0) + device
    return {candidate: written[candidate] / total for candidate, total in asked.items()}


@dataclass(frozen=True, slots=True)
class Need:
    """A feature that the user needs."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence of the recommendation's why."""

    code: str
    """`speed`, `slower`, `behind`, `cost`, `noise`, `redundancy`, `feature`, `failure`, `stall`, `age`, `excluded`,
    `encryption`, `use`."""
    text: str


MOST_CONFIDENT = 4


@dataclass(frozen=True, slots=True)
class Card:
    """The answer at a glance: what every room leads with, word for word."""

    verdict: str
    """What to do, in a line of 60 characters at most unless names are long: `Use XFS: 11 % faster than ext4 here`."""
    why: str = ""
    """In a line of 74 characters at most, as the next two."""
    otherwise: str = ""
    """When to choose something else; empty where nothing speaks for that."""
    wear: str = ""
    """On flash: who writes at least twice as much to it as another one; empty for others."""
    confidence: int = 0
    """0 to MOST_CONFIDENT."""
    commands: tuple[str, ...] = ()
    """mkfs line and fstab line of what the verdict names, to be copied; device and directory are placeholders."""

    @property
    def dots(self) -> str:
        return "●" * self.confidence + "○" * (MOST_CONFIDENT - self.confidence)

    @property
    def certainty(self) -> str:
        """`confidence ●●●○ good`; empty where the verdict itself says that nothing is certain."""
        return _("confidence {dots} {level}", dots=self.dots, level=self.level) if self.confidence else ""

    @property
    def level(self) -> str:
        """A word for the number of dots; empty for none."""
        words = ("", p_("confidence", "low"), p_("confidence", "fair"), p_("confidence", "good"))
        return (*words, p_("confidence", "high"))[self.confidence]

    @property
    def lines(self) -> tuple[str, ...]:
        """What stands below the verdict."""
        return tuple(filter(None, (self.why, self.otherwise, self.wear)))


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommendation."""

    choice: tuple[str, ...]
    """Candidates that nobody is proven to beat, safe and as needed; the first is the one to use or keep. One name is a
    proven winner, several are a tie or an open race."""
    tie: bool
    card: Card
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report says."""

    result: Result
    analysis: Analysis
    doubts: tuple[Doubt, ...]
    advice: Advice
    summaries: tuple[Summary, ...] = ()
    age: tuple[Ratio, ...] = ()
    """Aged candidates over new ones, overall and by workload; empty where they were not measured beside each other."""
    forecast: Forecast | None = None
    """What more rounds would bring; None where there is nothing to forecast, or none to come."""
    language: str = ENGLISH
    """Of its sentences, except for those of the result, which are English."""

    @property
    def baseline(self) -> str:
        """What ratios are to: the plan's baseline, or the best candidate that has figures where that has none."""
        return self.analysis.overall[0].baseline if self.analysis.overall else self.result.plan.baseline

    @property
    def first(self) -> str:
        """The first choice; the baseline where there is none."""
        return self.advice.choice[0] if self.advice.choice else self.baseline
