"""The models of the simulated machine's driver, compiled for this one: what a test asks is what the kernel does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

from fswizard.system import clock

SOURCE = Path(__file__).parent / "driver" / "models.c"
READ, WRITE, FLUSH = range(3)
_FIGURES, _COUNTERS = 24, 9
CLEANED, CLEANED_IDLE = 4, 5
"""Numbers of counters. All as in `models.h`."""


class _Model(ctypes.Structure):
    _fields_ = (
        ("figures", ctypes.c_uint64 * _FIGURES),
        ("counters", ctypes.c_uint64 * _COUNTERS),
        ("kind", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
    )


def compiled(directory: Path) -> ctypes.CDLL:
    """The models as a library; warnings are errors."""
    library = directory / "models.so"
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
    subprocess.run(["cc", "-O1", *warnings, "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    models = ctypes.CDLL(str(library))
    models.model_cost.restype = ctypes.c_uint64
    return models


class Modelled:
    """A disk of one of the driver's kinds, on the clock that is in use."""

    band_bytes = 30 << 20
    idle_s = 1.0

    def __init__(self, models: ctypes.CDLL, kind: str, size_bytes: int, **figures: int) -> None:
        """Raises ValueError for a kind or a figure that the driver does not know, or figures that don't fit."""
        self.size_bytes = size_bytes
        self._models, self._model = models, _Model()
        known = [models.model_kind(self._reference, kind.encode())]
        for name, value in {"size_bytes": size_bytes, **figures}.items():
            known.append(models.model_set(self._reference, name.encode(), ctypes.c_uint64(value)))
        if any(known) or models.model_begin(self._reference):
            raise ValueError(f"the driver makes no {kind} of {figures}")

    @property
    def _reference(self) -> object:
        return ctypes.byref(self._model)

    @property
    def cleaned(self) -> int:
        """Bands, so far."""
        return int(self._model.counters[CLEANED]) + int(self._model.counters[CLEANED_IDLE])

    def read_s(self, offset: int, length: int) -> float:
        return self._cost_s(READ, offset, length)

    def write_s(self, offset: int, length: int) -> float:
        return self._cost_s(WRITE, offset, length)

    def flush_s(self) -> float:
        return self._cost_s(FLUSH, 0, 0)

    def _cost_s(self, operation: int, offset: int, length: int) -> float:
        numbers = (ctypes.c_uint64(number) for number in (offset, length, int(clock.monotonic() * 1e9)))
        return int(self._models.model_cost(self._reference, operation, *numbers)) / 1e9
