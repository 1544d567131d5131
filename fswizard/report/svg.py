"""The card as a picture in a size for forums and chats: answer, figures as bars, and how to try it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rich.cells import cell_len

from fswizard.language import chosen
from fswizard.model.analysis import SIGNS, Findings
from fswizard.report import content
from fswizard.report.blocks import Chart
from fswizard.report.colours import as_preferred, fills, ink, key_of
from fswizard.report.subject import attempt_command
from fswizard.report.text import wrap

WIDTH, HEIGHT = 1200, 630
MARGIN = 56
INNER = WIDTH - 2 * MARGIN
GUTTER = 48
"""Distance between two columns of charts."""
FOOT = HEIGHT - 96
"""Top of the command and the program's name."""
VERDICT, LINE, FIGURE = 36.0, 21.0, 17.0
"""Sizes of text: what is smaller can't be read where a forum shows the card at half its size."""
PITCH, GAP = 25.0, 12.0
"""Height of a bar with its distance to the next one, and distance between two charts."""
MOST_LINES = 6
"""Lines below the verdict."""
LONGEST_IN_TWO = 22
"""Characters of the longest title in two columns of charts."""
FONTS = "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic', 'IPAGothic'"
"""With Japanese signs, which the ones before them may not have."""
REGULAR, BOLD, FIXED = 0.57, 0.64, 0.61
"""Width of a character over the font size, in wide fonts, as the viewer's fonts are unknown."""


def render(findings: Findings) -> str:
    """Light or dark, as the viewer prefers."""
    return _picture(findings, as_preferred(_style))


def render_dark(findings: Findings) -> str:
    return _picture(findings, _style(True))


def _style(dark: bool) -> str:
    hues = ink(dark=dark)
    return (
        f"text {{ font-family: system-ui, 'Segoe UI', 'DejaVu Sans', {FONTS}, sans-serif; fill: {hues['text']} }}\n"
        f".ground {{ fill: {hues['ground']} }}\n.soft {{ fill: {hues['soft']} }}\n.strong {{ font-weight: bold }}\n"
        f"text.fixed {{ font-family: ui-monospace, 'DejaVu Sans Mono', {FONTS}, monospace }}\n"
        + "".join(f".{use} {{ fill: {hues[use]} }}\n" for use in ("dim", "good", "bad", "even", "muted", "warning"))
        + fills(dark=dark)
    )


def _picture(findings: Findings, style: str) -> str:
    plan, answer = findings.result.plan, findings.answer
    y = 54.0
    subject = content.subject(findings)
    parts = [_text(MARGIN, y, subject, LINE, "dim", room=INNER)]
    if plan.drive and plan.drive.smr.kind not in ("unknown", "not-a-hard-disk"):
        y += 28
        tone = "good" if plan.drive.smr.kind == "cmr" else "bad"
        parts.append(_text(MARGIN, y, plan.drive.smr.description(flash=plan.drive.flash), LINE, f"strong {tone}"))
    y += 10
    coloured = f'<tspan class="{answer.sign.tone}">{answer.sign.glyph}</tspan>'
    for number, line in enumerate(wrap(answer.headline, int(INNER / BOLD / VERDICT))):
        y += 1.2 * VERDICT
        element = _text(MARGIN, y, line, VERDICT, "strong")
        parts.append(element if number else element.replace(answer.sign.glyph, coloured, 1))
    y += 8
    room = MOST_LINES
    for sentence in answer.lines:
        wrapped = wrap(sentence, int(INNER / REGULAR / LINE))
        room -= len(wrapped)
        if room < 0:  # a sentence is whole, or is not there
            break
        for line in wrapped:
            y += 29
            parts.append(_text(MARGIN, y, line, LINE))

    top = y + 24
    charts = content.figures(findings).charts
    most = max((len(chart.bars) for chart in charts), default=0)
    deep = max(1, int((FOOT - top + GAP) / (PITCH * (most + 1) + GAP)))
    longest = max((cell_len(bar.title) for chart in charts for bar in chart.bars), default=0)
    columns = 1 if len(charts) <= deep or longest > LONGEST_IN_TWO else 2
    selected = content.highlights(charts, deep * columns)
    if selected:
        parts += _charts(selected, columns, top)

    command = attempt_command(plan)
    size = min(18.0, (INNER - 32) / (cell_len(command) or 1) / FIXED)
    if command and size >= 12:  # half a command is none
        parts.append(f'<rect class="soft" x="{MARGIN}" y="{HEIGHT - 90}" width="{INNER}" height="42" rx="8"/>')
        parts.append(_text(MARGIN + 16, HEIGHT - 63, command, size, "fixed"))
    about = " · ".join((*content.about(findings, selected, charts), "fswizard"))
    parts.append(_text(WIDTH - MARGIN, HEIGHT - 20, about, FIGURE, "dim", anchor="end"))

    kind = key_of(plan.candidate(findings.first).filesystem.name)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'lang="{chosen()}" role="img" aria-label="{escape(answer.verdict)}">',
        f"<title>{escape(subject)}</title>",
        f"<style>\n{style}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<rect class="fs-{kind}" width="14" height="{HEIGHT}"/>',
    )
    return "\n".join((*head, *parts, "</svg>")) + "\n"


def _charts(charts: Sequence[Chart], columns: int, top: float) -> Iterator[str]:
    """Charts in columns, each a title and a bar for each candidate, on the same scale."""
    deep = -(-len(charts) // columns)
    most = max(len(chart.bars) for chart in charts)
    fitting = int((FOOT - top) / PITCH) - 1
    width = (INNER - GUTTER * (columns - 1)) / columns
    bars = [bar for chart in charts for bar in chart.bars]
    widths = [*zip(*((_wide(bar.title), _wide(bar.figure), _wide(bar.remark) * bool(bar.figure)) for bar in bars))]
    name, figure, remark = (min(width / 2, max(column) + 10) for column in widths)
    longest = max(0.1 * width, width - name - figure - remark)
    for number, chart in enumerate(charts):
        column, row = divmod(number, deep)
        x, y = MARGIN + column * (width + GUTTER), top + row * (PITCH * (most + 1) + GAP)
        count = len(chart.bars)
        title = chart.title if count <= fitting else f"{chart.title} ({fitting}/{count})"
        yield _text(x, y + FIGURE, title, FIGURE, "strong", room=width)
        for bar in chart.bars[:fitting]:
            y += PITCH
            line = y + FIGURE
            yield _text(x, line, bar.title, FIGURE, room=name)
            if not bar.figure:
                yield _text(x + name, line, bar.remark, FIGURE, "bad", room=width - name)
                continue
            unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
            yield (
                f'<rect class="fs-{bar.kind}" x="{x + name:.1f}" y="{y + 2:.1f}" rx="3" '
                f'width="{max(2.0, bar.length * longest):.1f}" height="19"{unproven}/>'
            )
            end = x + name + longest + figure
            yield _text(end, line, bar.figure, FIGURE, anchor="end")
            yield _text(end + 10, line, bar.remark, FIGURE, SIGNS[bar.verdict].tone)


def _wide(text: str) -> float:
    """Largest width of a text next to a bar, estimated without its font."""
    return cell_len(text) * REGULAR * FIGURE


def _text(x: float, y: float, text: str, size: float, kind: str = "", *, anchor: str = "start", room: float = 0) -> str:
    """A text element, cut to the width `room` unless that is 0."""
    most = int(room / size / (BOLD if "strong" in kind else REGULAR))
    if room and cell_len(text) > most:
        while cell_len(text) >= most > 0:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}" class="{kind}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(text)}</text>"
