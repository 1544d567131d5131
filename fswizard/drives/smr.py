"""Derive the verdict whether a disk is shingled (SMR) from facts about it.

The strongest evidence decides; missing facts prove nothing. The sentences are English, as verdicts are stored in
results; they are translated when they are displayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from fswizard.drives.models import ModelRow, ModelTable, Source, bare, names_a_hard_disk, shipped_table
from fswizard.language import N_, _, in_english, joined
from fswizard.model.drive import SMR_KINDS, Confidence, Drive, DriveKind, Evidence, SmrKind, SmrVerdict
from fswizard.model.units import size_text

Medium = Literal["", "rotating", "solid-state", "nvme"]
Zoned = Literal["", "host-managed", "host-aware", "drive-managed"]
Recording = Literal["", "SMR", "CMR"]

KIND_OF: dict[str, DriveKind] = {"rotating": "hdd", "solid-state": "ssd", "nvme": "nvme"}
"""Kind of drive by medium."""
SHINGLED: tuple[SmrKind, ...] = ("host-managed", "host-aware", "drive-managed")
"""Kinds of shingled disks, the most specific first."""
DISPUTED = "model-disputed"
"""Code of the evidence that sources disagree about a model; weak hints do not override it."""
_STRENGTHS: tuple[Confidence, ...] = ("certain", "strong", "weak")
_UP_TO_ATA8 = re.compile(r"(?!.*ACS-[2-9])(?:.*ATA(?:/ATAPI)?-?[1-8]\b|[1-8]$)")
"""ATA standards up to ATA-8. The highest of several versions counts; older smartctl prints a bare `8`."""
_ACS_2 = re.compile(r"ACS-2(?: \(minor revision not indicated\)|, ATA8-ACS T13/1699-D revision \w+)")
"""ACS-2 as the latest standard; does not match a damaged line."""
_LEAST_SHINGLED_BYTES = 480_000_000_000
_WITHOUT_PLATTERS = {"nvme": N_("an NVMe device"), "solid-state": N_("a device that reports no rotation")}
_OTHER_DEVICES = ("cd/dvd", "optical", "tape", "sequential", "enclosure", "processor", "changer", "storage array")
"""Parts of SCSI device types that are no disks."""
_LISTS = N_("{source} ({document}) lists this model as {recording}: {note}.")
_SHOW = N_("{source} ({document}) show that this model {note}, as no shingled disk that we have seen does.")
_STATEMENTS = {
    "outputs": _SHOW,
    "hint": _SHOW,
    "date": N_("{source} ({document}) already lists this model, and the first shingled disk was sold in 2013: {note}."),
}
"""Sentence by the strength of a source, if it is another one than `_LISTS`."""
_DISPUTE = N_("Sources disagree about this model: {note}.")
_KNOW: dict[SmrKind, tuple[str, ...]] = {
    "drive-managed": (
        N_(
            "Random writes go into a cache on the platters (about 20 GB on the disks that were measured). "
            "Once it is full, they slow to a crawl until the disk has been idle for a while."
        ),
        N_("Reading, and writing large files one after another, is as fast as on other disks."),
        N_("Rebuilding a ZFS or RAID array onto such a disk can take days or time out."),
    ),
    "host-aware": (
        N_("It accepts random writes, but like a drive-managed disk it slows to a crawl once its cache is full."),
    ),
    "host-managed": (
        N_(
            "Only filesystems made for zones work on it directly: F2FS, Btrfs (Linux 5.12), XFS (Linux 6.15) and "
            "zonefs."
        ),
        N_("Ordinary filesystems such as ext4 don't work on it."),
    ),
}


@dataclass(frozen=True, slots=True)
class SmrFacts:
    """Observations about a disk. Empty and False mean that nothing was observed."""

    source: Literal["name", "smartctl", "machine"]
    """A model name alone, output of smartctl, or the running machine."""
    model: str = ""
    family: str = ""
    """Family in smartctl's database."""
    standard: str = ""
    """ATA standard of the disk, as smartctl prints it."""
    capacity_bytes: int = 0
    sector_bytes: int = 0
    """Physical size of a sector."""
    rpm: int = 0
    medium: Medium = ""
    peripheral: str = ""
    """SCSI device type in words, such as `host managed zoned block device`."""
    zoned: Zoned = ""
    """Kind of zones: queue/zoned in sysfs, VPD page B1, or IDENTIFY DEVICE word 69."""
    recording: Recording = ""
    """Recording type in Seagate's FARM log."""
    trim: bool = False
    """Whether TRIM is offered: IDENTIFY DEVICE word 169, or queue/discard_max_bytes in sysfs."""
    flash_attributes: bool = False
    """Whether there are SMART attributes of flash, such as wear levelling."""
    bridge: str = ""
    """Name of the USB bridge; empty without one."""
    volume: bool = False
    """Whether it is a RAID volume, emulated, or served by another machine."""
    removable: bool = False
    """Whether it is a small removable medium."""
    problem: str = ""
    """Message about why smartctl could not report more."""

    @property
    def identifies_itself(self) -> bool:
        """Whether the facts are about the disk itself, and not about a bridge, controller or emulation."""
        return not self.volume and names_a_hard_disk(self.model)


