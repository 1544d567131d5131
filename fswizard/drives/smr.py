"""From facts about a disk to a verdict on how it records: the strongest evidence decides; missing facts prove
nothing.

Its sentences are English, as verdicts go into results: whoever shows one says `language.shown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from fswizard.drives.models import ModelRow, ModelTable, Source, SourceStrength, bare, names_a_hard_disk, shipped_table
from fswizard.drives.refusals import way_on
from fswizard.language import N_, in_english
from fswizard.model.drive import Confidence, Drive, DriveKind, Evidence, SmrKind, SmrVerdict
from fswizard.model.units import size_text

Medium = Literal["", "rotating", "solid-state", "nvme", "memory"]
Zoned = Literal["", "host-aware", "drive-managed"]
Recording = Literal["", "SMR", "CMR"]

SHINGLED: tuple[SmrKind, ...] = ("host-managed", "host-aware", "drive-managed")
"""Kinds of shingled disks, the most specific first."""
DISPUTED = "model-disputed"
"""Code of the evidence that sources disagree about a model, which hints do not settle."""
_ATA_VERSIONS = re.compile(r"ACS-([2-9])|ATA(?:/ATAPI)?-?([1-8])\b|^([1-9]|1\d)$")
"""Versions in smartctl's words; `ATA8-ACS` and older smartctl's bare `8` are the eighth, `ACS-2` the ninth."""
_ACS_2 = re.compile(r"ACS-2(?: \(minor revision not indicated\)|, ATA8-ACS T13/1699-D revision \w+)")
"""Standard of disks that follow no later version; a damaged line has other words."""
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
_OTHER_DEVICES = {
    "cd/dvd": N_("a drive for optical discs"),
    "optical": N_("an optical drive"),
    "tape": N_("a tape drive"),
    "sequential": N_("a tape drive"),
    "enclosure": N_("a case with slots for disks"),
    "processor": N_("not a disk"),
    "changer": N_("a changer of media"),
    "storage array": N_("a controller of disks"),
}
_SAYS = (
    N_("{source} ({document}) says that this model is {recording}."),
    N_("{source} ({document}) says that this model is {recording}: {note}."),
)
_LISTS = (
    N_("{source} ({document}) lists this model as {recording}."),
    N_("{source} ({document}) lists this model as {recording}: {note}."),
)
_STATEMENTS: dict[SourceStrength, tuple[str, str]] = {
    "vendor": _SAYS,
    "database": _LISTS,
    "paper": (
        N_("{source} ({document}) measured that this model is {recording}."),
        N_("{source} ({document}) measured that this model is {recording}: {note}."),
    ),
    "press": (
        N_("{source} ({document}) reports that this model is {recording}."),
        N_("{source} ({document}) reports that this model is {recording}: {note}."),
    ),
    "legal": _SAYS,
    "community": _LISTS,
    "outputs": ("", N_("{source} ({document}) show that this model {note}, as no shingled disk does.")),
    "hint": (
        "",
        N_("{source} ({document}) show that this model {note}, as no drive-managed disk that we have seen does."),
    ),
    "date": (
        N_("{source} ({document}) already lists this model, and the first shingled disk was sold in 2013."),
        N_("{source} ({document}) already lists this model, and the first shingled disk was sold in 2013: {note}."),
    ),
}
"""Each without and with a note."""
_DISPUTE = N_("Sources disagree about this model."), N_("Sources disagree about this model: {note}.")
_HYBRID = (
    N_("{source} ({document}) counts this model among hybrid disks and does not say how its platters record."),
    N_("{source} ({document}) counts this model among hybrid disks and does not say how its platters record: {note}."),
)
_STRENGTHS: tuple[Confidence, ...] = ("certain", "strong", "weak")
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
    firmware: str = ""
    standard: str = ""
    """Version of the disk's ATA standard, in smartctl's words."""
    capacity_bytes: int = 0
    sector_bytes: int = 0
    """Physical size of a sector."""
    rpm: int = 0
    medium: Medium = ""
    zone_model: str = ""
    """`host-managed` or `host-aware`, by the kernel."""
    peripheral: str = ""
    """SCSI device type in words, such as `host managed zoned block device`."""
    zoned: Zoned = ""
    """Kind of zones, by the disk itself."""
    zoned_where: str = ""
    """Page or line with `zoned`."""
    recording: Recording = ""
    """Recording type in Seagate's FARM log."""
    trim: bool = False
    trim_where: str = ""
    """Page or line that offers TRIM."""
    trim_would_show: bool = False
    """Whether the source shows TRIM if there is any: smartctl 7.2 and later, IDENTIFY DEVICE."""
    recent: bool = False
    """Whether it is an output of smartctl 7.2 or later."""
    flash_attributes: bool = False
    """Whether SMART attributes are those of flash, such as wear levelling."""
    maker: str = ""
    """Maker of hard disks whose WWN it has."""
    bridge: str = ""
    """Name of the USB bridge in front."""
    volume: bool = False
    """Whether it is a RAID volume or an emulated disk."""
    removable: bool = False
    """Whether it calls itself a removable medium, and is small."""
    network: bool = False
    """Whether another machine serves it."""
    asleep: bool = False
    problem: str = ""
    """Why smartctl could not report more, in words."""


