"""From what is known of a disk to how it records: the strongest evidence decides, and silence proves nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fswizard.drives.models import ModelTable, names_a_hard_disk, shipped_table
from fswizard.model.drive import Confidence, Drive, Evidence, SmrKind, SmrVerdict

Medium = Literal["", "rotating", "solid-state", "nvme"]
Zoned = Literal["", "host-aware", "drive-managed"]
Recording = Literal["", "SMR", "CMR"]

SHINGLED: tuple[SmrKind, ...] = ("host-managed", "host-aware", "drive-managed")
"""Kinds of shingled disks, the most specific first."""
_OLD_STANDARD = re.compile(r"(?:ATA(?:/ATAPI)?-)?[1-7]\b")
_STRENGTHS: tuple[Confidence, ...] = ("certain", "strong", "weak")
_KNOW: dict[SmrKind, tuple[str, ...]] = {
    "drive-managed": (
        "Random writes go into a cache on the platters, of some 20 GB on the disks that were measured; "
        "once it is full they crawl, until the disk has been idle for a while.",
        "Large files written one after the other, and reading, are as quick as on other disks.",
        "In ZFS and RAID arrays, rebuilding onto such a disk can take days or time out.",
    ),
    "host-aware": ("It takes random writes, but like a drive-managed disk it crawls once its cache is full.",),
    "host-managed": (
        "Only filesystems made for zones can live on it directly: f2fs, btrfs from Linux 5.12, XFS from 6.15, zonefs.",
        "Ordinary filesystems such as ext4 cannot be made on it.",
    ),
}


@dataclass(frozen=True, slots=True)
class SmrFacts:
    """Observations, not yet weighed. Empty and False mean that nothing was seen, never that it is not so."""

    source: Literal["name", "smartctl", "machine"]
    """A model name alone, output of smartctl, or the running machine."""
    model: str = ""
    family: str = ""
    """As smartctl's database names it."""
    firmware: str = ""
    standard: str = ""
    """Version of the ATA standard that the disk was made for, as smartctl words it."""
    medium: Medium = ""
    zone_model: str = ""
    """`host-managed` or `host-aware` by the kernel's word."""
    peripheral: str = ""
    """SCSI device type in words, such as `host managed zoned block device`."""
    zoned: Zoned = ""
    """The disk's own word on its zones."""
    zoned_where: str = ""
    """In which page or line the disk says so."""
    recording: Recording = ""
    """Recording type in Seagate's FARM log."""
    trim: bool = False
    trim_where: str = ""
    """In which page or line TRIM is offered."""
    trim_would_show: bool = False
    """The source is one that tells of TRIM where there is any: smartctl 7.2 and later, IDENTIFY DEVICE."""
    flash_attributes: bool = False
    """SMART attributes that only flash has, such as wear levelling."""
    bridge: str = ""
    """Name of the USB bridge in front."""
    volume: bool = False
    """A RAID volume or an emulated disk, not a disk of its own."""
    asleep: bool = False
    problem: str = ""
    """Why smartctl could not tell more, in words."""


def judge_smr(facts: SmrFacts, table: ModelTable | None = None) -> SmrVerdict:
    """The verdict that facts amount to, with each piece of evidence in words.

    `table` stands in for the shipped table of models.
    """
    evidence = tuple(_evidence(facts, table or shipped_table()))
    kind, confidence = _weigh(evidence)
    return SmrVerdict(kind, confidence, evidence, _advice(kind, facts, evidence))


def with_evidence(verdict: SmrVerdict, piece: Evidence) -> SmrVerdict:
    """The verdict with one more piece of evidence, such as a probe's."""
    evidence = (*verdict.evidence, piece)
    kind, confidence = _weigh(evidence)
    advice = verdict.advice if kind == verdict.kind else _advice(kind, SmrFacts("machine"), evidence)
    return SmrVerdict(kind, confidence, evidence, advice)


