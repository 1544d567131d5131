"""The answer and its sentences: what to choose or keep, why, when not, and the commands for exactly that."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from fswizard.advice.choice import Choice, torn_between
from fswizard.advice.commands import commands
from fswizard.advice.words import distance, feature_words, more_text, percent, present, speed_against, wishes
from fswizard.language import N_, _, listing, n_, p_, shown
from fswizard.model.analysis import Analysis, Answer, MoreTime, Ratio, Summary, write_amplification
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DEGRADED
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Result
from fswizard.model.units import speed_text, three_digits

BUSY, CACHE = "busy-machine", "cache-not-exceeded"
WARNINGS = (
    BUSY, CACHE, "fits-in-memory", "changed-meanwhile", "workloads-missing", "figures-left-out", "uneven-noise",
    "on-battery", "governor",
)  # fmt: skip
"""Doubts that may change who is ahead; what matters most comes first."""
ENDED = {
    "cancelled": N_("The run was cancelled before there was more to compare."),
    "killed": N_("The run was killed, or the machine went down, before there was more."),
    "running": N_("The run is still in progress: `fswizard watch` shows it."),
}
"""How a run ended that did not come far."""
MOST_PAIRS = 3
LONGEST_NAMES = 44
"""Characters of names in a verdict; where they are longer it has only the first of them, or none."""
MORE_WEAR = 2.0
"""Times as much written to flash as another candidate, from which on it is said."""


def make_answer(
    result: Result,
    analysis: Analysis,
    choice: Choice,
    doubts: Sequence[Doubt],
    *,
    summaries: Sequence[Summary] = (),
    more: MoreTime | None = None,
) -> Answer:
    """The answer of any result."""
    if result.outcome == "failed":  # the figures may be those of the fault
        return _fault(result, analysis)
    if not choice.names:
        verdict, why = _nothing(result, choice)
        return Answer(choice.kind, verdict, lines=(why,))
    return _Writer(result, analysis, choice, doubts, summaries=summaries, more=more).answer()


def _fault(result: Result, analysis: Analysis) -> Answer:
    distrust = _("It failed in the first round, so don't trust its figures.")
    if rounds := analysis.rounds:
        distrust = n_(
            "It failed after {count} round, so don't trust its figures.",
            "It failed after {count} rounds, so don't trust its figures.",
            rounds,
        )
    remedy = shown(result.remedy) or _("Fix the fault, then run it again.")
    if result.fault:
        return Answer("failed", _("No result: an error ended the run"), lines=(shown(result.fault), distrust, remedy))
    return Answer("failed", _("Check this disk first: a fault ended the run"), lines=(distrust, remedy))


def _nothing(result: Result, choice: Choice) -> tuple[str, str]:
    """Verdict and reason where nothing can be chosen."""
    plan = result.plan
    failed = shown(result.failures[0].text) if result.failures else ""
    if choice.kind == "failed":
        return _("Nothing to choose: every filesystem failed here"), failed or _("See what failed below.")
    if choice.kind == "nothing":
        ended = _(ENDED.get(result.outcome, N_("No filesystem was measured long enough.")))
        return _("Run it again: it ended before there was a result"), failed or ended
    if choice.lacking:
        features = listing(feature_words(plan.needs))
        verdict = _("Nothing fits: none here has {features}", features=features)
        if choice.unsafe:
            verdict = _("Nothing fits: none here safely has {features}", features=features)
        return verdict, _("Compare other filesystems, or drop a must-have.")
    if all(DEGRADED in options for _name, options in choice.unsafe):
        verdict = _("Nothing to choose: every layout missed a disk")
        return verdict, _("They were measured with a disk missing, to see what a failure costs.")
    verdict = _("Nothing safe to choose: each may lose data in a crash")
    return verdict, _("Every candidate has an option that risks data. Add one that has none.")


class _Writer:
    """Writes an answer with a candidate in it."""

    def __init__(
        self,
        result: Result,
        analysis: Analysis,
        choice: Choice,
        doubts: Sequence[Doubt],
        *,
        summaries: Sequence[Summary],
        more: MoreTime | None,
    ) -> None:
        self.result, self.plan, self.analysis, self.choice = result, result.plan, analysis, choice
        self.doubts = {doubt.code: doubt for doubt in doubts}
        self.summaries = summaries
        self.more = more if choice.kind == "open" else None
        self.name, *self.open = choice.names
        self.others = [name for name in choice.eligible if name != self.name]
        self.behind = tuple(name for name in self.others if name not in self.open)
        self.tests = [workload for workload in self.plan.recipe.workloads if workload.weight > 0]
        rates = all(workload.metric.unit.endswith("/s") for workload in self.tests)
        self.unit = "1/s" if rates else "s"  # the overall speed has the form of each test's
        self.warning = next((code for code in WARNINGS if code in self.doubts), "")

    def answer(self) -> Answer:
        kind = self.choice.kind
        ratio = self._compared()
        writers = {
            "winner": self._winner, "depends": self._depends, "alike": self._alike, "open": self._not_settled,
            "only": self._only,
        }  # fmt: skip
        verdict, why = writers[kind](ratio)
        dependence = self.analysis.dependence(self.name, ratio.baseline) if ratio and kind == "depends" else None
        bound = max(0.0, ratio.low - 1) if ratio and ratio.low and kind in ("winner", "depends") else 0.0
        if kind == "alike" and ratio:
            bound = ratio.reach
        others = (self._behind(ratio), self._failed(), self._otherwise())
        lines = (self._warning(), *why, *others, self._wear(), self._more())
        return Answer(
            kind,
            verdict,
            self.choice.names,
            ratio,
            bound,
            self.behind,
            dependence.tests if dependence else (),
            self.warning,
            self.more,
            tuple(filter(None, lines)),
            () if kind == "open" else commands(self.plan, self.name),
        )

    def _compared(self) -> Ratio | None:
        """The ratio that the verdict has: of a winner over the baseline, else over the next best; where candidates are
        alike, the one of which least is known; where nothing is settled, that of the first and the next best."""
        if self.choice.kind == "depends":
            over = [self.analysis.pair(self.name, name) for name in self.open]
            return min(filter(None, over), key=lambda pair: (pair.baseline != self.plan.baseline, pair.ratio))
        if self.open:
            pairs = [self.analysis.pair(one, other) for one, other in combinations(self.choice.names, 2)]
            known = [pair for pair in pairs if pair]
            unproven = [pair for pair in known if not pair.differs]
            with_first = [pair for pair in unproven if self.name in (pair.candidate, pair.baseline)]
            if self.choice.kind == "open" and with_first:  # the user asks whether the next best is better than that
                return with_first[0]
            return max(unproven or known, key=lambda pair: pair.reach, default=None)
        rivals = [name for name in self.others if name == self.plan.baseline] or self.others
        return self.analysis.pair(self.name, rivals[0]) if rivals else None

    def _title(self, name: str) -> str:
        return self.plan.candidate(name).title

    def _titles(self, names: Sequence[str]) -> str:
        return listing([self._title(name) for name in names])

    def _speed(self, ratio: float) -> str:
        return speed_text(ratio, self.unit)

    def _reach(self, ratio: Ratio) -> float:
        """The largest difference that the interval allows, as a share, in the form of `_speed`."""
        if self.unit == "s" or ratio.reach >= 0.995 or not (ratio.low and ratio.high):
            return ratio.reach
        return max(ratio.high - 1, 1 - ratio.low)

    def _against(self, ratio: float, rival: str) -> str:
        return speed_against(ratio, self._title(rival), self.unit)

    def _use(self, reason: str) -> str:
        """`Use XFS: 11 % faster than ext4 here`; `Keep …` where it is there already."""
        title = replace(self.plan.candidate(self.name), aged=False).title
        keep = self.name == self.plan.baseline and bool(self.plan.candidate(self.name).directory)
        sentence = N_("Keep {candidate}: {reason}") if keep else N_("Use {candidate}: {reason}")
        return _(sentence, candidate=title, reason=reason)

    # By kind of answer: the verdict and why

    def _winner(self, ratio: Ratio | None) -> tuple[str, list[str]]:
        assert ratio is not None  # a winner was compared with somebody
        speed = self._against(ratio.ratio, ratio.baseline)
        reason = _("{comparison} here", comparison=speed)
        if self.plan.needs and self.choice.lacking:
            features = listing(feature_words(self.plan.needs))
            reason = _("{comparison}, the fastest with {features}", comparison=speed, features=features)
        if CACHE in self.doubts:
            reason = _("{statement} while the disk's cache lasts", statement=speed)
        return self._use(reason), [self._gains(ratio.baseline)]

    def _depends(self, ratio: Ratio | None) -> tuple[str, list[str]]:
        assert ratio is not None  # it depends over somebody
        found = self.analysis.dependence(self.name, ratio.baseline)
        assert found is not None
        other = self._title(found.lead.baseline)
        test = next(workload for workload in self.tests if workload.name in found.tests)
        parts = [self.analysis.of(name, test.name) for name in (self.name, found.lead.baseline)]
        own, its = (part.ratio if part and part.ratio else 1.0 for part in parts)  # the baseline's own is not listed
        if torn := torn_between(self.plan, self.analysis, self.name, found.lead.baseline):
            better, worse = (_(each.title) for each in torn)
            verdict = _(
                "It depends on the files: {candidate} for “{test}”, {other} for “{other_test}”",
                candidate=self._title(self.name), test=better, other=other, other_test=worse,
            )  # fmt: skip
            return verdict, self._open_pairs() if len(self.open) > 1 else []
        text = {
            "alike": N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise they are alike"),
            "slower": N_("Use {candidate} if you do “{test}” a lot ({speed}); otherwise use {other}"),
        }.get(found.rest.verdict, N_("Use {candidate} if you do “{test}” a lot ({speed}); the rest is not settled"))
        speed = speed_text(own / its, test.metric.unit)
        verdict = _(text, candidate=self._title(self.name), test=_(test.title), speed=speed, other=other)
        return verdict, self._open_pairs() if len(self.open) > 1 else []

    def _alike(self, ratio: Ratio | None) -> tuple[str, list[str]]:
        assert ratio is not None  # alike are several
        names, share = self._titles(self.choice.names), percent(ratio.reach, 1.0)
        verdict = _("{candidates} are alike here, within {share}", candidates=names, share=share)
        if len(names) > LONGEST_NAMES:
            verdict = n_(
                "{candidate} and {count} other are alike here, within {share}",
                "{candidate} and {count} others are alike here, within {share}",
                len(self.open), candidate=self._title(self.name), share=share,
            )  # fmt: skip
        why = _("Use {candidate}, the plainer one.", candidate=self._title(self.name))
        chosen = self.plan.candidate(self.name)
        if chosen.directory:
            why = _("Keep {candidate}.", candidate=chosen.title)
        elif not all(_is_plainer(chosen, self.plan.candidate(name)) for name in self.open):
            why = _("Use {candidate}, or choose by features.", candidate=chosen.title)
        alike = _("Alike: {candidates}.", candidates=names) if len(names) > LONGEST_NAMES else ""
        return verdict, [why, alike]

    def _not_settled(self, ratio: Ratio | None) -> tuple[str, list[str]]:
        if not self.open:
            ended = _(ENDED.get(self.result.outcome, N_("No other has figures to compare.")))
            if len(self.plan.candidates) == 1:
                ended = _("Add a filesystem to compare it with.")
            return _("Only {candidate} was measured: nothing to compare", candidate=self._title(self.name)), [ended]
        if ratio is None:
            return _("Not settled: they have no round in common"), []
        if ratio.rounds < FIRST_LOOK:
            text = N_("Not settled: proof takes at least {rounds} rounds, and there was one")
            return _(text, rounds=FIRST_LOOK), self._open_pairs()
        if BUSY in self.doubts:
            text = N_("Not settled: something else used the machine, so figures vary by {share}")
            return _(text, share=distance(self._spread())), self._open_pairs()
        if ratio.low is None:
            return _("Not settled: figures vary too much from round to round"), self._open_pairs()
        over = ratio.turned() if ratio.candidate == self.name else ratio  # as the lines below have it
        names, share = self._titles((over.baseline, over.candidate)), distance(self._reach(over))
        verdict = _("Not settled: {candidates} may be up to {share} apart", candidates=names, share=share)
        if len(names) > LONGEST_NAMES:
            pairs = [pair for name in self.open if (pair := self.analysis.pair(name, self.name)) and not pair.differs]
            share = distance(max(map(self._reach, pairs), default=ratio.reach))
            verdict = _("Not settled: two of them may be up to {share} apart", share=share)
        return verdict, self._open_pairs()

    def _spread(self) -> float:
        """How far figures are from what the same candidate did in other rounds, typically and as a share."""
        logs: dict[tuple[str, str], list[float]] = {}
        tests = {test.name for test in self.tests}
        for s in self.result.samples:
            counts = s.primary and s.status == "ok" and s.value > 0 and s.round not in self.result.discarded_rounds
            if counts and s.workload in tests and s.candidate in self.choice.names:
                logs.setdefault((s.candidate, s.workload), []).append(math.log(s.value))
        variances = [statistics.variance(values) for values in logs.values() if len(values) > 1]
        return math.expm1(math.sqrt(statistics.mean(variances))) if variances else 0.0

    def _open_pairs(self) -> list[str]:
        """How the best few of the other open candidates compare with the first one."""
        lines = []
        for name in self.open[:MOST_PAIRS]:
            pair = self.analysis.pair(name, self.name)
            if pair is None:
                continue
            words = {"candidate": self._title(name), "speed": self._against(pair.ratio, self.name)}
            if pair.differs:
                better, worse = (name, self.name) if pair.ratio > 1 else (self.name, name)
                rests = self.analysis.dependence(better, worse)
                test = next((test for test in self.tests if rests and test.name in rests.tests), self.tests[0])
                lines.append(_("{candidate} is {speed}, which rests on “{test}”.", test=_(test.title), **words))
            elif pair.low and pair.high and pair.reach < 1:
                low, high = self._speed(pair.low), self._speed(pair.high)
                lines.append(_("{candidate} looks {speed}: from {low} to {high}.", low=low, high=high, **words))
            else:
                lines.append(_("{candidate} looks {speed}, which may be chance.", **words))
        return lines

    def _only(self, ratio: Ratio | None) -> tuple[str, list[str]]:
        if self.choice.lacking:
            features = listing(feature_words(self.plan.needs))
            return self._use(_("the only one here that has {features}", features=features)), self._excluded()
        if self.choice.unsafe:
            degraded = all(DEGRADED in options for _name, options in self.choice.unsafe)
            reason = _("the others had a disk missing") if degraded else _("the only safe one here")
            return self._use(reason), self._excluded()
        if self.choice.in_memory:
            why = _("They kept in memory what was written to the disk.")
            return self._use(_("the others can't be compared")), [why]
        return self._use(_("the others failed")), [_("No other filesystem could do all of this work.")]

    def _excluded(self) -> list[str]:
        """Comparison of the only choice with candidates that are excluded."""
        names = dict(self.choice.lacking) | dict(self.choice.unsafe)
        pairs = [pair for name in names if (pair := self.analysis.pair(self.name, name))]
        if not pairs:
            return []
        comparisons = listing([self._against(pair.ratio, pair.baseline) for pair in pairs])
        if any(not (pair.differs or pair.verdict == "alike") for pair in pairs):
            return [p_("comparison", "It looks {comparisons}.", comparisons=comparisons)]
        return [p_("comparison", "It is {comparisons}.", comparisons=comparisons)]

    # Further lines

    def _warning(self) -> str:
        return self.doubts[self.warning].text if self.warning else ""

    def _gains(self, against: str) -> str:
        """In how many tests it is faster and slower than `against`, with the largest of each."""
        parts = [part for test in self.tests if (part := self.analysis.part(self.name, against, test.name))]
        gains = sorted((part for part in parts if part.verdict == "faster"), key=lambda part: -part.ratio)
        losses = sorted((part for part in parts if part.verdict == "slower"), key=lambda part: part.ratio)
        tests: Mapping[str, Workload] = {test.name: test for test in self.tests}
        if len(parts) == 1:  # the verdict has its figure
            return _("One test counts: {test}.", test=_(tests[parts[0].workload].title))
        if not gains and not losses:
            return _("Ahead in all tests together; each alone is too close to call.")
        text = n_(
            "Faster in {faster} of {count} test.",
            "Faster in {faster} of {count} tests.",
            len(parts), faster=len(gains),
        )  # fmt: skip
        if losses:
            text = n_(
                "Faster in {faster}, slower in {slower} of {count} test.",
                "Faster in {faster}, slower in {slower} of {count} tests.",
                len(parts), faster=len(gains), slower=len(losses),
            )  # fmt: skip
        best = [
            _("{test}: {speed}.", test=_(tests[part.workload].title),
              speed=speed_text(part.ratio, tests[part.workload].metric.unit))
            for part in (*gains[:1], *losses[:1])
        ]  # fmt: skip
        return " ".join([text, *best])

    def _behind(self, ratio: Ratio | None) -> str:
        """Who is proven slower than the choice, and by how much."""
        named = {ratio.candidate, ratio.baseline} if ratio and self.choice.kind == "winner" else set()
        behind = []
        for name in self.behind:
            pair = self.analysis.pair(name, self.name)
            if pair is not None and name not in named:
                behind.append(_("{candidate} ({speed})", candidate=self._title(name), speed=self._speed(pair.ratio)))
        if not behind:
            return ""
        return _("Behind {candidate}: {candidates}.", candidate=self._title(self.name), candidates=listing(behind))

    def _failed(self) -> str:
        failed = [ratio.candidate for ratio in self.analysis.overall if ratio.verdict == "failed"]
        named = failed and self.choice.kind != "only"  # its verdict says it
        return _("Failed: {candidates}.", candidates=self._titles(failed)) if named else ""

    def _otherwise(self) -> str:
        """When another candidate is the better choice: for its features, or for the work that it is best at."""
        for name, needs in self.choice.lacking if self.choice.kind != "only" else ():  # which says it already
            pair = self.analysis.pair(name, self.name)
            if pair is not None and pair.verdict == "faster":
                return _(
                    "{candidate} is {speed}, if you don't need {features}.",
                    candidate=self._title(name),
                    speed=self._speed(pair.ratio),
                    features=listing(feature_words(needs)),
                )
        if self.choice.kind == "open":  # what they offer is among the reasons
            return ""
        chosen = self.plan.candidate(self.name)
        offers = [] if chosen.directory else [*self._more_redundant(chosen), *self._offers(chosen)]
        return next(iter([*offers, *self._better_at()]), "")

    def _more_redundant(self, chosen: Candidate) -> Iterator[str]:
        for other in map(self.plan.candidate, self.others):
            if other.survives > chosen.survives:
                yield n_(
                    "Choose {candidate} instead if a disk must be able to fail.",
                    "Choose {candidate} instead if {count} disks must be able to fail.",
                    other.survives, candidate=other.title,
                )  # fmt: skip

    def _offers(self, chosen: Candidate) -> Iterator[str]:
        others = {other.filesystem.name: other.filesystem for other in map(self.plan.candidate, self.others)}
        wanted = {name: wishes(other, chosen.filesystem)[:3] for name, other in others.items()}
        for name, features in sorted(wanted.items(), key=lambda item: -len(item[1])):
            if features:
                words = {"candidate": others[name].title, "features": listing(features)}
                yield _("Choose {candidate} instead if you want {features}.", **words)

    def _better_at(self) -> Iterator[str]:
        for name in self.others:
            for test in self.tests:
                part = self.analysis.part(name, self.name, test.name)
                if part is not None and part.verdict == "faster":
                    yield _(
                        "{candidate} suits “{test}” better: {comparison}.",
                        candidate=self._title(name),
                        test=_(test.title),
                        comparison=speed_text(part.ratio, test.metric.unit),
                    )

    def _wear(self) -> str:
        """On flash: who writes much more to it than another one."""
        if self.plan.drive is None or self.plan.drive.kind not in ("ssd", "nvme", "flash-card"):
            return ""
        written = write_amplification(self.summaries)
        known = {name: written[name] for name in (self.name, *self.others) if name in written}
        least, most = min(known, key=known.__getitem__, default=""), max(known, key=known.__getitem__, default="")
        if not least or known[most] < MORE_WEAR * known[least]:
            return ""
        return _(
            "Wear: {candidate} writes {much} bytes to flash for each byte saved, {other} {little}.",
            candidate=self._title(most), other=self._title(least),
            much=three_digits(known[most]), little=three_digits(known[least]),
        )  # fmt: skip

    def _more(self) -> str:
        return more_text(self.more, busy=BUSY in self.doubts) if self.more else ""


def _is_plainer(one: Candidate, other: Candidate) -> bool:
    """Whether it has no option and no feature that the other has not."""
    options = len(one.mount_options) + len(one.mkfs_options) <= len(other.mount_options) + len(other.mkfs_options)
    return options and present(one.filesystem) <= present(other.filesystem)
