"""Pieces of text with style: columns, meters, words with their glyph. All of it is `Content`, never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.style import Style

from fswizard.language import NOT_FIRST, NOT_LAST, _
from fswizard.model.analysis import SIGNS, Sign, Tone, Verdict
from fswizard.model.drive import DRIVE_KINDS, SMR_KINDS, Drive, SmrVerdict
from fswizard.model.text import safe, safe_lines

Piece = str | tuple[str, str] | Content
"""Plain text, text with a style, or finished content."""

WIDEST = 110
"""The ends of wider rows stand too far apart to be read as one."""
EIGHTHS = " ▏▎▍▌▋▊▉█"

COLOURS: Mapping[Tone, tuple[str, str]] = {
    "good": ("$text-success", "$success-muted"),
    "bad": ("$text-error", "$error-muted"),
    "even": ("$text-primary", "$primary-muted"),
    "muted": ("$muted", "$line"),
    "warning": ("$text-warning", "$warning-muted"),
}
"""Of what a sign says: the colour of ink, and of the ground behind a bar."""


def text(*pieces: Piece) -> Content:
    """One piece of content from parts. Whatever could control the terminal is shown escaped."""
    return Content.assemble(*(_harmless(piece) for piece in pieces))


def _harmless(piece: Piece) -> Piece:
    if isinstance(piece, Content):
        return piece
    if isinstance(piece, str):
        return safe_lines(piece)
    words, style = piece
    return safe_lines(words), style


def filled(sentence: str, **pieces: Piece) -> Content:
    """A translated sentence whose fields are pieces with a style of their own."""
    parts = re.split(r"\{(\w+)\}", sentence)
    return text(*(pieces[part] if number % 2 else part for number, part in enumerate(parts)))


def keyed(words: str) -> Content:
    """Words in which keys stand between backticks, such as `space`; shown in the colour that keys have."""
    parts = words.split("`")
    return text(*((part, "bold $text-primary" if number % 2 else "") for number, part in enumerate(parts)))


def lines(parts: Iterable[Content | str]) -> Content:
    """Content of several lines."""
    return Content("\n").join(parts)


def fit(piece: Piece, width: int, align: str = "left") -> Content:
    """Exactly `width` cells: padded, or cut with an ellipsis."""
    content = text(piece)
    if width <= 0:
        return Content("")
    missing = width - content.cell_length
    if missing < 0:
        return content.truncate(width, ellipsis=True)
    return content.pad_left(missing) if align == "right" else content.pad_right(missing)


def columns(pieces: Sequence[Piece], widths: Sequence[int], *, right: Iterable[int] = (), gap: int = 2) -> Content:
    """Cells side by side; those whose number is in `right` are aligned to the right."""
    to_right = frozenset(right)
    cells = [
        fit(piece, width, "right" if number in to_right else "left")
        for number, (piece, width) in enumerate(zip(pieces, widths))
        if width > 0
    ]
    return Content(" " * gap).join(cells)


def cut(plain: str, width: int) -> str:
    """Plain text of at most `width` cells, made harmless."""
    plain = safe(plain)
    return plain if cell_len(plain) <= width else set_cell_size(plain, max(0, width - 1)) + "…"


def cut_among(plain: str, others: Iterable[str], width: int) -> str:
    """Like `cut`, but what it has in common with `others` gives way where the cut would leave them alike.

    The same holds where another's whole name is the beginning of this one, if there is room for the rest.
    """
    shown, plain = cut(plain, width), safe(plain)
    if shown == plain:
        return shown
    names = [other for other in map(safe, others) if other != plain]
    alike = [other for other in names if cut(other, width) == shown]
    longer = [other for other in names if plain.startswith(other)]
    differs = plain[max((_in_common(plain, other) for other in alike or longer), default=len(plain)) :].lstrip()
    head = width - 1 - cell_len(differs)
    if not differs or (head <= 0 and not alike):
        return shown
    return cut(f"{plain[: head if head > 0 else max(0, width // 3 - 1)].rstrip()}…{differs}", width)


def _in_common(one: str, other: str) -> int:
    """Number of characters with which both begin."""
    return next((number for number, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def cut_left(plain: str, width: int) -> str:
    """Like `cut`, but the end stays: for paths."""
    plain = safe(plain)
    while cell_len(plain) > width > 0:
        plain = "…" + plain[2:]
    return plain


def meter(fraction: float, width: int) -> Content:
    """A progress bar with the precision of an eighth of a cell."""
    eighths = round(max(0.0, min(1.0, fraction)) * width * 8)
    full, part = divmod(eighths, 8)
    edge = EIGHTHS[part] if part else ""
    rest = width - full - len(edge)
    return text(("█" * full + edge, "$text-primary on $line"), (" " * rest, "on $line"))


def ink(verdict: Verdict) -> str:
    """The colour of all that a verdict says, on every screen."""
    return COLOURS[SIGNS[verdict].tone][0]


def signed(verdict: Verdict, words: str = "") -> Content:
    """The verdict's sign and `words`, or the verdict itself, in its colour."""
    return text((f"{SIGNS[verdict].glyph} {words or _(SIGNS[verdict].word)}", ink(verdict)))


def answer_mark(sign: Sign) -> tuple[str, str]:
    """The mark before the answer of a run."""
    return (f"{sign.glyph} ", f"bold {COLOURS[sign.tone][0]}")


def filesystem_ink(kind: str) -> str:
    """The colour of a filesystem, by its key in `report.colours`."""
    return f"$fs-{kind}"


