"""One page that needs nothing else: charts drawn in it, for screens, phones and paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from fswizard.language import _, chosen
from fswizard.model.analysis import LEVEL, SIGNS, Answer, Findings, Ratio
from fswizard.model.units import ratio_text
from fswizard.report import content
from fswizard.report.axis import Axis
from fswizard.report.blocks import (
    Bar,
    Block,
    Bullets,
    Commands,
    Facts,
    Figures,
    Paragraph,
    RatioRow,
    Ratios,
    Table,
)
from fswizard.report.colours import as_preferred, fills, ink

_STYLE = Path(__file__).with_name("page.css")
FARTHEST_ROUND = 1.25
"""End of the scale, over the best median; better rounds stand at the edge."""
LONGEST_LABEL = 13
"""Characters of the baseline's name above the axis."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(findings: Findings) -> str:
    title = content.subject(findings)
    body = "\n".join(filter(None, map(_painted, content.full(findings))))
    return (
        f'<!DOCTYPE html>\n<html lang="{chosen()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>\n{as_preferred(_hues)}{_STYLE.read_text('utf-8')}</style>\n</head>\n"
        f'<body>\n<main>\n<p class="over">{escape(title)}</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _hues(dark: bool) -> str:
    variables = "; ".join(f"--{use}: {hue}" for use, hue in ink(dark=dark).items())
    return f":root {{ {variables} }}\n{fills(dark=dark)}"


def _painted(block: Block) -> str:
    title, body = "", ""
    match block:
        case Answer():
            certainty = f'<p class="over">{escape(block.certainty)}</p>' if block.certainty else ""
            sign = f'<span class="{block.sign.tone}">{block.sign.glyph}</span>'
            head = f"<header><h1>{sign} {escape(block.verdict)}</h1>{certainty}</header>"
            return head + "".join(f"<p>{escape(line)}</p>" for line in block.lines)
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Facts():
            title = block.title
            facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in block.rows)
            body = f"<dl>{facts}</dl>"
        case Figures() if block.charts:
            title = block.title
            charts = "".join(_unbroken(chart.title, "".join(_bars(chart.bars))) for chart in block.charts)
            note = f'<p class="dim screen">{escape(block.note)}</p>' if block.note else ""
            body = f'<p class="dim">{escape(block.caption)}</p><div class="charts">{charts}</div>{note}'
        case Ratios() if block.rows:
            return _ratios(block)
        case Table() if block.rows:
            body = _table(block)
        case Bullets() if block.items:
            title = block.title
            kind = ' class="failed"' if title == _(content.FAILED) else ""
            items = "".join(f"<li>{escape(item)}</li>" for item in block.items)
            body = f"<ul{kind}>{items}</ul>"
        case Commands() if block.commands:
            title = block.title
            body = f"<pre>{escape(chr(10).join(block.commands))}</pre>"
            if block.folded:
                return f"<details><summary><h2>{escape(title)}</h2></summary>{body}</details>"
    if not body:
        return ""
    heading = f"<h2>{escape(title)}</h2>" if title else ""
    return f"<section>{heading}{body}</section>"


def _bars(bars: Sequence[Bar]) -> Iterator[str]:
    """Each candidate's figure, in its unit and colour, and those of each round."""
    scale = max([1.0, *(min(FARTHEST_ROUND, each.length) for bar in bars for each in bar.rounds)])
    for bar in bars:
        name = f'<span class="name">{escape(bar.title)}</span>'
        if not bar.figure:
            yield f'<div class="row">{name}<span class="why">{escape(bar.remark)}</span></div>'
            continue
        dots = "".join(f'<circle class="dot" cx="{min(1, each.length / scale):.2%}" cy="9"/>' for each in bar.rounds)
        width = f"{max(bar.length / scale, 0.003):.2%}"
        rounds = "".join(f"<tr><th>{each.round}</th><td>{escape(each.figure)}</td></tr>" for each in bar.rounds)
        if rounds:
            caption = _("{candidate}, each round", candidate=bar.title)
            rounds = f'<table class="rounds"><caption>{escape(caption)}</caption>{rounds}</table>'
        unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
        yield (
            f'<div class="row" tabindex="0">{name}<span class="bar"><svg height="18" aria-hidden="true">'
            f'<rect class="fs-{bar.kind}" height="18" rx="2" width="{width}"{unproven}/>{dots}</svg></span>'
            f'<span class="value">{escape(bar.figure)}</span>'
            f'<span class="verdict {SIGNS[bar.verdict].tone}">{escape(bar.remark)}</span>{rounds}</div>'
        )


