"""Two results side by side: what changed, how surely, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from fswizard.model.comparison import Change, Comparison
from fswizard.model.units import ratio_text
from fswizard.report.comparison import TOGETHER, by_candidate, figures, lists, notes, render
from fswizard.report.figures import Axis
from fswizard.tui.drawing import bullet, columns, cut, cut_among, facts, heading, lines, paragraphs, verdict
from fswizard.tui.widgets.bars import KeyBar
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.ratios import bar, scale


class ComparisonScreen(ModalScreen[None]):
    """What the second of two results says beside the first one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "line(-1)", "scroll", key_display="↑"),
        Binding("down", "line(1)", "scroll", key_display="↓"),
        Binding("pageup", "page(-1)", "scroll", key_display="PgUp"),
        Binding("pagedown", "page(1)", "scroll", key_display="PgDn"),
        Binding("c", "copy", "copy"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self, comparison: Comparison, first: str, second: str) -> None:
        """`first` and `second` name the results in a few words."""
        super().__init__()
        self._comparison = comparison
        self._names = first, second

    def compose(self) -> ComposeResult:
        with Vertical(classes="window broad") as window:
            window.border_title = "Two results side by side"
            draw = drawing(self._comparison, *self._names)
            yield VerticalScroll(Canvas(draw), id="compared", can_focus=False)
        yield KeyBar()

    def action_line(self, direction: int) -> None:
        self.query_one("#compared").scroll_relative(y=direction, animate=False)

    def action_page(self, direction: int) -> None:
        area = self.query_one("#compared")
        area.scroll_relative(y=direction * max(1, area.size.height - 2), animate=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(render(self._comparison, *self._names))
        self.notify("The comparison is in the clipboard, where the terminal allows it.")


def drawing(comparison: Comparison, first: str, second: str) -> Callable[[int], Content]:
    """The whole comparison for a width: which results, a table for each candidate, what else differs."""

    def draw(width: int) -> Content:
        blocks = [facts((("First", first), ("Second", second)), width, label=9, gap=False)]
        blocks += _tables(comparison, width)
        blocks.append(paragraphs([(note, "$faint") for note in notes(comparison)], width))
        for title, items in lists(comparison).items():
            blocks.append(lines([heading(title, width), *(bullet(("·", "$muted"), it, width) for it in items)]))
        return Content("\n\n").join(blocks)

    return draw


def _tables(comparison: Comparison, width: int) -> Iterator[Content]:
    changes = comparison.changes
    widths = _widths(changes, width)
    axis = Axis.around(change.ratio for change in changes)
    head = [_head(axis, widths)]
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


def _head(axis: Axis, widths: tuple[int, ...]) -> Content:
    names = ("", "first", "second", scale(axis, "1", widths[3]) if widths[3] else "", "ratio", "95 %", "")
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
