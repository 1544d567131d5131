"""Rules for what may be erased, applied to the facts that `disk_facts` reads.

Screens and plans apply them to what the user can read; root applies them again right before it writes. They refuse if
readings disagree or if something cannot be read.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fswizard.filesystems.commands import RUN_NAME
from fswizard.language import N_, _
from fswizard.system.block_device import Device, decoded, path_of

MINIMUM_BYTES = 64 << 20
SERIAL, BY_ID, WWN, PARTUUID, FILE = "serial number", "name in /dev/disk/by-id", "WWN", "PARTUUID", "file's path"
PLACEHOLDERS = ("0123456789abcdef", "123456789012", "generic")
PARTITION_TABLES = frozenset({"gpt", "dos", "PMBR", "mac", "sgi", "sun", "bsd", "atari"})
MEMBERS = {
    "": ("raid-member", "a larger whole"),
    "linux_raid_member": ("raid-member", "a Linux RAID array"),
    "isw_raid_member": ("raid-member", "a firmware RAID array"),
    "ddf_raid_member": ("raid-member", "a firmware RAID array"),
    "LVM2_member": ("lvm-member", "an LVM volume group"),
    "zfs_member": ("zfs-member", "a ZFS pool"),
    "bcache": ("bcache-member", "a bcache set"),
    "mpath_member": ("multipath-member", "a multipath disk"),
}
"""Code and kind of the whole by libblkid type. bcachefs is not listed, as its members are whole filesystems."""
PARTS_OF_MORE = ("drbd", "ceph", "oracleasm", "stratis", "DM_", "vdo", "VMFS")
"""Prefixes of other member types, which libblkid does not always report as RAID members."""
LEFT_BY_A_RUN = ("zfs_member", "linux_raid_member")
"""Types that a killed run may leave on a disk that it was allowed to erase."""
_ESP, _RECOVERY = N_("the machine's boot partition (ESP)"), N_("a recovery partition of Windows")
_MAKERS = N_("a maker's recovery partition")
SYSTEM_PARTITIONS = {
    "c12a7328-f81f-11d2-ba4b-00a0c93ec93b": _ESP, "0xef": _ESP,
    "21686148-6449-6e6f-744e-656564454649": N_("a boot loader's partition"),
    "e3c9e316-0b5c-4db8-817d-f92df00215ae": N_("a reserved partition of Windows (MSR)"),
    "de94bba4-06d1-4d40-a16a-bfd50179d6ac": _RECOVERY, "0x27": _RECOVERY,
    "bfbfafe7-a34f-448a-9a5b-6213eb736c22": _MAKERS, "0x12": _MAKERS,
}  # fmt: skip
"""What partitions of these types are; they are never erased."""
TAGS = {
    "ID_FS_UUID": "uuid", "ID_FS_UUID_ENC": "uuid", "ID_FS_LABEL": "label", "ID_FS_LABEL_ENC": "label",
    "ID_PART_ENTRY_UUID": "partuuid", "ID_PART_ENTRY_NAME": "partlabel",
}  # fmt: skip
"""Udev properties that configuration files refer to devices by, with their tag names."""
CASES = {
    "gone": ("{disk} is no longer the disk that was chosen, or the kernel cannot tell", ""),
    "gone/size": ("{name} has changed its size since it was chosen", ""),
    "gone/contents": ("{name} holds {type}, but you were shown {shown}", ""),
    "mounted/system": ("{name} is mounted on {path}", "This system runs from it."),
    "mounted": ("{name} is mounted on {path}", "Unmount it first: umount {path}"),
    "swap": ("{name} is used as swap", "Stop using it first: swapoff /dev/{name}"),
    "holder": ("{name} holds the {kind} {called}", "Close what is on top of it first."),
    "holder/run": ("{name} holds the {kind} {called}", "A run of fswizard made it: wait until that has ended, or run "
                   "`fswizard clean` if it was killed."),
    "pool": ("{name} is a device of a {kind} in use", "Unmount that {kind} first."),
    "member": ("{name} is a member of {whole}", "Before you use it for something else, take it out of that first."),
    "stacked": ("{name} is a volume or array made of {join}",
                "Only plain disks and partitions can be formatted; measure in a scratch image on it instead."),
    "raid-member/mdstat": ("{name} is part of the array {array}", "Stop the array first."),
    "multipath-member": ("{name} is one path of a multipath disk", "It can't be formatted on its own."),
    "mounted-elsewhere": ("{name} is mounted on {path}, visible only to {program} (process {pid})",
                          "Unmount it there, or end the program that did."),
    "loop": ("The loop device {loop} is on {name}", "Detach it first: losetup -d /dev/{loop}"),
    "loop/same-file": ("{loop} and {disk} use the same file", "Detach it first: losetup -d /dev/{loop}"),
    "loop/on-a-disk": ("{disk} is on {own}", "Name that device instead."),
    "loop/run": ("{disk} is backed by a file of this program, or by one that was deleted",
                 "It vanishes when the program that uses it ends."),
    "named": ("{name} is named in {table}", "This system expects it. Take it out of {table} first."),
    "unknown": ("{table} cannot be read: {strerror}", "Look at the file first."),
    "unknown/contents": ("The contents of {device} couldn't be read", "Try again, or check the disk's health."),
    "ambivalent": ("{name} carries signatures of several filesystems at once",
                   "List them with `wipefs /dev/{name}`, and remove the stale ones."),
    "btrfs-member/several": ("{name} is one of {devices} devices of a {type}", "Remove it from there first."),
    "system-partition": ("{name} is {kind}", "Choose another partition or disk."),
    "partitioned": ("{name} has partitions: {names}", "Name one of them, or, if you need none of them, delete them "
                    "first with your partitioning tool."),
    "read-only": ("{disk} is read-only", "A card may have a lock switch; a failing disk may turn read-only."),
    "zoned": ("{disk} has zones ({zones}) that must be written in order",
              "Filesystems aren't measured on such disks: choose another one."),
    "too-small": ("{name} has {size_bytes} MiB, but {minimum_bytes} MiB are needed",
                  "Choose a larger disk or partition, or another recipe."),
    "open": ("{program} (process {pid}) has {name} open", "End that program first."),
    "failing": ("{device} reports that it is failing", "Copy its files elsewhere and stop using it."),
    "no-serial/twins": ("{count} attached disks have the {kind} {number}, and nothing else tells them apart",
                        "Unplug the others, then choose again."),
    "no-serial": ("{disk} has no serial number, name or WWN of its own, so you can't confirm which disk it is",
                  "Measure on a scratch image on it instead."),
    "wrong-serial": ("{serial} is not the {kind} of {name}",
                     "Check which disk it is: `fswizard drives` shows serial numbers and names."),
}  # fmt: skip
"""All reasons against erasing a device, the most important first: text and hint."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason against erasing a device. Its texts may contain hostile characters."""

    case: str
    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`, `read-only`."""
    text: str
    hint: str
    """What the user can do."""


def make_finding(case: str, code: str = "", **fields: object) -> Finding:
    """Make a finding of one of `CASES`; the default code is the part before the slash."""
    text, hint = CASES[case]
    return Finding(case, code or case.partition("/")[0], _(text, **fields), _(hint, **fields))


@dataclass(frozen=True, slots=True)
class Probed:
    """Contents of a device: from the udev database, or as root from blkid and wipefs."""

    properties: Mapping[str, str] = field(default_factory=dict)
    """Udev properties, as also printed by `blkid -p -o udev`."""
    signatures: frozenset[str] = frozenset()
    """Types of all signatures that wipefs lists, including hidden ones; empty without root."""
    devices: int = 0
    """Number of devices of the filesystem, from its superblock or, without root, from udev."""
    unread: bool = False
    """Whether the contents could not be read."""

    @property
    def type(self) -> str:
        return self.properties.get("ID_FS_TYPE", "")

    @property
    def table(self) -> str:
        """Kind of its partition table, such as `gpt`."""
        return self.properties.get("ID_PART_TABLE_TYPE", "")

    @property
    def label(self) -> str:
        return decoded(self.properties.get("ID_FS_LABEL_ENC", self.properties.get("ID_FS_LABEL", "")))

    @property
    def left_by_a_run(self) -> bool:
        """Whether the label is a name that a run gives to pools and arrays; mdadm prepends the host name."""
        return RUN_NAME.fullmatch(self.label.rpartition(":")[2]) is not None


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a device and everything on the machine that relates to it."""

    device: Device
    contents: Mapping[str, Probed]
    """Contents by kernel name: of the device, its partitions, its disk, and the same on other paths to the disk."""
    uses: Sequence[Finding] = ()
    """Uses of any of these devices, and other findings from reading them."""
    words: Sequence[tuple[str, str, str]] = ()
    """Words of configuration files: file, word, and kernel name of the device it refers to or an empty text."""
    reported: Mapping[str, str] = field(default_factory=dict)
    """Identifiers of the device and their kinds, the best known first."""
    others: Sequence[Mapping[str, str]] = ()
    """Identifiers of each other attached disk, including its partitions."""
    paths: tuple[str, ...] = ()
    """Kernel names of the same device on other multipath paths."""

    @property
    def probed(self) -> Probed:
        """The device's own contents."""
        return self.contents[self.device.name]


def findings(facts: Facts, minimum_bytes: int = 0, typed: str | None = None) -> tuple[Finding, ...]:
    """All reasons against erasing the device, the most important first.

    `typed` is the identifier that the user typed to confirm the loss; None before that.
    """
    every = list(facts.uses)
    every += _unfit(facts.device, max(minimum_bytes, MINIMUM_BYTES))
    every += _unconfirmed(facts, typed)
    for name, probed in facts.contents.items():
        every += [*belongs(name, probed), *_named(name, probed, facts)]
        if probed.unread:
            every.append(make_finding("unknown/contents", device=name))
        if name in (facts.device.name, *facts.device.partitions):
            every += _lost(name, probed)
    weights = list(CASES)
    return tuple(sorted(dict.fromkeys(every), key=lambda finding: weights.index(finding.case)))


def changes(facts: Facts, diskseq: int, size_bytes: int, content_type: str | None = None) -> Iterator[Finding]:
    """Yield the differences from the device that was chosen.

    `content_type` is the libblkid type of the contents that the user saw; empty for none, None to skip that check.
    """
    device, kind = facts.device, facts.probed.type
    if not diskseq or device.diskseq != diskseq:
        yield make_finding("gone", disk=device.disk)
    if device.size_bytes != size_bytes:
        yield make_finding("gone/size", name=device.name)
    if content_type is not None and kind not in ("", content_type):  # the udev database may be outdated
        yield make_finding("gone/contents", name=device.name, type=kind, shown=content_type or "nothing")


def belongs(name: str, probed: Probed) -> Iterator[Finding]:
    """Yield findings if the contents of a device make it a member of an array, pool or the like."""
    called = f"{name} ({probed.label})" if probed.label else name
    for kind in sorted({probed.type, *probed.signatures} - {""}):
        if kind in LEFT_BY_A_RUN and probed.left_by_a_run:
            continue
        raid = kind == probed.type and probed.properties.get("ID_FS_USAGE") == "raid"
        if kind in MEMBERS or raid or kind.endswith("_member") or kind.startswith(PARTS_OF_MORE):
            code, whole = MEMBERS.get(kind, MEMBERS[""])
            yield make_finding("member", code, name=called, whole=whole)


def _lost(name: str, probed: Probed) -> Iterator[Finding]:
    """Yield reasons in the contents of a device against erasing it."""
    ambivalent = {"ID_FS_AMBIVALENT", "ID_PART_TABLE_AMBIVALENT"} & probed.properties.keys()
    if ambivalent or len(probed.signatures - PARTITION_TABLES) > 1:
        yield make_finding("ambivalent", name=name)
    if probed.devices > 1 and not probed.left_by_a_run:
        yield make_finding("btrfs-member/several", name=name, devices=probed.devices, type=probed.type)
    if part := SYSTEM_PARTITIONS.get(probed.properties.get("ID_PART_ENTRY_TYPE", "").lower()):
        yield make_finding("system-partition", name=name, kind=_(part))


def _named(name: str, probed: Probed, facts: Facts) -> Iterator[Finding]:
    """Yield the configuration files that refer to a device, mounted or not."""
    tags = set()
    for key, tag in TAGS.items():
        tags.add((tag, decoded(probed.properties.get(key, "")).casefold()))
    for table, word, leads_to in facts.words:
        tag, value = tag_of(word)
        tagged = value != "" and (tag, value) in tags
        matches = word.startswith("/dev/") and fnmatch.fnmatchcase(path_of(name), word)
        if leads_to == name or matches or tagged:
            yield make_finding("named", name=name, table=table)


def tag_of(word: str) -> tuple[str, str]:
    """Split `LABEL=archive` or `/dev/disk/by-label/archive` into ("label", "archive")."""
    separator = "/" if word.startswith("/dev/disk/by-") else "="
    tag, _, value = word.removeprefix("/dev/disk/by-").partition(separator)
    return tag.casefold(), decoded(value).casefold()


def _unfit(device: Device, minimum_bytes: int) -> Iterator[Finding]:
    if device.partitions:
        yield make_finding("partitioned", name=device.name, names=", ".join(device.partitions))
    if device.read_only:
        yield make_finding("read-only", disk=device.disk)
    if device.zones not in ("none", "host-aware"):
        yield make_finding("zoned", disk=device.disk, zones=device.zones or "of an unknown kind")
    if device.size_bytes < minimum_bytes:
        size, minimum = device.size_bytes >> 20, minimum_bytes >> 20
        yield make_finding("too-small", name=device.name, size_bytes=size, minimum_bytes=minimum)


def identifiers(facts: Facts) -> dict[str, str]:
    """Texts that confirm this device and no other attached one, with their kinds, the best known first.

    For a partition these are the identifiers of its disk, its names and its PARTUUID; for a loop device only its file.
    """
    if file := facts.device.file:
        return {file: FILE} if file.isprintable() else {}
    taken: set[str] = set()
    for other in facts.others:
        taken.update(other)
    return {text: kind for text, kind in facts.reported.items() if text not in taken and not is_placeholder(text)}


def is_placeholder(text: str) -> bool:
    """Whether an identifier is one that makers use for many disks."""
    plain = re.sub(r"^(naa|eui|uuid)\.|[\s:-]", "", text.casefold())
    return len(set(plain)) < 2 or plain in PLACEHOLDERS


def _unconfirmed(facts: Facts, typed: str | None) -> Iterator[Finding]:
    device, unique = facts.device, identifiers(facts)
    if unique:
        if typed is not None and typed not in unique:
            kind = next(iter(unique.values()))
            yield make_finding("wrong-serial", serial=f"{typed!r:.80}", kind=kind, name=device.name)
        return
    for duplicate, kind in facts.reported.items():
        if count := sum(duplicate in other for other in facts.others):
            yield make_finding("no-serial/twins", count=count + 1, kind=kind, number=duplicate)
            return
    yield make_finding("no-serial", disk=device.disk)
