"""What is attached to this machine, and is it shingled."""

from fswizard.drives.hotplug import watch
from fswizard.drives.inventory import composed, drive_of, inventory, is_file_of_others, place_of
from fswizard.drives.models import persistent_cache_bytes
from fswizard.drives.smartctl import details
from fswizard.drives.smr import judge_smr

__all__ = [
    "composed",
    "details",
    "drive_of",
    "inventory",
    "is_file_of_others",
    "judge_smr",
    "persistent_cache_bytes",
    "place_of",
    "watch",
]
