"""Two results side by side: what changed in plain words, figures as bars, and what else differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from fswizard.model.analysis import SIGNS
from fswizard.model.comparison import Change, Comparison
from fswizard.model.units import ratio_text
from fswizard.report.comparison import (
    NAMES,
    TOGETHER,
    both_figures,
    by_candidate,
    by_workload,
    causes,
    cautions,
    effect,
    figures,
    kind,
    lengths,
    lists,
    notes,
    render,
    sentences,
)
from fswizard.report.figures import Axis
from fswizard.tui.drawing import (
    COLOURS,
    WIDEST,
    bullet,
    columns,
    cut,
    cut_among,
    facts,
    fit,
    heading,
    lines,
    paragraphs,
    text,
    verdict,
    wrap,
)
from fswizard.tui.screens.base import SCROLL_LINES, SCROLL_PAGES, Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.ratios import bar, scale

ROOMY = 44
"""Rows from which on ratios stand below the bars at once."""
LONGEST_BAR, NARROWEST_TABLE = 56, 70
"""Cells."""


class ComparisonScreen(Window[None]):
    """What the second of two results says beside the first one, or a filled filesystem beside an empty one."""

    TITLE = "Two results side by side"
    LOOK = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "details", "details"),
        *SCROLL_LINES,
        *SCROLL_PAGES,
        Binding("c", "copy", "copy"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self, comparison: Comparison, *names: str) -> None:
        """`names` tell the results in a few words each."""
        super().__init__()
        self._comparison = comparison
        self._names = names
        self._detailed = False

    def body(self) -> ComposeResult:
        yield VerticalScroll(Canvas(self._drawn, id="comparison"), id="compared", can_focus=False)

    def _drawn(self, width: int) -> Content:
        return drawing(self._comparison, self._names, detailed=self._detailed or self._roomy)(width)

    @property
    def _roomy(self) -> bool:
        return self.app.size.height >= ROOMY

    def on_resize(self) -> None:
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "details" or not self._roomy

    def action_details(self) -> None:
        """Show the ratios and intervals, or take them away."""
        self._detailed = not self._detailed
        self.query_one("#comparison", Canvas).show(self._drawn)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(render(self._comparison, *self._names))
        self.notify("The comparison is in the clipboard, where the terminal allows it.")


def drawing(comparison: Comparison, names: Sequence[str], *, detailed: bool) -> Callable[[int], Content]:
    """The whole comparison for a width: the answer, bars by workload, in detail the ratios, and what was left out."""

    def ratios(width: int) -> Content:
        explained = paragraphs([(note, "$faint") for note in notes(comparison)], width)
        return Content("\n\n").join([*_tables(comparison, width), explained])

    def draw(width: int) -> Content:
        head, beside = _head(comparison, names, width), detailed and width >= WIDEST + NARROWEST_TABLE
        bars = Content("\n\n").join(_bars(comparison, min(width, WIDEST)))
        if beside:
            pairs = zip_longest(bars.split("\n"), ratios(width - WIDEST - 4).split("\n"), fillvalue=Content(""))
            bars = lines(fit(left, WIDEST) + Content("    ") + right for left, right in pairs)
        blocks = [head, bars, *[ratios(width)] * (detailed and not beside)]
        for title, items in lists(comparison).items():
            blocks.append(lines([heading(title, width), *(bullet(("·", "$muted"), it, width) for it in items)]))
        return Content("\n\n").join(blocks)

    return draw


def _head(comparison: Comparison, names: Sequence[str], width: int) -> Content:
    headline, *more = sentences(comparison)
    labels = NAMES[comparison.of] if len(names) > 1 else ("result",)
    known = [(label.capitalize(), name) for label, name in zip(labels, names)]
    why = causes(comparison)
    known += [("Changed", why)] if why else []
    return lines(
        (
            *(line.stylize("bold") for line in wrap(headline, width)),
            *(line for sentence in more for line in wrap((sentence, ""), width)),
            Content(""),
            facts(known, width, label=9, gap=False),
            *(bullet(("!", "bold $warning"), caution, width) for caution in cautions(comparison)),
        )
    )


def _bars(comparison: Comparison, width: int) -> Iterator[Content]:
    """By workload two half-high bars a candidate, what came first above; the longest is the best of the workload."""
    groups = by_workload(comparison)
    every = [change for changes in groups.values() for change in changes]
    if not every:
        return
    titles = [change.title for change in every]
    name = min(max(map(cell_len, titles)), max(8, width * 3 // 10))
    figure, word = (max(cell_len(tell(change)) for change in every) for tell in (both_figures, effect))
    beside = width >= 90
    title = min(max(map(cell_len, groups)), width // 4) if beside else 0
    room = max(6, min(LONGEST_BAR, width - title - name - figure - word - 8))
    widths = (name, room, figure, word)
    before, after = NAMES[comparison.of]
    yield text(heading("Figures, longer is better"), "   ", ("▀", "$past"), f" {before}   ", "▄", f" {after}")
    for work, changes in groups.items():
        drawn = [
            columns(
                (cut_among(change.title, titles, name), _pair(change, lengths_, room), (both_figures(change), ""),
                 (effect(change), COLOURS[SIGNS[change.ratio.verdict].tone][0])),
                widths, right=(2,),
            ).rstrip()
            for change, lengths_ in zip(changes, lengths(changes))
        ]  # fmt: skip
        if beside:
            pairs = zip_longest(wrap(work, title), drawn, fillvalue=Content(""))
            yield lines(fit(head, title) + Content("  ") + line for head, line in pairs)
        else:
            yield lines([text((cut(work, width), "$muted")), *drawn])


def _pair(change: Change, pair: tuple[float, float], room: int) -> Content:
    before, after = (max(1, round(length * room)) for length in pair)
    both, ink = min(before, after), f"$fs-{kind(change)}"
    return text(
        ("▀" * both, f"$past on {ink}"), ("▀" * (before - both), "$past"), ("▄" * (after - both), ink)
    )  # fmt: skip


def _tables(comparison: Comparison, width: int) -> Iterator[Content]:
    changes = comparison.changes
    widths = _widths(changes, width)
    axis = Axis.around(change.ratio for change in changes)
    head = [_columns_head(axis, widths, NAMES[comparison.of])]
    works = [change.workload for change in changes]
    for title, found in by_candidate(comparison).items():
        yield lines(
            [heading(cut(title, width - 4), width), *head, *(_row(change, works, axis, widths) for change in found)]
        )
        head = []


def _widths(changes: Sequence[Change], width: int) -> tuple[int, ...]:
    """Workload, both figures, bar, ratio, interval, verdict; narrow places drop figures and interval first."""
    title = max(len(TOGETHER), min(30, width // 3, max(len(change.workload) for change in changes)))
    figure, word = 10, 11
    ratio = max(5, *(len(ratio_text(change.ratio.ratio)) for change in changes))
    interval = 11 if width >= 64 and any(change.ratio.low for change in changes) else 0
    if width < 84:
        figure = 0
    gaps = 2 * (3 + bool(interval) + 2 * bool(figure))
    room = width - title - 2 * figure - ratio - interval - word - gaps
    return (title, figure, figure, max(0, room) if room >= 9 else 0, ratio, interval, word)


def _columns_head(axis: Axis, widths: tuple[int, ...], sides: tuple[str, str]) -> Content:
    names = ("", *sides, scale(axis, "1", widths[3]) if widths[3] else "", "ratio", "95 %", "")
    return columns(
        [name if isinstance(name, Content) else (name, "$faint") for name in names], widths, right=(1, 2, 4, 5)
    )


def _row(change: Change, works: Sequence[str], axis: Axis, widths: tuple[int, ...]) -> Content:
    ratio = change.ratio
    return columns(
        (
            cut_among(change.workload, works, widths[0]) if change.workload else (TOGETHER, "bold"),
            *((figure, "$muted") for figure in figures(change)),
            bar(ratio, axis, widths[3]) if widths[3] else "",
            (ratio_text(ratio.ratio), "bold"),
            (ratio.interval(), "$muted"),
            verdict(ratio),
        ),
        widths,
        right=(1, 2, 4, 5),
    )
