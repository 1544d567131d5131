"""The partitions of a disk as a bar."""

from __future__ import annotations

from itertools import cycle

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from fswizard.model.drive import Drive, Partition
from fswizard.tui.drawing import text

COLOURS = ("$text-primary", "$text-secondary", "$text-success", "$text-accent")


def by_start(drive: Drive) -> list[Partition]:
    """Partitions in the order of their position on the disk."""
    return sorted(drive.partitions, key=lambda partition: partition.start_bytes)


class PartitionBar(Static):
    """Partitions to scale: free space is lighter, and hatched if unknown; unpartitioned space is dotted."""

    drive: reactive[Drive | None] = reactive(None)

    def render(self) -> Content:
        if self.drive is None:
            return Content("")
        partitions = by_start(self.drive)
        room = left = max(2, self.content_size.width - 2)
        total = max(self.drive.size_bytes, sum(partition.size_bytes for partition in partitions), 1)
        pieces = [text(("▕", "$muted"))]
        for partition, colour in zip(partitions, cycle(COLOURS)):
            cells = min(max(1, round(partition.size_bytes / total * room)), left)
            left -= cells
            if partition.free_bytes is None or not partition.size_bytes:
                bar = "▒" * cells
            else:
                used = round(cells * max(0, 1 - partition.free_bytes / partition.size_bytes))
                bar = "█" * used + "░" * (cells - used)
            pieces.append(text((bar, colour)))
        pieces.append(text(("·" * left + "▏", "$muted")))
        return Content("").join(pieces)
