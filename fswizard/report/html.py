"""One page that needs nothing else: charts drawn in it, for screens, phones and paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from fswizard.language import _, chosen
from fswizard.model.analysis import SIGNS, Answer, Findings
from fswizard.model.units import ratio_text
from fswizard.report import content
from fswizard.report.blocks import Bar, Block, Bullets, Chart, Commands, Facts, Figures, Ratios, Table
from fswizard.report.colours import as_preferred, fills, ink

_STYLE = Path(__file__).with_name("page.css")
FARTHEST_ROUND = 1.25
"""End of the scale, over the best median; better rounds stand at the edge."""
NARROWEST, WIDEST = math.log(1.13), math.log(1000)
"""Least and greatest logarithm at the ends of the axis of ratios."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(findings: Findings) -> str:
    title = escape(content.subject(findings))
    body = "\n".join(filter(None, map(_painted, content.full(findings))))
    return (
        f'<!DOCTYPE html>\n<html lang="{chosen()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>\n{as_preferred(_hues)}{_STYLE.read_text('utf-8')}</style>\n</head>\n"
        f'<body>\n<main>\n<p class="over">{title}</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _hues(dark: bool) -> str:
    variables = "; ".join(f"--{use}: {hue}" for use, hue in ink(dark=dark).items())
    return f":root {{ {variables} }}\n{fills(dark=dark)}"


def _painted(block: Block) -> str:
    title, body = "", ""
    match block:
        case Answer():
            sign = f'<span class="{block.sign.tone}">{block.sign.glyph}</span>'
            head = f"<h1>{sign} {escape(block.verdict)}</h1>{_each('p', [block.certainty], 'over')}"
            return f"<header>{head}</header>{_each('p', block.lines)}"
        case Facts():
            title = block.title
            facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in block.rows)
            body = f"<dl>{facts}</dl>"
        case Figures() if block.charts:
            title = block.title
            charts = "".join(map(_chart, block.charts))
            note = _each("p", [block.note], "dim screen")
            body = f'{_each("p", [block.caption], "dim")}<div class="charts">{charts}</div>{note}'
        case Ratios() if block.table.rows:
            title = block.title
            shown = "".join(_intervals(block))
            body = f'<div class="keep">{shown}</div>{_table(block.table)}'
        case Table() if block.rows:
            body = _table(block)
        case Bullets() if block.items:
            title = block.title
            body = f"<ul>{_each('li', block.items)}</ul>"
        case Commands() if block.commands:
            title = block.title
            body = f"<pre>{escape(chr(10).join(block.commands))}</pre>"
            if block.folded:
                return f"<details><summary><h2>{escape(title)}</h2></summary>{body}</details>"
    heading = _each("h2", [title])
    return f"<section>{heading}{body}</section>" if body else ""


def _each(tag: str, texts: Iterable[str], kind: str = "") -> str:
    """An element for each non-empty text."""
    attribute = f' class="{kind}"' if kind else ""
    return "".join(f"<{tag}{attribute}>{escape(text)}</{tag}>" for text in texts if text)


def _chart(chart: Chart) -> str:
    """Each candidate's figure, in its unit and colour, and those of each round, on one page of paper."""
    lengths = [length for bar in chart.bars for _figure, length in bar.rounds]
    scale = min(FARTHEST_ROUND, max([1.0, *lengths]))
    rows = "".join(_bar(bar, scale) for bar in chart.bars)
    return f'<div class="keep"><h3>{escape(chart.title)}</h3>{rows}</div>'


def _bar(bar: Bar, scale: float) -> str:
    name = f'<span class="name">{escape(bar.title)}</span>'
    if not bar.figure:
        return f'<div class="row">{name}<span class="why">{escape(bar.remark)}</span></div>'
    dots = "".join(
        f'<circle class="dot" cx="{min(1, length / scale):.2%}" cy="9"><title>{escape(figure)}</title></circle>'
        for figure, length in bar.rounds
    )
    width = f"{max(bar.length / scale, 0.003):.2%}"
    unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
    return (
        f'<div class="row">{name}<span class="bar"><svg height="18" aria-hidden="true">'
        f'<rect class="fs-{bar.kind}" height="18" rx="2" width="{width}"{unproven}/>{dots}</svg></span>'
        f'<span class="value">{escape(bar.figure)}</span>'
        f'<span class="verdict {SIGNS[bar.verdict].tone}">{escape(bar.remark)}</span></div>'
    )


def _intervals(block: Ratios) -> Iterator[str]:
    """Overall ratios on a logarithmic axis, with the baseline in its middle."""
    known = [ratio for _title, ratio in block.overall if ratio.verdict != "failed"]
    bounds = [bound for ratio in known for bound in (ratio.low, ratio.ratio, ratio.high) if bound]
    end = min(WIDEST, max([NARROWEST, *(abs(math.log(bound)) for bound in bounds)]))

    def at(ratio: float) -> str:
        return f"{max(0.0, min(1.0, 0.5 + math.log(ratio) / end / 2)):.2%}"

    ends = (f'<text x="{at(tick)}" y="14">{ratio_text(tick)}</text>' for tick in (math.exp(-end), math.exp(end)))
    labels = f'<text class="base" x="50%" y="14">{escape(block.baseline)}</text>{"".join(ends)}'
    yield (
        '<div class="row axis"><span class="name"></span>'
        f'<span class="bar"><svg height="18">{labels}</svg></span></div>'
    )
    for title, ratio in block.overall:
        name, sign = f'<span class="name">{escape(title)}</span>', SIGNS[ratio.verdict]
        if ratio.verdict == "failed":
            yield f'<div class="row">{name}<span class="why">{escape(ratio.why)}</span></div>'
            continue
        one = '<line class="one" x1="50%" x2="50%" y1="0" y2="24"/>'
        span = ""
        if ratio.low and ratio.high:
            span = f'<line class="range {sign.tone}" x1="{at(ratio.low)}" x2="{at(ratio.high)}" y1="12" y2="12"/>'
        point = f'<circle class="{sign.tone}" cx="{at(ratio.ratio)}" cy="12" r="5"/>'
        yield (
            f'<div class="row">{name}<span class="bar"><svg height="24" aria-hidden="true">'
            f"{one}{span}{point}</svg></span>"
            f'<span class="value">{ratio_text(ratio.ratio)} <span class="dim">{ratio.interval()}</span></span>'
            f'<span class="verdict {sign.tone}">{sign.glyph} {escape(_(sign.word))}</span></div>'
        )


def _table(block: Table) -> str:
    rows = ""
    for title, *cells in block.rows:
        rows += f"<tr><th>{escape(title)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    head = "".join(f"<th>{escape(cell)}</th>" for cell in block.header)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide">{table}</div>{_each("p", block.notes, "dim")}'
