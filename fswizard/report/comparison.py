"""Comparison of results: words and figures for wizard and command line, and the whole as plain text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from fswizard.language import N_, _, listing, n_, p_
from fswizard.model.analysis import ANSWER_SIGNS, SIGNS, Sign
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.metrics import Better
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.text import safe
from fswizard.model.units import figure_text, ratio_text, rounds_text, speed_text
from fswizard.report.blocks import Answer, Bar, Bullets, Chart, Document, Facts, Figures, Table, Words
from fswizard.report.colours import key_of
from fswizard.report.text import paint

TOGETHER = N_("all together")
NAMES = {
    "time": (N_("before"), N_("after")),
    "disks": (N_("first"), N_("second")),
    "fill": (N_("empty"), N_("filled")),
    "age": (N_("new"), N_("aged")),
}
"""Names of the two sides of a comparison."""
SENTENCES = 3
"""Largest number of sentences on changes; others are in the figures."""
CAUSES = 2
"""Largest number of causes that `summary` names."""
_VERSION = re.compile(r"\d+\.\d+")


def by_candidate(comparison: Comparison) -> Mapping[str, list[Change]]:
    """Title of a candidate to its changes, in order."""
    titles = dict.fromkeys(change.title for change in comparison.changes)
    return {title: [change for change in comparison.changes if change.title == title] for title in titles}


def by_workload(comparison: Comparison) -> Mapping[str, list[Change]]:
    """Title of a workload to the changes of each candidate, in order; without those over all workloads."""
    titles = dict.fromkeys(change.workload for change in comparison.changes if change.workload)
    return {title: [change for change in comparison.changes if change.workload == title] for title in titles}


def lengths(changes: Sequence[Change]) -> Sequence[tuple[float, float]]:
    """Lengths of two bars for each change, up to 1 for the best of all; longer is better, also for durations."""
    values = [(score(change.better, change.before), score(change.better, change.after)) for change in changes]
    top = max((length for pair in values for length in pair), default=0.0) or 1.0
    return [(before / top, after / top) for before, after in values]


def score(better: Better, figure: float) -> float:
    """The figure as a length: half a duration is twice as long."""
    return figure if better == "higher" else 1 / figure if figure else 0.0


def figures(change: Change) -> tuple[str, str]:
    """Figures of the two results; empty for all workloads together, which have none."""
    if not change.workload:
        return "", ""
    return figure_text(change.before, change.unit), figure_text(change.after, change.unit)


def both_figures(change: Change) -> str:
    """`188 → 235 MB/s`, `2,580 → 2,610/s`, `950 ms → 1.2 s`: a common unit stands once."""
    (before, unit), (after, same) = map(_apart, figures(change))
    return f"{before}{'' if unit == same else unit} → {after}{same}"


def _apart(figure: str) -> tuple[str, str]:
    """The number at its beginning, and what follows: `("188", " MB/s")`."""
    unit = figure.lstrip("0123456789.,")
    return figure.removesuffix(unit), unit


def effect(change: Change) -> str:
    """`25 % faster`, `tie`; empty with too few rounds."""
    verdict = change.ratio.verdict
    if change.ratio.low is None:
        return ""
    return speed_text(change.ratio.ratio, change.unit) if verdict in ("faster", "slower") else _(SIGNS[verdict].word)


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """Proven changes in words, the largest first, but those over all workloads before others."""
    changes = comparison.changes
    if all(change.ratio.low is None for change in changes):
        return (_("Too few rounds to say what differs."),)
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.ratio.verdict in ("faster", "slower"):
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
    least, most = (pick(group, key=_size) for pick in (min, max))
    sentence = {"time": _became, "age": _became, "disks": _in_the_second, "fill": _is}[comparison.of]
    who, test, count = _who(group, comparison), safe(group[0].workload), len(group)
    speed = _from_to(*(speed_text(change.ratio.ratio, change.unit) for change in (least, most)))
    return sentence(count, test, candidates=who, test=test, speed=speed)


def _who(group: Sequence[Change], comparison: Comparison) -> str:
    names = [safe(change.title) for change in group]
    if len(names) == len(by_candidate(comparison)) > 2:
        return p_("in place of their names", "All filesystems")
    if len(names) <= 3:
        return listing(names)
    return n_("{names} and {count} more", "{names} and {count} more", len(names) - 2, names=", ".join(names[:2]))


def _became(count: int, at: str, **fields: str) -> str:
    if at:
        return n_(
            "{candidates} became {speed} at “{test}”.", "{candidates} became {speed} at “{test}”.", count, **fields
        )
    return n_("{candidates} became {speed} overall.", "{candidates} became {speed} overall.", count, **fields)


def _is(count: int, at: str, **fields: str) -> str:
    if at:
        return n_("{candidates} is {speed} at “{test}”.", "{candidates} are {speed} at “{test}”.", count, **fields)
    return n_("{candidates} is {speed} overall.", "{candidates} are {speed} overall.", count, **fields)


def _in_the_second(count: int, at: str, **fields: str) -> str:
    if at:
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


def _from_to(least: str, most: str) -> str:
    """`20–25 % faster`, `90 % faster to 2.1× as fast`."""
    (one, unit), (other, same) = map(_apart, (least, most))
    if unit != same:
        return p_("range", "{low} to {high}", low=least, high=most)
    return most if one == other else f"{one}–{most}"


def difference_text(difference: Difference, *, brief: bool = False) -> str:
    """`kernel 6.1.0-18-amd64 → 6.12.1-1`; in brief `kernel 6.1 → 6.12`."""
    before, after = (text or _("unknown") for text in (difference.before, difference.after))
    short = [_VERSION.match(text) for text in (before, after)]
    if brief and all(short) and short[0][0] != short[1][0]:  # type: ignore[index]
        before, after = (match[0] for match in short if match)
    return safe(f"{difference.what} {before} → {after}")


def summary(comparison: Comparison) -> str:
    """The largest change and possible causes in a line: `XFS became 12 % faster overall; kernel 6.1 → 6.12`."""
    headline, *_ = sentences(comparison)
    causes = [difference_text(one, brief=True) for one in comparison.differences]
    named = ", ".join(causes[:CAUSES])
    if len(causes) > CAUSES:
        named = n_("{names} and {count} more", "{names} and {count} more", len(causes) - CAUSES, names=named)
    return "; ".join(filter(None, (headline.rstrip(".\u3002"), named)))


def cautions(comparison: Comparison) -> tuple[str, ...]:
    """Differences that make figures hard to compare, if there are any."""
    unlike = [difference_text(one) for one in comparison.differences if one.unlike]
    if not unlike:
        return ()
    text = N_("Not measured alike: {differences}. That alone may explain a difference.")
    return (_(text, differences=", ".join(unlike)),)


def causes(comparison: Comparison) -> str:
    """Possible causes of the changes."""
    known = [difference_text(one) for one in comparison.differences if not one.unlike]
    moved = any(change.ratio.verdict in ("faster", "slower") for change in comparison.changes)
    if known or not moved or comparison.of != "time" or cautions(comparison):
        return ", ".join(known)
    return _("nothing that fswizard records: consider how full the disk is, its age, and other programs")


def notes(comparison: Comparison) -> Iterator[str]:
    """Explanations of ratios and intervals."""
    before, after = map(_, NAMES[comparison.of])
    yield _(
        "Ratios are {after} over {before}: above 1 is better. Within 5 % they are alike.", after=after, before=before
    )
    if any(change.ratio.low is None for change in comparison.changes):
        text = N_("Ratios without an interval come from fewer than {rounds}.")
        yield _(text, rounds=rounds_text(FIRST_LOOK + 1))
    elif any(change.ratio.verdict != "open" for change in comparison.changes):
        yield _("Each difference has a chance of 1 % of being none.")


def lists(comparison: Comparison) -> Mapping[str, tuple[str, ...]]:
    """Title to sentences, of sections that are not empty."""
    sections = {_("Doubts"): comparison.doubts, _("Not compared"): comparison.left_out}
    return {title: items for title, items in sections.items() if items}


def render(comparison: Comparison, first: str, second: str = "") -> str:
    """The comparison in at most 80 columns; `first` and `second` are the results' names, the latter empty for one."""
    return paint(document(comparison, (first, second) if second else (first,)))


