"""What the user has chosen so far. The screens read and replace it; nothing else is kept between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fswizard.model.drive import Drive
from fswizard.model.plan import AGED_TIMES
from fswizard.model.recipe import Recipe

Purpose = Literal["archive-disk", "desktop-ssd", "quick", "compare", "smr", "own"]

WRITE_BUDGETS_BYTES = (5e9, 10e9, 20e9, 50e9, 100e9, 200e9, 500e9, math.inf)
TIME_BUDGETS_S = (120.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, 3600.0, 7200.0, 14400.0)


def next_value(values: tuple[float, ...], value: float, direction: int) -> float:
    """The next value in a direction; the outermost stays."""
    if direction > 0:
        return next((other for other in values if other > value), values[-1])
    return next((other for other in reversed(values) if other < value), values[0])


def toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Without `name` where it was there, with it at the end where it was not."""
    return tuple(other for other in names if other != name) if name in names else (*names, name)


@dataclass(frozen=True, slots=True)
class WizardChoices:
    """Choices on the way to a plan."""

    purpose: Purpose = "archive-disk"
    drive: Drive | None = None
    directory: str = ""
    """Where the scratch image goes; empty for the place that the program proposes."""
    devices: tuple[str, ...] = ()
    """Stable names of partitions or disks that are given up for the measurement; empty for scratch images."""
    device_bytes: int = 0
    """Size of the smallest of them."""
    images: int = 1
    """Number of scratch images; more than one for candidates that are spread over them."""
    elsewhere: str = ""
    """Kernel name of the disk that the image goes onto, where that is another than the chosen one."""
    places: tuple[str, ...] = ()
    """For comparing what is there: mounted directories, in the order chosen."""
    recipe: Recipe | None = None
    candidates: tuple[str, ...] = ()
    """Short names."""
    baseline: str = ""
    """What ratios are made against; empty for ext4 where it takes part, else the first."""
    needs: tuple[str, ...] = ()
    time_limit_s: float | None = None
    """None: the recipe's own."""
    write_budget_bytes: float | None = None
    """What the run may write; None for what is usual for the disk, infinite for no limit."""
    age: bool = False
    """Whether candidates are aged, where they can be."""

    @property
    def comparing(self) -> bool:
        """Existing directories are compared; nothing is formatted."""
        return self.purpose == "compare"

    @property
    def across(self) -> int:
        """Number of devices or images that a candidate can be spread over."""
        return max(len(self.devices), self.images)

    @property
    def member_bytes(self) -> int:
        """Size of each image, or of the smallest device."""
        if self.devices or self.recipe is None:
            return self.device_bytes
        return self.recipe.image_bytes

    @property
    def written_drive(self) -> Drive | None:
        """The disk that the run writes to, where that is known before there is a plan."""
        elsewhere = not self.devices and bool(self.directory or self.elsewhere)
        return None if self.comparing or elsewhere or len(self.devices) > 1 else self.drive

    @property
    def can_age(self) -> bool:
        """Candidates are made in a single scratch image."""
        return not self.comparing and not self.devices and self.images == 1

    @property
    def aged(self) -> bool:
        return self.age and self.can_age

    @property
    def budget_s(self) -> float:
        """Time that the run may take, in seconds."""
        if self.time_limit_s is not None:
            return self.time_limit_s
        return (self.recipe.minutes * 60 if self.recipe else 600.0) * (AGED_TIMES if self.aged else 1)

    @property
    def against(self) -> str:
        """The candidate that the others are compared with."""
        if self.baseline in self.candidates:
            return self.baseline
        return "ext4" if "ext4" in self.candidates else next(iter(self.candidates), "")
