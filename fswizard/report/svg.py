"""The card as a picture in a size for forums and chats: answer, figures as bars, and how to try it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fswizard.language import chosen, n_
from fswizard.model.analysis import SIGNS, Findings
from fswizard.model.text import cells
from fswizard.report.colours import as_preferred, fills, ink, kind_of
from fswizard.report.layout import wrap
from fswizard.report.presentation import Presentation, Row, present

WIDTH, HEIGHT = 1200, 630
MARGIN = 56
INNER = WIDTH - 2 * MARGIN
GUTTER = 48
"""Distance between two columns of bars."""
FOOT = HEIGHT - 122
"""Top of the fixed figures, the command and the program's name."""
LARGEST, SMALLEST = 40.0, 24.0
"""Limits of the bars' pitch: text beside smaller ones can't be read where a forum shows the card at half its size."""
GAP, SIZE = 0.6, 0.66
"""Distance between two workloads, and size of text, in pitches."""
SMALLEST_COMMAND = 12.0
MOST_BARS = 6
MOST_LINES = 7
"""Below the verdict."""
FONTS = "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic', 'IPAGothic'"
"""With Japanese signs, which the ones before them may not have."""
SHORTEST_BAR = 0.18
"""Share of a column that the best bar has at least."""
REGULAR, BOLD, FIXED = 0.57, 0.64, 0.61
"""Width of a character over the font size, in wide fonts, as the viewer's fonts are unknown."""


def render(findings: Findings) -> str:
    """Light or dark, as the viewer prefers."""
    return _picture(present(findings), as_preferred(lambda dark: _style(dark=dark)))


def render_dark(findings: Findings) -> str:
    return _picture(present(findings), _style(dark=True))


def _style(*, dark: bool) -> str:
    hues = ink(dark=dark)
    return (
        f"text {{ font-family: system-ui, 'Segoe UI', 'DejaVu Sans', {FONTS}, sans-serif; fill: {hues['text']} }}\n"
        f".ground {{ fill: {hues['ground']} }}\n.soft {{ fill: {hues['soft']} }}\n.strong {{ font-weight: bold }}\n"
        f"text.fixed {{ font-family: ui-monospace, 'DejaVu Sans Mono', {FONTS}, monospace }}\n"
        + "".join(f".{use} {{ fill: {hues[use]} }}\n" for use in ("dim", "good", "bad", "even", "muted", "warning"))
        + fills(dark=dark)
    )


def _picture(view: Presentation, style: str) -> str:
    head, top = _head(view)
    deep = max(1, int(((FOOT - top) / SMALLEST + GAP) / (_most_bars(view.rows) + 1 + GAP)))
    rows = view.highlights(deep * _columns(view.rows, FOOT - top))
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'lang="{chosen()}" role="img" aria-label="{escape(view.answer.verdict)}">',
        f"<title>{escape(view.title)}</title>",
        f"<style>\n{style}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<rect class="fs-{kind_of(view.findings.result.plan, view.findings.first)}" width="14" height="{HEIGHT}"/>',
        *head,
        *_charts(rows, top),
        *_foot(view, view.selection(rows)),
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _head(view: Presentation) -> tuple[list[str], float]:
    """Disk and how it records, recipe, verdict and the lines below it, and where they end."""
    answer, y, plan = view.answer, 62.0, view.findings.result.plan
    if plan.drive and plan.drive.model:
        parts = [
            _text(MARGIN, y, plan.drive.model, _fitting(plan.drive.model, INNER, 18, 32, BOLD), "strong", room=INNER)
        ]
        y += 32
        parts.append(_recording(view, y))
        y += 6
    else:
        parts = [_text(MARGIN, y, view.subject, _fitting(view.subject, INNER, 15, 19), "dim", room=INNER)]
    y += 6
    verdict = f"{answer.sign.glyph} {answer.verdict}"
    fitting = _fitting(verdict, INNER, 0, 46, BOLD)
    size, lines, certainty = fitting, [verdict], answer.certainty
    if fitting < 30:  # in two lines, which have room for it
        verdict, certainty = ", ".join(filter(None, (verdict, certainty))), ""
        drawn = [(each, wrap(verdict, int(INNER / BOLD / each + 0.01))) for each in (40.0, 36.0, 32.0, 28.0)]
        size, (first, *rest) = next((each for each in drawn if len(each[1]) <= 2), drawn[-1])
        lines = list(filter(None, (first, " ".join(rest))))
    coloured = f'<tspan class="{answer.sign.tone}">{answer.sign.glyph}</tspan>'
    for number, line in enumerate(lines):
        y += 1.2 * size
        words = _text(MARGIN, y, line, size, "strong", room=INNER)
        parts.append(words if number else words.replace(answer.sign.glyph, coloured, 1))
    y += 8
    room, below = MOST_LINES, list(view.below)
    if certainty:
        below[:1] = [" · ".join((certainty, *below[:1]))]
    for number, line in enumerate(below):
        wrapped = wrap(line, int(INNER / REGULAR / 21))
        if len(wrapped) > room:  # a sentence is whole, or is not there
            continue
        room -= len(wrapped)
        for part in wrapped:
            y += 29
            words = _text(MARGIN, y, part, 21, room=INNER)
            coloured = f'<tspan class="strong {answer.sign.tone}">{escape(certainty)}</tspan>'
            parts.append(words.replace(escape(certainty), coloured, 1) if certainty and not number else words)
    return parts, y + 26


