"""The card as a picture in a size for forums and chats: answer, figures as bars, and how to try it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fswizard.language import _, chosen, n_
from fswizard.model.analysis import SIGNS, Findings, Tone
from fswizard.model.drive import DRIVE_KINDS, Drive
from fswizard.model.text import cells
from fswizard.model.units import size_text
from fswizard.report import content
from fswizard.report.blocks import Chart
from fswizard.report.colours import as_preferred, fills, ink, key_of
from fswizard.report.layout import wrap
from fswizard.report.subject import attempt_command

WIDTH, HEIGHT = 1200, 630
MARGIN = 56
INNER = WIDTH - 2 * MARGIN
GUTTER = 48
"""Distance between two columns of bars."""
FOOT = HEIGHT - 104
"""Top of the command and the program's name."""
LARGEST, SMALLEST = 40.0, 24.0
"""Limits of the bars' pitch: text beside smaller ones can't be read where a forum shows the card at half its size."""
GAP, SIZE = 0.6, 0.66
"""Distance between two workloads, and size of text, in pitches."""
SMALLEST_COMMAND = 12.0
MOST_BARS = 6
MOST_LINES = 7
"""Below the verdict."""
LONGEST_IN_TWO = 22
"""Characters of the longest title in two columns of bars."""
FONTS = "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic', 'IPAGothic'"
"""With Japanese signs, which the ones before them may not have."""
SHORTEST_BAR = 0.18
"""Share of a column that the best bar has at least."""
REGULAR, BOLD, FIXED = 0.57, 0.64, 0.61
"""Width of a character over the font size, in wide fonts, as the viewer's fonts are unknown."""


def render(findings: Findings) -> str:
    """Light or dark, as the viewer prefers."""
    return _picture(findings, as_preferred(lambda dark: _style(dark=dark)))


def render_dark(findings: Findings) -> str:
    return _picture(findings, _style(dark=True))


def _style(*, dark: bool) -> str:
    hues = ink(dark=dark)
    return (
        f"text {{ font-family: system-ui, 'Segoe UI', 'DejaVu Sans', {FONTS}, sans-serif; fill: {hues['text']} }}\n"
        f".ground {{ fill: {hues['ground']} }}\n.soft {{ fill: {hues['soft']} }}\n.strong {{ font-weight: bold }}\n"
        f"text.fixed {{ font-family: ui-monospace, 'DejaVu Sans Mono', {FONTS}, monospace }}\n"
        + "".join(f".{use} {{ fill: {hues[use]} }}\n" for use in ("dim", "good", "bad", "even", "muted", "warning"))
        + fills(dark=dark)
    )


def _picture(findings: Findings, style: str) -> str:
    head, top = _head(findings)
    charts = content.figures(findings).charts
    pitches = _most_bars(charts) + 1 + GAP
    deep = max(1, int(((FOOT - top) / SMALLEST + GAP) / pitches))
    longest = max((cells(bar.title) for chart in charts for bar in chart.bars), default=0)
    columns = 1 if len(charts) <= deep or longest > LONGEST_IN_TWO else 2
    selected = content.highlights(charts, deep * columns)
    kind = key_of(findings.result.plan.candidate(findings.first).filesystem.name)
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'lang="{chosen()}" role="img" aria-label="{escape(findings.answer.verdict)}">',
        f"<title>{escape(content.subject(findings))}</title>",
        f"<style>\n{style}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<rect class="fs-{kind}" width="14" height="{HEIGHT}"/>',
        *head,
        *(_charts(selected, columns, top) if selected else ()),
        *_foot(findings, content.selection(selected, charts)),
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _head(findings: Findings) -> tuple[list[str], float]:
    """Disk and how it records, recipe, verdict and the lines below it, and where they end."""
    answer, plan = findings.answer, findings.result.plan
    y, tone = 62.0, answer.sign.tone
    if plan.drive and plan.drive.model:
        model = plan.drive.model
        parts = [_text(MARGIN, y, model, _fitting(model, INNER, 18, 32, BOLD), "strong", room=INNER)]
        y += 32
        capacity = size_text(plan.drive.size_bytes) if plan.drive.size_bytes else ""
        about = ", ".join(filter(None, (_(plan.recipe.title), capacity, _(DRIVE_KINDS.get(plan.drive.kind, "")))))
        recording, recording_tone = _recording(plan.drive)
        coloured = _coloured(f"{recording} · {about}" if recording else about, recording, recording_tone)
        parts.append(f'<text class="dim" x="{MARGIN}" y="{y:.1f}" font-size="19">{coloured}</text>')
        y += 6
    else:
        subject = content.subject(findings)
        parts = [_text(MARGIN, y, subject, _fitting(subject, INNER, 15, 19), "dim", room=INNER)]
    y += 6

    verdict, certainty, below = f"{answer.sign.glyph} {answer.verdict}", answer.certainty, list(answer.lines)
    size, lines = _fitting(verdict, INNER, 0, 46, BOLD), [verdict]
    if size < 30:  # in two lines or more, which have room for its certainty
        verdict, certainty = answer.headline, ""
        for size in (40.0, 36.0, 32.0, 28.0, 24.0):
            lines = wrap(verdict, int(INNER / BOLD / size))
            if len(lines) <= 2:
                break
    for number, line in enumerate(lines):
        y += 1.2 * size
        parts.append(_text(MARGIN, y, line, size, "strong", colour=("" if number else answer.sign.glyph, tone)))
    y += 8
    if certainty:
        below[:1] = [" · ".join((certainty, *below[:1]))]
    room = MOST_LINES
    for number, line in enumerate(below):
        wrapped = wrap(line, int(INNER / REGULAR / 21))
        if len(wrapped) > room:  # a sentence is whole, or is not there
            continue
        room -= len(wrapped)
        for part in wrapped:
            y += 29
            parts.append(_text(MARGIN, y, part, 21, colour=("" if number else certainty, tone)))
    return parts, y + 26


