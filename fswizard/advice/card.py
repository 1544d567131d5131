"""The answer at a glance: what to choose or keep, why, when not, how sure, and the commands for exactly that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fswizard.advice.choice import Choice
from fswizard.advice.commands import commands
from fswizard.advice.words import fitting, has, listing, speed_against, wish, wishes
from fswizard.model.analysis import (
    MOST_CONFIDENT,
    TIE,
    Analysis,
    Card,
    Hinge,
    Ratio,
    Summary,
    Verdict,
    write_amplification,
)
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import DEGRADED
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Result
from fswizard.model.units import rounds_text, speed_text, three_digits, times_text

VERDICT_WIDTH, LINE_WIDTH = 60, 74
"""Columns of the card's lines, which must fit into the wizard at 80 columns."""
_CACHE = "cache-not-exceeded"
GRAVE = frozenset({
    _CACHE, "carry-over", "sticky-noise", "not-steady", "fits-in-memory", "changed-meanwhile", "workloads-missing",
    "busy-machine", "on-battery", "governor", "figures-left-out",
})  # fmt: skip
"""Doubts that may change who is ahead."""


def make_card(
    result: Result, analysis: Analysis, choice: Choice, doubts: Sequence[Doubt], summaries: Sequence[Summary]
) -> Card:
    """The card of any result."""
    if result.outcome == "failed":  # the figures may be those of the fault
        rounds = f"after {rounds_text(analysis.rounds)}" if analysis.rounds else "in the first round"
        distrust, again = f"It failed {rounds}, so don't trust its figures.", "Fix the fault, then run it again."
        if result.fault:
            why = fitting(LINE_WIDTH, result.fault, distrust)
            return Card("No result: an error ended the run", why, fitting(LINE_WIDTH, result.remedy or again, again))
        return Card("Check this disk first: a fault ended the run", distrust, again)
    if not choice.names:
        return _nothing(result, choice)
    return _Answer(result, analysis, choice, doubts, summaries).card()


def _nothing(result: Result, choice: Choice) -> Card:
    plan = result.plan
    if choice.kind == "failed":
        why = result.failures[0].text if result.failures else ""
        return Card(
            "Nothing to choose: every filesystem failed here", fitting(LINE_WIDTH, why, "See what failed below.")
        )
    if choice.kind == "nothing":
        if result.environment.source:
            return Card(
                "Nothing to compare: no two share a figure", "No two filesystems have figures for the same work."
            )
        why = result.failures[0].text if result.failures else _ENDED.get(result.outcome, "")
        enough = "No filesystem was measured long enough."
        return Card("Run it again: it ended before there was a result", fitting(LINE_WIDTH, why or enough, enough))
    if choice.lacking:
        verdict = f"Nothing fits: none here {has(plan.needs)}" + (" safely" if choice.unsafe else "")
        verdict = fitting(VERDICT_WIDTH, verdict, "Nothing fits your must-haves")
        return Card(verdict, "Compare other filesystems, or drop a must-have.")
    if all(DEGRADED in options for _, options in choice.unsafe):
        return Card(
            "Nothing to choose: every layout missed a disk",
            "They were measured with a disk missing, to see what a failure costs.",
        )
    return Card(
        "Nothing safe to choose: each may lose data in a crash",
        "Every candidate has an option that risks data. Add one that has none.",
    )


