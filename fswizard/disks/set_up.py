"""How a disk is set up for good: what may be chosen, what must be so on the machine, and the one list of steps.

A review shows the list, a script has it to be read and copied, and `setting_up` carries it out as root. Both sides
check by the same functions.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import stat
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from fswizard.disks import as_root
from fswizard.drives import disk_facts
from fswizard.errors import Refused
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import LABELS, Command, fstab_line, make_kept
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import mounts
from fswizard.system.block_device import HERE, path_of

FSTAB, NEW_FSTAB = "/etc/fstab", "/etc/.fstab.fswizard"
OTHER_MOUNT_POINT, OTHER = N_("Choose another mount point, such as /mnt/data."), N_("Choose another.")
NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"
MOUNT_POINT, ACCOUNT = f"/(mnt|media|srv)/{NAME}", "[a-z_][a-z0-9._-]*"
LONGEST = 64
"""Of a mount point or the name of an account."""
SERVED = frozenset(f"/srv/{name}" for name in ("formulas", "pillar", "reactor", "salt", "spm", "tftp", "tftpboot"))
"""Services find there what they do as root, or what other machines start."""
OBEYED = frozenset((
    "casper-rw", "cidata", "combustion", "config-2", "home-rw", "ignition", "k3os_state", "knoppix-data", "live-rw",
    "oemdrv", "persistence", "proxmox-ais", "rancher_state", "tailsdata", "ubuntu-boot", "ubuntu-data", "ubuntu-save",
    "ubuntu-seed", "writable",
))  # fmt: skip
"""Labels, in small letters, by which systems and installers find orders, or files to start with."""
OPTIONS = ("nofail", "x-systemd.device-timeout=5s")
"""A machine starts without the disk, too, and waits so long for it (systemd.mount(5))."""
WINDOWS = ("exfat", "fat32", "ntfs", "ntfs-3g", "udf")
TYPES = {True: "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", False: "0FC63DAF-8483-4772-8E79-3D69D8477DE4"}
"""Of a partition: Microsoft's basic data, as Windows looks at no other, and Linux filesystem data (UAPI group)."""
TEST_FILE, TEST_WORDS = "fswizard-test.txt", "This file was written to see whether the disk works. You can delete it."


@dataclass(frozen=True, slots=True)
class SetUpChoices:
    """What the user is asked."""

    label: str
    mount_point: str
    owner: str
    """Account that its top directory is given to."""
    partition: bool = True
    """A whole disk gets a partition table with one partition; a partition never does."""


class Order(NamedTuple):
    """What the process of root's is asked for."""

    candidate: str
    """Its name, which the catalogue knows."""
    choices: SetUpChoices
    number: str
    """The device as `major:minor`; the rest is what shows that it is the one that was chosen."""
    diskseq: int
    size_bytes: int
    serial: str
    """What was typed to confirm it."""
    shown: str
    """The type of the filesystem on it, as it was shown; empty for none."""


@dataclass(frozen=True, slots=True)
class Names:
    """What is known only of one machine; in a script some are `$disk`, `$part`, `$uuid` and `$stamp`."""

    disk: str
    partition: str
    """What the filesystem is made on: the same as `disk` where that is not partitioned."""
    uid: int
    gid: int
    uuid: str = "$uuid"
    stamp: str = "$stamp"
    """When it was begun."""
    has_directory: bool = False
    """The mount point is there."""
    has_systemd: bool = True
    has_udev: bool = True

    @property
    def backup(self) -> str:
        return f"{FSTAB}.fswizard-{self.stamp}"


