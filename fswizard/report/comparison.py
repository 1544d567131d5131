"""Comparison of two results: sentences, figures as bars, ratios."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fswizard.language import N_, _, listing, n_, p_
from fswizard.model.analysis import ANSWER_SIGNS, SIGNS, Sign
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.text import safe
from fswizard.model.units import figure_text, rounds_text, speed_text
from fswizard.report.blocks import Answer, Bar, Bullets, Chart, Document, Facts, Figures, Paragraph, Table, ratio_cell
from fswizard.report.colours import key_of
from fswizard.report.text import paint

NAMES = {
    "time": (N_("before"), N_("after")),
    "disks": (N_("first"), N_("second")),
    "fill": (N_("empty"), N_("filled")),
}
"""Names of the two sides of a comparison."""
SENTENCES = 3
"""Largest number of sentences on changes; others are in the figures."""
CAUSES = 2
"""Largest number of causes that `summary` names."""
_VERSION = re.compile(r"\d+\.\d+")


def render(comparison: Comparison, *results: str) -> str:
    """The comparison in at most 80 columns; `results` are the names of one or two results."""
    return paint(document(comparison, results))


def document(comparison: Comparison, results: Sequence[str]) -> Document:
    """The comparison in blocks; `results` are names of one or two results."""
    sides = tuple(map(_, NAMES[comparison.of]))
    labels = sides if len(results) > 1 else (_("result"),)
    headline, *more = sentences(comparison)
    facts = [(_("Caution"), caution) for caution in cautions(comparison)]
    if why := _causes(comparison):
        facts.insert(0, (_("Changed"), why))
    return (
        Facts(tuple((label[:1].upper() + label[1:], safe(name)) for label, name in zip(labels, results))),
        Answer(_sign(comparison), headline, lines=tuple(more)),
        Facts(tuple(facts)),
        Figures(tuple(_charts(comparison, sides))),
        _ratios(comparison),
        Paragraph(" ".join(_notes(comparison))),
        Bullets(_("Doubts"), comparison.doubts),
        Bullets(_("Not compared"), comparison.left_out),
    )


def summary(comparison: Comparison) -> str:
    """The largest change and possible causes in a line: `XFS became 12 % faster overall; kernel 6.1 → 6.12`."""
    headline, *_others = sentences(comparison)
    causes = [difference_text(one, brief=True) for one in comparison.differences]
    named = ", ".join(causes[:CAUSES])
    if len(causes) > CAUSES:
        named = n_("{names} and {count} more", "{names} and {count} more", len(causes) - CAUSES, names=named)
    return "; ".join(filter(None, (headline.rstrip(".\u3002"), named)))


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """Proven changes in words, the largest first, but those over all workloads before others."""
    changes = comparison.changes
    if all(change.ratio.low is None for change in changes):
        return (_("Too few rounds to say what differs."),)
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.ratio.differs:
            groups.setdefault((change.workload, change.ratio.verdict), []).append(change)
    ordered = sorted(groups.values(), key=lambda group: (bool(group[0].workload), -max(map(_size, group))))
    if ordered:
        return tuple(_sentence(group, comparison) for group in ordered[:SENTENCES])
    if all(change.ratio.verdict == "alike" for change in changes):
        return (_("Nothing changed: all figures are within 5 %."),)
    return (_("No clear change: any difference is within the noise."),)


def _size(change: Change) -> float:
    return abs(math.log(change.ratio.ratio))


def _sentence(group: Sequence[Change], comparison: Comparison) -> str:
    """`XFS and ext4 became 20–25 % faster at “Unpacking an archive”.`"""
    least, most = (speed_text(one.ratio.ratio, one.unit) for one in (min(group, key=_size), max(group, key=_size)))
    fields = {"candidates": _who(group, comparison), "test": group[0].workload, "speed": _range(least, most)}
    templates = {"disks": _in_the_second, "fill": _is}
    return templates.get(comparison.of, _became)(len(group), **fields)


def _who(group: Sequence[Change], comparison: Comparison) -> str:
    names = [change.title for change in group]
    if len(names) == len({change.title for change in comparison.changes}) > 2:
        return p_("in place of their names", "All filesystems")
    if len(names) <= 3:
        return listing(names)
    return n_("{names} and {count} more", "{names} and {count} more", len(names) - 2, names=", ".join(names[:2]))


def _became(count: int, **fields: str) -> str:
    if fields["test"]:
        return n_(
            "{candidates} became {speed} at “{test}”.", "{candidates} became {speed} at “{test}”.", count, **fields
        )
    return n_("{candidates} became {speed} overall.", "{candidates} became {speed} overall.", count, **fields)


def _is(count: int, **fields: str) -> str:
    if fields["test"]:
        return n_("{candidates} is {speed} at “{test}”.", "{candidates} are {speed} at “{test}”.", count, **fields)
    return n_("{candidates} is {speed} overall.", "{candidates} are {speed} overall.", count, **fields)


def _in_the_second(count: int, **fields: str) -> str:
    if fields["test"]:
        return n_(
            "{candidates} is {speed} at “{test}” in the second result.",
            "{candidates} are {speed} at “{test}” in the second result.",
            count,
            **fields,
        )
    return n_(
        "{candidates} is {speed} overall in the second result.",
        "{candidates} are {speed} overall in the second result.",
        count,
        **fields,
    )


def _range(least: str, most: str) -> str:
    """`20–25 % faster`, `90 % faster to 2.1× as fast`."""
    one, other = (text[: len(text) - len(text.lstrip("0123456789.,"))] for text in (least, most))
    if least[len(one) :] != most[len(other) :]:
        return p_("range", "{low} to {high}", low=least, high=most)
    return most if one == other else f"{one}–{most}"


def difference_text(difference: Difference, *, brief: bool = False) -> str:
    """`kernel 6.1.0-18-amd64 → 6.12.1-1`; in brief `kernel 6.1 → 6.12`."""
    before, after = (text or _("unknown") for text in (difference.before, difference.after))
    short, shorter = _VERSION.match(before), _VERSION.match(after)
    if brief and short and shorter and short[0] != shorter[0]:
        before, after = short[0], shorter[0]
    return f"{difference.what} {before} → {after}"


def cautions(comparison: Comparison) -> tuple[str, ...]:
    """Differences that make figures hard to compare, if there are any."""
    unlike = [difference_text(one) for one in comparison.differences if one.unlike]
    if not unlike:
        return ()
    text = N_("Not measured alike: {differences}. That alone may explain a difference.")
    return (_(text, differences=", ".join(unlike)),)


def _causes(comparison: Comparison) -> str:
    """Possible causes of the changes."""
    known = [difference_text(one) for one in comparison.differences if not one.unlike]
    changed = any(change.ratio.differs for change in comparison.changes)
    if known or not changed or comparison.of != "time" or cautions(comparison):
        return ", ".join(known)
    return _("nothing that fswizard records: consider how full the disk is, its age, and other programs")


def _sign(comparison: Comparison) -> Sign:
    """That of a change which is proven, else of what is said of all."""
    if any(change.ratio.differs for change in comparison.changes):
        return ANSWER_SIGNS["winner"]
    return ANSWER_SIGNS["alike" if all(change.ratio.verdict == "alike" for change in comparison.changes) else "open"]


def _charts(comparison: Comparison, sides: Sequence[str]) -> Iterator[Chart]:
    """A chart for each workload, with two bars for each candidate, the first and the second result."""
    for workload in dict.fromkeys(change.workload for change in comparison.changes if change.workload):
        bars = []
        for change in comparison.changes:
            if change.workload == workload:
                ratio = change.ratio
                effect = _(SIGNS[ratio.verdict].word) if ratio.low is not None else ""
                if ratio.differs:
                    effect = speed_text(ratio.ratio, change.unit)
                for side, figure, remark in zip(sides, (change.before, change.after), ("", effect)):
                    score = figure if change.better == "higher" else 1 / figure if figure else 0.0
                    title, text = f"{change.title}, {side}", figure_text(figure, change.unit)
                    bars.append(Bar(change.candidate, title, key_of(change.kind), text, score, remark, ratio.verdict))
        longest = max(bar.length for bar in bars) or 1.0
        yield Chart(workload, tuple(replace(bar, length=bar.length / longest) for bar in bars))


def _ratios(comparison: Comparison) -> Table:
    """Ratios of the second result to the first, for all workloads together and for each."""
    titles = {change.candidate: change.title for change in comparison.changes}
    known = {(change.workload, change.candidate): change.ratio for change in comparison.changes}
    rows = (
        (workload or _("all together"), *(ratio_cell(known.get((workload, name))) for name in titles))
        for workload in dict.fromkeys(workload for workload, __ in known)
    )
    return Table((_("ratio"), *titles.values()), tuple(rows))


def _notes(comparison: Comparison) -> Iterator[str]:
    """Explanations of ratios and intervals."""
    before, after = map(_, NAMES[comparison.of])
    yield _(
        "Ratios are {after} over {before}: above 1 is better. Within 5 % they are alike.", after=after, before=before
    )
    if any(change.ratio.low is None for change in comparison.changes):
        text = N_("Ratios without an interval come from fewer than {rounds}.")
        yield _(text, rounds=rounds_text(INTERVAL_ROUNDS + 1))
    elif any(change.ratio.verdict != "open" for change in comparison.changes):
        yield _("Each difference has a chance of 1 % of being none.")
