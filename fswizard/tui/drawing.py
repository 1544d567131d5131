"""Styled text as `Content`, never markup: columns, meters, and texts with symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping

from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.analysis import SIGNS, Sign, Tone, Verdict
from fswizard.model.drive import DRIVE_KINDS, SMR_KINDS, Drive, SmrVerdict
from fswizard.model.text import safe_lines

Piece = str | tuple[str, str] | Content
"""Plain text, text with a style, or finished content."""
Pairs = list[tuple[Piece, Piece]]
"""Rows for `Facts`."""


COLOURS: Mapping[Tone, str] = {
    "good": "$text-success",
    "bad": "$text-error",
    "even": "$text-primary",
    "muted": "$muted",
    "warning": "$text-warning",
}


def text(*pieces: Piece) -> Content:
    """One piece of content from parts. Control characters are shown escaped."""
    harmless: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            harmless.append(safe_lines(piece))
        elif isinstance(piece, Content):
            harmless.append(piece)
        else:
            harmless.append((safe_lines(piece[0]), piece[1]))
    return Content.assemble(*harmless)


def filled(sentence: str, **pieces: Piece) -> Content:
    """A translated sentence with styled fields."""
    parts = re.split(r"\{(\w+)\}", sentence)
    return text(*(pieces[part] if number % 2 else part for number, part in enumerate(parts)))


def keyed(sentence: str, style: str = "") -> Content:
    """A sentence with keys or commands in backticks, such as `space`, which are highlighted."""
    parts = sentence.split("`")
    return text(*((part, "bold $text-primary" if number % 2 else style) for number, part in enumerate(parts)))


def refusal(message: str) -> Content:
    """An objection; keys are in backticks."""
    return text(("✗ ", "bold $text-error"), keyed(message))


def failure(error: FswizardError) -> Content:
    """An error with its hint."""
    hint = keyed(_(error.hint_without_switches))
    return text(("✗ ", "bold $text-error"), keyed(_(error.message), "$text-error"), " ", hint)


def ink(verdict: Verdict) -> str:
    """The text colour of a verdict, on every screen."""
    return COLOURS[SIGNS[verdict].tone]


def signed(verdict: Verdict, label: str = "") -> Content:
    """The verdict's symbol with `words`, by default its name, in its colour."""
    return keyed(f"{SIGNS[verdict].glyph} {label or _(SIGNS[verdict].word)}", ink(verdict))


def answer_mark(sign: Sign) -> tuple[str, str]:
    """The symbol before the answer of a run, with its style."""
    return sign.glyph, f"bold {COLOURS[sign.tone]}"


def smr_badge(drive: Drive) -> Content:
    """Recording technique or kind of a disk: symbol and text in colour."""
    if drive.smr.kind == "not-a-hard-disk" or (drive.kind not in ("hdd", "unknown") and drive.smr.kind == "unknown"):
        return text(("● ", "$text-success"), _(DRIVE_KINDS.get(drive.kind, SMR_KINDS["not-a-hard-disk"])))
    return verdict_badge(drive.smr, flash=drive.flash)


def verdict_badge(smr: SmrVerdict, *, flash: bool = False) -> Content:
    """Symbol and text for the recording technique; zones of `flash` are not shingles."""
    label = smr.description(flash=flash)
    if smr.kind == "unknown":
        return text((f"? {label}", "$muted"))
    if smr.kind in ("cmr", "not-a-hard-disk"):
        return text(("● ", "$text-success"), label)
    return text((f"◆ {label}", "$text-warning"))
