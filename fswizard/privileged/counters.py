"""What filesystems count as errors of their own: a closed list of places, chosen by the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fswizard.privileged import pools
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.volumes import Volume

CP_ERROR, CP_FSCK = 0x8, 0x10
"""Of a checkpoint of F2FS: it saw an error, or wants fsck (kernel: Documentation/ABI/testing/sysfs-fs-f2fs)."""


def read(volume: Volume, kinds: Sequence[str]) -> dict[str, int]:
    """Counters by name; Refusal where a kind is not on the list, or where the kernel writes something new."""
    for kind in kinds:
        if kind not in KINDS:
            raise Refusal("refused", f"no such counters: {kind!r:.40}")
    try:
        return {name: count for kind in kinds for name, count in KINDS[kind](volume).items()}
    except ValueError as error:
        raise Refusal("failed", f"the kernel's counters cannot be read: {error}") from error


def _ext4(volume: Volume) -> dict[str, int]:
    """kernel: Documentation/ABI/testing/sysfs-fs-ext4."""
    directory = Path("/sys/fs/ext4", volume.device.name)
    return {
        name: int((directory / name).read_text())
        for name in ("errors_count", "warning_count")
        if (directory / name).exists()
    }


def _btrfs(volume: Volume) -> dict[str, int]:
    """As `btrfs device stats` shows them."""
    found: dict[str, int] = {}
    for link in Path("/sys/fs/btrfs").glob(f"*/devices/{volume.device.name}"):
        for statistics in link.parent.parent.glob("devinfo/*/error_stats"):
            pairs = (line.split() for line in statistics.read_text().splitlines())
            found |= {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
    return found


def _f2fs(volume: Volume) -> dict[str, int]:
    status = Path("/sys/fs/f2fs", volume.device.name, "stat/cp_status")
    if not status.exists():
        return {}
    bits = int(status.read_text(), 16)
    return {"checkpoint_error": int(bool(bits & CP_ERROR)), "needs_fsck": int(bool(bits & CP_FSCK))}


def _bcachefs(volume: Volume) -> dict[str, int]:
    """Of reads, writes and checksums since it was made."""
    found: dict[str, int] = {}
    for link in Path("/sys/fs/bcachefs").glob("*/dev-*/block"):
        errors = link.parent / "io_errors"
        if link.resolve().name == volume.device.name and errors.exists():
            text = errors.read_text().partition("since")[0]
            pairs = (line.split() for line in text.splitlines())
            found |= {f"{pair[0].rstrip(':')}_errors": int(pair[1]) for pair in pairs if len(pair) == 2}
    return found


def _zpool(volume: Volume) -> dict[str, int]:
    return pools.counters(volume.pool)


KINDS: Mapping[str, Callable[[Volume], dict[str, int]]] = {
    "ext4-sysfs": _ext4,
    "btrfs-sysfs": _btrfs,
    "f2fs-sysfs": _f2fs,
    "bcachefs-sysfs": _bcachefs,
    "zpool-status": _zpool,
}
