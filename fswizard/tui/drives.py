"""How a disk is shown: a row in the list, and everything that is known of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from fswizard.model.drive import Drive, Evidence
from fswizard.model.units import size_text
from fswizard.tui.choices import Purpose
from fswizard.tui.drawing import bullet, columns, cut, heading, lines, smr_badge, text, verdict_badge, wrap
from fswizard.tui.widgets.partitions import partition_map
from fswizard.tui.widgets.rows import Draw

CONFIDENCE = {"certain": "certain", "strong": "strong evidence", "weak": "weak evidence"}


def _widths(width: int) -> tuple[int, int, int, int, int]:
    """Name, model, size, kind, health; health is dropped first."""
    health = 11 if width >= 72 else 0
    kind = 20
    name = 10
    size = 7
    model = width - name - size - kind - health - 2 * (4 if health else 3)
    if model < 8:
        return (name, max(6, width - name - 10), 8, 0, 0)
    return (name, model, size, kind, health)


def drive_header(width: int) -> Content:
    """Names of the columns."""
    names = ("  Disk", "Model", "Size", "Kind", "Health")
    return columns([text((name, "$faint")) for name in names], _widths(width), right=(2,))


def drive_row(drive: Drive) -> Draw:
    """One line of the list of disks."""

    def draw(width: int, on: bool) -> Content:
        widths = _widths(width)
        health = drive.health or ("…" if drive.pending else "–")
        if drive.temperature_c is not None:
            health += f", {drive.temperature_c} °C"
        style = "$error bold" if drive.health == "failing" else "$muted"
        cells = (
            text(("▌ " if on else "  ", "$primary"), (cut(drive.name or "a model", widths[0] - 2), "bold")),
            cut(drive.model or "no model name", widths[1]),
            size_text(drive.size_bytes) if drive.size_bytes else "",
            smr_badge(drive),
            text((health, style)),
        )
        return columns(cells, widths, right=(2,))

    return draw


def explain(drive: Drive, width: int) -> Content:
    """Verdict, evidence, advice."""
    rows: list[Content] = []
    verdict = drive.smr
    head = text(verdict_badge(verdict, flash=drive.flash))
    if verdict.kind in ("unknown", "not-a-hard-disk"):
        note = "no verdict without evidence" if verdict.kind == "unknown" else "shingling does not concern it"
        head += text((f"   {note}", "$muted"))
    else:
        head += text((f"   {CONFIDENCE[verdict.confidence]}", "$muted"))
    rows.append(head)
    rows += [_evidence(evidence, drive, width) for evidence in verdict.evidence]
    if drive.pending:
        rows.append(bullet(("…", "$muted"), (drive.pending, "$muted"), width))
    if verdict.advice:
        rows += [Content(""), heading("Good to know", width)]
        rows += [bullet(("›", "$primary"), advice, width) for advice in verdict.advice]
    facts = _facts(drive)
    if facts:
        rows += [Content(""), *wrap((facts, "$muted"), width)]
    return lines(rows)


def contents(drive: Drive, width: int) -> Content:
    """Its partitions as a bar and a list."""
    if not drive.size_bytes:
        return Content("")
    return lines((heading("On it", width), partition_map(drive, width)))


def _evidence(evidence: Evidence, drive: Drive, width: int) -> Content:
    for_it = evidence.says == drive.smr.kind and evidence.says != "unknown"
    mark = ("✓", "$success") if for_it else ("·", "$faint") if evidence.says == "unknown" else ("✗", "$warning")
    return bullet(mark, evidence.text, width)


def _facts(drive: Drive) -> str:
    words = [drive.bus.upper() if drive.bus not in ("other",) else ""]
    words += [f"behind {drive.bridge}" if drive.bridge else "", f"{drive.rpm} rpm" if drive.rpm else ""]
    words += [f"serial number {drive.serial}" if drive.serial else ""]
    words += [f"firmware {drive.firmware}" if drive.firmware else ""]
    words += [f"{drive.power_on_hours:,} h in use" if drive.power_on_hours else ""]
    words += [f"{size_text(drive.written_bytes)} written so far" if drive.written_bytes else ""]
    words += [f"{drive.life_used_percent} % of its life used" if drive.life_used_percent is not None else ""]
    return " · ".join(word for word in words if word)


def wear_text(drive: Drive, writes_bytes: int) -> str:
    """What share of an SSD's life `writes_bytes` take, and what that estimate rests on; empty where it is silent."""
    endurance_bytes = drive.endurance_bytes
    if not endurance_bytes or drive.kind not in ("ssd", "nvme"):
        return ""
    share = writes_bytes / endurance_bytes * 100
    figure = "less than 0.001 %" if share < 0.001 else f"about {share:.1g} %" if share < 1 else f"about {share:.0f} %"
    return (
        f"{figure} of what this SSD can be written in its life; an estimate, as {size_text(drive.written_bytes or 0)} "
        f"so far took {drive.life_used_percent} % of it"
    )


def best_for(purpose: Purpose, drives: Sequence[Drive]) -> Drive | None:
    """The disk that a purpose is most likely about."""
    if not drives:
        return None
    drives = [drive for drive in drives if drive.bus != "loop"] or drives
    if purpose in ("archive-disk", "smr"):
        return max(drives, key=lambda d: (d.kind == "hdd", d.smr.kind == "drive-managed", d.bus == "usb", d.size_bytes))
    return max(drives, key=lambda d: (d.kind in ("ssd", "nvme"), d.kind == "nvme", d.size_bytes))