def judge_composed(members: Sequence[Drive]) -> SmrVerdict:
    """The verdict on what is made of several disks, or reached through several: one shingled member is felt in all."""
    disks = {(disk.serial or disk.name): disk for disk in members}.values()
    evidence = tuple(_of_member(disk) for disk in disks)
    kinds = {disk.smr.kind for disk in disks}
    shingled = next((kind for kind in SHINGLED if kind in kinds), None)
    platters: SmrKind = "cmr" if "cmr" in kinds else "not-a-hard-disk"
    kind: SmrKind = shingled or ("unknown" if "unknown" in kinds else platters)
    known = [_STRENGTHS.index(disk.smr.confidence) for disk in disks if disk.smr.kind == kind]
    confidence = "weak" if kind == "unknown" else _STRENGTHS[min(known) if shingled else max(known)]
    advice = ("Ask about the disks that it is made of, one by one.",) if kind == "unknown" else ()
    return SmrVerdict(kind, confidence, evidence, advice or _advice(kind, SmrFacts("machine"), evidence))


def _of_member(disk: Drive) -> Evidence:
    named = f"{disk.name} ({disk.model})" if disk.model else disk.name
    sure = "" if disk.smr.kind == "unknown" else f" ({disk.smr.confidence} evidence)"
    text = f"It is made of {named}, of which the verdict is {disk.smr.kind}{sure}."
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
            f"Seagate's FARM log gives the recording type {facts.recording}: the disk's own word.",
        )
    yield from _family(facts, table)
    yield from _age(facts)
    yield from _rows(facts, table)
    yield from _trim(facts, table)


def _own_words(facts: SmrFacts) -> Iterator[Evidence]:
    if facts.zone_model in SHINGLED:
        kind: SmrKind = "host-managed" if facts.zone_model == "host-managed" else "host-aware"
        yield Evidence("queue-zoned", kind, "certain", f"The kernel says {facts.zone_model} (queue/zoned in sysfs).")
    if "host managed zoned" in facts.peripheral:
        yield Evidence("device-type", "host-managed", "certain", f"The SCSI device type is '{facts.peripheral}'.")
    if facts.zoned:
        text = (
            f"The disk itself says that its zones are {facts.zoned.replace('drive', 'device')} ({facts.zoned_where})."
        )
        yield Evidence("zoned", facts.zoned, "certain", text)


def _medium(facts: SmrFacts) -> Iterator[Evidence]:
    if facts.zone_model == "host-managed":
        return
    if facts.medium == "nvme":
        yield Evidence("nvme", "not-a-hard-disk", "certain", "It is an NVMe device: flash, not platters.")
    elif facts.medium == "solid-state":
        yield Evidence("rotation-rate", "not-a-hard-disk", "certain", "It reports no rotation: flash, not platters.")
    elif not facts.medium and facts.flash_attributes:
        text = "Its SMART attributes count the wear of flash, which no hard disk has."
        yield Evidence("flash-attributes", "not-a-hard-disk", "strong", text)


