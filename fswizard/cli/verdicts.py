"""Verdicts in words, for terminals."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from fswizard.model.drive import SMR_CONFIDENCES, Evidence, SmrVerdict

TITLES = {
    "host-managed": "shingled, host-managed",
    "host-aware": "shingled, host-aware",
    "drive-managed": "shingled, drive-managed",
    "cmr": "not shingled (CMR)",
    "unknown": "unknown",
    "not-a-hard-disk": "not a hard disk",
}
"""Verdicts in words."""


def verdict_lines(verdict: SmrVerdict, *, flash: bool = False) -> list[str]:
    """A verdict with its evidence and advice, within 80 columns; zones of flash are not shingles."""
    sure = f" ({SMR_CONFIDENCES[verdict.confidence]})" if verdict.kind != "unknown" else ""
    zones = {"host-managed": "host-managed zones", "host-aware": "host-aware zones"} if flash else {}
    title = zones.get(verdict.kind, TITLES[verdict.kind])
    lines = [f"  {title}{sure}"]
    for piece in verdict.evidence:
        lines += evidence_lines(piece, agrees=piece.says == verdict.kind)
    for sentence in verdict.advice:
        lines += wrapped(sentence, "  → ", "    ")
    return lines


def verdict_document(verdict: SmrVerdict) -> dict[str, Any]:
    fields = asdict(verdict)
    return {"verdict": fields.pop("kind"), **fields}


def evidence_lines(piece: Evidence, *, agrees: bool) -> list[str]:
    mark = "·" if piece.says == "unknown" else "✓" if agrees else "✗"
    return wrapped(piece.text, f"    {mark} ", "      ")


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Lines of 78 columns; addresses stay whole, so that they can be copied."""
    return textwrap.wrap(
        text, 78, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