def document(comparison: Comparison, results: Sequence[str]) -> Document:
    """The comparison in blocks; `results` are names of one or two results."""
    before, after = map(_, NAMES[comparison.of])
    sides = (before, after)
    labels = sides if len(results) > 1 else (_("result"),)
    headline, *more = sentences(comparison)
    why = causes(comparison)
    return (
        Facts(tuple((label[:1].upper() + label[1:], safe(name)) for label, name in zip(labels, results))),
        Answer(_sign(comparison), headline, lines=tuple(more)),
        Facts(
            (*(((_("Changed"), why),) if why else ()), *((_("Caution"), caution) for caution in cautions(comparison)))
        ),
        Figures(tuple(Chart(safe(title), _bars(changes, sides)) for title, changes in by_workload(comparison).items())),
        *(
            Table((safe(title), *sides, _("ratio"), _("interval"), ""), tuple(map(_row, changes)))
            for title, changes in by_candidate(comparison).items()
        ),
        Words(" ".join(notes(comparison))),
        *(Bullets(title, tuple(map(safe, items))) for title, items in lists(comparison).items()),
    )


def _sign(comparison: Comparison) -> Sign:
    """That of a change which is proven, else of what is said of all."""
    verdicts = [change.ratio.verdict for change in comparison.changes]
    if "faster" in verdicts or "slower" in verdicts:
        return ANSWER_SIGNS["winner"]
    return ANSWER_SIGNS["alike" if set(verdicts) == {"alike"} else "open"]


def _bars(changes: Sequence[Change], sides: tuple[str, str]) -> tuple[Bar, ...]:
    """Two bars for each candidate, one below the other, in the unit of the workload."""
    return tuple(
        Bar(
            change.candidate,
            f"{safe(change.title)}, {side}",
            key_of(change.kind),
            figure,
            length,
            remark,
            change.ratio.verdict,
        )
        for change, pair in zip(changes, lengths(changes))
        for side, figure, length, remark in zip(sides, figures(change), pair, ("", effect(change)))
    )


def _row(change: Change) -> tuple[str, ...]:
    ratio = change.ratio
    word = f"{SIGNS[ratio.verdict].glyph} {_(SIGNS[ratio.verdict].word)}"
    return (safe(change.workload) or _(TOGETHER), *figures(change), ratio_text(ratio.ratio), ratio.interval(), word)
