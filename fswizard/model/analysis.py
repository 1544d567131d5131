"""Conclusions drawn from the measured values: ratios, verdicts and the answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Literal

from fswizard.language import N_, _
from fswizard.model.frozen import frozen
from fswizard.model.metrics import BYTES_WRITTEN, DEVICE_WRITTEN
from fswizard.model.result import Doubt, Result
from fswizard.model.units import ratio_text

Verdict = Literal["faster", "slower", "behind", "alike", "open", "failed"]
"""Classification of a ratio. `behind` occurs only in `Analysis.standing`: proven slower than a leader, but not than the
baseline."""
Tone = Literal["good", "bad", "even", "muted", "warning"]
ALIKE = 1.10
"""An overall ratio whose interval lies between 1/ALIKE and ALIKE counts as no relevant difference, which may end the
run."""
ALIKE_AT_THE_END = 1.15
"""Replaces `ALIKE` once the time limit is reached."""
LEVEL = 1.05
"""Replaces `ALIKE` for single tests."""


@frozen
class Sign:
    """The symbol of a verdict or answer, shown next to the verdict's name or, in narrow layouts, instead of it."""

    glyph: str
    tone: Tone
    """Determines the colour."""
    word: str = ""
    """English name of the verdict; translate it for display."""


SIGNS: Mapping[Verdict, Sign] = {
    "faster": Sign("▲", "good", N_("faster")),
    "slower": Sign("▼", "bad", N_("slower")),
    "behind": Sign("▽", "muted", N_("behind")),
    "alike": Sign("═", "even", N_("alike")),
    "open": Sign("○", "muted", N_("not proven")),
    "failed": Sign("✗", "bad", N_("failed")),
}


@frozen
class Ratio:
    """Candidate over baseline. Above 1, the candidate is better, also for latencies and durations."""

    candidate: str
    baseline: str
    workload: str
    """Name of the workload; empty for the overall ratio."""
    ratio: float
    """0 for `failed`."""
    low: float | None = None
    """Lower end of the 95 % interval, which holds although it is evaluated after every round. None with too few rounds.
    """
    high: float | None = None
    rounds: int = 0
    verdict: Verdict = "open"
    text: str = ""
    """Reason of a `failed` verdict."""

    def interval(self) -> str:
        """`1.15–1.28`; empty without an interval."""
        return f"{ratio_text(self.low)}–{ratio_text(self.high)}" if self.low and self.high else ""

    @property
    def differs(self) -> bool:
        """Whether one of the two is proven faster."""
        return self.verdict in ("faster", "slower")

    @property
    def reach(self) -> float:
        """Largest difference that the interval allows, as a share (0.08 is 8 %); infinite without an interval."""
        return max(self.high, 1 / self.low) - 1 if self.low and self.high else math.inf

    def inverted(self) -> Ratio:
        """The inverse comparison, with candidate and baseline exchanged."""
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
        """Displayed reason of a failure: `failed: volume full`."""
        if not self.text or "failed" in self.text:
            return _(self.text) or _("failed")
        return _("failed: {reason}", reason=_(self.text))


@frozen
class Dependence:
    """A proven lead that depends on a single test: without that test it is not proven."""

    lead: Ratio
    tests: tuple[str, ...]
    """Names of the test's workloads; a test with files of several shapes has one workload per shape."""
    rest: Ratio
    """Ratio of the same two candidates over all other tests."""


@frozen
class Analysis:
    """All ratios of a result."""

    by_workload: tuple[Ratio, ...] = ()
    overall: tuple[Ratio, ...] = ()
    """Ratios to the baseline, best first, failed candidates last. The baseline itself has ratio 1."""
    leaders: tuple[str, ...] = ()
    """Candidates that no other is proven to beat, also with any single test removed; best estimate first."""
    dropped: tuple[str, ...] = ()
    """Candidates proven slower than another candidate."""
    rounds: int = 0
    """Number of valid rounds: the largest number that any candidate finished."""
    pairs: tuple[Ratio, ...] = ()
    """Overall ratio for each pair of candidates that did not fail; the candidate with the better estimate comes first.
    """
    dependences: tuple[Dependence, ...] = ()

    def of(self, candidate: str, workload: str = "") -> Ratio | None:
        ratios = self.by_workload if workload else self.overall
        return next((r for r in ratios if r.candidate == candidate and r.workload == workload), None)

    @property
    def standing(self) -> tuple[Ratio, ...]:
        """`overall` for display: the verdict of dropped candidates is `behind` rather than `open`."""
        return tuple(
            replace(ratio, verdict="behind") if ratio.candidate in self.dropped and ratio.verdict != "slower" else ratio
            for ratio in self.overall
        )

    def pair(self, one: str, other: str) -> Ratio | None:
        """Overall ratio of `one` to `other`; None if they were not compared."""
        known = next((r for r in self.pairs if {r.candidate, r.baseline} == {one, other}), None)
        return known.inverted() if known and known.candidate != one else known

    def at_workload(self, candidate: str, other: str, workload: str) -> Ratio | None:
        """Ratio of two candidates at one workload. None unless one of them is the baseline and both have figures."""
        for one, baseline in ((candidate, other), (other, candidate)):
            ratio = self.of(one, workload)
            if ratio and ratio.baseline == baseline and one != baseline and ratio.ratio > 0:
                return ratio if one == candidate else ratio.inverted()
        return None

    def dependence(self, one: str, other: str) -> Dependence | None:
        """The single test on which the lead of `one` over `other` depends, if any."""
        pair = (one, other)
        return next((d for d in self.dependences if (d.lead.candidate, d.lead.baseline) == pair), None)

    def unbeaten(self, among: Sequence[str]) -> tuple[str, ...]:
        """Candidates of `among` than which no other one of `among` is proven faster, also with any single test
        removed, in their order; at least one unless `among` is empty."""
        beaten = set()
        for one, other in permutations(among, 2):
            pair = self.pair(one, other)
            if pair and pair.verdict == "faster" and self.dependence(one, other) is None:
                beaten.add(other)
        return tuple(name for name in among if name not in beaten) or tuple(among[:1])

    def all_within(self, among: Sequence[str], limit: float = ALIKE) -> bool:
        """Whether `among` has at least two candidates and all their pairs are proven to lie within `limit`."""
        pairs = [self.pair(one, other) for one, other in combinations(among, 2)]
        return bool(pairs) and all(pair is not None and pair.reach <= limit - 1 for pair in pairs)


