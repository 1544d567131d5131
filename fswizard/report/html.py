"""One page that needs nothing else: charts drawn in it, for screens, phones and paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from fswizard.language import _, chosen
from fswizard.model.analysis import LEVEL, SIGNS, Findings, Ratio
from fswizard.model.units import ratio_text
from fswizard.report.colours import as_preferred, fills, ink
from fswizard.report.document import Answer, Bar, Block, Bullets, Commands, Facts, Figures, Ratios, Table, Words
from fswizard.report.figures import Axis
from fswizard.report.presentation import DOUBTS, FAILED, SET_UP, document, present

_STYLE = Path(__file__).with_name("page.css")
FARTHEST_ROUND = 1.25
"""End of the scale, over the best median; better rounds stand at the edge."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(findings: Findings) -> str:
    view = present(findings)
    blocks = sorted(document(view), key=_place)
    body = "\n".join(part for part in map(_painted, blocks) if part)
    return (
        f'<!DOCTYPE html>\n<html lang="{chosen()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(view.title)}</title>\n<style>\n{as_preferred(_hues)}{_STYLE.read_text('utf-8')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _hues(dark: bool) -> str:
    variables = "; ".join(f"--{use}: {hue}" for use, hue in ink(dark=dark).items())
    return f":root {{ {variables} }}\n{fills(dark=dark)}"


def _place(block: Block) -> int:
    """Where a block stands on a page: doubts and failures below the figures, facts and commands at the end."""
    if isinstance(block, Bullets):
        return 1 if block.title in ("", _(DOUBTS), _(FAILED)) else 3
    if isinstance(block, Facts):
        return 4
    if isinstance(block, Commands):
        return 0 if block.title == _(SET_UP) else 5
    if isinstance(block, Words):
        return -1
    return 2 if isinstance(block, Ratios | Table) else 0


def _painted(block: Block) -> str:
    match block:
        case Answer():
            certainty = f'<p class="over">{escape(block.certainty)}</p>' if block.certainty else ""
            sign = f'<span class="{block.sign.tone}">{block.sign.glyph}</span>'
            head = f"<header><h1>{sign} {escape(block.verdict)}</h1>{certainty}</header>"
            return head + "".join(f"<p>{escape(line)}</p>" for line in block.lines)
        case Words():
            return "".join(f'<p class="over">{escape(text)}</p>' for text in block.paragraphs)
        case Facts():
            facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in block.rows)
            body = f"<dl>{facts}</dl>"
        case Figures():
            charts = "".join(_kept(title, "".join(_figures(bars))) for title, bars in block.charts)
            note = f'<p class="dim screen">{escape(block.note)}</p>' if block.note else ""
            caption = f'<p class="dim">{escape(block.caption)}</p>' if block.caption else ""
            body = f'{caption}<div class="charts">{charts}</div>{note}' if charts else ""
        case Ratios():
            body = _ratios(block)
        case Table():
            body = _table(block)
        case Bullets():
            items = "".join(f"<li>{escape(item)}</li>" for item in block.items)
            kind = ' class="failed"' if block.title == _(FAILED) else ""
            body = f"<ul{kind}>{items}</ul>" if items else ""
        case Commands():
            body = f"<pre>{escape(chr(10).join(block.commands))}</pre>" if block.commands else ""
    if not body:
        return ""
    heading = f"<h2>{escape(block.title)}</h2>" if block.title else ""
    if isinstance(block, Ratios | Commands) and block.folded:
        return f"<details><summary>{heading}</summary>{body}</details>"
    return f"<section>{heading}{body}</section>"