def _recording(drive: Drive) -> tuple[str, Tone]:
    """How the disk records, or what it is instead of a hard disk, and the tone of that; empty where unknown."""
    verdict = drive.smr
    if verdict.kind == "unknown":
        return "", "muted"
    if verdict.kind == "not-a-hard-disk":
        return _(DRIVE_KINDS.get(drive.kind, "")), "even"
    return verdict.description(flash=drive.flash), "good" if verdict.kind == "cmr" else "bad"


def _most_bars(charts: Sequence[Chart]) -> int:
    return min(MOST_BARS, max((len(chart.bars) for chart in charts), default=0))


def _charts(charts: Sequence[Chart], columns: int, top: float) -> Iterator[str]:
    """Charts in one or two columns. All bars have the same scale; names are as wide as the longest."""
    deep, pitches = -(-len(charts) // columns), _most_bars(charts) + 1 + GAP
    width = (INNER - GUTTER * (columns - 1)) / columns
    drawn = [bar for chart in charts for bar in chart.bars[:MOST_BARS]]
    texts = [*zip(*((bar.title, bar.figure, bar.remark if bar.figure else "") for bar in drawn))]
    longest = [max(_width(text, SIZE) + GAP for text in column) for column in texts]
    pitch = min(LARGEST, (FOOT - top) / (deep * pitches - GAP), (1 - SHORTEST_BAR) * width / sum(longest))
    name, figure, remark = (each * pitch for each in longest)
    ends = (name, width - figure - remark, width - remark, width)
    for number, chart in enumerate(charts):
        column, row = divmod(number, deep)
        yield from _chart(chart, MARGIN + column * (width + GUTTER), top + row * pitch * pitches, ends, pitch)


def _chart(
    chart: Chart, left: float, top: float, ends: tuple[float, float, float, float], pitch: float
) -> Iterator[str]:
    """One workload: its title, and below it a bar for each candidate; `ends` are those of names, bars, figures and
    remarks."""
    size = min(22.0, SIZE * pitch)
    name, end, figure, remark = ends
    title, count = chart.title, len(chart.bars)
    if count > MOST_BARS:
        text = "{test} (best {shown} of {count})"
        title = n_(text, text, count, test=title, shown=MOST_BARS)
    yield _text(left, top + 0.72 * pitch, title, size, "strong", room=remark)
    for number, bar in enumerate(chart.bars[:MOST_BARS], 1):
        y = top + number * pitch
        line = y + 0.72 * pitch
        yield _text(left, line, bar.title, size, room=name)
        if not bar.figure:
            yield _text(left + name, line, bar.remark, size, "bad", room=remark - name)
            continue
        unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
        yield (
            f'<rect class="fs-{bar.kind}" x="{left + name:.1f}" y="{y + 0.12 * pitch:.1f}" rx="3" '
            f'width="{max(2.0, bar.length * (end - name)):.1f}" height="{0.72 * pitch:.1f}"{unproven}/>'
        )
        yield _text(left + figure, line, bar.figure, size, anchor="end")
        if bar.remark:
            yield _text(left + figure + GAP * pitch, line, bar.remark, size, SIGNS[bar.verdict].tone)


def _foot(findings: Findings, selection: str) -> Iterator[str]:
    """How to try it, and below that the selection of workloads, duration and program."""
    attempt, room = attempt_command(findings.result.plan), INNER - 32
    if attempt and _width(attempt, SMALLEST_COMMAND, FIXED) <= room:  # half a command is none
        size = _fitting(attempt, room, SMALLEST_COMMAND, 18, FIXED)
        yield f'<rect class="soft" x="{MARGIN}" y="{HEIGHT - 90}" width="{INNER}" height="42" rx="8"/>'
        yield _text(MARGIN + 16, HEIGHT - 63, attempt, size, "fixed")
    parts = (selection, content.length(findings), content.when(findings), "fswizard")
    yield _text(WIDTH - MARGIN, HEIGHT - 20, " · ".join(filter(None, parts)), 17, "dim", anchor="end")


def _fitting(text: str, room: float, smallest: float, largest: float, each: float = REGULAR) -> float:
    """The font size at which `text` fits into `room`, if there is one between those."""
    return max(smallest, min(largest, room / _width(text or " ", 1, each)))


def _width(text: str, size: float, each: float = REGULAR) -> float:
    """Largest width of a text, estimated without its font."""
    return cells(text) * each * size


def _coloured(text: str, part: str, tone: Tone) -> str:
    """`text` as markup, the first occurrence of `part` in the colour of `tone`."""
    if not part:
        return escape(text)
    before, __, after = text.partition(part)
    return f'{escape(before)}<tspan class="strong {tone}">{escape(part)}</tspan>{escape(after)}'


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    kind: str = "",
    *,
    anchor: str = "start",
    room: float = 0,
    colour: tuple[str, Tone] = ("", "muted"),
) -> str:
    """A text element, cut to the width `room` unless that is 0."""
    each = BOLD if kind == "strong" else REGULAR
    if room and _width(text, size, each) > room:
        while text and _width(f"{text}…", size, each) > room:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    attributes = f' class="{kind}"' if kind else ""
    if anchor != "start":
        attributes += f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}"{attributes}>{_coloured(text, *colour)}</text>'
