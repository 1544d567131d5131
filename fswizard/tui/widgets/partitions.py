"""What is on a disk, as a bar with one line for each partition."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.drive import Drive, Partition
from fswizard.model.units import size_text
from fswizard.tui.drawing import columns, cut, cut_left, lines, text

SHADES = ("$primary", "$secondary", "$success", "$accent")


def partition_map(drive: Drive, width: int, *, most: int = 6) -> Content:
    """A bar in proportion, then the partitions by name; what is in no partition is dotted."""
    partitions = sorted(drive.partitions, key=lambda partition: partition.start_bytes)
    if not partitions:
        return lines([text(("▕" + "·" * max(1, width - 2) + "▏", "$faint")), text(("nothing is on it", "$muted"))])
    shown = partitions[:most]
    rows = [_bar(drive, partitions, width)]
    rows += [_legend(partition, SHADES[number % len(SHADES)], width) for number, partition in enumerate(shown)]
    if len(partitions) > len(shown):
        rows.append(text((f"  and {len(partitions) - len(shown)} more", "$muted")))
    return lines(rows)


def _bar(drive: Drive, partitions: list[Partition], width: int) -> Content:
    room = max(2, width - 2)
    total = max(drive.size_bytes, sum(partition.size_bytes for partition in partitions), 1)
    pieces, used = [text(("▕", "$faint"))], 0
    for number, partition in enumerate(partitions):
        cells = min(max(1, round(partition.size_bytes / total * room)), room - used)
        if cells <= 0:
            break
        full = round(cells * _share_used(partition))
        style = SHADES[number % len(SHADES)]
        pieces.append(text(("█" * full, style), ("░" * (cells - full), style)))
        used += cells
    pieces.append(text(("·" * (room - used), "$faint"), ("▏", "$faint")))
    return Content("").join(pieces)


def _share_used(partition: Partition) -> float:
    if partition.used_bytes is None or not partition.size_bytes:
        return 0.0
    return min(1.0, partition.used_bytes / partition.size_bytes)


def _legend(partition: Partition, style: str, width: int) -> Content:
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
