"""A disk as the machine shows it, what is on it, and whether it is shingled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fswizard.language import N_, _

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation about how a disk records, worded so that a user can check it."""

    code: str
    """Short stable name, such as `smartctl-trim` or `model-table`."""
    says: SmrKind
    strength: Confidence
    text: str


@dataclass(frozen=True, slots=True)
class SmrVerdict:
    """What the evidence amounts to. Absence of evidence is `unknown`, never `cmr`."""

    kind: SmrKind
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
    advice: tuple[str, ...] = ()
    """What the user can do to learn more, or should know before choosing a filesystem."""

    def words(self, *, flash: bool = False) -> str:
        """`SMR, drive-managed`; zones of flash are not shingles."""
        if flash and self.kind in ("host-managed", "host-aware"):
            return _("{kind} zones", kind=self.kind)
        return _(SMR_KINDS[self.kind])

    @property
    def certainty(self) -> str:
        """`strong evidence`; empty without a verdict."""
        return "" if self.kind in ("unknown", "not-a-hard-disk") else _(SMR_CONFIDENCES[self.confidence])

    def sentence(self, *, flash: bool = False) -> str:
        """`SMR, drive-managed (strong evidence)`."""
        verdict = self.words(flash=flash)
        return _("{verdict} ({certainty})", verdict=verdict, certainty=self.certainty) if self.certainty else verdict

    def sign(self, piece: Evidence) -> str:
        """✓ for evidence that supports the verdict, ✗ for evidence against it, · for neither."""
        return "·" if piece.says == "unknown" else "✓" if piece.says == self.kind else "✗"


@dataclass(frozen=True, slots=True)
class DriveUse:
    """Something on this machine that uses a disk or partition, in words, and how to end that."""

    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`."""
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition, or whatever else lies directly on a disk."""

    name: str
    """Kernel name, such as `sda1`."""
    start_bytes: int
    size_bytes: int
    stable_name: str = ""
    """Path below /dev/disk/by-partuuid or by-id, empty where there is none."""
    filesystem: str = ""
    """Type as libblkid names it, such as `ext4`, `crypto_LUKS`, `LVM2_member`; empty if there is none."""
    label: str = ""
    mount_point: str = ""
    free_bytes: int | None = None
    uses: tuple[DriveUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Drive:
    """A disk. All text in it went through `model.text.safe`."""

    name: str
    """Kernel name, such as `sda` or `nvme0n1`."""
    size_bytes: int
    model: str = ""
    serial: str = ""
    firmware: str = ""
    stable_name: str = ""
    """Path below /dev/disk/by-id, empty where there is none."""
    kind: DriveKind = "unknown"
    bus: Bus = "other"
    bridge: str = ""
    """Name of the USB bridge in front of the disk, empty when there is none."""
    rotational: bool = False
    rpm: int | None = None
    removable: bool = False
    read_only: bool = False
    health: str = ""
    """`good`, `failing`, or empty when it could not be asked."""
    temperature_c: int | None = None
    power_on_hours: int | None = None
    written_bytes: int | None = None
    """In its life so far, where it counts that."""
    life_used_percent: int | None = None
    """What an SSD says of its wear; its maker's estimate, which may go beyond 100."""
    partitions: tuple[Partition, ...] = ()
    uses: tuple[DriveUse, ...] = ()
    smr: SmrVerdict = SmrVerdict("unknown", "weak")
    pending: str = ""
    """What is still being asked of the disk, or why asking ended; empty when all is known."""

    @property
    def turns(self) -> bool:
        """A hard disk, or several. Virtual disks don't count, as they all claim to rotate."""
        return self.kind == "hdd" or (self.rotational and (self.kind == "array" or self.bus == "loop"))

    @property
    def flash(self) -> bool:
        """It has no platters, so its zones, if any, are not shingles."""
        return self.kind in ("ssd", "nvme", "flash-card")

    @property
    def unpluggable(self) -> bool:
        """It is made to be taken away while the machine runs."""
        return self.removable or self.bus == "usb" or self.kind == "flash-card"

    @property
    def endurance_bytes(self) -> int | None:
        """An estimate of what can be written to it in its life: what was written, by the share of life that it took.

        None where it does not report that, or reports less than 1 %, which is too little to compute from.
        """
        if not self.written_bytes or not self.life_used_percent:
            return None
        return self.written_bytes * 100 // self.life_used_percent
