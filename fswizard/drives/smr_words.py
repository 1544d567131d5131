"""What a user can do to learn more about a disk, or should know before choosing a filesystem for it."""

from __future__ import annotations

from fswizard.drives.models import names_a_hard_disk
from fswizard.drives.smr_facts import SmrFacts
from fswizard.model.drive import Evidence, SmrKind

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


def advice_for(kind: SmrKind, facts: SmrFacts, evidence: tuple[Evidence, ...]) -> tuple[str, ...]:
    """Sentences, the most useful first."""
    if kind != "unknown":
        return _KNOW.get(kind, ())
    if facts.volume:
        return ("It stands for disks that do not show themselves: ask the controller, or a virtual machine's host.",)
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
