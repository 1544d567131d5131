"""A disk with its partitions and current uses, and whether it is shingled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fswizard.language import N_, _
from fswizard.model.frozen import frozen

SmrKind = Literal["host-managed", "host-aware", "drive-managed", "cmr", "unknown", "not-a-hard-disk"]
Confidence = Literal["certain", "strong", "weak"]
Bus = Literal["sata", "nvme", "usb", "sas", "scsi", "ide", "mmc", "virtio", "loop", "md", "dm", "zram", "other"]
DriveKind = Literal["hdd", "ssd", "nvme", "flash-card", "virtual", "array", "unknown"]

DRIVE_KINDS: Mapping[DriveKind, str] = {
    "hdd": N_("hard disk"),
    "ssd": N_("SSD"),
    "nvme": N_("NVMe SSD"),
    "flash-card": N_("flash card"),
    "virtual": N_("virtual disk"),
    "array": N_("array"),
}

SMR_KINDS: Mapping[SmrKind, str] = {
    "host-managed": N_("SMR, host-managed"),
    "host-aware": N_("SMR, host-aware"),
    "drive-managed": N_("SMR, drive-managed"),
    "cmr": N_("CMR, not shingled"),
    "unknown": N_("unknown"),
    "not-a-hard-disk": N_("not a hard disk"),
}
SMR_CONFIDENCES: Mapping[Confidence, str] = {
    "certain": N_("certain"),
    "strong": N_("strong evidence"),
    "weak": N_("weak evidence"),
}


@frozen
class Evidence:
    """One observation about the recording technique, worded so that a user can verify it."""

    code: str
    """Short stable name, such as `smartctl-trim` or `model-table`."""
    says: SmrKind
    strength: Confidence
    text: str


@frozen
class SmrVerdict:
    """The conclusion from the evidence. Without evidence it is `unknown`, never `cmr`."""

    kind: SmrKind
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
    advice: tuple[str, ...] = ()
    """How to learn more, or what to know before choosing a filesystem."""

    def description(self, *, flash: bool = False) -> str:
        """`SMR, drive-managed`. Zones of flash (`flash`) are not shingles and are called zones."""
        if flash and self.kind in ("host-managed", "host-aware"):
            return _("{kind} zones", kind=self.kind)
        return _(SMR_KINDS[self.kind])

    @property
    def certainty(self) -> str:
        """`strong evidence`; empty without a verdict."""
        return "" if self.kind in ("unknown", "not-a-hard-disk") else _(SMR_CONFIDENCES[self.confidence])

    def sentence(self, *, flash: bool = False) -> str:
        """`SMR, drive-managed (strong evidence)`."""
        verdict = self.description(flash=flash)
        return _("{verdict} ({certainty})", verdict=verdict, certainty=self.certainty) if self.certainty else verdict

    def sign(self, piece: Evidence) -> str:
        """✓ for evidence that supports the verdict, ✗ for evidence against it, · for neither."""
        if piece.says == "unknown":
            return "·"
        return "✓" if piece.says == self.kind else "✗"


@frozen
class DriveUse:
    """A current use of a disk or partition on this machine, as text, with a hint on how to end it."""

    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`."""
    text: str
    hint: str = ""


@frozen
class Partition:
    """A partition, or a filesystem or other structure directly on a disk."""

    name: str
    """Kernel name, such as `sda1`."""
    start_bytes: int
    size_bytes: int
    stable_name: str = ""
    """Path below /dev/disk/by-partuuid or by-id; empty if there is none."""
    filesystem: str = ""
    """Type as reported by libblkid, such as `ext4`, `crypto_LUKS`, `LVM2_member`; empty if there is none."""
    label: str = ""
    mount_point: str = ""
    free_bytes: int | None = None
    uses: tuple[DriveUse, ...] = ()


@frozen
class Drive:
    """A disk. All its text has passed through `model.text.safe`."""

    name: str
    """Kernel name, such as `sda` or `nvme0n1`."""
    size_bytes: int
    model: str = ""
    serial: str = ""
    firmware: str = ""
    stable_name: str = ""
    """Path below /dev/disk/by-id; empty if there is none."""
    kind: DriveKind = "unknown"
    bus: Bus = "other"
    bridge: str = ""
    """Name of the USB bridge in front of the disk; empty without one."""
    rotational: bool = False
    rpm: int | None = None
    removable: bool = False
    read_only: bool = False
    health: str = ""
    """`good` or `failing`; empty if unknown."""
    temperature_c: int | None = None
    power_on_hours: int | None = None
    written_bytes: int | None = None
    """Bytes written over the disk's lifetime; None if the disk does not count them."""
    life_used_percent: int | None = None
    """The maker's estimate of the wear of an SSD, which may exceed 100."""
    partitions: tuple[Partition, ...] = ()
    uses: tuple[DriveUse, ...] = ()
    smr: SmrVerdict = SmrVerdict("unknown", "weak")
    pending: str = ""
    """What is still being queried, or why querying stopped; empty if everything is known."""

    @property
    def turns(self) -> bool:
        """Whether it consists of hard disks. Virtual disks don't count, as they all claim to rotate."""
        return self.kind == "hdd" or (self.rotational and (self.kind == "array" or self.bus == "loop"))

    @property
    def flash(self) -> bool:
        """Whether it is flash, which has no platters: its zones, if any, are not shingles."""
        return self.kind in ("ssd", "nvme", "flash-card")

    @property
    def unpluggable(self) -> bool:
        """Whether it can be removed while the machine runs."""
        return self.removable or self.bus == "usb" or self.kind == "flash-card"

    @property
    def endurance_bytes(self) -> int | None:
        """Estimated lifetime writes: bytes written so far divided by the share of life used.

        None if the disk reports no wear or less than 1 %, which is too coarse for an estimate.
        """
        if not self.written_bytes or not self.life_used_percent:
            return None
        return self.written_bytes * 100 // self.life_used_percent