@in_english()
def judge_smr(facts: SmrFacts, table: ModelTable | None = None) -> SmrVerdict:
    """Judge a disk by facts; `table` replaces the shipped table of models."""
    table = table or shipped_table()
    rows = table.find(facts.model)
    named = list(_by_name(facts, rows, table))
    evidence = [*_by_itself(facts, rows), *named]
    if not any(item.says in SHINGLED for item in named):  # the model name is better evidence than signs of age
        evidence += _marks(facts)
    if facts.medium == "rotating" and facts.trim:
        evidence.append(_trim(facts, rows))
    kind, confidence = _weigh(evidence)
    advice = _KNOW.get(kind) or tuple(_advice(kind, facts, evidence))
    return SmrVerdict(kind, confidence, tuple(evidence), advice)


def judge_composed(members: Sequence[Drive]) -> SmrVerdict:
    """Judge an array, or several paths to one disk: a single shingled member slows down the whole."""
    by_serial = {disk.serial or disk.name: disk for disk in members}
    disks = list(by_serial.values())
    evidence = []
    for disk in disks:
        name = f"{disk.name} ({disk.model})" if disk.model else disk.name
        text = _("It is made of {disk}, whose verdict is {verdict}.", disk=name, verdict=disk.smr.sentence())
        evidence.append(Evidence("member", disk.smr.kind, disk.smr.confidence, text))
    order: tuple[SmrKind, ...] = (*SHINGLED, "unknown", "cmr", "not-a-hard-disk")
    kind: SmrKind = min((disk.smr.kind for disk in disks), key=order.index, default="unknown")
    if kind == "unknown":
        return SmrVerdict(kind, "weak", tuple(evidence), (N_("Check the disks it is made of, one by one."),))
    strengths = sorted((disk.smr.confidence for disk in disks if disk.smr.kind == kind), key=_STRENGTHS.index)
    # one shingled member is enough; for conventional ones the least certain member counts
    confidence = strengths[0] if kind in SHINGLED else strengths[-1]
    return SmrVerdict(kind, confidence, tuple(evidence), _KNOW.get(kind, ()))


def _says(code: str, says: SmrKind, strength: Confidence, text: str, **fields: str) -> Evidence:
    return Evidence(code, says, strength, _(text, **fields))


