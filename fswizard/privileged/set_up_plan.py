"""What sets a disk up for good, step by step: the helper carries the steps out, and reviews and scripts show them.

Pure. What a user chose passes `require` first, after which none of it means anything to a shell or to fstab(5).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Literal

from fswizard.privileged import grammar
from fswizard.privileged.commands import LABELS, Command, fstab_line, make_kept
from fswizard.privileged.refusal import Refusal

FSTAB = "/etc/fstab"
TEST_FILE, TEST_WORDS = "fswizard-test.txt", "This file was written to see whether the disk works. You can delete it."
DEVICE_LIMIT = "x-systemd.device-timeout=5s"
"""So long a start of the machine waits for a disk that may be absent (systemd.mount(5))."""
SYSTEMD, UDEV = "/run/systemd/system", "/run/udev/control"
"""There where they run (sd_booted(3), udev(7))."""
WINDOWS = ("exfat", "fat32", "ntfs", "ntfs-3g", "udf")
TYPES = {True: "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", False: "0FC63DAF-8483-4772-8E79-3D69D8477DE4"}
"""Of a partition: Microsoft's basic data, as Windows looks at no other, and Linux filesystem data (UAPI group)."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
ACCOUNT = r"[a-z_][a-z0-9._-]{0,31}"
MOUNT_POINT = rf"(/{NAME})+"
LONGEST_PATH = 200
OTHER_MOUNT_POINT = "Choose another mount point, such as /mnt/data."
SYSTEM_DIRECTORIES = frozenset((
    "bin", "boot", "dev", "efi", "etc", "gnu", "home", "lib", "lib32", "lib64", "libx32", "nix", "ostree", "proc",
    "root", "run", "sbin", "snap", "sys", "sysroot", "tmp", "usr", "var",
))  # fmt: skip
PARENTS = frozenset(("mnt", "media", "srv", "opt"))
"""Directories that hold mount points, and are none."""

