"""The answer at a glance: what to choose or keep, why, when not, how sure, and the commands for exactly that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fswizard.advice.choice import Choice
from fswizard.advice.commands import commands
from fswizard.advice.words import feature_words, fitting, percent, speed_against, wishes
from fswizard.language import N_, _, listing, n_, p_, shown
from fswizard.model.analysis import (
    MOST_CONFIDENT,
    TIE,
    Analysis,
    Card,
    Hinge,
    Ratio,
    Summary,
    write_amplification,
)
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DEGRADED
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Result
from fswizard.model.units import speed_text, three_digits, times_text

VERDICT_WIDTH, LINE_WIDTH = 60, 74
"""Columns of the card's lines, which must fit into the wizard at 80 columns."""
_CACHE = "cache-not-exceeded"
GRAVE = frozenset({
    _CACHE, "carry-over", "sticky-noise", "fits-in-memory", "changed-meanwhile", "workloads-missing",
    "busy-machine", "on-battery", "governor", "figures-left-out",
})  # fmt: skip
"""Doubts that may change who is ahead."""


def make_card(
    result: Result, analysis: Analysis, choice: Choice, doubts: Sequence[Doubt], summaries: Sequence[Summary]
) -> Card:
    """The card of any result."""
    if result.outcome == "failed":  # the figures may be those of the fault
        distrust, again = (
            _("It failed in the first round, so don't trust its figures."),
            _("Fix the fault, then run it again."),
        )
        if rounds := analysis.rounds:
            distrust = n_(
                "It failed after {count} round, so don't trust its figures.",
                "It failed after {count} rounds, so don't trust its figures.",
                rounds,
            )
        if result.fault:
            why = fitting(LINE_WIDTH, shown(result.fault), distrust)
            remedy = fitting(LINE_WIDTH, shown(result.remedy) or again, again)
            return Card(_("No result: an error ended the run"), why, remedy)
        return Card(_("Check this disk first: a fault ended the run"), distrust, again)
    if not choice.names:
        return _nothing(result, choice)
    return _Answer(result, analysis, choice, doubts, summaries).card()


def _nothing(result: Result, choice: Choice) -> Card:
    plan = result.plan
    failed = shown(result.failures[0].text) if result.failures else ""
    if choice.kind == "failed":
        why = fitting(LINE_WIDTH, failed, _("See what failed below."))
        return Card(_("Nothing to choose: every filesystem failed here"), why)
    if choice.kind == "nothing":
        why = failed or _(_ENDED.get(result.outcome, ""))
        enough = _("No filesystem was measured long enough.")
        verdict = _("Run it again: it ended before there was a result")
        return Card(verdict, fitting(LINE_WIDTH, why or enough, enough))
    if choice.lacking:
        features = listing(feature_words(plan.needs))
        verdict = _("Nothing fits: none here has {features}", features=features)
        if choice.unsafe:
            verdict = _("Nothing fits: none here safely has {features}", features=features)
        return Card(
            fitting(VERDICT_WIDTH, verdict, _("Nothing fits your must-haves")),
            _("Compare other filesystems, or drop a must-have."),
        )
    if all(DEGRADED in options for __, options in choice.unsafe):
        return Card(
            _("Nothing to choose: every layout missed a disk"),
            _("They were measured with a disk missing, to see what a failure costs."),
        )
    return Card(
        _("Nothing safe to choose: each may lose data in a crash"),
        _("Every candidate has an option that risks data. Add one that has none."),
    )


_ENDED = {
    "cancelled": N_("The run was cancelled before there was more to compare."),
    "killed": N_("The run was killed, or the machine went down, before there was more."),
    "running": N_("The run is still in progress: `fswizard watch` shows it."),
}
"""How a run ended that did not come far."""


