"""What a probe writes with, where a model of a disk stands in for one."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from fswizard.drives.probe import BLOCK_BYTES, MOMENT_S
from fswizard.system import clock
from tests.simulated.disks import Disk


class ModelWriter:
    """Charges the clock what the model says that a write costs."""

    def __init__(self, model: Disk) -> None:
        self._model = model
        self.offsets: list[int] = []

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        for block in blocks:
            self.offsets.append(block * BLOCK_BYTES)
            left_s = seconds = self._model.write_s(block * BLOCK_BYTES, BLOCK_BYTES)
            while left_s > MOMENT_S:
                clock.sleep(MOMENT_S)
                left_s -= MOMENT_S
                yield None
            clock.sleep(left_s)
            yield seconds
            clock.sleep(pause_s)
