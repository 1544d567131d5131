"""Current choices of the user. Screens read and replace them; no other state is shared between screens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fswizard.model.drive import Drive
from fswizard.model.plan import AGED_TIMES
from fswizard.model.recipe import Recipe

Purpose = Literal["archive-disk", "desktop-ssd", "quick", "smr", "own"]

WRITE_BUDGETS_BYTES = (5e9, 10e9, 20e9, 50e9, 100e9, 200e9, 500e9, math.inf)
TIME_BUDGETS_S = (120.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, 3600.0, 7200.0, 14400.0)


def next_value(values: tuple[float, ...], value: float, direction: int) -> float:
    """The next value in a direction, clamped to the ends."""
    if direction > 0:
        return next((other for other in values if other > value), values[-1])
    return next((other for other in reversed(values) if other < value), values[0])


def toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`names` without `name` if it was present, else with `name` appended."""
    return tuple(other for other in names if other != name) if name in names else (*names, name)


@dataclass(frozen=True, slots=True)
class WizardChoices:
    """Choices on the way to a plan."""

    purpose: Purpose = "archive-disk"
    drive: Drive | None = None
    directory: str = ""
    """Directory of the scratch image; empty for the default."""
    devices: tuple[str, ...] = ()
    """Stable names of partitions or disks to erase for the measurement; empty for a scratch image."""
    device_bytes: int = 0
    """Size of the smallest of them."""
    elsewhere: str = ""
    """Kernel name of the disk that contains the image, if it is not the chosen disk."""
    recipe: Recipe | None = None
    candidates: tuple[str, ...] = ()
    """Short names."""
    baseline: str = ""
    """Reference of the ratios; empty for ext4 if it takes part, else the first."""
    needs: tuple[str, ...] = ()
    time_limit_s: float | None = None
    """None for that of the recipe."""
    write_budget_bytes: float | None = None
    """Write budget; None for the default of the disk, infinite for no limit."""
    age: bool = False
    """Age the candidates if possible."""

    @property
    def across(self) -> int:
        """Number of devices that a candidate can span."""
        return max(len(self.devices), 1)

    @property
    def member_bytes(self) -> int:
        """Size of the image, or of the smallest device."""
        if self.devices or self.recipe is None:
            return self.device_bytes
        return self.recipe.image_bytes

    @property
    def written_drive(self) -> Drive | None:
        """The disk to which the run writes; None if that is unknown without a plan."""
        elsewhere = not self.devices and bool(self.directory or self.elsewhere)
        return None if elsewhere or len(self.devices) > 1 else self.drive

    @property
    def can_age(self) -> bool:
        """Whether candidates are created in a scratch image."""
        return not self.devices

    @property
    def aged(self) -> bool:
        return self.age and self.can_age

    @property
    def budget_s(self) -> float:
        """Time limit of the run in seconds."""
        if self.time_limit_s is not None:
            return self.time_limit_s
        return (self.recipe.minutes * 60 if self.recipe else 600.0) * (AGED_TIMES if self.aged else 1)

    @property
    def against(self) -> str:
        """The baseline."""
        if self.baseline in self.candidates:
            return self.baseline
        return "ext4" if "ext4" in self.candidates else next(iter(self.candidates), "")
