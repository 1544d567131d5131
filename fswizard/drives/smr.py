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

from fswizard.drives.models import ModelRow, ModelTable, Source, SourceStrength, bare, names_a_hard_disk, shipped_table
from fswizard.language import N_, _, in_english, joined
from fswizard.model.drive import Confidence, Drive, DriveKind, Evidence, SmrKind, SmrVerdict
from fswizard.model.units import size_text

Medium = Literal["", "rotating", "solid-state", "nvme", "memory"]
Zoned = Literal["", "host-aware", "drive-managed"]
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
_MEDIA = {
    "nvme": ("nvme", N_("It is an NVMe device: flash, not platters.")),
    "memory": ("memory", N_("It is compressed memory (zram), which has no platters.")),
    "solid-state": ("rotation-rate", N_("It reports no rotation: flash, not platters.")),
}
"""Media without platters: code and text of the evidence."""
_ARE: dict[SmrKind, str] = {
    "host-managed": N_("shingled, host-managed (SMR)"),
    "host-aware": N_("shingled, host-aware (SMR)"),
    "drive-managed": N_("shingled, drive-managed (SMR)"),
    "cmr": N_("conventional (CMR)"),
    "not-a-hard-disk": N_("flash, not a hard disk"),
}
_IS: dict[SmrKind, str] = {
    "host-managed": N_("{model} is shingled, host-managed (SMR)"),
    "host-aware": N_("{model} is shingled, host-aware (SMR)"),
    "drive-managed": N_("{model} is shingled, drive-managed (SMR)"),
    "cmr": N_("{model} is conventional (CMR)"),
    "not-a-hard-disk": N_("{model} is flash, not a hard disk"),
    "unknown": N_("{model} is disputed"),
}
_OTHER_DEVICES = ("cd/dvd", "optical", "tape", "sequential", "enclosure", "processor", "changer", "storage array")
"""Parts of SCSI device types that are no disks."""
_SAYS = N_("{source} ({document}) says that this model is {recording}: {note}.")
_LISTS = N_("{source} ({document}) lists this model as {recording}: {note}.")
_STATEMENTS: dict[SourceStrength, str] = {
    "vendor": _SAYS,
    "database": _LISTS,
    "paper": N_("{source} ({document}) measured that this model is {recording}."),
    "press": N_("{source} ({document}) reports that this model is {recording}: {note}."),
    "legal": _SAYS,
    "community": _LISTS,
    "outputs": N_("{source} ({document}) show that this model {note}, as no shingled disk does."),
    "hint": N_("{source} ({document}) show that this model {note}, as no drive-managed disk that we have seen does."),
    "date": N_("{source} ({document}) already lists this model, and the first shingled disk was sold in 2013: {note}."),
}
_DISPUTE = N_("Sources disagree about this model: {note}.")
_HYBRID = N_(
    "{source} ({document}) counts this model among hybrid disks and does not say how its platters record: {note}."
)
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
_MEMBER: dict[Confidence, str] = {
    "certain": N_("It is made of {disk}, whose verdict is {verdict} (certain evidence)."),
    "strong": N_("It is made of {disk}, whose verdict is {verdict} (strong evidence)."),
    "weak": N_("It is made of {disk}, whose verdict is {verdict} (weak evidence)."),
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
    zone_model: Literal["", "host-managed", "host-aware"] = ""
    """Zone model reported by the kernel."""
    peripheral: str = ""
    """SCSI device type in words, such as `host managed zoned block device`."""
    zoned: Zoned = ""
    """Kind of zones that the disk reports."""
    zoned_where: str = ""
    """Source of `zoned`: a page or an output line."""
    recording: Recording = ""
    """Recording type in Seagate's FARM log."""
    trim: str = ""
    """Page or output line that reports TRIM; empty without TRIM."""
    trim_would_show: bool = False
    """Whether the source shows TRIM if there is any: smartctl 7.2 and later, IDENTIFY DEVICE."""
    recent: bool = False
    """Whether it is an output of smartctl 7.2 or later."""
    flash_attributes: bool = False
    """Whether there are SMART attributes of flash, such as wear levelling."""
    maker: str = ""
    """Hard disk maker according to the WWN; empty if unknown."""
    bridge: str = ""
    """Name of the USB bridge; empty without one."""
    volume: bool = False
    """Whether it is a RAID volume or an emulated disk."""
    removable: bool = False
    """Whether it is a small removable medium."""
    network: bool = False
    """Whether another machine serves it."""
    problem: str = ""
    """Message about why smartctl could not report more."""

    @property
    def identifies_itself(self) -> bool:
        """Whether the facts are about the disk itself, and not about a bridge, controller or emulation."""
        return not self.volume and not self.network and (bool(self.maker) or names_a_hard_disk(self.model))


@in_english()
def judge_smr(facts: SmrFacts, table: ModelTable | None = None) -> SmrVerdict:
    """Judge a disk by facts; `table` replaces the shipped table of models."""
    table = table or shipped_table()
    rows = table.find(facts.model)
    named = list(_by_name(facts, rows, table))
    evidence = [*_by_itself(facts, rows), *named]
    if not rows and facts.source == "name" and facts.model:
        evidence.append(_near_names(facts.model, table))
    if not any(item.says in SHINGLED for item in named):  # the model name is better evidence than signs of age
        evidence += _marks(facts)
    if facts.medium == "rotating" and facts.trim:
        evidence.append(_trim(facts, rows))
    elif facts.medium == "rotating" and facts.trim_would_show and all(item.says == "unknown" for item in evidence):
        text = N_(
            "It offers no TRIM and reports no zones, but neither do 4 in 10 drive-managed disks: this proves nothing."
        )
        evidence.append(_says("no-trim", "unknown", "weak", text))
    kind, confidence = _weigh(evidence)
    advice = _KNOW.get(kind) or tuple(_advice(kind, facts, evidence))
    return SmrVerdict(kind, confidence, tuple(evidence), advice)


def judge_composed(members: Sequence[Drive]) -> SmrVerdict:
    """Judge an array, or several paths to one disk: a single shingled member slows down the whole."""
    disks = list({(disk.serial or disk.name): disk for disk in members}.values())
    evidence = tuple(map(_of_member, disks))
    order: tuple[SmrKind, ...] = (*SHINGLED, "unknown", "cmr", "not-a-hard-disk")
    kind: SmrKind = min((disk.smr.kind for disk in disks), key=order.index, default="unknown")
    if kind == "unknown":
        return SmrVerdict(kind, "weak", evidence, (N_("Check the disks it is made of, one by one."),))
    strengths = [disk.smr.confidence for disk in disks if disk.smr.kind == kind]
    # one shingled member is enough; for conventional ones the least certain member counts
    confidence = (min if kind in SHINGLED else max)(strengths, key=_STRENGTHS.index)
    return SmrVerdict(kind, confidence, evidence, _KNOW.get(kind, ()))


def _of_member(disk: Drive) -> Evidence:
    kind, confidence = disk.smr.kind, disk.smr.confidence
    text = _MEMBER[confidence] if kind != "unknown" else N_("It is made of {disk}, whose verdict is unknown.")
    return _says("member", kind, confidence, text, disk=f"{disk.name} ({disk.model})".removesuffix(" ()"), verdict=kind)


def _says(code: str, says: SmrKind, strength: Confidence, text: str, **fields: str) -> Evidence:
    return Evidence(code, says, strength, _(text, **fields))


def _by_itself(facts: SmrFacts, rows: Sequence[ModelRow]) -> Iterator[Evidence]:
    """Yield evidence from the disk and the kernel about zones, medium and recording."""
    type_, zones = facts.peripheral, facts.zone_model
    if zones:
        text = N_("The kernel reports {kind} zones (queue/zoned in sysfs).")
        yield _says("queue-zoned", zones, "certain", text, kind=zones)
    if "host managed zoned" in type_:
        yield _says("device-type", "host-managed", "certain", N_("The SCSI device type is '{type}'."), type=type_)
    if any(name in type_ for name in _OTHER_DEVICES):
        yield _says("device-type", "not-a-hard-disk", "certain", N_("The SCSI device type is '{type}'."), type=type_)
    if facts.zoned:
        text = N_("The disk itself reports {kind} zones ({place}).")
        kind = facts.zoned.replace("drive", "device")
        yield _says("zoned", facts.zoned, "certain", text, kind=kind, place=_(facts.zoned_where))
    if facts.medium in _MEDIA and zones != "host-managed":
        yield _says(_MEDIA[facts.medium][0], "not-a-hard-disk", "certain", _MEDIA[facts.medium][1])
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
    text = _("smartctl's database names the family '{family}'.", family=facts.family)
    if "(SMR)" in family or "(CMR" in family:
        says: SmrKind = "drive-managed" if "(SMR)" in family else "cmr"
        if any(row.strength == "database" and row.kind != says for row in rows):
            text = joined((text, _("A later release of that database disagrees.")))
            yield Evidence("smartctl-family", "unknown", "weak", text)
        else:
            yield Evidence("smartctl-family", says, "strong", text)
    elif not facts.medium and ("SSD" in family.replace("SSHD", "") or "FLASH" in family):
        yield Evidence("smartctl-family", "not-a-hard-disk", "strong", text)
    for row in rows:
        if row.kind != "not-a-hard-disk" or not facts.medium:
            code, text = DISPUTED if row.disputed else "model-table", row_text(row, table.sources.get(row.source))
            yield Evidence(code, row.kind, "weak" if row.kind == "unknown" else row.confidence, text)


def _near_names(model: str, table: ModelTable) -> Evidence:
    """Evidence with suggestions for a name missing from the table."""
    text = _("This name is not in the table of models.")
    if names := table.near(model):
        listed = joined([_(_IS[table.find(name)[0].kind], model=name) for name in names], "; ")
        text = joined((text, _("The nearest names: {models}.", models=listed)))
    return Evidence("near-names", "unknown", "weak", text)


def row_text(row: ModelRow, source: Source | None = None) -> str:
    """Sentence about a source's statement, with document, year and URL."""
    origin = source or Source(row.source, urlsplit(row.source).netloc)
    text = _STATEMENTS[row.strength]
    if row.kind == "unknown":
        text = _DISPUTE if row.disputed else _HYBRID
    recording = _(_ARE.get(row.kind, ""))
    text = _(text, source=_(origin.by), document=origin.where, recording=recording, note=_(row.note))
    return joined((text, row.source))


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
    if facts.medium != "rotating" and not (facts.maker and facts.capacity_bytes >= 10**12):
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
    place = _(facts.trim)
    names = f"{facts.family} {facts.model}".upper()
    if not facts.identifies_itself:
        text = N_("TRIM is offered ({place}), but perhaps by a bridge or RAID controller, not by the disk.")
        return _says("trim-not-of-the-disk", "unknown", "weak", text, place=place)
    if re.search("SSHD|HYBRID|MOMENTUS XT", names) or any(row.hybrid for row in rows):
        text = N_("TRIM is offered ({place}), but this is a hybrid disk: it may be meant for its flash.")
        return _says("trim-of-a-hybrid", "unknown", "weak", text, place=place)
    if any(row.may_trim for row in rows):
        text = N_("It offers TRIM ({place}), but so do some disks of this family that are called conventional.")
        return _says("trim", "drive-managed", "weak", text, place=place)
    text = N_(
        "It has platters and offers TRIM ({place}), as do 273 of 503 drive-managed disks "
        "and none of 3,451 conventional ones."
    )
    return _says("trim", "drive-managed", "strong", text, place=place)


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
    """Yield advice on how to learn more, the most useful first."""
    if kind != "unknown":
        return
    if facts.network:
        yield N_("Another machine serves it over the network. Check the disks on that machine.")
        return
    if facts.problem and not facts.model:
        yield _on_refusal(facts.problem)
        return
    if facts.volume:
        yield N_("Check the real disk on the virtual machine's host, or query the RAID controller.")
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
    else:
        if facts.source == "smartctl" and not facts.recent:
            yield N_("Use smartctl 7.2 or later, which also shows TRIM and zones: `smartctl -x DEVICE`.")
        if (facts.maker == "Seagate" or bare(facts.model).startswith("ST")) and not facts.recording:
            yield N_("Newer Seagate disks say how they record: `smartctl -l farm DEVICE` (smartctl 7.4 or later).")
    if facts.source == "machine":
        yield N_("`fswizard run cache-overflow --target image:128G@DIRECTORY` shows overnight whether it slows down.")


def _on_refusal(problem: str) -> str:
    """Advice on an error message of smartctl."""
    if re.search("STANDBY|in IDLE|in SLEEP", problem):
        return N_(
            "The disk is asleep. Query it when it is in use, or wake it: `smartctl -x DEVICE` without `-n standby`."
        )
    if re.search("ermission denied|not permitted|Access is denied", problem):
        return N_(
            "smartctl needs root here: `sudo smartctl -x DEVICE`. On Windows run it in a terminal opened as "
            "administrator."
        )
    if re.search("not found|is not recogni", problem):  # by a shell, or by that of Windows
        return N_("Install smartmontools, which smartctl is part of, and run `smartctl -x DEVICE` again.")
    return N_(
        "Query the disk itself with `smartctl -x DEVICE` as root, behind a USB adapter with `-d sat`; `smartctl "
        "--scan-open` lists the disks and the type that each one needs."
    )
