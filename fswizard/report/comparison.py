"""Comparison of results: words and figures for wizard and command line, and the whole as plain text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from fswizard.model.analysis import SIGNS
from fswizard.model.comparison import Change, Comparison, Difference
from fswizard.model.metrics import Better
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.text import mid_sentence, safe
from fswizard.model.units import figure_text, ratio_text, rounds_text, speed_text
from fswizard.report.colours import key_of
from fswizard.report.document import Answer, Bar, Bullets, Document, Facts, Figures, Table, Words
from fswizard.report.text import paint

TOGETHER = "all together"
NAMES = {"time": ("before", "after"), "disks": ("first", "second"), "fill": ("empty", "filled"), "age": ("new", "aged")}
"""Names of the two sides of a comparison."""
SENTENCES = 3
"""Largest number of sentences on changes; others are in the figures."""
CAUSES = 2
"""Largest number of causes that `summary` names."""
_NUMBER, _VERSION = re.compile(r"([\d.]+)?(.*)"), re.compile(r"\d+\.\d+")
_FIGURE = re.compile(r"([\d.,]*)(.*)")


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
    (before, unit), (after, same) = (_FIGURE.fullmatch(figure).groups() for figure in figures(change))  # type: ignore[union-attr]
    return f"{before}{'' if unit == same else unit} → {after}{same}"


def effect(change: Change) -> str:
    """`25 % faster`, `tie`; empty with too few rounds."""
    verdict = change.ratio.verdict
    if change.ratio.low is None:
        return ""
    return speed_text(change.ratio.ratio, change.unit) if verdict in ("faster", "slower") else verdict


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """Proven changes in words, the largest first, but those over all workloads before others."""
    changes = comparison.changes
    if all(change.ratio.low is None for change in changes):
        return ("Too few rounds to say what differs.",)
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.ratio.verdict in ("faster", "slower"):
            groups.setdefault((change.workload, change.ratio.verdict), []).append(change)
    ordered = sorted(groups.values(), key=lambda group: (bool(group[0].workload), -max(map(_size, group))))
    if ordered:
        return tuple(_sentence(group, comparison) for group in ordered[:SENTENCES])
    if all(change.ratio.verdict == "tie" for change in changes):
        return ("Nothing changed: all figures are within 5 %.",)
    return ("No clear change: any difference is within the noise.",)


def _size(change: Change) -> float:
    return abs(math.log(change.ratio.ratio))


def _sentence(group: Sequence[Change], comparison: Comparison) -> str:
    """`XFS and ext4 became 20–25 % faster at unpacking an archive.`"""
    names = [safe(change.title) for change in group]
    everyone = len(names) == len(by_candidate(comparison)) > 2
    *others, last = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    who = f"{', '.join(others)} and {last}" if others else last
    verb = "became" if comparison.of in ("time", "age") else "are" if others else "is"
    least, most = (pick(group, key=_size) for pick in (min, max))
    speed = _from_to(*(speed_text(change.ratio.ratio, change.unit) for change in (least, most)))
    where = f" at {mid_sentence(safe(group[0].workload))}" if group[0].workload else " overall"
    end = " in the second result." if comparison.of == "disks" else "."
    return f"{'All filesystems' if everyone else who} {verb} {speed}{where}{end}"


def _from_to(least: str, most: str) -> str:
    """`20–25 % faster`, `90 % faster to 2.1× as fast`."""
    (one, unit), (other, same) = (_NUMBER.fullmatch(text).groups() for text in (least, most))  # type: ignore[union-attr]
    if unit != same:
        return f"{least} to {most}"
    return most if one == other else f"{one}–{most}"


def difference_text(difference: Difference, *, brief: bool = False) -> str:
    """`kernel 6.1.0-18-amd64 → 6.12.1-1`; in brief `kernel 6.1 → 6.12`."""
    before, after = (text or "unknown" for text in (difference.before, difference.after))
    short = [_VERSION.match(text) for text in (before, after)]
    if brief and all(short) and short[0][0] != short[1][0]:  # type: ignore[index]
        before, after = (match[0] for match in short if match)
    return safe(f"{difference.what} {before} → {after}")


def summary(comparison: Comparison) -> str:
    """The largest change and possible causes in a line: `XFS became 12 % faster overall; kernel 6.1 → 6.12`."""
    headline, *_ = sentences(comparison)
    causes = [difference_text(one, brief=True) for one in comparison.differences]
    more = f" and {len(causes) - CAUSES} more" if len(causes) > CAUSES else ""
    return "; ".join(filter(None, (headline.rstrip("."), ", ".join(causes[:CAUSES]) + more)))


def cautions(comparison: Comparison) -> tuple[str, ...]:
    """Differences that make figures hard to compare, if there are any."""
    unlike = [difference_text(one) for one in comparison.differences if one.unlike]
    return (f"Not measured alike: {', '.join(unlike)}. That alone may explain a difference.",) if unlike else ()


def causes(comparison: Comparison) -> str:
    """Possible causes of the changes."""
    known = [difference_text(one) for one in comparison.differences if not one.unlike]
    moved = any(change.ratio.verdict in ("faster", "slower") for change in comparison.changes)
    if known or not moved or comparison.of != "time" or cautions(comparison):
        return ", ".join(known)
    return "nothing that fswizard records: consider how full the disk is, its age, and other programs"


def notes(comparison: Comparison) -> Iterator[str]:
    """Explanations of ratios and intervals."""
    before, after = NAMES[comparison.of]
    yield f"Ratios are {after} over {before}: above 1 is better. Within 5 % is a tie."
    if any(change.ratio.low is None for change in comparison.changes):
        yield f"Ratios without an interval come from fewer than {rounds_text(FIRST_LOOK + 1)}."
    elif any(change.ratio.verdict != "undecided" for change in comparison.changes):
        yield "At most 1 in 20 of what is called faster, slower or a tie may be wrong."


def lists(comparison: Comparison) -> Mapping[str, tuple[str, ...]]:
    """Title to sentences, of sections that are not empty."""
    sections = {"Doubts": comparison.doubts, "Not compared": comparison.left_out}
    return {title: items for title, items in sections.items() if items}


def render(comparison: Comparison, first: str, second: str = "") -> str:
    """The comparison in at most 80 columns; `first` and `second` are the results' names, the latter empty for one."""
    return paint(document(comparison, (first, second) if second else (first,)))


def document(comparison: Comparison, results: Sequence[str]) -> Document:
    """The comparison in blocks; `results` are names of one or two results."""
    sides = NAMES[comparison.of]
    labels = sides if len(results) > 1 else ("result",)
    headline, *more = sentences(comparison)
    why = causes(comparison)
    return (
        Facts(tuple((label.capitalize(), safe(name)) for label, name in zip(labels, results))),
        Answer(headline, lines=tuple(more)),
        Facts((*((("Changed", why),) if why else ()), *(("Caution", caution) for caution in cautions(comparison)))),
        Figures(tuple((safe(title), _bars(changes, sides)) for title, changes in by_workload(comparison).items())),
        *(
            Table((safe(title), *sides, "ratio", "interval", ""), tuple(map(_row, changes)))
            for title, changes in by_candidate(comparison).items()
        ),
        Words(tuple(notes(comparison))),
        *(Bullets(title, tuple(map(safe, items))) for title, items in lists(comparison).items()),
    )


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
    word = f"{SIGNS[ratio.verdict].glyph} {ratio.verdict}"
    return (safe(change.workload) or TOGETHER, *figures(change), ratio_text(ratio.ratio), ratio.interval(), word)