def _family(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    family = facts.family.upper()
    text = f"smartctl's database names the family '{facts.family}'."
    if "(SMR)" in family or "(CMR" in family:
        says: SmrKind = "drive-managed" if "(SMR)" in family else "cmr"
        later = any(row.strength == "database" and row.kind != says for row in table.find(facts.model))
        if later:
            yield Evidence("smartctl-family", "unknown", "weak", f"{text} A later release of it says otherwise.")
        else:
            yield Evidence("smartctl-family", says, "strong", text)
    elif not facts.medium and ("SSD" in family.replace("SSHD", "") or "FLASH" in family):
        yield Evidence("smartctl-family", "not-a-hard-disk", "strong", text)


def _age(facts: SmrFacts) -> Iterator[Evidence]:
    """A standard of 2005 is older than the first shingled disk; but bridges and emulations name old ones too."""
    if _OLD_STANDARD.match(facts.standard) and facts.medium != "solid-state" and names_a_hard_disk(facts.model):
        text = f"It was made for {facts.standard}, a standard of 2005 or before; shingled disks are sold since 2013."
        yield Evidence("ata-standard", "cmr", "weak", text)


def _rows(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    rows = table.find(facts.model)
    for row in rows:
        if row.kind == "not-a-hard-disk" and facts.medium:
            continue
        note = f": {row.note}" if row.note else ""
        says = "disputed" if row.kind == "unknown" else row.kind
        text = f"Our table of models says {says} for '{row.pattern}' ({row.strength}: {row.source}){note}."
        yield Evidence("model-table", row.kind, row.confidence if row.kind != "unknown" else "weak", text)


def _trim(facts: SmrFacts, table: ModelTable) -> Iterator[Evidence]:
    if facts.medium != "rotating":
        return
    if not facts.trim:
        if facts.trim_would_show and not facts.zoned and not facts.recording:
            text = (
                "It offers no TRIM and reports no zones; nor do four in ten drive-managed disks, so that is no proof."
            )
            yield Evidence("no-trim", "unknown", "weak", text)
        return
    if facts.volume or not names_a_hard_disk(facts.model):
        text = f"TRIM is offered ({facts.trim_where}), but perhaps by a bridge or RAID controller and not by the disk."
        yield Evidence("trim-not-of-the-disk", "unknown", "weak", text)
    elif _hybrid(facts, table):
        text = f"TRIM is offered ({facts.trim_where}), but this is a hybrid disk: it may be for the flash in it."
        yield Evidence("trim-of-a-hybrid", "unknown", "weak", text)
    else:
        text = (
            f"A rotating disk that offers TRIM ({facts.trim_where}): of 503 drive-managed disks 273 do, "
            "of 3,451 conventional ones none does."
        )
        yield Evidence("trim", "drive-managed", "strong", text)


def _hybrid(facts: SmrFacts, table: ModelTable) -> bool:
    names = f"{facts.family} {facts.model}".upper()
    named = "SSHD" in names or "HYBRID" in names or "MOMENTUS XT" in names
    return named or any(row.hybrid for row in table.find(facts.model))


def _kind_by_table(facts: SmrFacts, table: ModelTable) -> SmrKind:
    """Which kind of shingled disk the table names, drive-managed where it names none."""
    kinds = {row.kind for row in table.find(facts.model)}
    return next((kind for kind in SHINGLED if kind in kinds), "drive-managed")


def _weigh(evidence: tuple[Evidence, ...]) -> tuple[SmrKind, Confidence]:
    """The verdict of the strongest evidence; contradictions between equals leave it open."""
    for strength in _STRENGTHS:
        kinds = {item.says for item in evidence if item.strength == strength and item.says != "unknown"}
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
    if facts.volume:
        return ("It hides the disks behind it: ask the RAID controller, or look at the host of the virtual machine.",)
    advice = [*_contradictions(evidence), *_ways_to_learn(facts)]
    if facts.source == "machine":
        advice.append("`fswizard smr --probe` writes for some minutes and may show a shingled disk's behaviour.")
    return tuple(advice)


def _contradictions(evidence: tuple[Evidence, ...]) -> list[str]:
    said = {item.says for item in evidence if item.says != "unknown"}
    disputed = any(item.code == "model-table" and item.says == "unknown" for item in evidence)
    if len(said) > 1 or disputed:
        return ["The sources contradict each other about this disk, so it is left open."]
    return []


def _ways_to_learn(facts: SmrFacts) -> list[str]:
    if facts.bridge or (facts.model and facts.source != "name" and not names_a_hard_disk(facts.model)):
        return [
            "A USB bridge or controller may hide the disk's own name. Ask through it: `smartctl -d sat -x DEVICE` "
            "(or `-d sntasmedia`, `-d usbjmicron`, `-d megaraid,N`), or attach the disk to a SATA port.",
        ]
    if facts.source == "name":
        return ["A name alone tells little. Ask the disk itself: `fswizard smr DEVICE`, or save `smartctl -x DEVICE`."]
    if facts.source == "smartctl" and not facts.trim_would_show:
        return ["smartctl before 7.2 tells neither of TRIM nor of zones: ask again with a later one."]
    return []