_WITHOUT_THAT = defaultdict(
    lambda: N_("If you don't do that, no difference from {candidate} is proven."),
    tie=N_("If you don't do that, {candidate} is as good."),
    slower=N_("If you don't do that, {candidate} is {speed}."),
)
_WITHOUT_TEST = defaultdict(
    lambda: N_("Without “{test}”, no difference from {candidate} is proven."),
    tie=N_("Without “{test}”, {candidate} is as good."),
    slower=N_("Without “{test}”, {candidate} is {speed}."),
)
"""What is left of a lead without the test that it hangs on, by verdict."""


class _Answer:
    """A card with a candidate on it."""

    def __init__(
        self,
        result: Result,
        analysis: Analysis,
        choice: Choice,
        doubts: Sequence[Doubt],
        summaries: Sequence[Summary],
    ) -> None:
        self.result, self.plan, self.analysis, self.choice = result, result.plan, analysis, choice
        self.doubts = frozenset(doubt.code for doubt in doubts)
        flash = self.plan.drive is not None and self.plan.drive.kind in ("ssd", "nvme", "flash-card")
        self.wearing = write_amplification(summaries) if flash else {}
        self.name = choice.names[0]
        self.others = [name for name in choice.eligible if name != self.name]
        self.open = choice.names[1:]

    def card(self) -> Card:
        if self.choice.kind == "tie":
            verdict, why = self._tie(), self._standing()
        else:
            kinds = {"winner": self._winner, "undecided": self._undecided, "only": self._only}
            verdict, why = kinds[self.choice.kind]()
        return Card(verdict, why, self._otherwise(), self._wear(), self._confidence(), commands(self.plan, self.name))

    def title(self, name: str) -> str:
        return self.plan.candidate(name).title

    def over(self, name: str, other: str = "") -> Ratio | None:
        """The ratio of `name` to `other`, by default to the chosen one; None if they were not compared."""
        return self.analysis.pair(name, other or self.name)

    def _says(self, *reasons: str) -> str:
        """The verdict with the longest of the reasons that fits."""
        title = replace(self.plan.candidate(self.name), aged=False).title
        return _verdict(title, reasons, keep=self._kept)

    @property
    def _kept(self) -> bool:
        """Whether the choice is there already."""
        return self.name == self.plan.baseline and bool(self.plan.candidate(self.name).directory)

    # By kind of result

    def _tie(self) -> str:
        share = self._within()
        no_faster = n_(
            "{candidates} is no faster (within {share})",
            "{candidates} are no faster (within {share})",
            len(self.open),
            candidates=self._open(),
            share=share,
        )
        return self._says(no_faster, _("no real difference (within {share})", share=share))

    def _winner(self) -> tuple[str, str]:
        own = self.analysis.of(self.name)
        against = own.baseline if own and own.baseline != self.name else self.others[0]
        ratio = self.over(self.name, against)
        assert ratio is not None  # a winner was compared with somebody
        if self.analysis.hinges:
            return self._hanging(*min(self.analysis.hinges.items(), key=lambda item: item[1].rest.ratio))
        speed, than = speed_text(ratio.ratio), speed_against(ratio.ratio, self.title(against))
        among = self.plan.needs and self.choice.lacking
        if self.name == self.plan.baseline and len(self._counting()) == 1 and not among:  # as beside its bar
            unit = self._counting()[0].metric.unit
            speed = than = self._is(against, 1 / ratio.ratio, unit)
        longest = _("{comparison} here", comparison=than)
        fastest = _("the fastest here")
        if among:
            features = listing(feature_words(self.plan.needs))
            longest = self._lasting(_("{comparison}, the fastest with {features}", comparison=than, features=features))
        if _CACHE in self.doubts:
            longest = longest if among else self._lasting(than)
            fastest = self._lasting(_("the fastest"))
        return self._says(longest, self._lasting(than), self._lasting(speed), fastest), self._gains(against)

    def _hanging(self, rival: str, hinge: Hinge) -> tuple[str, str]:
        """Names the test that the answer hangs on, and what is left without it."""
        test, other = self._titles()[hinge.workloads[0]], self.title(rival)
        part = self.analysis.part(self.name, rival, hinge.workloads[0])
        speeds = (speed_against(part.ratio, other), speed_text(part.ratio)) if part else ()
        title = replace(self.plan.candidate(self.name), aged=False).title
        keep = self._kept
        naming = [_verdict_for(test, title, self._lasting(speed), keep=keep) for speed in speeds]
        naming.append(self._lasting(_verdict_for(test, title, keep=keep)))
        head = _verdict(title, (), keep=keep)
        answer = fitting(VERDICT_WIDTH, *naming, self._lasting(head), head)
        if hinge.rest.verdict == "faster":
            why = N_("If you do that more or less often, no lead over {candidate} is proven.")
        else:
            names_test = answer in naming
            why = _WITHOUT_THAT[hinge.rest.verdict] if names_test else _WITHOUT_TEST[hinge.rest.verdict]
        return answer, _(why, candidate=other, test=test, speed=speed_text(1 / hinge.rest.ratio))

    def _lasting(self, statement: str) -> str:
        """With the end that a verdict has which holds only for what fits into the disk's cache."""
        if _CACHE not in self.doubts:
            return statement
        return _("{statement} while the disk's cache lasts", statement=statement)

    def _is(self, name: str, ratio: float, unit: str = "s") -> str:
        return _("{candidate} is {speed}", candidate=self.title(name), speed=speed_text(ratio, unit))

    def _titles(self) -> Mapping[str, str]:
        return {workload.name: _(workload.title) for workload in self._counting()}

    def _gains(self, against: str) -> str:
        """The largest gain and the largest loss over `against`, or how many there are."""
        titles = self._titles()
        parts = [part for part in (self.analysis.part(self.name, against, name) for name in titles) if part]
        gains = sorted((part for part in parts if part.verdict == "faster"), key=lambda part: -part.ratio)
        losses = sorted((part for part in parts if part.verdict == "slower"), key=lambda part: part.ratio)
        if not gains and not losses:
            return _("Ahead in all tests together; each alone is too close to call.")
        if len(parts) == 1:  # the verdict has its figure
            return _("One test counts: {test}.", test=titles[parts[0].workload])
        summary = _tally(len(gains), len(losses), len(parts))
        units = {workload.name: workload.metric.unit for workload in self._counting()}
        best = [
            _("{test}: {speed}.", test=titles[part.workload], speed=speed_text(part.ratio, units[part.workload]))
            for part in (*gains[:1], *losses[:1])
        ]
        both = " ".join(best)
        return fitting(LINE_WIDTH, f"{summary} {both}", both, f"{summary} {best[0]}", summary)

    def _counting(self) -> list[Workload]:
        return [workload for workload in self.plan.recipe.workloads if workload.weight > 0]

    def _undecided(self) -> tuple[str, str]:
        one, other = self.title(self.name), self.title(self.open[0])
        if self.choice.torn:
            better, worse = (_(test.title) for test in self.choice.torn)
            why = _(
                "{candidate} is faster for “{test}”, {other} for “{other_test}”.",
                candidate=one, test=better, other=other, other_test=worse,
            )  # fmt: skip
            return self._says(_("which is faster depends on the files")), fitting(
                LINE_WIDTH, why, _("Each is faster than the other at the same work with other files.")
            )
        pair = self.over(self.open[0])
        if pair is None:
            return self._says(_("nothing to compare it with yet")), _("They have no round in common.")
        if pair.low is None:
            return self._too_early(pair, other)
        return self._says(*self._near(), _("no clear winner")), self._standing()

    def _too_early(self, pair: Ratio, other: str) -> tuple[str, str]:
        """Without intervals."""
        speed = speed_text(pair.ratio)
        why = n_(
            "After {rounds} of {count} round, {candidate} looks {speed}; that may be chance.",
            "After {rounds} of {count} rounds, {candidate} looks {speed}; that may be chance.",
            FIRST_LOOK, rounds=pair.rounds, candidate=other, speed=speed,
        )  # fmt: skip
        few = n_(
            "This was {rounds} of the {count} round it takes.",
            "This was {rounds} of the {count} rounds it takes.",
            FIRST_LOOK, rounds=pair.rounds,
        )  # fmt: skip
        return self._says(_("too early to tell")), fitting(LINE_WIDTH, why, few)

    def _near(self) -> Iterator[str]:
        """How far the candidates may be apart, where that can be said."""
        share, count, others = self._within(), len(self.open), self._open()
        if not share:
            return
        if self.analysis.all_near(self.choice.names):
            yield n_(
                "{candidates} is within {share} of it, so it matters little",
                "{candidates} are within {share} of it, so it matters little",
                count, candidates=others, share=share,
            )  # fmt: skip
            yield _("alike within {share}, so it matters little", share=share)
        else:
            yield n_(
                "{candidates} is within {share} of it, no clear winner",
                "{candidates} are within {share} of it, no clear winner",
                count, candidates=others, share=share,
            )  # fmt: skip
            yield _("alike within {share}, no clear winner", share=share)
        yield _("alike within {share}", share=share)

    def _only(self) -> tuple[str, str]:
        if len(self.plan.candidates) == 1:
            return self._says(_("nothing else was measured")), _("Add a filesystem to compare it with.")
        if self.choice.lacking:
            features = listing(feature_words(self.plan.needs))
            only = _("the only one here that has {features}", features=features)
            return self._says(only, _("it alone has what you need")), self._beside()
        if self.choice.unsafe:
            degraded = all(DEGRADED in options for __, options in self.choice.unsafe)
            reason = _("the others had a disk missing") if degraded else _("the only safe one here")
            return self._says(reason), self._beside()
        if self.choice.in_memory:
            return self._says(_("the others can't be compared")), _("They kept in memory what was written to the disk.")
        if any(ratio.verdict == "failed" for ratio in self.analysis.overall):
            return self._says(_("the others failed")), _("No other filesystem could do all of this work.")
        ended = _ENDED.get(self.result.outcome, N_("No other has figures to compare."))
        return self._says(_("nothing else was measured")), _(ended)

    def _beside(self) -> str:
        """Comparison of the only choice with candidates that are excluded."""
        speeds, early = [], False
        for name in dict(self.choice.lacking) | dict(self.choice.unsafe):
            ratio = self.over(self.name, name)
            if ratio is not None:
                early = early or ratio.low is None
                speeds.append(speed_against(ratio.ratio, self.title(name)))
        lists = [listing(speeds[:count]) for count in range(len(speeds), 0, -1)]
        if early:
            forms = [p_("comparison", "It looks {comparisons}.", comparisons=each) for each in lists]
        else:
            forms = [p_("comparison", "It is {comparisons}.", comparisons=each) for each in lists]
        return fitting(LINE_WIDTH, *forms, "")

    # Parts

    def _within(self) -> str:
        """Largest difference that any two open candidates may have: `4 %`; empty if intervals are too wide."""
        pairs = [self.over(one, other) for one in self.choice.names for other in self.choice.names if one < other]
        reach = [max(pair.high, 1 / pair.low) for pair in pairs if pair and pair.low and pair.high]
        if not reach or max(reach) > 1.5:  # too far for calling them alike
            return ""
        return percent(max(reach) - 1, 1.0)

    def _open(self) -> str:
        """The other candidates that may be the best."""
        return listing([self.title(name) for name in self.open])

    def _standing(self) -> str:
        """Comparison of the other candidates with the chosen one, in as many sentences as fit."""
        each, behind = list(self._each()), sum(name not in self.open for name in self.others)
        rest = [_more(count, behind) for count in range(1, len(each))]
        forms = [" ".join(each), *(" ".join((*each[:-n], rest[n - 1])) for n in range(1, len(each)))]
        return fitting(LINE_WIDTH, *forms, each[0] if each else "")

    def _each(self) -> Iterator[str]:
        if self.choice.kind == "tie":
            parts = (self.analysis.part(name, self.name, w.name) for w in self._counting() for name in self.open)
            if any(part is not None and part.verdict in ("faster", "slower") for part in parts):
                yield _("They differ in some tests: choose by those.")
            else:
                yield _("No test tells them apart: choose by features.")
        for name in self.open if self.choice.kind == "undecided" else ():
            pair, title = self.over(name), self.title(name)
            if pair is None or not pair.low or not pair.high:
                continue
            if pair.low >= 1 / TIE and pair.high <= TIE:
                share = percent(max(pair.high, 1 / pair.low) - 1, 1.0)
                yield _("{candidate} is no faster (within {share}).", candidate=title, share=share)
            elif pair.vague:
                yield _("{candidate} can't be told apart: the figures vary too much.", candidate=title)
            else:
                low, high = speed_text(pair.low), speed_text(pair.high)
                yield p_(
                    "beside the first choice",
                    "{candidate} may be {low} or {high}.",
                    candidate=title,
                    low=low,
                    high=high,
                )
        for name in self.others:
            if name not in self.open and (pair := self.over(name)) is not None:
                yield p_(
                    "beside the first choice",
                    "{candidate} is {speed}.",
                    candidate=self.title(name),
                    speed=speed_text(pair.ratio),
                )

    def _otherwise(self) -> str:
        """When another candidate is the better choice: for its features, or for the work that it is best at."""
        chosen = self.plan.candidate(self.name)
        for name, needs in self.choice.lacking:
            ratio = self.over(name)
            if ratio is not None and ratio.verdict == "faster":
                title, speed, features = self.title(name), speed_text(ratio.ratio), listing(feature_words(needs))
                return fitting(
                    LINE_WIDTH,
                    _(
                        "{candidate} is {speed}, if you don't need {features}.",
                        candidate=title, speed=speed, features=features,
                    ),
                    _("{candidate} is {speed}, if you don't need that.", candidate=title, speed=speed),
                )  # fmt: skip
        for rival, hinge in self.analysis.hinges.items() if self.choice.kind == "winner" else ():
            if hinge.rest.verdict != "faster":
                seldom = _("Choose {candidate} instead if you seldom do that.", candidate=self.title(rival))
                return fitting(LINE_WIDTH, *self._better_at(), seldom)
        offers = [] if chosen.directory else [*self._more_redundant(chosen), *self._offers(chosen)]
        return fitting(LINE_WIDTH, *offers, *self._better_at(), "")

    def _more_redundant(self, chosen: Candidate) -> Iterator[str]:
        for other in map(self.plan.candidate, self.others):
            if other.survives > chosen.survives:
                yield n_(
                    "Choose {candidate} instead if a disk must be able to fail.",
                    "Choose {candidate} instead if {count} disks must be able to fail.",
                    other.survives, candidate=other.title,
                )  # fmt: skip

    def _offers(self, chosen: Candidate) -> Iterator[str]:
        others = [self.plan.candidate(name).filesystem for name in self.others]
        wanted_of = {other.name: (other, wishes(other, chosen.filesystem)) for other in others}
        for other, wanted in sorted(wanted_of.values(), key=lambda item: -len(item[1])):
            for count in range(min(3, len(wanted)), 0, -1):
                features = listing(wanted[:count])
                yield _("Choose {candidate} instead if you want {features}.", candidate=other.title, features=features)

    def _better_at(self) -> Iterator[str]:
        for name in self.others:
            for workload in self._counting():
                part = self.analysis.part(name, self.name, workload.name)
                if part is None or part.verdict != "faster":
                    continue
                # As the bars say it, of the one that is not the baseline.
                speed = speed_text(part.ratio)
                if part.candidate == self.analysis.overall[0].baseline:
                    speed = self._is(self.name, 1 / part.ratio, workload.metric.unit)
                yield _(
                    "{candidate} suits “{test}” better: {comparison}.",
                    candidate=self.title(name), test=_(workload.title), comparison=speed,
                )  # fmt: skip

    def _wear(self) -> str:
        known = {name: self.wearing[name] for name in (self.name, *self.others) if name in self.wearing}
        least, most = (pick(known, key=lambda name: known[name], default="") for pick in (min, max))
        if not least or known[most] < 2.0 * known[least]:
            return ""
        candidate, other, much, little = self.title(most), self.title(least), known[most], known[least]
        return fitting(
            LINE_WIDTH,
            _(
                "Wear: {candidate} writes {much} bytes to flash for each byte saved, {other} {little}.",
                candidate=candidate, much=three_digits(much), other=other, little=three_digits(little),
            ),
            _(
                "Wear: {candidate} writes {times} as much to flash as another.",
                candidate=candidate, times=times_text(much / little),
            ),
            _("Wear differs by a factor of two or more: see write amplification."),
        )  # fmt: skip

    def _confidence(self) -> int:
        if self.choice.kind == "only":
            if self.choice.lacking or self.choice.unsafe:  # others are out for other reasons than speed
                return MOST_CONFIDENT
            failed = any(ratio.verdict == "failed" for ratio in self.analysis.overall)
            return 2 if failed or self.choice.in_memory else 0  # nothing is known of others that were not measured
        if self.choice.kind == "undecided":
            return 2 if self.analysis.all_near(self.choice.names) else 0  # a wrong choice costs little
        most = 2 if self.analysis.hinges and self.choice.kind == "winner" else MOST_CONFIDENT
        return min(most, MOST_CONFIDENT - min(2, len(GRAVE & self.doubts)))


