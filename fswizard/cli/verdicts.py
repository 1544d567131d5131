"""Verdicts in words, for terminals."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from fswizard.model.drive import Evidence, SmrVerdict


def verdict_lines(verdict: SmrVerdict, *, flash: bool = False) -> list[str]:
    """A verdict with its evidence and advice, within 80 columns; zones of flash are not shingles."""
    lines = [f"  {verdict.sentence(flash=flash)}"]
    for piece in verdict.evidence:
        lines += evidence_lines(piece, verdict.sign(piece))
    for sentence in verdict.advice:
        lines += wrapped(sentence, "  → ", "    ")
    return lines


def verdict_document(verdict: SmrVerdict) -> dict[str, Any]:
    fields = asdict(verdict)
    return {"verdict": fields.pop("kind"), **fields}


def evidence_lines(piece: Evidence, sign: str) -> list[str]:
    return wrapped(piece.text, f"    {sign} ", "      ")


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Lines of 78 columns; addresses stay whole, so that they can be copied."""
    return textwrap.wrap(
        text, 78, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
