"""Current choices of the user. Screens read and replace them; no other state is shared between screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fswizard.model.drive import Drive
from fswizard.model.plan import AGED_TIMES
from fswizard.model.recipe import Recipe

if TYPE_CHECKING:
    from fswizard.disks.locations import Location

Purpose = Literal["quick", "archive-disk", "desktop-ssd"]
"""Each is the name of the recipe that it begins with."""
TIME_BUDGETS_S = (120.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, 3600.0, 7200.0, 14400.0)


def toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`names` without `name` if it was present, else with `name` appended."""
    return tuple(other for other in names if other != name) if name in names else (*names, name)


@dataclass(frozen=True, slots=True)
class WizardChoices:
    """Choices on the way to a plan."""

    purpose: Purpose = "archive-disk"
    drive: Drive | None = None
    """None if the disk below `location` is unknown, as for several disks."""
    location: Location | None = None
    """Location of the scratch image; None for devices, or for the default one of the disk."""
    devices: tuple[str, ...] = ()
    """Stable names of partitions or disks to erase for the measurement; empty for a scratch image."""
    device_bytes: int = 0
    """Size of the smallest of them."""
    recipe: Recipe | None = None
    candidates: tuple[str, ...] = ()
    """Short names."""
    time_limit_s: float | None = None
    """None for that of the recipe."""
    age: bool = False
    """Age the candidates if possible."""

    @property
    def directory(self) -> str:
        """Directory of the scratch image; empty for the default one of the disk."""
        return self.location.directory if self.location else ""

    @property
    def across(self) -> int:
        """Number of devices that a candidate can span."""
        return max(1, len(self.devices))

    @property
    def member_bytes(self) -> int:
        """Size of the image, or of the smallest device."""
        if self.devices or self.recipe is None:
            return self.device_bytes
        return self.recipe.image_bytes

    @property
    def written_drive(self) -> Drive | None:
        """The disk to which the run writes; None if that is unknown without a plan."""
        return self.drive if self.across == 1 else None

    @property
    def aged(self) -> bool:
        """Whether candidates are aged; devices are not."""
        return self.age and not self.devices

    @property
    def budget_s(self) -> float:
        """Time limit of the run in seconds."""
        if self.time_limit_s is not None:
            return self.time_limit_s
        return (self.recipe.minutes * 60 if self.recipe else 600.0) * (AGED_TIMES if self.aged else 1)