class Undo(NamedTuple):
    """What takes a step back."""

    text: str
    """What is so then."""
    when: Command
    """It ends with 1 where there is nothing to take back."""
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A command, word for word."""

    name: str
    text: str
    """What it does; the same for neighbours that do one thing."""
    command: Command
    given: tuple[str, ...] = ()
    """Lines of its standard input."""
    unless: Command = ()
    """Where this succeeds, no harm is done if the step failed."""
    undo: Undo | None = None


def why_not_set_up(candidate: Candidate) -> str:
    """In a sentence; empty where it can be set up."""
    if candidate.directory or not candidate.filesystem.mkfs_program:
        return _("This result compares filesystems that exist already, so there is nothing to set up.")
    if candidate.array and candidate.array.layout.alone:
        return _("Its volume's passphrase is yours to choose; set it up by hand, with the commands of the report.")
    if candidate.array:
        return _("It spreads over several disks; set it up by hand, with the commands of the report.")
    if candidate.filesystem.pool:
        return _("ZFS mounts its pools itself; set it up by hand, with the commands of the report.")
    if candidate.filesystem.name not in LABELS:
        return _("{filesystem} is not set up by fswizard.", filesystem=candidate.filesystem.title)
    return ""


def _is_named(pattern: str, text: str, longest: int = LONGEST) -> bool:
    return len(text) <= longest and re.fullmatch(pattern, text, re.ASCII) is not None


def is_mount_point(path: str) -> bool:
    """Whether it is one that may be chosen, whatever is there."""
    return _is_named(MOUNT_POINT, path) and path not in SERVED


def chosen_set_up(candidate: Candidate, choices: SetUpChoices) -> Candidate:
    """The candidate as the catalogue has it; Refused where it or a choice cannot be. Nothing is looked at."""
    if reason := why_not_set_up(candidate):
        raise Refused(reason)
    label, longest, point = choices.label, LABELS[candidate.filesystem.name][1], choices.mount_point
    if not _is_named(NAME, label, longest):
        words = _("the label {label} is not 1 to {longest} letters, digits, dots, dashes or underscores",
                  label=f"{label!r:.40}", longest=longest)  # fmt: skip
        _refuse(words)
    if label.casefold() in OBEYED:
        _refuse(_("the label {label} is one that other systems act on", label=label), OTHER)
    if point in SERVED:
        _refuse(_("{path} is where services look for what they do", path=point), OTHER_MOUNT_POINT)
    if not is_mount_point(point):
        words = _("the mount point {path} is not one new name in /mnt, /media or /srv", path=f"{point!r:.60}")
        _refuse(words, OTHER_MOUNT_POINT)
    if not _is_named(ACCOUNT, choices.owner):
        _refuse(_("{owner} is not the name of an account", owner=f"{choices.owner!r:.40}"))
    return parse_candidate(candidate.name)


def look(candidate: Candidate, choices: SetUpChoices, name: str, disk: str) -> Names:
    """What is so on this machine for the device `name` of a whole `disk`, by kernel names.

    Refused or Missing where anything that is needed is not so. Nothing is changed.
    """
    if choices.partition and name != disk:
        _refuse(_("{name} is a partition: only a whole disk gets a partition table", name=name))
    if candidate.filesystem.name in grammar.NTFS and name == disk and not choices.partition:
        raise Refused(_("NTFS needs a partition: mkfs.ntfs takes no whole disk."), _("Choose a partition table, too."))
    if file := HERE.text(f"/sys/block/{disk}/loop/backing_file"):
        require_roots_alone(file)
    try:
        owner = pwd.getpwnam(choices.owner)
    except KeyError:
        _refuse(_("there is no account {name}", name=f"{choices.owner!r}"))
    table, link = disk_facts.expecting_label(choices.label), f"/dev/disk/by-label/{choices.label}"
    if table or (os.path.lexists(link) and HERE.device_at(link) != name):
        whose = f"{table} names it" if table else "another disk has it"
        _refuse(_("the label {label} is taken ({whose})", label=choices.label, whose=whose), OTHER)
    _require_free(choices.mount_point)
    device, separator = path_of(name), "p" if name[-1].isdigit() else ""
    names = Names(
        device, f"{device}{separator}1" if choices.partition else device, owner.pw_uid, owner.pw_gid,
        has_directory=os.path.isdir(choices.mount_point), has_systemd=os.path.exists("/run/systemd/system"),
        has_udev=os.path.exists("/run/udev/control"),
    )  # fmt: skip
    for step in steps(candidate, choices, names):
        as_root.find(step.command[0])
    if candidate.filesystem.mount_type in grammar.FUSE:
        as_root.find(f"mount.{candidate.filesystem.mount_type}")
    return names


def require_roots_alone(path: str) -> None:
    """Refused where another account can change `path`, or put something in its place, or where it is a link."""
    place = ""
    for part in ("", *path.strip("/").split("/")):
        place = f"{place.rstrip('/')}/{part}"
        status = os.lstat(place)
        by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if place != path and status.st_mode & stat.S_ISVTX:  # what is root's there nobody can replace
            by_others = 0
        if status.st_uid != as_root.ROOT or by_others or stat.S_ISLNK(status.st_mode):
            _refuse(_("other accounts can change {path}", path=safe(place)), OTHER)


def _require_free(point: str) -> None:
    """Refused where anything is in the mount point or on it, shall be by fstab, or could be put there by others."""
    for mount in mounts.current().values():
        if f"{mount.path}/".startswith(f"{point}/"):
            _refuse(_("{path} is mounted already", path=safe(mount.path)), OTHER_MOUNT_POINT)
    if os.path.islink(FSTAB):
        _refuse(_("{fstab} is a link: another program writes it", fstab=FSTAB))
    if not os.path.isfile(FSTAB):
        _refuse(_("there is no {fstab} here", fstab=FSTAB))
    require_roots_alone(FSTAB)
    for line in HERE.lines(FSTAB):
        columns = line.split()
        path = os.path.normpath(mounts.unescape(columns[1])) if len(columns) > 1 else ""
        if f"{path}/".startswith(f"{point}/") and not columns[0].startswith("#"):
            _refuse(_("{fstab} has {path} already", fstab=FSTAB, path=safe(path)), OTHER_MOUNT_POINT)
    parent, name = os.path.split(point)
    require_roots_alone(parent)
    if parent == "/media" and name in {each.pw_name for each in pwd.getpwall()}:
        _refuse(_("{path} is where the desktop mounts the disks of {name}", path=point, name=name), OTHER_MOUNT_POINT)
    if os.path.lexists(point):
        require_roots_alone(point)
        if not os.path.isdir(point) or os.listdir(point):
            _refuse(_("{point} is not empty", point=point), OTHER_MOUNT_POINT)


def _refuse(text: str, hint: str = "") -> NoReturn:
    raise Refused(_("{finding}.", finding=f"{text[:1].upper()}{text[1:]}"), _(hint))


def steps(candidate: Candidate, choices: SetUpChoices, names: Names) -> tuple[Step, ...]:
    """All steps, in order. What can be taken back is taken back from the last one on."""
    made, point, kind = candidate.filesystem, choices.mount_point, candidate.filesystem.name
    arguments = candidate.mkfs_arguments(scratch=False)
    make = make_kept(kind, made.mkfs_program, arguments, choices.label, names.partition)
    options = (*candidate.mount_options, *grammar.added_options(made.mount_type, names.uid, names.gid), *OPTIONS)
    line = fstab_line(f"UUID={names.uuid}", point, made.mount_type, options, made.fsck_pass)
    table = ("sfdisk", "--quiet", "--wipe", "always", "--wipe-partitions", "always", "--label", "gpt", names.disk)
    is_mounted = ("findmnt", "--noheadings", "--output", "TARGET", "--mountpoint", point)
    remove = Undo(f"{point} is removed", ("test", "-d", point), (("rmdir", point),))
    unmount = Undo(f"{point} is unmounted", is_mounted, (("umount", point),))
    become = ("setpriv", f"--reuid={names.uid}", f"--regid={names.gid}", "--init-groups", *as_root.WITHOUT_RIGHTS)
    write = ("dd", f"of={point}/{TEST_FILE}", "conv=excl,fsync", "status=none")
    possible = (
        (True, Step("wipe", "removing what was on it", ("wipefs", "--all", names.disk))),
        (choices.partition, Step("partition", "making a partition table (GPT) with one partition", table,
                                 (f"type={TYPES[kind in WINDOWS]}",))),
        (choices.partition, Step("reread", "telling the kernel", ("partx", "--update", names.disk))),
        (True, Step("make", f"making {kind}", make)),
        (True, Step("uuid", "reading its UUID", ("blkid", "-p", "-s", "UUID", "-o", "value", names.partition))),
        (not names.has_directory, Step("directory", "making the mount point", ("mkdir", point), undo=remove)),
        *((True, step) for step in _into_fstab(line, names)),
        (names.has_systemd, Step("reload", "telling systemd", ("systemctl", "daemon-reload"))),
        (names.has_udev, Step("settle", "waiting for udev", ("udevadm", "settle", "--timeout=10"))),
        # systemd may be faster
        (True, Step("mount", "mounting it", ("mount", point), unless=is_mounted, undo=unmount)),
        (made.mount_type not in grammar.OWNERLESS,
         Step("own", f"giving {point} to {choices.owner}", ("chown", f"{choices.owner}:", point))),
        (True, Step("test", "writing a test file", (*become, *write), (TEST_WORDS,))),
    )  # fmt: skip
    return tuple(step for here, step in possible if here)


def _into_fstab(line: str, names: Names) -> tuple[Step, ...]:
    """fstab is written anew next to itself, and replaced whole; its old file stays under another name."""
    text, backup, mark = f"adding a line to {FSTAB}", names.backup, rf"^UUID={names.uuid}\b"
    copy, sync = ("cp", "-p", FSTAB, NEW_FSTAB), ("sync", NEW_FSTAB)
    rename, sync_rename = ("mv", "-T", NEW_FSTAB, FSTAB), ("sync", os.path.dirname(FSTAB))
    is_old = ("test", FSTAB, "-ef", backup)
    tell = (("systemctl", "daemon-reload"),) if names.has_systemd else ()
    cut = ("sed", "-i", rf"\|{mark}|d", NEW_FSTAB)
    without = (copy, cut, sync, rename, sync_rename, ("rm", "-f", backup), *tell)
    remove = Undo(f"no copy of {FSTAB} is left", is_old, (("rm", "-f", NEW_FSTAB, backup),))
    return (
        Step("fstab", text, ("ln", FSTAB, backup), undo=remove),
        Step("fstab", text, copy),
        Step("fstab", text, ("tee", "-a", NEW_FSTAB), ("", line)),
        Step("fstab", text, sync),
        Step("fstab", text, is_old),  # nobody has replaced it meanwhile
        Step("fstab", text, rename, undo=Undo(f"{FSTAB} is as it was", ("grep", "-q", mark, FSTAB), without)),
        Step("fstab", text, sync_rename),
    )


def shell(step: Step) -> str:
    """The step as it is typed."""
    line = typed_words(step.command)
    if step.name == "uuid":
        return f"uuid=$({line})"
    if step.given:
        return rf"printf '%s\n' {typed_words(step.given)} | {line}"
    return f"{line} || {typed_words(step.unless)}" if step.unless else line


def typed_words(command: Command) -> str:
    return " ".join(map(_quoted, command))


def _quoted(word: str) -> str:
    """Where a variable of the script stands in it, none of its other characters means anything to a shell."""
    return f'"{word}"' if re.search(r"\$[a-z]", word) else shlex.quote(word)
