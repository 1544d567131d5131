"""The answer at a glance: what to choose or keep, why, when not, how sure, and the commands for exactly that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fswizard.advice.choice import Choice
from fswizard.advice.commands import commands
from fswizard.advice.words import fitting, has, listing, wish, wishes
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import MOST_CONFIDENT, TIE, Card, Judgement, Ratio, Summary, write_amplification
from fswizard.model.layout import DEGRADED
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Doubt, Result
from fswizard.model.units import rounds_text, speed_text, three_digits, times_text

VERDICT_WIDTH, LINE_WIDTH = 60, 74
"""Lines of the card find room in the wizard at 80 columns."""
ALIKE = 1.5
"""Intervals that reach farther say too little for two to be called alike."""
HARMLESS = 1.25
"""Where nobody open can be farther ahead than this, keeping what is plain costs little."""
WEARS = 2.0
"""Times as much written to flash that is worth a line."""
_CACHE = "cache-not-exceeded"
GRAVE = frozenset({
    _CACHE, "carry-over", "sticky-noise", "not-steady", "fits-in-memory", "changed-meanwhile", "workloads-missing",
    "busy-machine", "on-battery", "governor", "figures-left-out",
})  # fmt: skip
"""Doubts that may change who is ahead."""


def make_card(
    result: Result, judgement: Judgement, choice: Choice, doubts: Sequence[Doubt], summaries: Sequence[Summary]
) -> Card:
    """The card of any result."""
    if result.outcome == "failed":
        return _after_fault(judgement)
    if not choice.names:
        return _nothing(result, choice)
    return _Answer(result, judgement, choice, doubts, summaries).card()


def _after_fault(judgement: Judgement) -> Card:
    """Of a run whose disk or machine failed: its figures may be those of the fault."""
    rounds = f"after {rounds_text(judgement.rounds)}" if judgement.rounds else "in the first round"
    return Card(
        "Check this disk first: a fault ended the run",
        f"It failed {rounds}, so don't trust its figures.",
        "Fix the fault, then run it again.",
    )


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
        return Card("Run it again: it ended before there was a result", "No filesystem was measured long enough.")
    if choice.lacking:
        safely = " safely" if choice.unsafe else ""
        return Card(
            fitting(
                VERDICT_WIDTH, f"Nothing fits: none here {has(plan.needs)}{safely}", "Nothing fits your must-haves"
            ),
            "Compare other filesystems, or drop a must-have.",
        )
    if all(DEGRADED in options for _, options in choice.unsafe):
        return Card(
            "Nothing to choose: every layout missed a disk",
            "They were measured with a disk missing, to see what a failure costs.",
        )
    return Card(
        "Nothing safe to choose: each may lose data in a crash",
        "Every candidate has an option that risks data. Add one that has none.",
    )


class _Answer:
    """A card with a candidate on it."""

    def __init__(
        self,
        result: Result,
        judgement: Judgement,
        choice: Choice,
        doubts: Sequence[Doubt],
        summaries: Sequence[Summary],
    ) -> None:
        self.result, self.plan, self.judgement, self.choice = result, result.plan, judgement, choice
        self.doubts = frozenset(doubt.code for doubt in doubts)
        self.wearing = _on_flash(self.plan, summaries)
        self.name = choice.names[0]
        self.others = [name for name in choice.eligible if name != self.name]
        self.open = choice.names[1:]
        self.verb = "Keep" if self.name == self.plan.baseline else "Use"

    def card(self) -> Card:
        kinds: Mapping[str, Callable[[], tuple[str, str]]] = {
            "winner": self._winner, "tie": self._tie, "undecided": self._undecided, "only": self._only,
        }  # fmt: skip
        verdict, why = kinds[self.choice.kind]()
        return Card(verdict, why, self._otherwise(), self._wear(), self._confidence(), commands(self.plan, self.name))

    def title(self, name: str) -> str:
        return self.plan.candidate(name).title

    def over(self, name: str, other: str = "") -> Ratio | None:
        """How `name` does against `other`, the chosen one by default, or against the baseline where that is all."""
        other = other or self.name
        pair = self.judgement.pair(name, other)
        return pair if pair is None or pair.candidate == name else pair.turned()

    def _says(self, *reasons: str) -> str:
        """The verdict with the longest of the reasons that fits."""
        head = f"{self.verb} {self.title(self.name)}"
        return fitting(VERDICT_WIDTH, *(f"{head}{reason}" for reason in reasons), head)

    # By kind of result

    def _winner(self) -> tuple[str, str]:
        own = self.judgement.of(self.name)
        against = own.baseline if own and own.baseline != self.name else self.others[0]
        ratio = self.over(self.name, against)
        assert ratio is not None  # a winner has somebody to win against
        speed, rival = speed_text(ratio.shrunk), self.title(against)
        than = f"{speed} as {rival}" if speed.endswith("fast") else f"{speed} than {rival}"
        among = f", the fastest that {has(self.plan.needs)}" if self.plan.needs and self.choice.lacking else ""
        cached = " while the disk's cache lasts" if _CACHE in self.doubts else ""
        more = f"{among}{cached}"
        verdict = self._says(
            f": {than}{more or ' here'}", f": {than}{cached}", f": {than}", f": {speed}", ": the fastest here"
        )
        return verdict, self._gains(against)

    def _gains(self, against: str) -> str:
        """The largest gain and the largest loss over `against`, or how many there are."""
        parts = [part for part in (self.judgement.part(self.name, against, w.name) for w in self._counting()) if part]
        gains = sorted((part for part in parts if part.verdict == "faster"), key=lambda part: -part.ratio)
        losses = sorted((part for part in parts if part.verdict == "slower"), key=lambda part: part.ratio)
        titles = {workload.name: workload.title for workload in self._counting()}

        def told(part: Ratio) -> str:
            return f"{titles[part.workload]}: {speed_text(part.ratio)}."

        if not gains and not losses:
            return "Overall it is ahead, though no single test proves it."
        count = [f"faster in {len(gains)}"] * bool(gains) + [f"slower in {len(losses)}"] * bool(losses)
        summary = f"{', '.join(count).capitalize()} of {len(parts)} tests."
        best = [told(part) for part in (*gains[:1], *losses[:1])]
        if len(parts) == 1:  # as in the verdict
            return f"One test counts: {titles[parts[0].workload]}."
        both = " ".join(best)
        return fitting(LINE_WIDTH, f"{summary} {both}", both, f"{summary} {best[0]}", summary)

    def _counting(self) -> list[Workload]:
        return [workload for workload in self.plan.recipe.workloads if workload.weight > 0]

    def _tie(self) -> tuple[str, str]:
        near = f"(within {self._within()})"
        return self._says(f": {self._open()} no faster {near}", f": no real difference {near}"), self._standing()

    def _undecided(self) -> tuple[str, str]:
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
        end = "so it matters little" if self.judgement.all_near(self.choice.names) else "no clear winner"
        near = f"alike within {alike}"
        forms = (f": {self._open()} within {alike} of it, {end}", f": {near}, {end}", f": {near}") if alike else ()
        return self._says(*forms, ": no clear winner"), self._standing()

    def _only(self) -> tuple[str, str]:
        if len(self.plan.candidates) == 1:
            return self._says(": nothing else was measured"), "Add a filesystem to compare it with."
        if self.choice.lacking:
            return self._says(
                f": the only one here that {has(self.plan.needs)}", ": it alone has what you need"
            ), self._beside()
        if self.choice.unsafe:
            degraded = all(DEGRADED in options for _, options in self.choice.unsafe)
            return self._says(
                ": the only one with all its disks" if degraded else ": the only safe one here"
            ), self._beside()
        failed = any(ratio.verdict == "failed" for ratio in self.judgement.overall)
        return self._says(": the others failed" if failed else ": nothing else was measured"), (
            "No other filesystem could do all of this work." if failed else "No other has figures to compare."
        )

    def _beside(self) -> str:
        """How the only one left does beside those that are out of the question."""
        told, looks = [], False
        for name in dict(self.choice.lacking) | dict(self.choice.unsafe):
            ratio = self.over(self.name, name)
            if ratio is not None:
                looks = looks or ratio.low is None
                speed = speed_text(ratio.ratio)
                told.append(
                    f"{speed} as {self.title(name)}" if speed.endswith("fast") else f"{speed} than {self.title(name)}"
                )
        verb = "looks" if looks else "is"
        return fitting(LINE_WIDTH, *(f"It {verb} {listing(told[:count])}." for count in range(len(told), 0, -1)), "")

    # Parts

    def _within(self) -> str:
        """By how much any two of those that are open may differ: `4 %`; empty where that says nothing."""
        pairs = [self.over(one, other) for one in self.choice.names for other in self.choice.names if one < other]
        reach = [max(pair.high, 1 / pair.low) for pair in pairs if pair and pair.low and pair.high]
        if not reach or max(reach) > ALIKE:
            return ""
        return f"{max(1.0, (max(reach) - 1) * 100):.0f} %"

    def _open(self) -> str:
        """The others that may be the best, as the beginning of a sentence."""
        return f"{listing([self.title(name) for name in self.open])} {'is' if len(self.open) == 1 else 'are'}"

    def _standing(self) -> str:
        """How each of the others does against what is kept, in as many sentences as find room."""
        told, behind = list(self._each()), sum(name not in self.open for name in self.others)
        rest = [
            f"{count} more {'is' if count == 1 else 'are'} "
            f"{'behind' if count <= behind else 'undecided or behind' if behind else 'undecided'}."
            for count in range(1, len(told))
        ]
        forms = [" ".join(told), *(" ".join((*told[:-n], rest[n - 1])) for n in range(1, len(told)))]
        return fitting(LINE_WIDTH, *forms, told[0] if told else "")

    def _each(self) -> Iterator[str]:
        behind = [name for name in self.others if name not in self.open]
        if self.choice.kind == "tie":
            differing = [w for w in self._counting() for name in self.open if self._differs(name, w)]
            yield (
                "They differ in some tests: choose by those."
                if differing
                else "No test tells them apart: choose by features."
            )
        for name in self.open if self.choice.kind == "undecided" else ():
            pair = self.over(name)
            if pair is not None and pair.low and pair.high:
                yield f"{self.title(name)} {_span(pair.low, pair.high)}."
        for name in behind:
            pair = self.over(name)
            if pair is not None:
                yield f"{self.title(name)} is {speed_text(pair.ratio)}."

    def _differs(self, name: str, workload: Workload) -> bool:
        part = self.judgement.part(name, self.name, workload.name)
        return part is not None and part.verdict in ("faster", "slower")

    def _otherwise(self) -> str:
        """When another one is the better choice: for what it offers, or for the work that it is best at."""
        chosen = self.plan.candidate(self.name)
        for name, needs in self.choice.lacking:
            ratio = self.over(name)
            if ratio is not None and ratio.verdict == "faster":
                words = f"{self.title(name)} is {speed_text(ratio.ratio)}, if you don't need"
                return fitting(LINE_WIDTH, f"{words} {listing([wish(need) for need in needs])}.", f"{words} that.")
        offers = [] if chosen.directory else [*self._more_redundant(chosen), *self._offers(chosen)]
        return fitting(LINE_WIDTH, *offers, *self._better_at(), "")

    def _more_redundant(self, chosen: Candidate) -> Iterator[str]:
        for other in map(self.plan.candidate, self.others):
            if other.survives > chosen.survives:
                disks = "a disk" if other.survives == 1 else f"{other.survives} disks"
                yield f"Choose {other.title} instead if {disks} must be able to fail."

    def _offers(self, chosen: Candidate) -> Iterator[str]:
        others = {
            self.plan.candidate(name).filesystem.name: self.plan.candidate(name).filesystem for name in self.others
        }
        found = [(other, wishes(other, chosen.filesystem)) for other in others.values()]
        for other, wanted in sorted(found, key=lambda item: -len(item[1])):
            for count in range(min(3, len(wanted)), 0, -1):
                yield f"Choose {other.title} instead if you want {listing(wanted[:count])}."

    def _better_at(self) -> Iterator[str]:
        for name in self.others:
            for workload in self._counting():
                part = self.judgement.part(name, self.name, workload.name)
                if part is not None and part.verdict == "faster":
                    yield f"{self.title(name)} suits “{workload.title}” better: {speed_text(part.ratio)}."

    def _wear(self) -> str:
        known = {name: self.wearing[name] for name in (self.name, *self.others) if name in self.wearing}
        least, most = (pick(known, key=lambda name: known[name], default="") for pick in (min, max))
        if not least or known[most] < WEARS * known[least]:
            return ""
        much, little = three_digits(known[most]), three_digits(known[least])
        return fitting(
            LINE_WIDTH,
            f"Wear: {self.title(most)} writes {much} bytes to flash for each byte saved, {self.title(least)} {little}.",
            f"Wear: {self.title(most)} writes {times_text(known[most] / known[least])} as much to flash as another.",
            "Wear differs by a factor of two or more: see write amplification.",
        )

    def _confidence(self) -> int:
        kind = self.choice.kind
        if kind == "only":
            named = self.choice.beyond_speed or len(self.plan.candidates) > 1
            return 2 if named and not self.choice.beyond_speed else MOST_CONFIDENT if named else 0
        if kind == "undecided":
            pairs = [self.over(name) for name in self.open]
            ahead = [pair.high for pair in pairs if pair and pair.high]
            if len(ahead) < len(pairs):
                return 0
            return 2 if max(ahead) <= HARMLESS else 1
        grave = min(2, len(GRAVE & self.doubts))
        return MOST_CONFIDENT - grave


def _span(low: float, high: float) -> str:
    """`may be 10 % slower or 30 % faster`, or that it is no faster."""
    if low >= 1 / TIE and high <= TIE:
        return f"is no faster (within {max(1.0, (max(high, 1 / low) - 1) * 100):.0f} %)"
    return f"may be {speed_text(low)} or {speed_text(high)}"


def _on_flash(plan: Plan, summaries: Sequence[Summary]) -> Mapping[str, float]:
    """Write amplification by candidate; empty where nothing wears out."""
    flash = plan.drive is not None and plan.drive.kind in ("ssd", "nvme", "flash-card")
    return write_amplification(summaries) if flash else {}