KIND_OF: dict[str, DriveKind] = {"rotating": "hdd", "solid-state": "ssd", "nvme": "nvme"}
"""Medium to kind of drive."""


@in_english()
def judge_smr(facts: SmrFacts, table: ModelTable | None = None) -> SmrVerdict:
    """The verdict by facts, with the evidence in words; `table` replaces the shipped table of models."""
    evidence = tuple(_evidence(facts, table or shipped_table()))
    if not any(item.says != "unknown" for item in evidence):
        evidence += tuple(_no_trim(facts))
    kind, confidence = _weigh(evidence)
    return SmrVerdict(kind, confidence, evidence, _advice(kind, facts, evidence))


def judge_composed(members: Sequence[Drive]) -> SmrVerdict:
    """The verdict on several disks, as an array or as paths to one: a shingled member slows down the whole."""
    disks = {(disk.serial or disk.name): disk for disk in members}.values()
    evidence = tuple(_of_member(disk) for disk in disks)
    kinds = {disk.smr.kind for disk in disks}
    shingled = next((kind for kind in SHINGLED if kind in kinds), None)
    platters: SmrKind = "cmr" if "cmr" in kinds else "not-a-hard-disk"
    kind: SmrKind = shingled or ("unknown" if "unknown" in kinds else platters)
    known = [_STRENGTHS.index(disk.smr.confidence) for disk in disks if disk.smr.kind == kind]
    confidence = "weak" if kind == "unknown" else _STRENGTHS[min(known) if shingled else max(known)]
    advice = (N_("Check the disks it is made of, one by one."),) if kind == "unknown" else ()
    return SmrVerdict(kind, confidence, evidence, advice or _advice(kind, SmrFacts("machine"), evidence))


def _of_member(disk: Drive) -> Evidence:
    named = f"{disk.name} ({disk.model})" if disk.model else disk.name
    if disk.smr.kind == "unknown":
        text = N_("It is made of {disk}, whose verdict is unknown.").format(disk=named)
    else:
        text = _MEMBER[disk.smr.confidence].format(disk=named, verdict=disk.smr.kind)
    return Evidence("member", disk.smr.kind, disk.smr.confidence, text)


