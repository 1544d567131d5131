"""What a probe writes with, where a model of a disk stands in for one."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from fswizard.drives.probe import BLOCK_BYTES, MOMENT_S
from fswizard.system import clock
from tests.simulated.disks import Disk


class ModelWriter:
    """Charges the clock what the model says that a write costs."""

    def __init__(self, model: Disk, piece_bytes: int = BLOCK_BYTES) -> None:
        """`piece_bytes`: what an adapter between computer and disk lets through at a time."""
        self._model = model
        self._piece_bytes = piece_bytes
        self.offsets: list[int] = []

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        for block in blocks:
            self.offsets.append(block * BLOCK_BYTES)
            left_s = seconds = self._cost_s(block * BLOCK_BYTES)
            while left_s > MOMENT_S:
                clock.sleep(MOMENT_S)
                left_s -= MOMENT_S
                yield None
            clock.sleep(left_s)
            yield seconds
            clock.sleep(pause_s)

    def _cost_s(self, offset: int) -> float:
        pieces = range(0, BLOCK_BYTES, self._piece_bytes)
        return sum(self._model.write_s(offset + at, min(self._piece_bytes, BLOCK_BYTES - at)) for at in pieces)
