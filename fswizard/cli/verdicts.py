"""SMR verdicts as text for terminals."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fswizard.cli.output import wrapped
from fswizard.language import _
from fswizard.model.drive import SmrVerdict


def verdict_lines(verdict: SmrVerdict, *, flash: bool = False) -> list[str]:
    """A verdict with its evidence and advice, within 80 columns; zones of `flash` are not shingles."""
    lines = [f"  {verdict.sentence(flash=flash)}"]
    for piece in verdict.evidence:
        lines += wrapped(_(piece.text), f"    {verdict.sign(piece)} ", "      ")
    for sentence in verdict.advice:
        lines += wrapped(_(sentence), "  → ", "    ")
    return lines


def verdict_document(verdict: SmrVerdict) -> dict[str, Any]:
    fields = asdict(verdict)
    return {"verdict": fields.pop("kind"), **fields}
