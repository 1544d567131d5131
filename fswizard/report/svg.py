"""A picture of the answer: the card, each figure as a bar, and the overall ratios on an axis around 1."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from fswizard.model.judgement import SIGNS, TIE, Findings, Ratio
from fswizard.model.units import ratio_text
from fswizard.report.colours import fills
from fswizard.report.figures import Axis
from fswizard.report.layout import cells, wrap
from fswizard.report.presentation import Bar, describe_drive, present

WIDTH = 800
LEFT, RIGHT = 200, 520
"""Between them lies the axis."""
ROW = 28
MARGIN = 24

STYLE = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1c2430 }
.ground { fill: #ffffff }
.head { font-size: 17px; font-weight: 600 }
.group { font-weight: 600 }
.dim { fill: #5b6675 }
.grid { stroke: #d5dbe3; stroke-width: 1 }
.one { stroke: #1c2430; stroke-width: 1.5 }
.near { fill: #eef2f7 }
.range { stroke-width: 3; stroke-linecap: round }
.good { fill: #0b7a4b; stroke: #0b7a4b }
.bad { fill: #b3401f; stroke: #b3401f }
.even { fill: #2b62b8; stroke: #2b62b8 }
.muted { fill: #7b8494; stroke: #7b8494 }
text.good, text.bad, text.even, text.muted { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e9f0 }
  .ground { fill: #14191f }
  .dim { fill: #9aa6b5 }
  .grid { stroke: #333c47 }
  .one { stroke: #e4e9f0 }
  .near { fill: #1d252e }
  .good { fill: #4cc38a; stroke: #4cc38a }
  .bad { fill: #f0825f; stroke: #f0825f }
  .even { fill: #7fb0ff; stroke: #7fb0ff }
  .muted { fill: #9aa3b1; stroke: #9aa3b1 }
}
"""


def render(findings: Findings) -> str:
    view = present(findings)
    drive = findings.result.plan.drive
    below = [describe_drive(drive)] if drive else []
    below += [f"{view.title.partition(' on ')[0]}; {dict(view.facts)['Rounds']}"]
    card = view.card
    head = wrap(card.verdict, 72)
    below = [line for text in (card.certainty, *view.below, *below) for line in wrap(text, 104)]
    start = MARGIN + 24 * len(head) + 20 * len(below) + 8
    axis = Axis.around(view.overall)
    top = start + sum(ROW * (len(row.bars) + 1) + 8 for row in view.rows) + 34
    height = top + bool(view.overall) * (ROW * (len(view.overall) + 1) + 8) + 52
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(card.verdict)}">',
        f"<title>{escape(view.title)}</title>",
        f"<style>{STYLE}{fills()}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        *(_text(MARGIN, MARGIN + 12 + 24 * n, line, "head") for n, line in enumerate(head)),
        *(_text(MARGIN, MARGIN + 12 + 24 * len(head) + 20 * n, line, "dim") for n, line in enumerate(below)),
    ]
    y = start
    for row in view.rows:
        parts.append(_text(MARGIN, y + 19, row.title, "group"))
        for bar in row.bars:
            y += ROW
            parts += _figure(bar, y)
        y += ROW + 8
    if view.overall:
        parts += _axis(axis, view.baseline, top, height - 52)
        parts.append(_text(MARGIN, top + 19, "Overall", "group"))
        for number, ratio in enumerate(view.overall, 1):
            parts += _row(ratio, axis, top + ROW * number + ROW / 2)
    parts += [_text(MARGIN, height - 16, f"{view.axis_note}. Drawn by fswizard.", "dim"), "</svg>"]
    return "\n".join(parts) + "\n"


def _figure(bar: Bar, y: float) -> Iterator[str]:
    """What one candidate reached, in its unit and colour."""
    yield _text(MARGIN + 12, y + 19, bar.title, room=LEFT - MARGIN - 18)
    if not bar.figure:
        yield _text(LEFT + 4, y + 19, bar.remark, "bad", room=WIDTH - LEFT)
        return
    length = max(2.0, bar.length * (RIGHT - LEFT))
    yield f'<rect class="fs-{bar.kind}" x="{LEFT}" y="{y + 6}" width="{length:.1f}" height="{ROW - 10}"/>'
    yield _text(RIGHT + 94, y + 19, bar.figure, anchor="end", room=94)
    yield _text(RIGHT + 106, y + 19, bar.remark, "bad", room=WIDTH - RIGHT - 106)


def _axis(axis: Axis, baseline: str, top: float, bottom: float) -> Iterator[str]:
    left, right = (_x(axis, ratio) for ratio in (1 / TIE, TIE))
    yield f'<rect class="near" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{bottom - top}"/>'
    for number, (ratio, _, words) in enumerate(axis.labels(baseline, (RIGHT - LEFT) // 7)):
        x = _x(axis, ratio)
        line, label = ("grid", "dim") if number else ("one", "group")
        yield f'<line class="{line}" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
        yield _text(x, top - 8, words, label, anchor="middle")
    yield _text(LEFT, bottom + 16, "slower", "dim")
    yield _text(RIGHT, bottom + 16, "faster", "dim", anchor="end")


def _row(ratio: Ratio, axis: Axis, y: float) -> Iterator[str]:
    yield _text(MARGIN + 12, y + 4, ratio.candidate, room=LEFT - MARGIN - 18)
    tone = SIGNS[ratio.verdict].tone
    if ratio.verdict == "failed":
        yield _text(LEFT + 4, y + 4, ratio.why, tone, room=WIDTH - LEFT)
        return
    if ratio.low is not None and ratio.high is not None:
        low, high = (_x(axis, bound) for bound in (ratio.low, ratio.high))
        yield f'<line class="range {tone}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
    yield _marker(ratio, _x(axis, ratio.ratio), y)
    yield _text(RIGHT + 58, y + 4, ratio_text(ratio.ratio), anchor="end")
    yield _text(RIGHT + 70, y + 4, ratio.interval(), "dim")
    yield _text(WIDTH - MARGIN, y + 4, ratio.verdict, tone, anchor="end")


def _marker(ratio: Ratio, x: float, y: float) -> str:
    """A shape for each verdict, so that nobody needs the colours."""
    points = {
        "faster": [(x - 5, y - 6), (x + 7, y), (x - 5, y + 6)],
        "slower": [(x + 5, y - 6), (x - 7, y), (x + 5, y + 6)],
        "beaten": [(x - 6, y - 5), (x + 6, y - 5), (x, y + 7)],
        "tie": [(x - 6, y), (x, y - 6), (x + 6, y), (x, y + 6)],
    }.get(ratio.verdict)
    tone = SIGNS[ratio.verdict].tone
    if points is None:
        return f'<circle class="{tone}" cx="{x:.1f}" cy="{y}" r="5"/>'
    return f'<polygon class="{tone}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>'


def _x(axis: Axis, ratio: float) -> float:
    return LEFT + (RIGHT - LEFT) * axis.place(ratio)


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", room: float = WIDTH) -> str:
    """`text` cut to `room`, at seven units a character."""
    longest = int(room / 7)
    shown = text if cells(text) <= longest else wrap(text, longest - 1)[0] + "…"
    attributes = f' class="{kind}"' * bool(kind) + f' text-anchor="{anchor}"' * (anchor != "start")
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(shown)}</text>'
