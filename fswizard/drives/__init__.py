"""The disks of this machine, whether they are shingled (SMR), and what may be erased."""

from fswizard.drives.inventory import composed, drive_of, inventory, is_file_of_others, watch
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
    "watch",
]
