"""What may be erased: rules over what `disk_facts` read, which look at nothing themselves.

The screens and the plan apply them to what a user can read, and root again in the moment before it writes. Where two
readings disagree, or something cannot be read, they refuse.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fswizard.filesystems.commands import RUN_NAME
from fswizard.language import _
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
"""Code and kind of whole, by libblkid's name. bcachefs is a filesystem, and no member of anything."""
PARTS_OF_MORE = ("drbd", "ceph", "oracleasm", "stratis", "DM_", "vdo", "VMFS")
"""Beginnings of types that libblkid does not all list among RAID members."""
LEFT_BY_A_RUN = ("zfs_member", "linux_raid_member")
"""What a killed run may have left of a pool or an array on a disk that was given up to it."""
SYSTEM_PARTITIONS = {
    "c12a7328-f81f-11d2-ba4b-00a0c93ec93b": "esp", "0xef": "esp",
    "21686148-6449-6e6f-744e-656564454649": "boot", "e3c9e316-0b5c-4db8-817d-f92df00215ae": "msr",
    "de94bba4-06d1-4d40-a16a-bfd50179d6ac": "recovery", "0x27": "recovery",
    "bfbfafe7-a34f-448a-9a5b-6213eb736c22": "maker", "0x12": "maker",
}  # fmt: skip
"""Cases of `system-partition` by the type of a partition."""
TAGS = {
    "ID_FS_UUID": "uuid", "ID_FS_UUID_ENC": "uuid", "ID_FS_LABEL": "label", "ID_FS_LABEL_ENC": "label",
    "ID_PART_ENTRY_UUID": "partuuid", "ID_PART_ENTRY_NAME": "partlabel",
}  # fmt: skip
"""Properties that tables name devices by, and how they write them: in capitals, or below /dev/disk/by-."""
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
    "system-partition/esp": ("{name} is the machine's boot partition (ESP)", "Choose another partition or disk."),
    "system-partition/boot": ("{name} is a boot loader's partition", "Choose another partition or disk."),
    "system-partition/msr": ("{name} is a reserved partition of Windows (MSR)", "Choose another partition or disk."),
    "system-partition/recovery": ("{name} is a recovery partition of Windows", "Choose another partition or disk."),
    "system-partition/maker": ("{name} is a maker's recovery partition", "Choose another partition or disk."),
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
    "no-serial/placeholder": (
        "{disk} has only a placeholder as {kind} ({number}), so you can't confirm which disk it is",
        "Measure on a scratch image on it instead."),
    "no-serial": ("{disk} reports neither a serial number nor a WWN, so you can't confirm which disk it is",
                  "Measure on a scratch image on it instead."),
    "wrong-serial": ("{serial} is not the {kind} of {name}",
                     "Check which disk it is: `fswizard drives` shows the serial numbers."),
    "wrong-serial/name": ("{serial} is not the {kind} of {name}", "Check which disk it is; its {kind} is {text}"),
}  # fmt: skip
"""All that can stand against erasing a device, the weightiest first: what it is, and what can be done."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that stands against erasing a device. Its texts may be hostile."""

    case: str
    code: str
    """Short stable name, such as `mounted`, `swap`, `raid-member`, `read-only`."""
    text: str
    hint: str
    """What the person can do."""


def found(case: str, code: str = "", **fields: object) -> Finding:
    """One of `CASES`, whose own code is the word before the slash."""
    text, hint = CASES[case]
    return Finding(case, code or case.partition("/")[0], _(text, **fields), _(hint, **fields))


@dataclass(frozen=True, slots=True)
class Probed:
    """Contents of a device: without root as udev's database has it, as root as blkid and wipefs read it."""

    properties: Mapping[str, str] = field(default_factory=dict)
    """In udev's words, which are those of `blkid -p -o udev`, too."""
    signatures: frozenset[str] = frozenset()
    """Types of everything that wipefs finds, also where one hides the other; empty without root."""
    devices: int = 0
    """How many the filesystem has, by its superblock, or, without root, as far as udev knows them."""
    unread: bool = False
    """They could not be read."""

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
    def types(self) -> list[str]:
        return sorted({self.type, *self.signatures} - {""})

    @property
    def left_by_a_run(self) -> bool:
        """Runs give pools, arrays and what they spread over several disks a name of ours; mdadm puts the machine's
        name before it."""
        return RUN_NAME.fullmatch(self.label.rpartition(":")[2]) is not None


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read of a device, and of whatever else on the machine has to do with it."""

    device: Device
    contents: Mapping[str, Probed]
    """By kernel name: of the device, its partitions, its disk, and all of these on other paths to the disk."""
    uses: Sequence[Finding] = ()
    """Who uses any of them, and what else was noticed while they were read."""
    words: Sequence[tuple[str, str, str]] = ()
    """Each word in these tables: table, word, and kernel name of the device that it leads to."""
    reported: Mapping[str, str] = field(default_factory=dict)
    """Numbers and names of the disk, and what each is; what people know best comes first."""
    others: Sequence[Mapping[str, str]] = ()
    """Those of each other disk that is attached, its partitions included."""
    paths: tuple[str, ...] = ()
    """Kernel names of the device on other paths to its disk."""

    @property
    def probed(self) -> Probed:
        """The device's own contents."""
        return self.contents[self.device.name]