def _by_itself(facts: SmrFacts, rows: Sequence[ModelRow]) -> Iterator[Evidence]:
    """Yield evidence from the disk and the kernel about zones, medium and recording."""
    type_ = facts.peripheral
    zoned_type = "host managed zoned" in type_
    if zoned_type or any(name in type_ for name in _OTHER_DEVICES):
        text = N_("The SCSI device type is '{type}'.")
        yield _says("device-type", "host-managed" if zoned_type else "not-a-hard-disk", "certain", text, type=type_)
    if facts.zoned:
        text = N_("The disk itself reports {kind} zones (queue/zoned in sysfs, VPD page B1, IDENTIFY DEVICE word 69).")
        yield _says("zoned", facts.zoned, "certain", text, kind=facts.zoned)
    if facts.medium in _WITHOUT_PLATTERS and facts.zoned != "host-managed":
        text = N_("It is {medium}, without platters.")
        yield _says("medium", "not-a-hard-disk", "certain", text, medium=_(_WITHOUT_PLATTERS[facts.medium]))
    elif facts.removable and not facts.medium:
        text = N_("It is a small removable medium, as sticks and cards are.")
        yield _says("removable", "not-a-hard-disk", "weak", text)
    elif facts.flash_attributes and not facts.medium:
        text = N_("Its SMART attributes count flash wear, which no hard disk has.")
        yield _says("flash-attributes", "not-a-hard-disk", "strong", text)
    if facts.recording:
        says: SmrKind = "cmr"
        if facts.recording == "SMR":
            listed = [row.kind for row in rows if row.kind in SHINGLED]
            says = min(listed, key=SHINGLED.index, default="drive-managed")
        text = N_("The disk itself reports the recording type {type} (Seagate's FARM log).")
        yield _says("farm", says, "certain", text, type=facts.recording)


def _by_name(facts: SmrFacts, rows: Sequence[ModelRow], table: ModelTable) -> Iterator[Evidence]:
    """Yield evidence from the smartctl database and the table of models."""
    family = facts.family.upper()
    says: SmrKind = "unknown"
    if "(SMR)" in family:
        says = "drive-managed"
    elif "(CMR" in family:
        says = "cmr"
    elif not facts.medium and ("SSD" in family.replace("SSHD", "") or "FLASH" in family):
        says = "not-a-hard-disk"
    # Rows of the table that quote the same database are of its latest release.
    if says != "unknown" and not any(row.strength == "database" and row.kind != says for row in rows):
        text = N_("smartctl's database names the family '{family}'.")
        yield _says("smartctl-family", says, "strong", text, family=facts.family)
    for row in rows:
        if row.kind != "not-a-hard-disk" or not facts.medium:
            code, text = DISPUTED if row.disputed else "model-table", _row_text(row, table.sources.get(row.source))
            yield Evidence(code, row.kind, "weak" if row.kind == "unknown" else row.confidence, text)
    if not rows and facts.source == "name" and facts.model:
        yield Evidence("not-in-table", "unknown", "weak", _("This name is not in the table of models."))


def _row_text(row: ModelRow, source: Source | None) -> str:
    """Sentence about a source's statement, with document, year and URL."""
    origin = source or Source(row.source, urlsplit(row.source).netloc)
    text = _DISPUTE if row.disputed else _STATEMENTS.get(row.strength, _LISTS)
    recording = N_("a hybrid of platters and flash (SSHD)") if row.hybrid else SMR_KINDS[row.kind]
    sentence = _(
        text,
        source=_(origin.by),
        document=origin.where,
        recording=_(recording),
        note=_(row.note),
    )
    return joined((sentence, row.source))


def _marks(facts: SmrFacts) -> Iterator[Evidence]:
    """Yield evidence from properties of the disk that no shingled disk has.

    The figures are those of 7,250 published outputs of smartctl, 619 of them of shingled disks.
    """
    if facts.medium not in ("rotating", "") or facts.flash_attributes or not facts.identifies_itself:
        return
    if _UP_TO_ATA8.match(facts.standard):
        text = N_(
            "It follows an ATA standard older than shingled disks ({standard}), as do 4,140 of 7,250 disks "
            "whose details people published, but none of the 619 shingled ones among them."
        )
        yield _says("ata-standard", "cmr", "strong", text, standard=facts.standard)
    if facts.medium != "rotating" and facts.capacity_bytes < 10**12:
        return  # small sectors and capacities are common for flash, too
    if _ACS_2.fullmatch(facts.standard):
        text = N_("It follows ACS-2, an older ATA standard. Every drive-managed disk we have seen follows a later one.")
        yield _says("ata-standard", "cmr", "weak", text)
    if facts.sector_bytes == 512:
        text = N_(
            "It has 512-byte sectors, as do 2,771 of 7,250 disks whose details people published, "
            "but none of the 619 shingled ones among them."
        )
        yield _says("sectors-of-512", "cmr", "strong", text)
    if 0 < facts.capacity_bytes < _LEAST_SHINGLED_BYTES:
        text = N_(
            "It holds {size}. 1,543 of 7,250 disks whose details people published hold "
            "less than 480 GB, but none of the 619 shingled ones among them."
        )
        yield _says("capacity", "cmr", "strong", text, size=size_text(facts.capacity_bytes))
    if 10_000 <= facts.rpm <= 15_100:
        text = N_("It spins at {rate} rpm. No shingled disk is known to spin faster than 7,200.")
        yield _says("fast-rotation", "cmr", "strong", text, rate=f"{facts.rpm:,}")


