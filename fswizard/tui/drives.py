"""How a disk is shown: a row in the list, and everything that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.drive import Drive, Evidence, Partition
from fswizard.model.units import size_text
from fswizard.tui.choices import Purpose
from fswizard.tui.drawing import bullet, columns, cut, cut_left, heading, lines, smr_badge, text, verdict_badge, wrap
from fswizard.tui.widgets.choice_list import Draw

PARTITION_COLOURS = ("$primary", "$secondary", "$success", "$accent")
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


def partition_map(drive: Drive, width: int, *, most: int = 6) -> Content:
    """A bar in proportion, then the partitions by name; what is in no partition is dotted."""
    partitions = sorted(drive.partitions, key=lambda partition: partition.start_bytes)
    if not partitions:
        return lines([text(("▕" + "·" * max(1, width - 2) + "▏", "$faint")), text(("nothing is on it", "$muted"))])
    shown = partitions[:most]
    rows = [_partition_bar(drive, partitions, width)]
    colours = cycle(PARTITION_COLOURS)
    rows += [_partition_line(partition, colour, width) for partition, colour in zip(shown, colours)]
    if len(partitions) > len(shown):
        rows.append(text((f"  and {len(partitions) - len(shown)} more", "$muted")))
    return lines(rows)


def _partition_bar(drive: Drive, partitions: list[Partition], width: int) -> Content:
    room = max(2, width - 2)
    total = max(drive.size_bytes, sum(partition.size_bytes for partition in partitions), 1)
    pieces, used = [text(("▕", "$faint"))], 0
    for number, partition in enumerate(partitions):
        cells = min(max(1, round(partition.size_bytes / total * room)), room - used)
        if cells <= 0:
            break
        full = round(cells * _share_used(partition))
        style = PARTITION_COLOURS[number % len(PARTITION_COLOURS)]
        pieces.append(text(("█" * full, style), ("░" * (cells - full), style)))
        used += cells
    pieces.append(text(("·" * (room - used), "$faint"), ("▏", "$faint")))
    return Content("").join(pieces)


def _share_used(partition: Partition) -> float:
    if partition.used_bytes is None or not partition.size_bytes:
        return 0.0
    return min(1.0, partition.used_bytes / partition.size_bytes)


def _partition_line(partition: Partition, style: str, width: int) -> Content:
    name = partition.name + (f" “{partition.label}”" if partition.label else "")
    if partition.free_bytes is not None:
        room = f"{size_text(partition.free_bytes)} free of {size_text(partition.size_bytes)}"
    else:
        room = size_text(partition.size_bytes)
    where = partition.mount_point or (partition.uses[0].text if partition.uses else "not mounted")
    named = min(cell_len(name) + 2, 26, max(12, width // 2))
    widths = (24, 9, 25, max(8, width - 64)) if width >= 72 else (named, 0, 0, max(8, width - named - 2))
    if width < 72:
        where = f"{partition.filesystem or '–'}, {room}"
    cells = (
        text(("■ ", style), cut(name, widths[0] - 2)),
        text((cut(partition.filesystem or "–", 9), "$muted")),
        cut(room, 25),
        text((cut_left(where, widths[3]), "$muted")),
    )
    return columns(cells, widths)


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