def _evidence(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    yield from _own_words(facts)
    yield from _medium(facts)
    if facts.recording:
        shingled = facts.recording == "SMR"
        yield Evidence(
            "farm",
            _kind_by_table(facts, table) if shingled else "cmr",
            "certain",
            N_("The disk itself reports the recording type {type} (Seagate's FARM log).").format(type=facts.recording),
        )
    named = (*_family(facts, table), *_rows(facts, table))
    yield from named
    if not any(item.says in SHINGLED for item in named):  # the name is better evidence than the age
        yield from _marks(facts)
    yield from _trim(facts, table)


def _own_words(facts: SmrFacts) -> Iterator[Evidence]:
    if facts.zone_model in SHINGLED:
        kind: SmrKind = "host-managed" if facts.zone_model == "host-managed" else "host-aware"
        text = N_("The kernel reports {kind} zones (queue/zoned in sysfs).").format(kind=facts.zone_model)
        yield Evidence("queue-zoned", kind, "certain", text)
    if "host managed zoned" in facts.peripheral:
        text = N_("The SCSI device type is '{type}'.").format(type=facts.peripheral)
        yield Evidence("device-type", "host-managed", "certain", text)
    if other := next((words for type_, words in _OTHER_DEVICES.items() if type_ in facts.peripheral), ""):
        text = N_("The SCSI device type is '{type}': {device}.").format(type=facts.peripheral, device=other)
        yield Evidence("device-type", "not-a-hard-disk", "certain", text)
    if facts.zoned:
        zones = facts.zoned.replace("drive", "device")
        text = N_("The disk itself reports {kind} zones ({place}).").format(kind=zones, place=facts.zoned_where)
        yield Evidence("zoned", facts.zoned, "certain", text)


def _medium(facts: SmrFacts) -> Iterator[Evidence]:
    if facts.zone_model == "host-managed":
        return
    if facts.medium == "nvme":
        yield Evidence("nvme", "not-a-hard-disk", "certain", N_("It is an NVMe device: flash, not platters."))
    elif facts.medium == "memory":
        text = N_("It is compressed memory (zram), which has no platters.")
        yield Evidence("memory", "not-a-hard-disk", "certain", text)
    elif facts.removable and not facts.medium:
        text = N_("It is a small removable medium, as sticks and cards are.")
        yield Evidence("removable", "not-a-hard-disk", "weak", text)
    elif facts.medium == "solid-state":
        text = N_("It reports no rotation: flash, not platters.")
        yield Evidence("rotation-rate", "not-a-hard-disk", "certain", text)
    elif not facts.medium and facts.flash_attributes:
        text = N_("Its SMART attributes count flash wear, which no hard disk has.")
        yield Evidence("flash-attributes", "not-a-hard-disk", "strong", text)


def _family(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    family = facts.family.upper()
    text = N_("smartctl's database names the family '{family}'.").format(family=facts.family)
    if "(SMR)" in family or "(CMR" in family:
        says: SmrKind = "drive-managed" if "(SMR)" in family else "cmr"
        later = any(row.strength == "database" and row.kind != says for row in table.find(facts.model))
        if later:
            disagrees = N_("A later release of that database disagrees.")
            text = f"{text} {disagrees}"
            yield Evidence("smartctl-family", "unknown", "weak", text)
        else:
            yield Evidence("smartctl-family", says, "strong", text)
    elif not facts.medium and ("SSD" in family.replace("SSHD", "") or "FLASH" in family):
        yield Evidence("smartctl-family", "not-a-hard-disk", "strong", text)


def _marks(facts: SmrFacts) -> Iterator[Evidence]:
    """Properties that shingled disks do not have, of the disk itself and not of a bridge.

    The figures are those of 7,250 published outputs of smartctl, 619 of them of shingled disks.
    """
    if facts.medium not in ("rotating", "") or facts.flash_attributes or not _own_identity(facts):
        return
    version = ata_version(facts.standard)
    if 0 < version <= 8:  # ATA8-ACS
        text = N_(
            "It follows an ATA standard older than shingled disks ({standard}), as do 4,140 of 7,250 disks "
            "whose details people published, but none of the 619 shingled ones among them."
        ).format(standard=facts.standard)
        yield Evidence("ata-standard", "cmr", "strong", text)
    if facts.medium != "rotating" and not (facts.maker and facts.capacity_bytes >= 10**12):
        return  # flash has small sectors, too, and often holds little
    if _ACS_2.fullmatch(facts.standard):
        text = N_("It follows ACS-2, an older ATA standard. Every drive-managed disk we have seen follows a later one.")
        yield Evidence("ata-standard", "cmr", "weak", text)
    if facts.sector_bytes == 512:
        text = N_(
            "It has 512-byte sectors, as do 2,771 of 7,250 disks whose details people published, "
            "but none of the 619 shingled ones among them."
        )
        yield Evidence("sectors-of-512", "cmr", "strong", text)
    if 0 < facts.capacity_bytes < 480_000_000_000:
        text = N_(
            "It holds {size}. 1,543 of 7,250 disks whose details people published hold "
            "less than 480 GB, but none of the 619 shingled ones among them."
        ).format(size=size_text(facts.capacity_bytes))
        yield Evidence("capacity", "cmr", "strong", text)
    if 10_000 <= facts.rpm <= 15_100:
        text = N_("It spins at {rate} rpm. No shingled disk is known to spin faster than 7,200.")
        text = text.format(rate=f"{facts.rpm:,}")
        yield Evidence("fast-rotation", "cmr", "strong", text)


def ata_version(standard: str) -> int:
    """The highest version in words on the ATA standard: 8 for ATA8-ACS, 10 for ACS-3; 0 if there is none."""
    versions = _ATA_VERSIONS.findall(standard)
    return max((int(acs) + 7 if acs else int(ata or number) for acs, ata, number in versions), default=0)


def _own_identity(facts: SmrFacts) -> bool:
    """Whether facts are those of the disk, not of a bridge, a controller or an emulation."""
    return not facts.volume and not facts.network and (bool(facts.maker) or names_a_hard_disk(facts.model))


def _rows(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    rows = table.find(facts.model)
    for row in rows:
        if row.kind == "not-a-hard-disk" and facts.medium:
            continue
        strength = "weak" if row.kind == "unknown" else row.confidence
        yield Evidence(DISPUTED if row.disputed else "model-table", row.kind, strength, row_text(row))
    if not rows and facts.source == "name" and facts.model:
        meant = table.meant(facts.model)
        near = meant or table.near(facts.model)
        models = "; ".join(_IS[kind].format(model=name) for name, kind in near)
        text = N_("This name is not in the table of models.")
        if models:
            nearest = N_("Models that it may be: {models}.") if meant else N_("The nearest names: {models}.")
            text = f"{text} {nearest.format(models=models)}"
        yield Evidence("near-names", "unknown", "weak", text)


def row_text(row: ModelRow) -> str:
    """A sentence on a source's statement about a model, with document, year and address."""
    said = row.said or Source(row.source, urlsplit(row.source).netloc)
    statements = _STATEMENTS[row.strength]
    if row.kind == "unknown":
        statements = _DISPUTE if row.disputed else _HYBRID
    statement = statements[bool(row.note)]
    recording = _ARE.get(row.kind, "")
    text = statement.format(source=said.by, document=said.where, recording=recording, note=row.note)
    return f"{text} {row.source}"


def _no_trim(facts: SmrFacts) -> Iterator[Evidence]:
    silent = facts.trim_would_show and not facts.trim and not facts.zoned and not facts.recording
    if facts.medium == "rotating" and silent:
        text = N_(
            "It offers no TRIM and reports no zones, but neither do 4 in 10 drive-managed disks: this proves nothing."
        )
        yield Evidence("no-trim", "unknown", "weak", text)


def _trim(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    if facts.medium != "rotating" or not facts.trim:
        return
    if not _own_identity(facts):
        text = N_("TRIM is offered ({place}), but perhaps by a bridge or RAID controller, not by the disk.")
        text = text.format(place=facts.trim_where)
        yield Evidence("trim-not-of-the-disk", "unknown", "weak", text)
    elif _hybrid(facts, table):
        text = N_("TRIM is offered ({place}), but this is a hybrid disk: it may be meant for its flash.")
        text = text.format(place=facts.trim_where)
        yield Evidence("trim-of-a-hybrid", "unknown", "weak", text)
    elif any(row.may_trim for row in table.find(facts.model)):
        text = N_("It offers TRIM ({place}), but so do some disks of this family that are called conventional.")
        text = text.format(place=facts.trim_where)
        yield Evidence("trim", "drive-managed", "weak", text)
    else:
        text = N_(
            "It has platters and offers TRIM ({place}), as do 273 of 503 drive-managed disks "
            "and none of 3,451 conventional ones."
        ).format(place=facts.trim_where)
        yield Evidence("trim", "drive-managed", "strong", text)


def _hybrid(facts: SmrFacts, table: ModelTable) -> bool:
    names = f"{facts.family} {facts.model}".upper()
    named = "SSHD" in names or "HYBRID" in names or "MOMENTUS XT" in names
    return named or any(row.hybrid for row in table.find(facts.model))


def _kind_by_table(facts: SmrFacts, table: ModelTable) -> SmrKind:
    """Kind of shingled disk by the table, or else drive-managed."""
    kinds = {row.kind for row in table.find(facts.model)}
    return next((kind for kind in SHINGLED if kind in kinds), "drive-managed")


def _weigh(evidence: tuple[Evidence, ...]) -> tuple[SmrKind, Confidence]:
    """The verdict of the strongest evidence, unknown if that is contradictory."""
    for strength in _STRENGTHS:
        kinds = {item.says for item in evidence if item.strength == strength and item.says != "unknown"}
        if strength == "weak" and any(item.code == DISPUTED for item in evidence):
            return "unknown", "weak"
        if kinds and kinds <= set(SHINGLED):
            return next(kind for kind in SHINGLED if kind in kinds), strength
        if len(kinds) == 1:
            return kinds.pop(), strength
        if kinds:
            return "unknown", "weak"
    return "unknown", "weak"


def _advice(kind: SmrKind, facts: SmrFacts, evidence: tuple[Evidence, ...]) -> tuple[str, ...]:
    """Sentences, the most useful first."""
    if kind != "unknown":
        return _KNOW.get(kind, ())
    if facts.network:
        return (N_("Another machine serves it over the network. Check the disks on that machine."),)
    if facts.problem and not facts.model:
        return (way,) if (way := way_on(facts.problem)) else ()
    if facts.volume:
        return (N_("Check the real disk on the virtual machine's host, or query the RAID controller."),)
    said = {item.says for item in evidence if item.says != "unknown"}
    advice = _ways_to_learn(facts)
    if len(said) > 1 or any(item.code == DISPUTED for item in evidence):
        advice.insert(0, N_("The sources disagree about this disk, so it stays unknown."))
    if facts.source == "machine":
        advice.append(
            N_("`fswizard run cache-overflow --target image:128G@DIRECTORY` shows overnight whether it slows down.")
        )
    return tuple(advice)


def _ways_to_learn(facts: SmrFacts) -> list[str]:
    """Commands and adapters that would give more evidence."""
    if facts.bridge or (facts.model and facts.source != "name" and not _own_identity(facts)):
        return [
            N_(
                "A USB adapter or controller may hide the disk's name. Query through it with `smartctl -d sat -x "
                "DEVICE` (some need `-d sntasmedia`, `-d usbjmicron` or `-d megaraid,N`), or attach the disk to a SATA "
                "port."
            ),
        ]
    if facts.source == "name":
        if shipped_table().meant(facts.model):
            return [N_("Look for the model's own name on the label or with `fswizard drives`, and name that.")]
        return [
            N_("To be sure, query the disk itself: `fswizard smr DEVICE`, or `smartctl -x DEVICE | fswizard smr -`.")
        ]
    ways = []
    if facts.source == "smartctl" and not facts.trim_would_show and not facts.recent:
        ways.append(N_("Use smartctl 7.2 or later, which also shows TRIM and zones: `smartctl -x DEVICE`."))
    if (facts.maker == "Seagate" or bare(facts.model).startswith("ST")) and not facts.recording:
        ways.append(N_("Newer Seagate disks say how they record: `smartctl -l farm DEVICE` (smartctl 7.4 or later)."))
    return ways
