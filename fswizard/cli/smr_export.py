"""What others can use of our knowledge of shingled disks: the table of models, and a report on one disk."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import fswizard
from fswizard.drives.models import ModelRow, names
from fswizard.drives.probe import ProbeResult
from fswizard.drives.smr import SmrFacts
from fswizard.language import in_english
from fswizard.model import shareable
from fswizard.model.drive import SMR_KINDS, Drive, SmrVerdict
from fswizard.model.units import size_text

TableFormat = Literal["markdown", "csv"]
_COLUMNS = ("models", "recording", "who says so", "kind of source", "note", "source")
_ON_OTHERS = ("behind-bridge", "member", "smartctl-missing")
"""Codes of evidence that is about this machine."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What distinguishes a disk from others of its kind, as far as it may be shared (`model.shareable`)."""

    model: str
    firmware: str = ""
    marks: str = ""
    """Size, rotation, sectors and what it says of itself, in words."""
    standard: str = ""
    """Versions of the ATA standard that it follows; they are in the marks, too."""

    @classmethod
    @in_english()
    def of_facts(cls, facts: SmrFacts) -> Reported:
        model, firmware = shareable.model_name(facts.model), shareable.firmware_name(facts.firmware)
        standard = shareable.standard_name(facts.standard)
        own = (standard, "TRIM" if facts.trim else "", facts.zoned, facts.recording)
        return cls(model, firmware, _marks(facts.capacity_bytes, facts.rpm, facts.sector_bytes, *own), standard)

    @classmethod
    @in_english()
    def of_drive(cls, drive: Drive) -> Reported:
        secrets = (drive.serial, drive.stable_name)
        model = "" if drive.bus == "loop" else shareable.model_name(drive.model, *secrets)
        firmware = shareable.firmware_name(drive.firmware, *secrets)
        return cls(model, firmware, _marks(drive.size_bytes, drive.rpm or 0, drive.physical_sector_bytes))


def _marks(size_bytes: int, rpm: int, sector_bytes: int, *more: str) -> str:
    words = (
        size_text(size_bytes) if size_bytes else "",
        f"{rpm} rpm" if rpm else "",
        f"sectors of {sector_bytes} bytes" if sector_bytes else "",
        *more,
    )
    return ", ".join(filter(None, words))


def table(rows: Iterable[ModelRow], form: TableFormat) -> str:
    """The table of models with its sources; in the names `#` is any digit and `…` anything."""
    if form == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows((_COLUMNS, *map(_cells, rows)))
        return text.getvalue().rstrip("\n")
    linked = ((*cells, f"<{source}>") for *cells, source in map(_cells, rows))
    return "\n".join(map(_markdown, (_COLUMNS, ("---",) * len(_COLUMNS), *linked)))


def _cells(row: ModelRow) -> tuple[str, ...]:
    said = row.said
    who = f"{said.by}, {said.where}" if said else ""
    recording = "disputed" if row.disputed else SMR_KINDS[row.kind]
    return ", ".join(names(row.pattern)), recording, who, row.strength, row.note, row.source


def _markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


@in_english()
def report(about: Reported, verdict: SmrVerdict, probe: ProbeResult | None = None) -> str:
    """How a disk records, as text to paste into a report, without serial numbers or names of machines and users.

    It is in English, as whoever gets it reads that.
    """
    return "\n".join(_report(about, verdict, probe))


def _report(about: Reported, verdict: SmrVerdict, probe: ProbeResult | None) -> Iterator[str]:
    names = {name: name for name in (about.model, about.standard) if name}
    yield f"Is {about.model or 'this disk'} shingled (SMR)?"
    yield ""
    yield f"- Model: {about.model or 'unknown'}"
    yield f"- Firmware: {about.firmware or 'unknown'}"
    yield f"- Marks: {about.marks or 'unknown'}"
    says = {**SMR_KINDS, "unknown": "neither"}
    yield f"- Verdict of fswizard {fswizard.__version__}: {verdict.sentence()}"
    for piece in verdict.evidence:
        if piece.code not in _ON_OTHERS:
            yield f"- Evidence for {says[piece.says]}: {shareable.sentence(piece.text, names)}"
    yield f"- Probe: {shareable.sentence(probe.evidence.text) if probe else 'not run'}"
    yield ""
    yield "Post this as an issue of fswizard or smartmontools (https://github.com/smartmontools/smartmontools/issues)."
