"""One page that needs nothing else: charts drawn in it, for screens, phones and paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from fswizard.model.analysis import SIGNS, TIE, Findings, Ratio
from fswizard.model.units import ratio_text
from fswizard.report.colours import as_preferred, fills, ink
from fswizard.report.figures import Axis
from fswizard.report.presentation import LEGEND, SET_UP, Bar, Presentation, Row, present

_STYLE = Path(__file__).with_name("page.css")
EACH_ROUND = "Dots are single rounds; point at a bar or tap on it to see their figures."
FARTHEST_ROUND = 1.25
"""End of the scale, over the best median; better rounds stand at the edge."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(findings: Findings) -> str:
    view = present(findings)
    body = "\n".join(part for part in _parts(view) if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(view.title)}</title>\n<style>\n{as_preferred(_hues)}{_STYLE.read_text('utf-8')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _hues(dark: bool) -> str:
    variables = "; ".join(f"--{use}: {hue}" for use, hue in ink(dark=dark).items())
    return f":root {{ {variables} }}\n{fills(dark=dark)}"


def _parts(view: Presentation) -> Iterator[str]:
    card = view.card
    certainty = f'<p class="over">{escape(card.certainty)}</p>' if card.certainty else ""
    yield f'<header><p class="over">{escape(view.title)}</p><h1>{escape(card.verdict)}</h1>{certainty}</header>'
    yield "".join(f"<p>{escape(line)}</p>" for line in view.below)
    yield _section(SET_UP, _commands(card.commands))
    charts = "".join(map(_figures, view.rows))
    hint = f'<p class="dim screen">{EACH_ROUND}</p>' if any(bar.rounds for row in view.rows for bar in row.bars) else ""
    yield _section("Measured", f'<div class="charts">{charts}</div>{hint}' if charts else "")
    yield _list((reason.text for reason in view.reasons), "reasons")
    lists = dict(view.lists)
    for title in ("Doubts", "Failed"):
        yield _section(title, _list(lists.pop(title, ()), title.casefold()))
    note = f'<p class="dim">{escape(view.axis_note)}.</p>'
    chart = _chart(view.overall, Axis.around(view.overall), view.baseline)
    yield _section("Overall", note + chart if view.overall else "")
    yield _folded("Overall, by workload", "".join(_by_workload(view)))
    yield _section("Figures", _figures_table(view))
    for title, items in lists.items():
        yield _section(title, _list(items))
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in view.facts)
    yield _section("How it was measured", f"<dl>{facts}</dl>")
    for title, commands in view.commands.items():
        yield (_section if len(commands) == 1 else _folded)(title, _commands(commands))


def _figures(row: Row) -> str:
    """Each candidate's figure, in its unit and colour, and those of each round."""
    scale = max([1.0, *(min(FARTHEST_ROUND, each.length) for bar in row.bars for each in bar.rounds)])
    rows = "".join(_figure(bar, scale) for bar in row.bars)
    return _kept(row.title, "", rows) if rows else ""


def _figure(bar: Bar, scale: float) -> str:
    name = f'<span class="name">{escape(bar.title)}</span>'
    if not bar.figure:
        return f'<div class="row">{name}<span class="why">{escape(bar.remark)}</span></div>'
    dots = "".join(f'<circle class="dot" cx="{min(1, each.length / scale):.2%}" cy="9"/>' for each in bar.rounds)
    length = f"{max(bar.length / scale, 0.003):.2%}"
    rounds = "".join(f"<tr><th>{each.round}</th><td>{escape(each.figure)}</td></tr>" for each in bar.rounds)
    if rounds:
        rounds = f'<table class="rounds"><caption>{escape(bar.title)}, each round</caption>{rounds}</table>'
    return (
        f'<div class="row" tabindex="0">{name}<span class="bar"><svg height="18" aria-hidden="true">'
        f'<rect class="fs-{bar.kind}" height="18" rx="2" width="{length}"/>{dots}</svg></span>'
        f'<span class="value">{escape(bar.figure)}</span><span class="verdict bad">{escape(bar.remark)}</span>'
        f"{rounds}</div>"
    )


def _by_workload(view: Presentation) -> Iterator[str]:
    axis = Axis.around(ratio for row in view.rows for ratio in row.ratios.values())
    for row in view.rows:
        ratios = [row.ratios[name] for name in view.candidates if name in row.ratios]
        if ratios:
            own = row.figures.get(view.baseline, "")
            notes = (
                f"weight {row.weight:g}",
                f"{view.baseline}: {own}" if own else "",
                f"{view.share_title}: {row.share_words}" if row.share else "",
            )
            yield _kept(row.title, ", ".join(filter(None, notes)), _chart(ratios, axis, view.baseline))


def _kept(title: str, note: str, chart: str) -> str:
    """A chart under its title, on one page of paper."""
    return f'<div class="keep"><h3>{escape(title)} <span class="dim">{escape(note)}</span></h3>{chart}</div>'


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
        f'<span class="verdict {sign.tone}">{sign.glyph} {ratio.verdict}</span></div>'
    )


def _bar(ratio: Ratio, axis: Axis) -> str:
    """A ratio around 1, in percentages, so that it fits any screen."""
    near, one = axis.place(1 / TIE), axis.place(1.0)
    parts = [
        f'<rect class="near" x="{near:.2%}" width="{axis.place(TIE) - near:.2%}" height="24"/>',
        f'<line class="one" x1="{one:.2%}" x2="{one:.2%}" y1="0" y2="24"/>',
    ]
    tone = SIGNS[ratio.verdict].tone
    if ratio.low is not None and ratio.high is not None:
        low, high = axis.place(ratio.low), axis.place(ratio.high)
        parts.append(f'<line class="range {tone}" x1="{low:.2%}" x2="{high:.2%}" y1="12" y2="12"/>')
    parts.append(f'<circle class="{tone}" cx="{axis.place(ratio.ratio):.2%}" cy="12" r="5"/>')
    return f'<svg height="24" aria-hidden="true">{"".join(parts)}</svg>'


def _figures_table(view: Presentation) -> str:
    names = view.measured_candidates
    if not names:
        return ""
    lines = [_line("th", "", map(escape, names))]
    for row in view.rows:
        below = {name: f"<small>{escape(row.cell(name))}</small>" for name in row.ratios}
        cells = (escape(row.figures.get(name, "–")) + below.get(name, "") for name in names)
        lines.append(_line("td", row.title, cells))
    for title, *figures in view.also_measured.rows:
        lines.append(_line("td", title, map(escape, figures), "extra"))
    note = f"Medians, with the ratio and half its interval below. {LEGEND.replace('  ', ', ')}."
    table = f"<table><thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody></table>"
    return f'<div class="wide">{table}</div><p class="dim">{escape(note)}</p>'


def _line(tag: str, title: str, cells: Iterable[str], kind: str = "") -> str:
    row = "".join(f"<{tag}>{cell}</{tag}>" for cell in cells)
    return f'<tr class="{kind}"><th>{escape(title)}</th>{row}</tr>'


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>" if body else ""


def _folded(title: str, body: str) -> str:
    """A section that opens on demand, and is not printed."""
    return f"<details><summary><h2>{title}</h2></summary>{body}</details>" if body else ""


def _commands(commands: Iterable[str]) -> str:
    return f"<pre>{escape(chr(10).join(commands))}</pre>" if commands else ""


def _list(items: Iterable[str], kind: str = "") -> str:
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<ul class="{kind}">{lines}</ul>' if lines else ""
