"""One page that needs nothing else: charts drawn in it, for screens, phones and paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from fswizard.model.judgement import TIE, Findings, Ratio
from fswizard.model.result import Result
from fswizard.report.arrays import WHEN_A_DISK_FAILS
from fswizard.report.content import LEGEND, PUBLISHED, Content, Row, gather
from fswizard.report.figures import Scale, figure, interval_text, ratio_text
from fswizard.report.layout import ratio_cell

_STYLE = Path(__file__).with_name("page.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(findings: Findings) -> str:
    content = gather(findings)
    body = "\n".join(part for part in _parts(content, findings.result) if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(content.title)}</title>\n<style>\n{_STYLE.read_text('utf-8')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _parts(content: Content, result: Result) -> Iterator[str]:
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in content.facts)
    yield f'<header><p class="over">{escape(content.title)}</p><h1>{escape(content.headline)}</h1></header>'
    yield _list(content.reasons, "reasons")
    yield _section("Doubts", _list((*content.doubts, *content.notes), "doubts"))
    yield _section("Failed", _list(content.failures, "failures"))
    yield _section("Overall", _overall(content))
    yield _section("By workload", "".join(_by_workload(content)))
    yield _section("Figures", _figures_table(content))
    yield _section("Every round", "".join(_rounds(content, result)))
    yield _section(PUBLISHED, _list(content.published, "published"))
    yield _section(WHEN_A_DISK_FAILS, _list(content.layouts, "layouts"))
    yield _section("How it was measured", f"<dl>{facts}</dl>")
    yield _section("Commands of the run", _pre(content.measured))
    yield _section("To use it", _pre(content.use))
    yield _section("To repeat it", _pre((content.repeat,) if content.repeat else ()))


def _overall(content: Content) -> str:
    if not content.overall:
        return ""
    scale = Scale.around(content.overall)
    return f'<p class="dim">{escape(content.axis_note)}.</p>' + _chart(content.overall, scale, content.baseline)


def _by_workload(content: Content) -> Iterator[str]:
    scale = Scale.around(ratio for row in content.rows for ratio in row.ratios.values())
    for row in content.rows:
        ratios = [row.ratios[name] for name in content.candidates if name in row.ratios]
        if ratios:
            own = row.figures.get(content.baseline, "")
            told = ", ".join(
                part
                for part in (
                    f"weight {row.weight:g}",
                    f"{content.baseline}: {own}" if own else "",
                    f"{content.first}: {row.share} of the bare device" if row.share else "",
                )
                if part
            )
            heading = f'<h3>{escape(row.title)} <span class="dim">{escape(told)}</span></h3>'
            yield f'<div class="keep">{heading}{_chart(ratios, scale, content.baseline)}</div>'


def _chart(ratios: Iterable[Ratio], scale: Scale, baseline: str) -> str:
    left, right = scale.ends
    axis = (
        f'<div class="row axis"><span class="name"></span><span class="bar"><i>{left}</i><b>{escape(baseline)}</b>'
        f'<i>{right}</i></span><span class="value"></span><span class="verdict"></span></div>'
    )
    return f'<div class="chart">{axis}{"".join(_bar_row(ratio, scale) for ratio in ratios)}</div>'


def _bar_row(ratio: Ratio, scale: Scale) -> str:
    name = f'<span class="name">{escape(ratio.candidate)}</span>'
    if ratio.verdict == "failed":
        text = f"failed: {ratio.text}" if ratio.text else "failed"
        return f'<div class="row">{name}<span class="why failed">{escape(text)}</span></div>'
    interval = f' <span class="dim">{interval_text(ratio)}</span>' if interval_text(ratio) else ""
    return (
        f'<div class="row">{name}<span class="bar">{_bar(ratio, scale)}</span>'
        f'<span class="value">{ratio_text(ratio.ratio)}{interval}</span>'
        f'<span class="verdict {ratio.verdict}">{ratio.verdict}</span></div>'
    )


def _bar(ratio: Ratio, scale: Scale) -> str:
    """A ratio around 1; places are percentages, so that it fits any screen."""
    near = _percent(scale.place(TIE)) - _percent(scale.place(1 / TIE))
    parts = [
        f'<rect class="near" x="{_percent(scale.place(1 / TIE)):.2f}%" width="{near:.2f}%" height="24"/>',
        '<line class="one" x1="50%" x2="50%" y1="0" y2="24"/>',
    ]
    if ratio.low is not None and ratio.high is not None:
        low, high = (_percent(scale.place(bound)) for bound in (ratio.low, ratio.high))
        parts.append(f'<line class="range {ratio.verdict}" x1="{low:.2f}%" x2="{high:.2f}%" y1="12" y2="12"/>')
    parts.append(f'<circle class="{ratio.verdict}" cx="{_percent(scale.place(ratio.ratio)):.2f}%" cy="12" r="5"/>')
    return f'<svg height="24" aria-hidden="true">{"".join(parts)}</svg>'


def _percent(place: float) -> float:
    return max(0.0, min(1.0, place)) * 100


def _figures_table(content: Content) -> str:
    names = content.measured_candidates
    if not names:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = []
    for row in content.rows:
        figures = "".join(f"<td>{escape(row.figures.get(name, '–'))}{_ratio_below(row, name)}</td>" for name in names)
        lines.append(f"<tr><th>{escape(row.title)}</th>{figures}</tr>")
    for extra in content.extras:
        figures = "".join(f"<td>{escape(extra.figures.get(name, '–'))}</td>" for name in names)
        lines.append(f'<tr class="extra"><th>{escape(extra.title)}</th>{figures}</tr>')
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    note = f"Medians, with the ratio and half its interval below. {LEGEND.replace('  ', ', ')}."
    return f'<div class="wide">{table}</div><p class="dim">{escape(note)}</p>'


def _ratio_below(row: Row, name: str) -> str:
    return f"<small>{escape(ratio_cell(row, name))}</small>" if name in row.ratios else ""


def _rounds(content: Content, result: Result) -> Iterator[str]:
    """Each figure of each round as a dot: what the ratios were made of."""
    workloads = {workload.name: workload for workload in result.plan.recipe.workloads}
    samples = [s for s in result.samples if s.status == "ok" and s.round not in result.discarded_rounds]
    for row in content.rows:
        metric = workloads[row.name].metric
        found = [s for s in samples if s.workload == row.name and s.metric == metric.name and s.candidate]
        if len({s.round for s in found}) < 2:
            continue
        low, high = min(s.value for s in found), max(s.value for s in found)
        lines = []
        for name in content.measured_candidates:
            values = [s.value for s in found if s.candidate == name]
            dots = "".join(f'<circle class="dot" cx="{_along(v, low, high):.2f}%" cy="10" r="4"/>' for v in values)
            if dots:
                lines.append(
                    f'<div class="row dots"><span class="name">{escape(name)}</span><span class="bar">'
                    f'<svg height="20" aria-hidden="true"><line class="grid" x1="0" x2="100%" y1="10" y2="10"/>'
                    f'{dots}</svg></span><span class="value">{escape(row.figures.get(name, ""))}</span></div>'
                )
        ends = f"from {figure(low, metric.unit)} to {figure(high, metric.unit)}, {metric.better} is better"
        heading = f'<h3>{escape(row.title)} <span class="dim">{escape(ends)}</span></h3>'
        yield f'<div class="keep">{heading}<div class="chart">{"".join(lines)}</div></div>'


def _along(value: float, low: float, high: float) -> float:
    """Place between the ends in percent, with room for the dots at both."""
    return 2 + 96 * (value - low) / (high - low) if high > low else 50.0


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>" if body else ""


def _list(items: Iterable[str], kind: str) -> str:
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<ul class="{kind}">{lines}</ul>' if lines else ""


def _pre(commands: Sequence[str]) -> str:
    return f"<pre>{escape(chr(10).join(commands))}</pre>" if commands else ""