def findings(facts: Facts, minimum_bytes: int = 0, typed: str | None = None) -> tuple[Finding, ...]:
    """All that stands against erasing the device, the weightiest first; empty where nothing does.

    `typed` is what was typed to confirm the loss; None before that.
    """
    every = [*facts.uses, *_unfit(facts.device, max(minimum_bytes, MINIMUM_BYTES)), *_unconfirmed(facts, typed)]
    for name, probed in facts.contents.items():
        every += [*belongs(name, probed), *_named(name, probed, facts)]
        if probed.unread:
            every.append(found("unknown/contents", device=name))
        if name in (facts.device.name, *facts.device.partitions):
            every += _lost(name, probed)
    weights = list(CASES)
    return tuple(sorted(dict.fromkeys(every), key=lambda finding: weights.index(finding.case)))


def changes(facts: Facts, diskseq: int, size_bytes: int, shown: str | None = None) -> Iterator[Finding]:
    """In what it differs from the device that was chosen.

    `shown` is the type of the contents that the user was shown, as libblkid names it; empty for nothing.
    """
    device, kind = facts.device, facts.probed.type
    if not diskseq or device.diskseq != diskseq:
        yield found("gone", disk=device.disk)
    if device.size_bytes != size_bytes:
        yield found("gone/size", name=device.name)
    if shown is not None and kind not in ("", shown):  # udev's database may be older than the contents
        yield found("gone/contents", name=device.name, type=kind, shown=shown or "nothing")


def belongs(name: str, probed: Probed) -> Iterator[Finding]:
    """What the contents of a device say that it is part of."""
    for kind in probed.types:
        raid = kind == probed.type and probed.properties.get("ID_FS_USAGE") == "raid"
        if kind in LEFT_BY_A_RUN and probed.left_by_a_run:
            continue
        if kind in MEMBERS or raid or kind.endswith("_member") or kind.startswith(PARTS_OF_MORE):
            code, whole = MEMBERS.get(kind, MEMBERS[""])
            yield found("member", code, name=f"{name} ({probed.label})" if probed.label else name, whole=whole)


def _lost(name: str, probed: Probed) -> Iterator[Finding]:
    """What would be erased and must not be."""
    ambivalent = {"ID_FS_AMBIVALENT", "ID_PART_TABLE_AMBIVALENT"} & probed.properties.keys()
    if ambivalent or len(probed.signatures - PARTITION_TABLES) > 1:
        yield found("ambivalent", name=name)
    if probed.devices > 1 and not probed.left_by_a_run:
        yield found("btrfs-member/several", name=name, devices=probed.devices, type=probed.type)
    if part := SYSTEM_PARTITIONS.get(probed.properties.get("ID_PART_ENTRY_TYPE", "").lower()):
        yield found(f"system-partition/{part}", name=name)


def _named(name: str, probed: Probed, facts: Facts) -> Iterator[Finding]:
    """In a table of the system, mounted or not."""
    tags = {(tag, decoded(probed.properties.get(key, "")).casefold()) for key, tag in TAGS.items()}
    for table, word, leads_to in facts.words:
        tag = tag_of(word)
        pattern = word.startswith("/dev/") and fnmatch.fnmatchcase(path_of(name), word)
        if leads_to == name or pattern or (tag[1] and tag in tags):
            yield found("named", name=name, table=table)


def tag_of(word: str) -> tuple[str, str]:
    """`LABEL=archive` and `/dev/disk/by-label/archive` as ("label", "archive")."""
    separator = "/" if word.startswith("/dev/disk/by-") else "="
    tag, _, value = word.removeprefix("/dev/disk/by-").partition(separator)
    return tag.casefold(), decoded(value).casefold()


def _unfit(device: Device, minimum_bytes: int) -> Iterator[Finding]:
    if device.partitions:
        yield found("partitioned", name=device.name, names=", ".join(device.partitions))
    if device.read_only:
        yield found("read-only", disk=device.disk)
    if device.zones not in ("none", "host-aware"):
        yield found("zoned", disk=device.disk, zones=device.zones or "of an unknown kind")
    if device.size_bytes < minimum_bytes:
        size, minimum = device.size_bytes >> 20, minimum_bytes >> 20
        yield found("too-small", name=device.name, size_bytes=size, minimum_bytes=minimum)


def identifiers(facts: Facts) -> dict[str, str]:
    """Each text that confirms this device and no other that is attached, and what it is, the best known first.

    Of a partition they are the numbers of its disk, its own names and its PARTUUID; of a loop device its file alone.
    """
    if file := facts.device.file:
        return {file: FILE} if file.isprintable() else {}
    taken = {text for other in facts.others for text in other}
    return {text: kind for text, kind in facts.reported.items() if text not in taken and not is_placeholder(text)}


def is_placeholder(text: str) -> bool:
    """A number that some makers give to each of their disks."""
    plain = re.sub(r"^(naa|eui|uuid)\.|[\s:-]", "", text.casefold())
    return len(set(plain)) < 2 or plain in PLACEHOLDERS


def _unconfirmed(facts: Facts, typed: str | None) -> Iterator[Finding]:
    device, known = facts.device, identifiers(facts)
    text, kind = next(iter((known or facts.reported).items()), ("", ""))
    if known:
        if typed is not None and typed not in known:
            case = "wrong-serial" if kind == SERIAL else "wrong-serial/name"
            yield found(case, serial=f"{typed!r:.80}", kind=kind, name=device.name, text=text)
        return
    for twice, its_kind in facts.reported.items():
        if count := sum(twice in other for other in facts.others):
            yield found("no-serial/twins", count=count + 1, kind=its_kind, number=twice)
            return
    yield found("no-serial/placeholder" if text else "no-serial", disk=device.disk, kind=kind, number=text)