def _figures(bars: Sequence[Bar]) -> Iterator[str]:
    """Each candidate's figure, in its unit and colour, and those of each round."""
    scale = max([1.0, *(min(FARTHEST_ROUND, each.length) for bar in bars for each in bar.rounds)])
    for bar in bars:
        name = f'<span class="name">{escape(bar.title)}</span>'
        if not bar.figure:
            yield f'<div class="row">{name}<span class="why">{escape(bar.remark)}</span></div>'
            continue
        dots = "".join(f'<circle class="dot" cx="{min(1, each.length / scale):.2%}" cy="9"/>' for each in bar.rounds)
        length = f"{max(bar.length / scale, 0.003):.2%}"
        rounds = "".join(f"<tr><th>{each.round}</th><td>{escape(each.figure)}</td></tr>" for each in bar.rounds)
        if rounds:
            caption = _("{candidate}, each round", candidate=bar.title)
            rounds = f'<table class="rounds"><caption>{escape(caption)}</caption>{rounds}</table>'
        tone = SIGNS[bar.verdict].tone
        unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
        yield (
            f'<div class="row" tabindex="0">{name}<span class="bar"><svg height="18" aria-hidden="true">'
            f'<rect class="fs-{bar.kind}" height="18" rx="2" width="{length}"{unproven}/>{dots}</svg></span>'
            f'<span class="value">{escape(bar.figure)}</span><span class="verdict {tone}">{escape(bar.remark)}</span>'
            f"{rounds}</div>"
        )


def _kept(title: str, chart: str) -> str:
    """A chart under its title, on one page of paper."""
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    return f'<div class="keep">{heading}{chart}</div>'


def _ratios(block: Ratios) -> str:
    axis = Axis.around(ratio for _, ratios in block.groups for ratio in ratios)
    charts = (_kept(title, _chart(ratios, axis, block.baseline)) for title, ratios in block.groups if ratios)
    body = "".join(charts)
    return f'<p class="dim">{escape(block.note)}.</p>{body}' if block.note and body else body


def _chart(ratios: Iterable[Ratio], axis: Axis, baseline: str) -> str:
    labels = "".join(
        f'<text class="{"" if number else "base"}" x="{axis.place(ratio):.2%}" y="14">{escape(words)}</text>'
        for number, (ratio, _, words) in enumerate(axis.labels(baseline, 40))  # characters, on a phone
    )
    above = f'<span class="name"></span><span class="bar"><svg height="18">{labels}</svg></span>'
    rows = "".join(_bar_row(ratio, axis) for ratio in ratios)
    return f'<div class="row axis">{above}</div>{rows}'


def _bar_row(ratio: Ratio, axis: Axis) -> str:
    name = f'<span class="name">{escape(ratio.candidate)}</span>'
    if ratio.verdict == "failed":
        return f'<div class="row">{name}<span class="why">{escape(ratio.why)}</span></div>'
    sign = SIGNS[ratio.verdict]
    interval = f' <span class="dim">{escape(ratio.interval())}</span>' if ratio.interval() else ""
    return (
        f'<div class="row">{name}<span class="bar">{_bar(ratio, axis)}</span>'
        f'<span class="value">{ratio_text(ratio.ratio)}{interval}</span>'
        f'<span class="verdict {sign.tone}">{sign.glyph} {escape(_(sign.word))}</span></div>'
    )


def _bar(ratio: Ratio, axis: Axis) -> str:
    """A ratio around 1, in percentages, so that it fits any screen."""
    near, one = axis.place(1 / LEVEL), axis.place(1.0)
    parts = [
        f'<rect class="near" x="{near:.2%}" width="{axis.place(LEVEL) - near:.2%}" height="24"/>',
        f'<line class="one" x1="{one:.2%}" x2="{one:.2%}" y1="0" y2="24"/>',
    ]
    tone = SIGNS[ratio.verdict].tone
    if ratio.low is not None and ratio.high is not None:
        low, high = axis.place(ratio.low), axis.place(ratio.high)
        parts.append(f'<line class="range {tone}" x1="{low:.2%}" x2="{high:.2%}" y1="12" y2="12"/>')
    parts.append(f'<circle class="{tone}" cx="{axis.place(ratio.ratio):.2%}" cy="12" r="5"/>')
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
