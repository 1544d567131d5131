"""Two results side by side: what changed, how surely, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen

from fswizard.model.comparison import Change, Comparison
from fswizard.report.figures import figure
from fswizard.tui.drawing import bullet, columns, cut, facts, heading, lines, paragraphs
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.keybar import KeyBar
from fswizard.tui.widgets.ratios import Axis, axis_for, bar, interval_text, ratio_text, scale

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp

WORDS = {
    "faster": ("▲ better", "$success"),
    "slower": ("▼ worse", "$error"),
    "tie": ("═ the same", "$primary"),
    "undecided": ("○ open", "$muted"),
    "failed": ("✗ failed", "$error"),
}
"""A result has no baseline to be faster than: it is better or worse than the one before."""


class ComparisonScreen(ModalScreen[None]):
    """What the later of two results says beside the earlier one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "line(-1)", "scroll", key_display="↑"),
        Binding("down", "line(1)", "scroll", key_display="↓"),
        Binding("pageup", "page(-1)", "scroll", key_display="PgUp"),
        Binding("pagedown", "page(1)", "scroll", key_display="PgDn"),
        Binding("c", "copy", "copy"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self, comparison: Comparison, first: str, second: str) -> None:
        """`first` and `second` name the results in a few words, the earlier one first."""
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
        from fswizard.report.comparison import render

        wizard = cast("FswizardApp", self.app)
        wizard.copy_to_clipboard(render(self._comparison, *self._names))
        self.notify("The comparison is in the clipboard, where the terminal allows it.")


def drawing(comparison: Comparison, first: str, second: str) -> Callable[[int], Content]:
    """The whole comparison for a width: which results, a table for each candidate, what else differs."""

    def draw(width: int) -> Content:
        blocks = [facts((("Earlier", first), ("Later", second)), width, label=9, gap=False)]
        blocks += _tables(comparison, width)
        blocks.append(paragraphs([(note, "$faint") for note in _notes(comparison)], width))
        for title, items in (("What else differs", comparison.differences), ("Not compared", comparison.left_out)):
            if items:
                blocks.append(lines([heading(title, width), *(bullet(("·", "$muted"), it, width) for it in items)]))
        return Content("\n\n").join(blocks)

    return draw


def _notes(comparison: Comparison) -> Iterator[str]:
    yield "Ratios are later over earlier: right of the line the later one is better."
    if any(change.ratio.low is None for change in comparison.changes):
        yield "Where no interval stands, one of the two has fewer than three rounds."
    else:
        yield "Each interval holds with 95 % by itself; among twenty, one may be off."


def _tables(comparison: Comparison, width: int) -> Iterator[Content]:
    changes = comparison.changes
    widths = _widths(changes, width)
    axis = axis_for([change.ratio for change in changes], widths[3])
    for number, name in enumerate(dict.fromkeys(change.candidate for change in changes)):
        rows = [heading(cut(name, width - 4), width)]
        rows += [_head(axis, widths)] if number == 0 else []
        rows += [_row(change, axis, widths) for change in changes if change.candidate == name]
        yield lines(rows)


def _widths(changes: tuple[Change, ...], width: int) -> tuple[int, ...]:
    """Workload, both figures, bar, ratio, interval, verdict; narrow places drop figures and interval first."""
    title = max(len("all together"), min(30, width // 3, max(len(change.workload) for change in changes)))
    figures, ratio, word = 10, 5, 10
    interval = 11 if width >= 64 and any(change.ratio.low for change in changes) else 0
    if width < 84:
        figures = 0
    gaps = 2 * (3 + bool(interval) + 2 * bool(figures))
    room = width - title - 2 * figures - ratio - interval - word - gaps
    return (title, figures, figures, max(0, room) if room >= 9 else 0, ratio, interval, word)


def _head(axis: Axis, widths: tuple[int, ...]) -> Content:
    names = ("", "earlier", "later", scale(axis, "1"), "ratio", "95 %", "")
    return columns(
        [name if isinstance(name, Content) else (name, "$faint") for name in names], widths, right=(1, 2, 4, 5)
    )


def _row(change: Change, axis: Axis, widths: tuple[int, ...]) -> Content:
    ratio = change.ratio
    word, style = WORDS[ratio.verdict]
    known = bool(change.before)
    return columns(
        (
            cut(change.workload, widths[0]) if change.workload else ("all together", "bold"),
            (figure(change.before, change.unit) if known else "", "$muted"),
            (figure(change.after, change.unit) if known else "", "$muted"),
            bar(ratio, axis) if widths[3] else "",
            (ratio_text(ratio.ratio), "bold"),
            (interval_text(ratio), "$muted"),
            (word, style),
        ),
        widths,
        right=(1, 2, 4, 5),
    )