StepName = Literal[
    "wipe", "partition", "reread", "make", "uuid", "directory", "backup", "fstab", "reload", "settle", "mount",
    "verify", "own", "test",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SetUp:
    """What a user chose for a disk or partition. The names are those of the helper's request."""

    filesystem: str
    arguments: tuple[str, ...]
    """Of its mkfs, without label and device."""
    mount_type: str
    options: tuple[str, ...]
    fsck_pass: int
    """Last column of fstab."""
    partition: bool
    """The disk gets a partition table with one partition."""
    label: str
    mount_point: str
    owner: str
    """Account that its top directory is given to."""
    may_be_absent: bool
    """The machine starts without it, too."""


@dataclass(frozen=True, slots=True)
class Names:
    """What is known only of one machine, or stands in a script as `$disk`, `$part`, `$uuid` and `$stamp`."""

    disk: str
    partition: str
    """What the filesystem is made on: the same as `disk` where that is not partitioned."""
    uid: int
    gid: int
    uuid: str = "$uuid"
    stamp: str = "$stamp"
    """When it was begun, in the name of the copy of fstab."""

    @property
    def backup(self) -> str:
        return f"{FSTAB}.fswizard-{self.stamp}"


@dataclass(frozen=True, slots=True)
class Step:
    """One of the steps, and the command that does it, word for word."""

    name: StepName
    text: str
    """What it does, for whoever watches."""
    command: Command
    given: str = ""
    """What it reads as its standard input."""
    added_to: str = ""
    """The file that its output is added to."""
    only_with: str = ""
    """It is left out where there is no such file."""


def require(what: SetUp) -> None:
    """Refusal where anything that was chosen is not allowed; nothing is looked at."""
    arguments = list(what.arguments)
    grammar.require_mkfs(what.filesystem, arguments)
    if what.filesystem not in LABELS:
        raise Refusal("refused", f"{what.filesystem} is not set up by this program")
    if what.mount_type not in grammar.mount_types(what.filesystem):
        raise Refusal("refused", f"{what.mount_type!r:.40} does not mount {what.filesystem}")
    grammar.require_mount(what.mount_type, what.options)
    if what.fsck_pass not in (0, 2):
        raise Refusal("refused", "fsck looks at it in pass 2, or not at all (0)")
    longest = LABELS[what.filesystem][1]
    if not re.fullmatch(NAME, what.label, re.ASCII) or len(what.label) > longest:
        raise Refusal(
            "refused",
            f"the label {what.label!r:.40} is not 1 to {longest} letters, digits, dots, dashes or underscores",
        )
    if not re.fullmatch(ACCOUNT, what.owner, re.ASCII):
        raise Refusal("refused", f"{what.owner!r:.40} is not the name of an account")
    require_mount_point(what.mount_point)


def require_mount_point(path: str) -> None:
    """Refusal where nothing may be mounted there."""
    if not re.fullmatch(MOUNT_POINT, path, re.ASCII) or len(path) > LONGEST_PATH:
        raise Refusal(
            "refused",
            f"the mount point {path!r:.60} is not a path such as /mnt/data, of letters, digits, dots, dashes and "
            "underscores",
        )
    first, *further = path[1:].split("/")
    if first in SYSTEM_DIRECTORIES:
        raise Refusal("refused", f"/{first} belongs to the system", hint=OTHER_MOUNT_POINT)
    if first in PARENTS and not further:
        raise Refusal("refused", f"{path} holds mount points", hint=f"Choose one in it, such as {path}/data.")


def mount_options(what: SetUp, names: Names) -> tuple[str, ...]:
    """The fourth column of its line in fstab."""
    absent = ("nofail", DEVICE_LIMIT) if what.may_be_absent else ()
    return (*what.options, *grammar.added_options(what.mount_type, names.uid, names.gid), *absent)


def steps(what: SetUp, names: Names) -> tuple[Step, ...]:
    """In order."""
    disk, device, point, kind = names.disk, names.partition, what.mount_point, what.filesystem
    line = fstab_line(f"UUID={names.uuid}", point, what.mount_type, mount_options(what, names), what.fsck_pass)
    always = ("--wipe", "always", "--wipe-partitions", "always")
    table = (
        Step("partition", "making a partition table (GPT) with one partition",
             ("sfdisk", "--quiet", *always, "--label", "gpt", disk), given=f"type={TYPES[kind in WINDOWS]}"),
        Step("reread", "telling the kernel", ("partx", "--update", disk)),
    )  # fmt: skip
    # Once it is mounted, as findmnt calls one unknown whose module is not loaded. It takes ntfs3 for another filesystem
    # than the NTFS on the disk.
    verify = (Step("verify", "checking the new line", ("findmnt", "--verify", "--target", point)),)
    own = (Step("own", f"giving {point} to {what.owner}", ("chown", f"{what.owner}:", point)),)
    test = f"{point}/{TEST_FILE}"
    return (
        Step("wipe", "removing what was on it", ("wipefs", "--all", disk)),
        *(table if what.partition else ()),
        Step("make", f"making {kind}", make_kept(kind, grammar.MKFS[kind].program, what.arguments, what.label, device)),
        Step("uuid", "reading its UUID", ("blkid", "-p", "-s", "UUID", "-o", "value", device)),
        Step("directory", "making the mount point", ("mkdir", "-p", point)),
        Step("backup", f"copying {FSTAB}", ("cp", "-p", FSTAB, names.backup)),
        Step("fstab", f"adding a line to {FSTAB}", ("printf", r"%s\n", line), added_to=FSTAB),
        Step("reload", "telling systemd", ("systemctl", "daemon-reload"), only_with=SYSTEMD),
        Step("settle", "waiting for udev", ("udevadm", "settle", "--timeout=10"), only_with=UDEV),
        Step("mount", "mounting it", ("mount", point)),
        *(verify if kind not in grammar.NTFS else ()),
        *(own if what.mount_type not in grammar.OWNERLESS else ()),
        Step("test", "writing a test file", ("runuser", "-u", what.owner, "--", "tee", test), given=TEST_WORDS),
    )  # fmt: skip


def shell(step: Step) -> str:
    """The step as it is typed."""
    line = " ".join(map(_quoted, step.command))
    if step.name == "uuid":
        return f"uuid=$({line})"
    if step.given:
        line = rf"printf '%s\n' {_quoted(step.given)} | {line}"
    return f"{line} >> {step.added_to}" if step.added_to else line


def _quoted(word: str) -> str:
    """Where a variable of the script stands in it, none of its other characters means anything to a shell."""
    return f'"{word}"' if re.search(r"\$[a-z]", word) else shlex.quote(word)


def undo(point: str, uuid: str) -> tuple[str, ...]:
    """Commands that unmount it and take its line out of fstab, whatever else changed there; the disk stays as it is."""
    return (f"umount {point}", rf"sed -i '\|^UUID={uuid}[[:space:]]|d' {FSTAB}")