def _recording(view: Presentation, y: float) -> str:
    """How the disk records, in its colour, and what was measured on it."""
    words, tone = view.recording
    first = f'<tspan class="strong {tone}">{escape(words)}</tspan> · ' if words else ""
    return f'<text class="dim" x="{MARGIN}" y="{y:.1f}" font-size="19">{first}{escape(view.below_the_model)}</text>'


def _columns(rows: Sequence[Row], room: float) -> int:
    """Two, unless names are too long for that, or one is enough: its bars are longer."""
    longest = max((cells(bar.title) for row in rows for bar in row.bars), default=0)
    pitches = len(rows) * (_most_bars(rows) + 1 + GAP) - GAP
    return 1 if longest > 22 or pitches * SMALLEST <= room else 2


def _most_bars(rows: Sequence[Row]) -> int:
    return min(MOST_BARS, max((len(row.bars) for row in rows), default=0))


def _charts(rows: Sequence[Row], top: float) -> Iterator[str]:
    """A chart for each workload, in one or two columns whose bars have the same scale."""
    if not rows:
        return
    columns = _columns(rows, FOOT - top)
    deep, bars = -(-len(rows) // columns), _most_bars(rows)
    width = (INNER - GUTTER * (columns - 1)) / columns
    shown = [bar for row in rows for bar in row.bars[:MOST_BARS]]
    texts = [*zip(*((bar.title, bar.figure, bar.remark if bar.figure else "") for bar in shown))]
    longest = sum(max(_width(text, SIZE) + GAP for text in column) for column in texts)
    pitch = min(LARGEST, (FOOT - top) / (deep * (bars + 1 + GAP) - GAP), (1 - SHORTEST_BAR) * width / longest)
    names, figures, remarks = (max(_width(text, _size(pitch)) for text in column) + GAP * pitch for column in texts)
    places = (min(names, (0.36 if columns > 1 else 0.5) * width), width - figures - remarks, width - remarks, width)
    for number, row in enumerate(rows):
        column, place = divmod(number, deep)
        left, y = MARGIN + column * (width + GUTTER), top + place * pitch * (bars + 1 + GAP)
        yield from _chart(row, left, y, places, pitch)


def _size(pitch: float) -> float:
    """Of the text beside bars."""
    return min(22.0, SIZE * pitch)


def _chart(row: Row, left: float, top: float, places: tuple[float, ...], pitch: float) -> Iterator[str]:
    """One workload: its title, and below it a bar for each candidate.

    `places`: where bars begin, where they, figures and remarks end.
    """
    size = _size(pitch)
    begin, end, figure_end, remark_end = places
    title = row.title
    if (count := len(row.bars)) > MOST_BARS:
        title = n_(
            "{test} (best {shown} of {count})",
            "{test} (best {shown} of {count})",
            count,
            test=title,
            shown=MOST_BARS,
        )
    yield _text(left, top + 0.72 * pitch, title, size, "strong", room=remark_end)
    for number, bar in enumerate(row.bars[:MOST_BARS], 1):
        y = top + number * pitch
        baseline = y + 0.72 * pitch
        yield _text(left, baseline, bar.title, size, room=begin - GAP * size)
        if not bar.figure:
            yield _text(left + begin, baseline, bar.remark, size, "bad", room=remark_end - begin)
            continue
        unproven = ' opacity="0.45"' if bar.verdict == "open" else ""
        yield (
            f'<rect class="fs-{bar.kind}" x="{left + begin:.1f}" y="{y + 0.12 * pitch:.1f}" rx="3" '
            f'width="{max(2.0, bar.length * (end - begin)):.1f}" height="{0.72 * pitch:.1f}"{unproven}/>'
        )
        yield _text(left + figure_end, baseline, bar.figure, size, anchor="end")
        if bar.remark:
            yield _text(left + figure_end + GAP * pitch, baseline, bar.remark, size, SIGNS[bar.verdict].tone)


def _foot(view: Presentation, selection: str) -> Iterator[str]:
    """What the choice reached, how to try it, and below that the selection of workloads, duration and program."""
    if view.fixed:
        yield _text(MARGIN, HEIGHT - 104, view.fixed, _fitting(view.fixed, INNER, 15, 20, BOLD), "strong", room=INNER)
    room = INNER - 32
    if view.attempt and _width(view.attempt, SMALLEST_COMMAND, FIXED) <= room:  # half a command is none
        size = _fitting(view.attempt, room, SMALLEST_COMMAND, 18, FIXED)
        yield f'<rect class="soft" x="{MARGIN}" y="{HEIGHT - 90}" width="{INNER}" height="42" rx="8"/>'
        yield _text(MARGIN + 16, HEIGHT - 63, view.attempt, size, "fixed", room=room)
    words = " · ".join(filter(None, (selection, view.length, view.when, "fswizard")))
    yield _text(WIDTH - MARGIN, HEIGHT - 20, words, 17, "dim", anchor="end")


def _fitting(text: str, room: float, smallest: float, largest: float, each: float = REGULAR) -> float:
    """The font size at which `text` fits into `room`, if there is one between those."""
    return max(smallest, min(largest, room / _width(text or " ", 1, each)))


def _width(text: str, size: float, each: float = REGULAR) -> float:
    """Largest width of a text, estimated without its font."""
    return cells(text) * each * size


def _text(x: float, y: float, text: str, size: float, kind: str = "", *, anchor: str = "start", room: float = 0) -> str:
    """`text`, cut to `room` where that is given."""
    each = {"strong": BOLD, "fixed": FIXED}.get(kind, REGULAR)
    if room and _width(text, size, each) > room:
        while text and _width(f"{text}…", size, each) > room:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    attributes = f' class="{kind}"' if kind else ""
    if anchor != "start":
        attributes += f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}"{attributes}>{escape(text)}</text>'
