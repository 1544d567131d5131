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
from fswizard.report.comparison import (
    NAMES,
    both_figures,
    by_workload,
    document,
    effect,
    kind,
    lengths,
    render,
)
from fswizard.report.document import Answer, Block, Bullets, Facts, Table, Words
from fswizard.tui.drawing import (
    COLOURS,
    WIDEST,
    columns,
    cut,
    cut_among,
    fit,
    heading,
    lines,
    text,
    wrap,
)
from fswizard.tui.outcome import paint
from fswizard.tui.screens.base import SCROLL_LINES, SCROLL_PAGES, Window
from fswizard.tui.widgets.canvas import Canvas

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

    blocks = document(comparison, names)

    def painted(kind: type[Block], width: int) -> Iterator[Content]:
        return (paint(block, width) for block in blocks if isinstance(block, kind))

    def ratios(width: int) -> Content:
        return Content("\n\n").join([*painted(Table, width), *painted(Words, width)])

    def draw(width: int) -> Content:
        beside = detailed and width >= WIDEST + NARROWEST_TABLE
        bars = Content("\n\n").join(_bars(comparison, min(width, WIDEST)))
        if beside:
            pairs = zip_longest(bars.split("\n"), ratios(width - WIDEST - 4).split("\n"), fillvalue=Content(""))
            bars = lines(fit(left, WIDEST) + Content("    ") + right for left, right in pairs)
        parts = [*painted(Answer, width), *painted(Facts, width), bars]
        if detailed and not beside:
            parts.append(ratios(width))
        return Content("\n\n").join([*parts, *painted(Bullets, width)])

    return draw


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