_ENDED = {
    "cancelled": "The run was cancelled before there was more to compare.",
    "killed": "The run was killed, or the machine went down, before there was more.",
    "running": "The run is still in progress: `fswizard watch` shows it.",
}
"""How a run ended that did not come far."""


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
        self.verb = "Keep" if self.name == self.plan.baseline and self.plan.candidate(self.name).directory else "Use"

    def card(self) -> Card:
        if self.choice.kind == "tie":
            near = f"(within {self._within()})"
            verdict = self._says(f": {self._open()} no faster {near}", f": no real difference {near}")
            why = self._standing()
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
        head = f"{self.verb} {replace(self.plan.candidate(self.name), aged=False).title}"
        return fitting(VERDICT_WIDTH, *(f"{head}{reason}" for reason in reasons), head)

    # By kind of result

    def _winner(self) -> tuple[str, str]:
        own = self.analysis.of(self.name)
        against = own.baseline if own and own.baseline != self.name else self.others[0]
        ratio = self.over(self.name, against)
        assert ratio is not None  # a winner was compared with somebody
        if self.analysis.hinges:
            return self._hanging(*min(self.analysis.hinges.items(), key=lambda item: item[1].rest.ratio))
        speed, than = speed_text(ratio.ratio), speed_against(ratio.ratio, self.title(against))
        among = f", the fastest that {has(self.plan.needs)}" if self.plan.needs and self.choice.lacking else ""
        if self.name == self.plan.baseline and len(self._counting()) == 1 and not among:  # as beside its bar
            unit = self._counting()[0].metric.unit
            speed = than = f"{self.title(against)} is {speed_text(1 / ratio.ratio, unit)}"
        cached = self._cached()
        more = f"{among}{cached}"
        verdict = self._says(
            f": {than}{more or ' here'}", f": {than}{cached}", f": {speed}{cached}", f": the fastest{cached or ' here'}"
        )
        return verdict, self._gains(against)

    def _hanging(self, rival: str, hinge: Hinge) -> tuple[str, str]:
        """Names the test that the answer hangs on, and what is left without it."""
        title, cached = self._titles()[hinge.workloads[0]], self._cached()
        part, other = self.analysis.part(self.name, rival, hinge.workloads[0]), self.title(rival)
        forms = (f": {speed_against(part.ratio, other)}", f": {speed_text(part.ratio)}") if part else ()
        verdict = self._says(*(f" for “{title}”{form}{cached}" for form in (*forms, "")), cached)
        without = "If you don't do that" if title in verdict else f"Without “{title}”"
        rest: dict[Verdict, str] = {
            "tie": f"{without}, {other} is as good.",
            "slower": f"{without}, {other} is {speed_text(1 / hinge.rest.ratio)}.",
            "faster": f"If you do that more or less often, no lead over {other} is proven.",
        }
        return verdict, rest.get(hinge.rest.verdict, f"{without}, no difference from {other} is proven.")

    def _cached(self) -> str:
        """The end of a verdict that holds only for what fits into the disk's cache."""
        return " while the disk's cache lasts" if _CACHE in self.doubts else ""

    def _titles(self) -> Mapping[str, str]:
        return {workload.name: workload.title for workload in self._counting()}

    def _gains(self, against: str) -> str:
        """The largest gain and the largest loss over `against`, or how many there are."""
        titles = self._titles()
        parts = [part for part in (self.analysis.part(self.name, against, name) for name in titles) if part]
        gains = sorted((part for part in parts if part.verdict == "faster"), key=lambda part: -part.ratio)
        losses = sorted((part for part in parts if part.verdict == "slower"), key=lambda part: part.ratio)
        if not gains and not losses:
            return "Ahead in all tests together; each alone is too close to call."
        if len(parts) == 1:  # the verdict has its figure
            return f"One test counts: {titles[parts[0].workload]}."
        counts = [f"{word} in {len(some)}" for word, some in (("faster", gains), ("slower", losses)) if some]
        summary = f"{', '.join(counts).capitalize()} of {len(parts)} tests."
        units = {workload.name: workload.metric.unit for workload in self._counting()}
        best = [
            f"{titles[part.workload]}: {speed_text(part.ratio, units[part.workload])}."
            for part in (*gains[:1], *losses[:1])
        ]
        both = " ".join(best)
        return fitting(LINE_WIDTH, f"{summary} {both}", both, f"{summary} {best[0]}", summary)

    def _counting(self) -> list[Workload]:
        return [workload for workload in self.plan.recipe.workloads if workload.weight > 0]

    def _undecided(self) -> tuple[str, str]:
        if self.choice.torn:
            better, worse = self.choice.torn
            one, other = self.title(self.name), self.title(self.open[0])
            why = f"{one} is faster for “{better.title}”, {other} for “{worse.title}”."
            return self._says(": which is faster depends on the files"), fitting(
                LINE_WIDTH, why, "Each is faster than the other at the same work with other files."
            )
        pair = self.over(self.open[0])
        if pair is None:
            return self._says(": nothing to compare it with yet"), "They have no round in common."
        if pair.low is None:
            looks = f"{self.title(self.open[0])} looks {speed_text(pair.ratio)}"
            if self.result.environment.source:
                count = "one figure" if pair.rounds == 1 else f"{pair.rounds} figures"
                why = f"With {count} each, {looks}; that may be chance."
                return self._says(": too few figures to tell"), fitting(LINE_WIDTH, why, f"There is {count} of each.")
            return self._says(": too early to tell"), fitting(
                LINE_WIDTH, f"After {pair.rounds} of {FIRST_LOOK} rounds, {looks}; that may be chance.",
                f"This was {pair.rounds} of the {FIRST_LOOK} rounds it takes."
            )  # fmt: skip
        alike = self._within()
        end = "so it matters little" if self.analysis.all_near(self.choice.names) else "no clear winner"
        near = f"alike within {alike}"
        forms = (f": {self._open()} within {alike} of it, {end}", f": {near}, {end}", f": {near}") if alike else ()
        return self._says(*forms, ": no clear winner"), self._standing()

    def _only(self) -> tuple[str, str]:
        if len(self.plan.candidates) == 1:
            return self._says(": nothing else was measured"), "Add a filesystem to compare it with."
        if self.choice.lacking:
            reasons = (f": the only one here that {has(self.plan.needs)}", ": it alone has what you need")
            return self._says(*reasons), self._beside()
        if self.choice.unsafe:
            degraded = all(DEGRADED in options for _, options in self.choice.unsafe)
            reason = ": the others had a disk missing" if degraded else ": the only safe one here"
            return self._says(reason), self._beside()
        if self.choice.in_memory:
            return self._says(": the others can't be compared"), "They kept in memory what was written to the disk."
        if any(ratio.verdict == "failed" for ratio in self.analysis.overall):
            return self._says(": the others failed"), "No other filesystem could do all of this work."
        return self._says(": nothing else was measured"), _ENDED.get(
            self.result.outcome, "No other has figures to compare."
        )

    def _beside(self) -> str:
        """Comparison of the only choice with candidates that are excluded."""
        speeds, verb = [], "is"
        for name in dict(self.choice.lacking) | dict(self.choice.unsafe):
            ratio = self.over(self.name, name)
            if ratio is not None:
                verb = "looks" if ratio.low is None else verb
                speeds.append(speed_against(ratio.ratio, self.title(name)))
        forms = (f"It {verb} {listing(speeds[:count])}." for count in range(len(speeds), 0, -1))
        return fitting(LINE_WIDTH, *forms, "")

    # Parts

    def _within(self) -> str:
        """Largest difference that any two open candidates may have: `4 %`; empty if intervals are too wide."""
        pairs = [self.over(one, other) for one in self.choice.names for other in self.choice.names if one < other]
        reach = [max(pair.high, 1 / pair.low) for pair in pairs if pair and pair.low and pair.high]
        if not reach or max(reach) > 1.5:  # too far for calling them alike
            return ""
        return f"{max(1.0, (max(reach) - 1) * 100):.0f} %"

    def _open(self) -> str:
        """The other candidates that may be the best, as the beginning of a sentence."""
        return f"{listing([self.title(name) for name in self.open])} {'is' if len(self.open) == 1 else 'are'}"

    def _standing(self) -> str:
        """Comparison of the other candidates with the chosen one, in as many sentences as fit."""
        each, behind = list(self._each()), sum(name not in self.open for name in self.others)
        rest = [
            f"{count} more {'is' if count == 1 else 'are'} "
            f"{'behind' if count <= behind else 'undecided or behind' if behind else 'undecided'}."
            for count in range(1, len(each))
        ]
        forms = [" ".join(each), *(" ".join((*each[:-n], rest[n - 1])) for n in range(1, len(each)))]
        return fitting(LINE_WIDTH, *forms, each[0] if each else "")

    def _each(self) -> Iterator[str]:
        if self.choice.kind == "tie":
            parts = (self.analysis.part(name, self.name, w.name) for w in self._counting() for name in self.open)
            if any(part is not None and part.verdict in ("faster", "slower") for part in parts):
                yield "They differ in some tests: choose by those."
            else:
                yield "No test tells them apart: choose by features."
        for name in self.open if self.choice.kind == "undecided" else ():
            pair = self.over(name)
            if pair is not None and pair.low and pair.high:
                span = f"may be {speed_text(pair.low)} or {speed_text(pair.high)}"
                if pair.vague:
                    span = "can't be told apart: the figures vary too much"
                if pair.low >= 1 / TIE and pair.high <= TIE:
                    span = f"is no faster (within {max(1.0, (max(pair.high, 1 / pair.low) - 1) * 100):.0f} %)"
                yield f"{self.title(name)} {span}."
        for name in self.others:
            if name not in self.open and (pair := self.over(name)) is not None:
                yield f"{self.title(name)} is {speed_text(pair.ratio)}."

    def _otherwise(self) -> str:
        """When another candidate is the better choice: for its features, or for the work that it is best at."""
        chosen = self.plan.candidate(self.name)
        for name, needs in self.choice.lacking:
            ratio = self.over(name)
            if ratio is not None and ratio.verdict == "faster":
                words = f"{self.title(name)} is {speed_text(ratio.ratio)}, if you don't need"
                return fitting(LINE_WIDTH, f"{words} {listing([wish(need) for need in needs])}.", f"{words} that.")
        for rival, hinge in self.analysis.hinges.items() if self.choice.kind == "winner" else ():
            if hinge.rest.verdict != "faster":
                seldom = f"Choose {self.title(rival)} instead if you seldom do that."
                return fitting(LINE_WIDTH, *self._better_at(), seldom)
        offers = [] if chosen.directory else [*self._more_redundant(chosen), *self._offers(chosen)]
        return fitting(LINE_WIDTH, *offers, *self._better_at(), "")

    def _more_redundant(self, chosen: Candidate) -> Iterator[str]:
        for other in map(self.plan.candidate, self.others):
            if other.survives > chosen.survives:
                disks = "a disk" if other.survives == 1 else f"{other.survives} disks"
                yield f"Choose {other.title} instead if {disks} must be able to fail."

    def _offers(self, chosen: Candidate) -> Iterator[str]:
        others = [self.plan.candidate(name).filesystem for name in self.others]
        wanted_of = {other.name: (other, wishes(other, chosen.filesystem)) for other in others}
        for other, wanted in sorted(wanted_of.values(), key=lambda item: -len(item[1])):
            for count in range(min(3, len(wanted)), 0, -1):
                yield f"Choose {other.title} instead if you want {listing(wanted[:count])}."

    def _better_at(self) -> Iterator[str]:
        for name in self.others:
            for workload in self._counting():
                part = self.analysis.part(name, self.name, workload.name)
                if part is None or part.verdict != "faster":
                    continue
                # As the bars say it, of the one that is not the baseline.
                speed = speed_text(part.ratio)
                if part.candidate == self.analysis.overall[0].baseline:
                    speed = f"{self.title(self.name)} is {speed_text(1 / part.ratio, workload.metric.unit)}"
                yield f"{self.title(name)} suits “{workload.title}” better: {speed}."

    def _wear(self) -> str:
        known = {name: self.wearing[name] for name in (self.name, *self.others) if name in self.wearing}
        least, most = (pick(known, key=lambda name: known[name], default="") for pick in (min, max))
        if not least or known[most] < 2.0 * known[least]:
            return ""
        much, little = three_digits(known[most]), three_digits(known[least])
        return fitting(
            LINE_WIDTH,
            f"Wear: {self.title(most)} writes {much} bytes to flash for each byte saved, {self.title(least)} {little}.",
            f"Wear: {self.title(most)} writes {times_text(known[most] / known[least])} as much to flash as another.",
            "Wear differs by a factor of two or more: see write amplification.",
        )

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