def _unbroken(title: str, chart: str) -> str:
    """A chart under its title, on one page of paper."""
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    return f'<div class="keep">{heading}{chart}</div>'


def _ratios(block: Ratios) -> str:
    """Overall ratios as bars with intervals, those by workload folded, and all of them as a table."""
    first, *rest = block.rows
    axis = Axis.around(ratio for row in rest for ratio in row.ratios if ratio)
    overall = "".join(_ratio_bars(first, Axis.around(ratio for ratio in first.ratios if ratio), block))
    charts = "".join(_unbroken(row.title, "".join(_ratio_bars(row, axis, block))) for row in rest)
    note = f'<p class="dim">{escape(block.notes[0])}</p>'
    folded = escape(_("Overall, by workload"))
    return (
        f"<section><h2>{escape(first.title)}</h2>{note}{_unbroken('', overall)}</section>"
        f"<details><summary><h2>{folded}</h2></summary>{charts}</details><section>{_table(block.table)}</section>"
    )


def _ratio_bars(row: RatioRow, axis: Axis, block: Ratios) -> Iterator[str]:
    """An axis with the baseline's name at 1, and a bar for each candidate."""
    name = block.baseline
    if len(name) > LONGEST_LABEL:
        name = f"{name[: LONGEST_LABEL - 1]}…"
    labels = f'<text class="base" x="{axis.position(1.0):.2%}" y="14">{escape(name)}</text>'
    labels += "".join(f'<text x="{axis.position(tick):.2%}" y="14">{tick:g}</text>' for tick in axis.ticks(name))
    yield (
        '<div class="row axis"><span class="name"></span>'
        f'<span class="bar"><svg height="18">{labels}</svg></span></div>'
    )
    for title, ratio in zip(block.candidates, row.ratios):
        if ratio is None:
            continue
        name, sign = f'<span class="name">{escape(title)}</span>', SIGNS[ratio.verdict]
        if ratio.verdict == "failed":
            yield f'<div class="row">{name}<span class="why">{escape(ratio.why)}</span></div>'
            continue
        yield (
            f'<div class="row">{name}<span class="bar">{_interval(ratio, axis)}</span>'
            f'<span class="value">{ratio_text(ratio.ratio)} <span class="dim">{ratio.interval()}</span></span>'
            f'<span class="verdict {sign.tone}">{sign.glyph} {escape(_(sign.word))}</span></div>'
        )


def _interval(ratio: Ratio, axis: Axis) -> str:
    """A ratio around 1, in percentages, so that it fits any screen."""
    near, one = axis.position(1 / LEVEL), axis.position(1.0)
    parts = [
        f'<rect class="near" x="{near:.2%}" width="{axis.position(LEVEL) - near:.2%}" height="24"/>',
        f'<line class="one" x1="{one:.2%}" x2="{one:.2%}" y1="0" y2="24"/>',
    ]
    tone = SIGNS[ratio.verdict].tone
    if ratio.low is not None and ratio.high is not None:
        low, high = axis.position(ratio.low), axis.position(ratio.high)
        parts.append(f'<line class="range {tone}" x1="{low:.2%}" x2="{high:.2%}" y1="12" y2="12"/>')
    parts.append(f'<circle class="{tone}" cx="{axis.position(ratio.ratio):.2%}" cy="12" r="5"/>')
    return f'<svg height="24" aria-hidden="true">{"".join(parts)}</svg>'


def _table(block: Table) -> str:
    if not block.rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in block.header)
    lines = (
        f"<tr><th>{escape(title)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for title, *cells in block.rows
    )
    notes = "".join(f'<p class="dim">{escape(note)}</p>' for note in block.notes)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>{notes}'
    )
