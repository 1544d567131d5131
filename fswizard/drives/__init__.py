"""What is attached to this machine, and is it shingled."""

from fswizard.drives.advice import formatting_advice, persistent_cache_bytes, unsuitable
from fswizard.drives.disks import composed, drive_of, inventory, place_of
from fswizard.drives.hotplug import watch
from fswizard.drives.smartctl import details, details_each
from fswizard.drives.smr import judge_smr

__all__ = [
    "composed",
    "details",
    "details_each",
    "drive_of",
    "formatting_advice",
    "inventory",
    "judge_smr",
    "persistent_cache_bytes",
    "place_of",
    "unsuitable",
    "watch",
]