@frozen
class Summary:
    """One metric of one candidate, summarized over all rounds."""

    candidate: str
    workload: str
    """Empty for figures of the whole cell, such as the duration of mkfs."""
    metric: str
    median: float
    worst: float
    rounds: int
    primary: bool = False
    of_bare_device: Ratio | None = None
    """Ratio to the device without a filesystem in the same rounds, above 1 is better; its baseline is empty. None if
    the device was not measured."""


def write_amplification(summaries: Sequence[Summary]) -> Mapping[str, float]:
    """Bytes written by the device per byte written by programs, by candidate, over the workloads that have both
    figures."""
    written = {(s.candidate, s.workload): s.median for s in summaries if s.metric == DEVICE_WRITTEN.name}
    totals = defaultdict[str, list[float]](lambda: [0.0, 0.0])
    for s in summaries:
        if s.candidate and s.metric == BYTES_WRITTEN.name and s.median and (s.candidate, s.workload) in written:
            totals[s.candidate][0] += s.median
            totals[s.candidate][1] += written[s.candidate, s.workload]
    return {candidate: by_device / by_programs for candidate, (by_programs, by_device) in totals.items()}


@frozen
class Reason:
    """One sentence of the explanation of a recommendation."""

    code: str
    """`excluded` or `cost`."""
    text: str


AnswerKind = Literal["winner", "alike", "depends", "open", "only", "excluded", "failed", "nothing"]
"""`open`: not settled yet, or nothing else was measured; `only`: a single candidate is eligible; `excluded`: none is
eligible, as all are unsafe or lack a required feature; `failed`: all candidates or the run failed; `nothing`: the run
ended before the first figures."""
_CLEAR, _NONE = Sign("✓", "good"), Sign("✗", "bad")
ANSWER_SIGNS: Mapping[AnswerKind, Sign] = {
    "winner": _CLEAR,
    "alike": Sign("═", "even"),
    "depends": _CLEAR,
    "open": Sign("○", "warning"),
    "only": _CLEAR,
    "excluded": _NONE,
    "failed": _NONE,
    "nothing": _NONE,
}


@frozen
class MoreTime:
    """What additional rounds are expected to bring, assuming that the variance stays the same."""

    rounds: int
    seconds: float
    """Duration of those rounds."""
    bound: float
    """Largest difference between equivalent candidates after those rounds: 0.09 is 9 %."""

    @property
    def limit_s(self) -> float:
        """Time limit that allows those rounds but no further one."""
        return self.seconds * (self.rounds + 0.5) / self.rounds


@frozen
class Answer:
    """The answer with its exact sentences, as every screen and report gives it."""

    kind: AnswerKind
    verdict: str
    """The advice as a sentence without a full stop: `Use XFS: 21 % faster than ext4 here`."""
    choice: tuple[str, ...] = ()
    """The candidate to use, then others that may be as good; empty if none is eligible."""
    ratio: Ratio | None = None
    """Ratio of the choice to the candidate named in the verdict."""
    bound: float = 0.0
    """Smallest lead (`winner`, `depends`) or largest difference (`alike`), as a share; 0 for other kinds."""
    certainty: str = ""
    """`by at least 12 %`; empty if the verdict states it already."""
    behind: tuple[str, ...] = ()
    """Candidates that are proven slower."""
    depends_on: tuple[str, ...] = ()
    """For `depends`: the workloads without which no lead is proven."""
    warning: str = ""
    """Code of the most important doubt; empty without one."""
    more: MoreTime | None = None
    """For `open`: what more time would bring."""
    lines: tuple[str, ...] = ()
    """Lines below the verdict: the warning, the reasons, slower candidates, when to choose differently."""

    @property
    def sign(self) -> Sign:
        return ANSWER_SIGNS[self.kind]

    @property
    def first(self) -> str:
        return self.choice[0] if self.choice else ""

    @property
    def headline(self) -> str:
        """`✓ Use XFS: 21 % faster than ext4 here, by at least 12 %`."""
        sentence = f"{self.verdict}, {self.certainty}" if self.certainty else self.verdict
        return f"{ANSWER_SIGNS[self.kind].glyph} {sentence}"

    @property
    def recommended(self) -> str:
        """The candidate to set up; empty for an open answer, which must not suggest formatting anything."""
        return self.first if self.kind != "open" else ""


@frozen
class Findings:
    """Everything that a report contains."""

    result: Result
    analysis: Analysis
    doubts: tuple[Doubt, ...]
    answer: Answer
    reasons: tuple[Reason, ...] = ()
    summaries: tuple[Summary, ...] = ()

    @property
    def baseline(self) -> str:
        """Baseline of the overall ratios: the plan's, or the best candidate with figures if the plan's baseline has
        none."""
        return self.analysis.overall[0].baseline if self.analysis.overall else self.result.plan.baseline

    @property
    def first(self) -> str:
        """The first choice, or the baseline if there is none."""
        return self.answer.first or self.baseline