def smr_badge(drive: Drive) -> Content:
    """How a disk records, or what kind it is: glyph, word, colour."""
    if drive.smr.kind == "not-a-hard-disk" or (drive.kind not in ("hdd", "unknown") and drive.smr.kind == "unknown"):
        return text(("● ", "$text-success"), _(DRIVE_KINDS.get(drive.kind, SMR_KINDS["not-a-hard-disk"])))
    return verdict_badge(drive.smr, flash=drive.flash)


def verdict_badge(smr: SmrVerdict, *, flash: bool = False) -> Content:
    """Glyph and words for the way of recording; zones of flash are not shingles."""
    words = smr.words(flash=flash)
    if smr.kind == "unknown":
        return text((f"? {words}", "$muted"))
    if smr.kind in ("cmr", "not-a-hard-disk"):
        return text(("● ", "$text-success"), words)
    return text((f"◆ {words}", "$text-warning"))


def heading(words: str, width: int = 0) -> Content:
    """A section's name, with a rule to the right where `width` says how far."""
    rule = max(0, width - cell_len(words) - 1)
    return text((words, "bold $muted"), (" " + "─" * rule if rule else "", "$line"))


def tick(on: bool, *, enabled: bool = True) -> Content:
    """A check box."""
    return text(("[✓]" if on else "[ ]", "bold $text-primary" if on and enabled else "$muted"))


def radio(on: bool, *, enabled: bool = True) -> Content:
    """A radio button."""
    return text(("(•)" if on else "( )", "bold $text-primary" if on and enabled else "$muted"))


def slider(values: Sequence[float], value: float, *, active: bool) -> Content:
    """A knob on a rail with a place for each of `values`, with arrows that can be clicked."""
    style = "$text-primary" if active else "$muted"
    position = min(range(len(values)), key=lambda number: abs(values[number] - value))
    return text(
        arrow(-1, active=active),
        ("━" * position, style), ("●", f"bold {style}"), ("─" * (len(values) - 1 - position), "$line"),
        arrow(1, active=active),
    )  # fmt: skip


def arrow(direction: int, *, active: bool) -> Content:
    """Left or right: a click on it changes a row of a list as the key does."""
    shape = text(("◂" if direction < 0 else "▸", "bold $text-primary" if active else "$muted"))
    return shape.stylize(Style.from_meta({"change": direction}))


def wrap(piece: Piece, width: int) -> list[Content]:
    """Lines of at most `width` cells; between two wide signs a line may end, and a word of others stays whole."""
    content, width = text(piece), max(1, width)
    if content.plain.isascii() or not _WIDE.search(content.plain):
        return [line.rstrip() for line in content.wrap(width)]
    return [row for part in content.split("\n") for row in _wrap_wide(part, width)]


_WIDE_SIGNS = r"\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_WIDE = re.compile(f"[{NOT_LAST}]*[{_WIDE_SIGNS}][{NOT_FIRST}]*")
_TOKEN = re.compile(rf"{_WIDE.pattern}|\s+|[{NOT_LAST}]*[^\s{_WIDE_SIGNS}]+[{NOT_FIRST}]*")
"""What stays on one line: a wide sign with the brackets and stops that belong to it, or a word."""


def _wrap_wide(content: Content, width: int) -> list[Content]:
    rows, begin, used = list[Content](), 0, 0
    for token in _TOKEN.finditer(content.plain):
        cells = cell_len(token[0])
        if used and used + cells > width:
            rows.append(content[begin : token.start()].rstrip())
            begin, used = (token.end(), 0) if token[0].isspace() else (token.start(), cells)
        else:
            used += cells
        if used > width:  # a word that is longer than a line
            *whole, last = content[begin : token.end()].wrap(width)
            rows += whole
            begin, used = token.end() - len(last), last.cell_length
    return [*rows, content[begin:].rstrip()]


def side_by_side(words: Iterable[str], width: int, gap: str) -> list[str]:
    """On as few lines as they fit into; only what is wider than a line is broken."""
    rows: list[str] = []
    for word in words:
        if rows and cell_len(f"{rows[-1]}{gap}{word}") <= width:
            rows[-1] += gap + word
        else:
            rows.append(word)
    return rows


def facts(pairs: Iterable[tuple[str, Piece]], width: int, *, label: int = 12, gap: bool = True) -> Content:
    """Names at the left, what there is to say about them beside them, wrapped; below them where it is narrow."""
    rows: list[Content] = []
    pairs = list(pairs)
    label = max(label, min(width // 3, max((cell_len(name) + 1 for name, __ in pairs), default=0)))
    for name, words in pairs:
        if rows and gap:
            rows.append(Content(""))
        if width < label * 3:
            rows += [text((name, "bold $muted")), *wrap(words, width)]
            continue
        for number, line in enumerate(wrap(words, width - label)):
            rows.append(fit(text((name if number == 0 else "", "bold $muted")), label) + line)
    return lines(rows)


def paragraphs(pieces: Iterable[Piece], width: int) -> Content:
    """Each piece wrapped, one below the other."""
    return lines(line for piece in pieces for line in wrap(piece, width))


def bullet(mark: Piece, words: Piece, width: int) -> Content:
    """Wrapped words behind a mark."""
    head = text(mark, " ")
    indent = head.cell_length
    wrapped = wrap(words, width - indent)
    return lines((head if number == 0 else Content(" " * indent)) + line for number, line in enumerate(wrapped))
