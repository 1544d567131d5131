"""Blocks of a report, in order. Painters turn them into text, markup or a page, and add no sentences."""

from __future__ import annotations

from collections.abc import Iterable

from fswizard.language import _
from fswizard.model.analysis import SIGNS, Answer, Ratio, Verdict
from fswizard.model.frozen import frozen
from fswizard.model.units import ratio_text


@frozen
class Paragraph:
    """A paragraph."""

    text: str


@frozen
class Facts:
    """Labels and their texts."""

    rows: tuple[tuple[str, str], ...]
    title: str = ""
    """Heading where there is room for one."""


@frozen
class Bar:
    """A candidate's figure at a workload."""

    candidate: str
    title: str
    kind: str
    """Key of its colour, see `colours`; empty for a failure."""
    figure: str
    """Median with its unit; empty for a failure."""
    length: float
    """Length from 0 to 1, the best one's; longer is better, also for durations."""
    remark: str
    """`3× slower`, if that is proven; the reason for a failure."""
    verdict: Verdict = "open"
    """Against the baseline; `alike` for the baseline itself. A bar is hatched or pale where it is `open`."""
    rounds: tuple[tuple[str, float], ...] = ()
    """Figure and length of each round, above 1 if better than the best median."""


@frozen
class Chart:
    """A workload and its bars on one scale, the best first, failed ones last."""

    title: str
    bars: tuple[Bar, ...]
    workload: str = ""
    """Its name."""
    weight: float = 1.0


@frozen
class Figures:
    """Bars of workloads."""

    charts: tuple[Chart, ...]
    title: str = ""
    """Heading where there is room for one."""
    note: str = ""
    """Explanation of what only a page shows."""
    caption: str = ""
    """What lengths and remarks mean, above the bars."""


@frozen
class Table:
    """Cells in rows; the first column holds titles, the others figures."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Lines below the table."""


@frozen
class Ratios:
    """Ratios of candidates to the baseline."""

    title: str
    baseline: str
    """Its title."""
    overall: tuple[tuple[str, Ratio], ...]
    """Over all workloads, by the candidates' titles."""
    table: Table
    """These and those at each workload; without rows if there are none."""


@frozen
class Bullets:
    """A list."""

    title: str
    items: tuple[str, ...]


@frozen
class Commands:
    """Shell commands."""

    title: str
    commands: tuple[str, ...]
    folded: bool = False
    """Folded away where that can be done."""


Block = Answer | Paragraph | Facts | Figures | Ratios | Table | Bullets | Commands
Document = tuple[Block, ...]


def legend(ratios: Iterable[Ratio]) -> str:
    """The signs of ratios, each with its word: `▲ faster  ═ alike (within 5 %)`."""
    used = {ratio.verdict for ratio in ratios}
    words: dict[Verdict, str] = {verdict: _(sign.word) for verdict, sign in SIGNS.items()}
    words["alike"] = _("alike (within 5 %)")
    return "  ".join(f"{SIGNS[verdict].glyph} {word}" for verdict, word in words.items() if verdict in used)


def ratio_cell(ratio: Ratio | None) -> str:
    """`1.98 (1.72–2.28) ▲`, or a dash if there is none."""
    if ratio is None:
        return "–"
    glyph = SIGNS[ratio.verdict].glyph
    if ratio.verdict == "failed":
        return f"{_('failed')} {glyph}"
    interval = f" ({ratio.interval()})" if ratio.interval() else ""
    return f"{ratio_text(ratio.ratio)}{interval} {glyph}"