def _trim(facts: SmrFacts, rows: Sequence[ModelRow]) -> Evidence:
    """Evidence from a rotating disk with TRIM."""
    names = f"{facts.family} {facts.model}".upper()
    hybrid = any(row.hybrid for row in rows) or re.search("SSHD|HYBRID|MOMENTUS XT", names)
    if hybrid or not facts.identifies_itself:
        text = N_("TRIM is offered, but perhaps by a bridge, by a RAID controller, or for the flash of a hybrid disk.")
        return _says("trim-not-of-the-disk", "unknown", "weak", text)
    if any(row.may_trim for row in rows):
        text = N_("It offers TRIM, but so do some disks of this family that are called conventional.")
        return _says("trim", "drive-managed", "weak", text)
    text = N_(
        "It has platters and offers TRIM, as do 273 of 503 drive-managed disks and none of 3,451 conventional ones."
    )
    return _says("trim", "drive-managed", "strong", text)


def _weigh(evidence: Sequence[Evidence]) -> tuple[SmrKind, Confidence]:
    """The verdict of the strongest evidence; unknown if that is contradictory."""
    disputed = any(item.code == DISPUTED for item in evidence)
    for strength in _STRENGTHS:
        kinds = {item.says for item in evidence if item.strength == strength} - {"unknown"}
        if not kinds:
            continue
        if (strength == "weak" and disputed) or (len(kinds) > 1 and not kinds <= set(SHINGLED)):
            break
        return min(kinds, key=(*SHINGLED, *kinds).index), strength
    return "unknown", "weak"


def _advice(kind: SmrKind, facts: SmrFacts, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield advice on how to learn more about an unknown disk, the most useful first."""
    if kind != "unknown":
        return
    if facts.problem and not facts.model:
        yield N_(
            "Query the disk itself as root, when it is not in standby: `smartctl -x DEVICE` (of smartmontools), behind "
            "a USB adapter with `-d sat`; `smartctl --scan-open` lists the disks and the type that each one needs."
        )
        return
    if facts.volume:
        yield N_("Check the real disk on the machine that has it, or query the RAID controller.")
        return
    kinds = {item.says for item in evidence} - {"unknown"}
    if len(kinds) > 1 or any(item.code == DISPUTED for item in evidence):
        yield N_("The sources disagree about this disk, so it stays unknown.")
    if facts.source == "name":
        yield N_("To be sure, query the disk itself: `fswizard smr DEVICE`, or `smartctl -x DEVICE | fswizard smr -`.")
    elif facts.bridge or (facts.model and not facts.identifies_itself):
        yield N_(
            "A USB adapter or controller may hide the disk's name. Query through it with `smartctl -d sat -x "
            "DEVICE` (some need `-d sntasmedia`, `-d usbjmicron` or `-d megaraid,N`), or attach the disk to a SATA "
            "port."
        )
    elif bare(facts.model).startswith("ST") and not facts.recording:
        yield N_("Newer Seagate disks say how they record: `smartctl -l farm DEVICE` (smartctl 7.4 or later).")
    if facts.source == "machine":
        yield N_("`fswizard run cache-overflow --target image:128G@DIRECTORY` shows overnight whether it slows down.")
