"""Where filesystems are measured: scratch images, devices that the user gave up, directories of mounted filesystems.

Other packages use what stands here:

- a target is chosen (`parse_target`), planned on (`plan_target`, `planned_commands`), checked when a run is resumed
  (`require_plausible`, `require_still_there`), and its disk is `drive_under` it;
- a device is one of several `offers`, loses something, is confirmed (`devices_of`, `confirmed`, `how_to_confirm`,
  `require_confirmation`);
- a disk is set up for good (`plan_set_up` with `usual_choices`, then `set_up` or a `script`), or `why_not_set_up`;
- programs that it measures can be given a memory limit (`memory_limit_ways`, `LEAST_MEMORY_LIMIT_BYTES`);
- for a run it is prepared (`open_directories`, `open_devices`, `open_images`) under a `Journal`, from which `leftovers`
  of a killed run are listed for `clean`.
"""

from fswizard.disks.as_root import ROOT_PATH, WORKLOAD_PATH
from fswizard.disks.memory_limit import LEAST_BYTES as LEAST_MEMORY_LIMIT_BYTES
from fswizard.disks.memory_limit import ways as memory_limit_ways
from fswizard.disks.set_up import SetUpChoices, chosen_set_up, why_not_set_up
from fswizard.targets.choice import (
    TargetChoice,
    drive_under,
    parse_target,
    plan_target,
    require_plausible,
    require_still_there,
)
from fswizard.targets.device import open_devices
from fswizard.targets.device_checks import (
    Offer,
    confirmed,
    devices_of,
    how_to_confirm,
    offers,
    require_confirmation,
)
from fswizard.targets.directory import DirectoryContext, open_directories
from fswizard.targets.exact_commands import planned_commands
from fswizard.targets.image import open_images
from fswizard.targets.journal import Journal, Leftover, clean, leftovers
from fswizard.targets.locations import (
    NOT_ON_A_DISK,
    checked_directory,
    default_directory,
    directory_candidates,
    filesystem_name,
    filesystem_number,
    filesystem_type,
    image_room_bytes,
    located_candidates,
)
from fswizard.targets.prepared import CandidateFailed, PreparedTarget
from fswizard.targets.set_up import (
    SetUpDone,
    SetUpPlan,
    plan_set_up,
    require_confirmed,
    script,
    set_up,
    set_up_on,
    usual_choices,
)

__all__ = [
    "LEAST_MEMORY_LIMIT_BYTES", "NOT_ON_A_DISK", "ROOT_PATH", "WORKLOAD_PATH", "CandidateFailed", "DirectoryContext",
    "Journal", "Leftover", "Offer", "PreparedTarget", "SetUpChoices", "SetUpDone", "SetUpPlan", "TargetChoice",
    "checked_directory", "chosen_set_up", "clean", "confirmed", "default_directory", "devices_of",
    "directory_candidates", "drive_under", "filesystem_name", "filesystem_number", "filesystem_type",
    "how_to_confirm", "image_room_bytes", "leftovers", "located_candidates", "memory_limit_ways", "offers",
    "open_devices", "open_directories", "open_images", "parse_target", "plan_set_up", "plan_target",
    "planned_commands", "require_confirmation", "require_confirmed", "require_plausible", "require_still_there",
    "script", "set_up", "set_up_on", "usual_choices", "why_not_set_up",
]  # fmt: skip