def _verdict(title: str, reasons: Sequence[str], *, keep: bool) -> str:
    """`Use XFS: 11 % faster than ext4 here`, with the first of the reasons that fits."""
    sentence = N_("Keep {candidate}: {reason}") if keep else N_("Use {candidate}: {reason}")
    head = _("Keep {candidate}", candidate=title) if keep else _("Use {candidate}", candidate=title)
    return fitting(VERDICT_WIDTH, *(_(sentence, candidate=title, reason=reason) for reason in reasons), head)


def _verdict_for(test: str, title: str, reason: str = "", *, keep: bool) -> str:
    """A verdict that hangs on one test."""
    if not reason:
        head = N_("Keep {candidate} for “{test}”") if keep else N_("Use {candidate} for “{test}”")
        return _(head, candidate=title, test=test)
    sentence = N_("Keep {candidate} for “{test}”: {reason}") if keep else N_("Use {candidate} for “{test}”: {reason}")
    return _(sentence, candidate=title, test=test, reason=reason)


def _tally(gains: int, losses: int, tests: int) -> str:
    if not losses:
        return n_("Faster in {faster} of {count} test.", "Faster in {faster} of {count} tests.", tests, faster=gains)
    if not gains:
        return n_("Slower in {slower} of {count} test.", "Slower in {slower} of {count} tests.", tests, slower=losses)
    return n_(
        "Faster in {faster}, slower in {slower} of {count} test.",
        "Faster in {faster}, slower in {slower} of {count} tests.",
        tests, faster=gains, slower=losses,
    )  # fmt: skip


def _more(count: int, behind: int) -> str:
    """Of candidates that are not named, of which at most `behind` are behind."""
    if count <= behind:
        return n_("{count} more is behind.", "{count} more are behind.", count)
    if behind:
        return n_("{count} more is undecided or behind.", "{count} more are undecided or behind.", count)
    return n_("{count} more is undecided.", "{count} more are undecided.", count)
