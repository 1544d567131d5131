"""Where a probe may write: never where something is, or might be."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.drives.probe_target import find_target
from fswizard.errors import Refused, UsageError

pytestmark = pytest.mark.loop


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    image = tmp_path / "image"
    image.write_bytes(b"")
    with image.open("wb") as file:
        file.truncate(600 << 20)
    command = ["losetup", "--find", "--show", str(image)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield name
    subprocess.run(["losetup", "--detach", name], check=True)


def test_a_device_with_a_filesystem_is_refused(device: str) -> None:
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    with pytest.raises(Refused, match="not empty"):
        find_target(device, serial="whatever")


def test_a_mounted_device_is_refused(device: str, tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    subprocess.run(["mount", device, str(point)], check=True)
    try:
        with pytest.raises(Refused, match="mounted on"):
            find_target(device, serial="whatever")
    finally:
        subprocess.run(["umount", str(point)], check=True)


def test_an_empty_device_still_needs_its_serial_number(device: str) -> None:
    with pytest.raises(Refused, match="would be overwritten"):
        find_target(device, serial="")


def test_a_directory_gives_a_plan_within_what_is_free(device: str, tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    subprocess.run(["mount", device, str(point)], check=True)
    try:
        target = find_target(str(point), time_limit_s=10.0)
        with target.opened():
            names = sorted(path.name for path in point.iterdir())
    finally:
        subprocess.run(["umount", str(point)], check=True)
    assert target.drive.name == Path(device).name
    assert 0 < target.plan.listen_bytes <= target.plan.press_bytes <= 150 << 20
    assert target.plan.maximum_bytes <= 10 * 200_000_000
    assert names == ["lost+found"], "the scratch file has no name"


def test_a_filesystem_in_memory_tells_nothing() -> None:
    with pytest.raises(UsageError, match="lies on no disk"):
        find_target("/dev/shm")
