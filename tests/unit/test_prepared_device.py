"""After a failure: whether the disk, or somebody else, is to blame before a candidate is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from fswizard.errors import Refused, RunFailed
from fswizard.progress.emitter import Emitter
from fswizard.progress.eta import Eta
from fswizard.system.process import Finished
from fswizard.targets import device
from fswizard.targets.channel import HelperFailed
from fswizard.targets.device import PreparedDevices
from fswizard.targets.helper import Helper
from fswizard.targets.image import PreparedImage
from tests.builders import make_plan
from tests.fakes.host import ModelHost, use
from tests.unit.test_stuck_mount import ATTACHED, StuckHelper, done

PLAN = make_plan()
IO_ERROR = "I/O error, dev sda, sector 8"


class LookingHelper(StuckHelper):
    """Looks at disks that are sound unless a test says otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.same = self.readable = True
        self.reported: tuple[str, ...] = ()
        self.wiping: Exception | None = None

    async def inspect(self, handle: int, *, reading: bool) -> Finished:
        sound = self.readable if reading else self.same
        return done("inspect") if sound else Finished(("inspect",), 5, b"", b"as the system says", 0.1)

    async def disk_errors(self, handle: int) -> tuple[str, ...]:
        return self.reported

    async def wipe(self, handle: int) -> Finished:
        if self.wiping:
            raise self.wiping
        return done("wipefs")


async def ends(helper: LookingHelper, scratch: Path, kind: type[PreparedImage] = PreparedImage) -> str:
    """What a run says that is ended after a candidate met an I/O error; empty where the candidate is blamed."""
    there = kind(PLAN, Emitter(lambda event: None, Eta(PLAN)), cast(Helper, cast(Any, helper)), ATTACHED, str(scratch))
    try:
        with use(ModelHost()):
            await there.check_device(reading=True)
    except RunFailed as error:
        return f"{error.message} {error.details}"
    return ""


async def test_a_sound_disk_is_not_blamed(tmp_path: Path) -> None:
    assert await ends(LookingHelper(), tmp_path) == ""
    assert not list(tmp_path.iterdir())


async def test_an_image_of_another_size_is_the_cause_of_all_errors(tmp_path: Path) -> None:
    helper = LookingHelper()
    helper.same, helper.reported = False, (IO_ERROR,)
    assert await ends(helper, tmp_path) == "Something changed the size of the scratch image. as the system says"


async def test_a_disk_that_reported_errors_is_blamed_with_all_of_them(tmp_path: Path) -> None:
    helper = LookingHelper()
    helper.reported = (IO_ERROR, "sda: ioerr_cnt grew by 1")
    assert await ends(helper, tmp_path) == f"The disk reported errors. {IO_ERROR}\nsda: ioerr_cnt grew by 1"


async def test_an_image_whose_discarded_blocks_were_taken_by_others_is_on_a_full_filesystem(tmp_path: Path) -> None:
    helper = LookingHelper()
    helper.reported = ("critical space allocation error, dev loop0, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1",)
    assert "is full" in await ends(helper, tmp_path)


async def test_an_image_that_cannot_be_read_is_the_disks_fault_whatever_the_kernel_logged(tmp_path: Path) -> None:
    helper = LookingHelper()
    helper.readable = False
    assert await ends(helper, tmp_path) == "The disk reported errors. as the system says"


@pytest.mark.parametrize(
    ("wiping", "said"),
    [
        (HelperFailed("wipefs failed.", "", "as wipefs says"), "The disk reported errors. as wipefs says"),
        (Refused("It is mounted."), ""),
        (None, ""),
    ],
)
async def test_a_device_that_cannot_be_written_is_blamed(
    tmp_path: Path, wiping: Exception | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "_check_member", lambda name, member: None)
    helper = LookingHelper()
    helper.wiping = wiping
    assert await ends(helper, tmp_path, PreparedDevices) == said
