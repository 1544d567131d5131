"""What the figures amount to: ratios, verdicts, the answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from fswizard.language import ENGLISH, N_, _
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN
from fswizard.model.result import Doubt, Result
from fswizard.model.units import ratio_text

Verdict = Literal["faster", "slower", "behind", "alike", "open", "failed"]
"""The word for a ratio, the same in every room. `behind`, of overall ratios alone, and only as `Analysis.standing`
gives them: proven slower than a leader, though not than the baseline."""
Tone = Literal["good", "bad", "even", "muted", "warning"]
ALIKE = 1.10
"""Overall ratios that are known to lie between 1/ALIKE and ALIKE make no difference that matters: a run may end."""
ALIKE_AT_THE_END = 1.15
"""The same for a run whose time is up."""
LEVEL = 1.05
"""The same for single tests."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign of a verdict or an answer, shown beside its word, or alone where the word does not fit."""

    glyph: str
    tone: Tone
    """What its colour says."""
    word: str = ""
    """The verdict, to be translated where it is shown."""


SIGNS: Mapping[Verdict, Sign] = {
    "faster": Sign("▲", "good", N_("faster")),
    "slower": Sign("▼", "bad", N_("slower")),
    "behind": Sign("▽", "muted", N_("behind")),
    "alike": Sign("═", "even", N_("alike")),
    "open": Sign("○", "muted", N_("not proven")),
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
    """95 % interval, valid although the program looks after every round; None where the rounds say nothing yet."""
    high: float | None = None
    rounds: int = 0
    verdict: Verdict = "open"
    text: str = ""
    """For `failed`: why."""

    def interval(self) -> str:
        """`1.15–1.28`; empty where there is none."""
        return f"{ratio_text(self.low)}–{ratio_text(self.high)}" if self.low and self.high else ""

    @property
    def differs(self) -> bool:
        """One of the two is proven faster."""
        return self.verdict in ("faster", "slower")

    def within(self, limit: float) -> bool:
        """It is known to lie between 1/limit and `limit`."""
        return self.reach <= limit - 1

    @property
    def reach(self) -> float:
        """The largest difference that the interval allows, as a share: 0.08 is 8 %; infinite without one."""
        return max(self.high, 1 / self.low) - 1 if self.low and self.high else math.inf

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
            return _(self.text) or _("failed")
        return _("failed: {reason}", reason=_(self.text))


@dataclass(frozen=True, slots=True)
class Dependence:
    """A proven lead that is not proven without one test."""

    lead: Ratio
    tests: tuple[str, ...]
    """Names of the workloads of that test, which has one with files of each shape."""
    rest: Ratio
    """Of the same two candidates, over all other tests."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """All ratios of a result."""

    by_workload: tuple[Ratio, ...] = ()
    overall: tuple[Ratio, ...] = ()
    """Against the baseline, best first, failed ones last; the baseline itself stands at ratio 1."""
    leaders: tuple[str, ...] = ()
    """Candidates that nobody is proven to beat, also without each single test; best estimate first."""
    dropped: tuple[str, ...] = ()
    """Candidates proven slower than another one."""
    rounds: int = 0
    """Rounds that count: the most that any candidate finished."""
    pairs: tuple[Ratio, ...] = ()
    """Overall ratio of every two candidates that did not fail, the one with the better estimate over the other."""
    dependences: tuple[Dependence, ...] = ()

    def of(self, candidate: str, workload: str = "") -> Ratio | None:
        ratios = self.by_workload if workload else self.overall
        return next((r for r in ratios if r.candidate == candidate and r.workload == workload), None)

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """`overall` as every table shows it: who is out of the race is not called `open` there."""
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

    def dependence(self, one: str, other: str) -> Dependence | None:
        """What a lead of `one` over `other` depends on."""
        pair = (one, other)
        return next((d for d in self.dependences if (d.lead.candidate, d.lead.baseline) == pair), None)

    def beats(self, one: str, other: str) -> bool:
        """Whether `one` is proven faster, also without each single test."""
        pair = self.pair(one, other)
        return pair is not None and pair.verdict == "faster" and self.dependence(one, other) is None

    def unbeaten(self, among: Sequence[str]) -> tuple[str, ...]:
        """Those that none of the others beats, in the order given; one at least, unless there are none."""
        unbeaten = tuple(name for name in among if not any(self.beats(other, name) for other in among))
        return unbeaten or tuple(among[:1])

    def all_within(self, among: Sequence[str], limit: float = ALIKE) -> bool:
        """Whether at least two are given and every two of them are known to be that much alike."""
        pairs = [self.pair(one, other) for one, other in combinations(among, 2)]
        return bool(pairs) and all(pair is not None and pair.within(limit) for pair in pairs)


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
    asked, written = defaultdict[str, float](float), defaultdict[str, float](float)
    for (metric, candidate, workload), value in medians.items():
        device = medians.get((DEVICE_WRITTEN.name, candidate, workload))
        if candidate and metric == BYTES_WRITTEN.name and value > 0 and device is not None:
            asked[candidate] += value
            written[candidate] += device
    return {candidate: written[candidate] / total for candidate, total in asked.items()}


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence of the recommendation's why."""

    code: str
    """`speed`, `slower`, `behind`, `cost`, `noise`, `redundancy`, `feature`, `failure`, `stall`, `age`, `excluded`,
    `encryption`, `use`."""
    text: str


AnswerKind = Literal["winner", "alike", "depends", "open", "only", "excluded", "failed", "nothing"]
"""`open`: not known yet, or nothing else was measured; `only`: a single candidate can be chosen; `excluded`: none can,
as all are unsafe or lack what is needed; `failed`: each one failed, or the run did; `nothing`: it ended before there
were figures."""
ANSWER_SIGNS: Mapping[AnswerKind, Sign] = {
    "winner": Sign("✓", "good"),
    "alike": Sign("═", "even"),
    "depends": Sign("✓", "good"),
    "open": Sign("○", "warning"),
    "only": Sign("✓", "good"),
    "excluded": Sign("✗", "bad"),
    "failed": Sign("✗", "bad"),
    "nothing": Sign("✗", "bad"),
}


@dataclass(frozen=True, slots=True)
class MoreTime:
    """What further rounds would bring, if figures go on to vary as they do."""

    rounds: int
    seconds: float
    """As long as those rounds take."""
    bound: float
    """Largest difference then between candidates that are alike: 0.09 is 9 %."""

    @property
    def limit_s(self) -> float:
        """Time for the rounds, but not for another one."""
        return self.seconds * (self.rounds + 0.5) / self.rounds


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as every room gives it, word for word."""

    kind: AnswerKind
    verdict: str
    """What to do, in a sentence without its stop: `Use XFS: 21 % faster than ext4 here`."""
    choice: tuple[str, ...] = ()
    """The one to use or keep, then others that may be as good; empty where there is nothing to choose."""
    ratio: Ratio | None = None
    """Of the choice to the candidate that the verdict compares it with."""
    bound: float = 0.0
    """`winner`, `depends`: the least lead; `alike`: the largest difference; as a share. 0 for others."""
    behind: tuple[str, ...] = ()
    """Candidates that are proven slower."""
    depends_on: tuple[str, ...] = ()
    """`depends`: the workloads without which no lead is proven."""
    warning: str = ""
    """Code of the doubt that matters most; empty without one."""
    more: MoreTime | None = None
    """`open`: what more time would bring."""
    lines: tuple[str, ...] = ()
    """Below the verdict: the warning, why, who is behind, when to choose otherwise, wear of flash."""
    commands: tuple[str, ...] = ()
    """mkfs line and fstab line of the first choice, to be copied; device and directory are placeholders. None for
    `open`, which advises nobody to format anything."""

    @property
    def sign(self) -> Sign:
        return ANSWER_SIGNS[self.kind]

    @property
    def certainty(self) -> str:
        """`by at least 12 %`; empty where the verdict says it."""
        if self.kind != "winner" or self.bound < 0.005:
            return ""
        return _("by at least {percent} %", percent=f"{self.bound * 100:.0f}")

    @property
    def first(self) -> str:
        return self.choice[0] if self.choice else ""

    @property
    def recommended(self) -> str:
        """The candidate to set up; empty where nothing is recommended, as nothing is settled."""
        return self.first if self.kind != "open" else ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report says."""

    result: Result
    analysis: Analysis
    doubts: tuple[Doubt, ...]
    answer: Answer
    reasons: tuple[Reason, ...] = ()
    summaries: tuple[Summary, ...] = ()
    age: tuple[Ratio, ...] = ()
    """Aged candidates over new ones, overall and by workload; empty where they were not measured beside each other."""
    language: str = ENGLISH
    """Of its sentences, except for those of the result, which are English."""

    @property
    def baseline(self) -> str:
        """What ratios are to: the plan's baseline, or the best candidate that has figures where that has none."""
        return self.analysis.overall[0].baseline if self.analysis.overall else self.result.plan.baseline

    @property
    def first(self) -> str:
        """The first choice; the baseline where there is none."""
        return self.answer.first or self.baseline
