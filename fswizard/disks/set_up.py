"""How a disk is set up for good: what may be chosen, what must be so on the machine, and the one list of steps.

A review shows the list, a script has it to be read and copied, and `setting_up` carries it out as root. Both sides
check by the same functions.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fswizard.disks import as_root
from fswizard.drives import disk_facts
from fswizard.errors import Refused
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import LABELS, fstab_line, make_kept
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate
from fswizard.model.text import safe
from fswizard.system import mounts
from fswizard.system.block_device import HERE, Device

FSTAB, NEW_FSTAB, OLD_FSTAB = "/etc/fstab", "/etc/.fstab.fswizard", "/etc/fstab.fswizard-$stamp"
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


class Here(NamedTuple):
    """What the steps depend on, and is so on one machine."""

    uid: int = 1000
    """Of the owner."""
    gid: int = 1000
    has_directory: bool = False
    """The mount point is there."""
    has_systemd: bool = True
    has_udev: bool = True


class Undo(NamedTuple):
    """What takes a step back."""

    text: str
    """What is so then."""
    when: str
    """Command that ends with 1 where there is nothing to take back."""
    commands: tuple[str, ...]


class Step(NamedTuple):
    """A command as it stands in the script, whose variables are `$disk`, `$part`, `$uuid` and `$stamp`.

    `$part` is there where the disk gets a partition table.
    """

    text: str
    """What it does; the same for neighbours that do one thing."""
    command: str
    given: str = ""
    """Lines of its standard input, as words of a shell."""
    undo: Undo | None = None
    unless: str = ""
    """Where this command succeeds, no harm is done if the step failed."""

    @property
    def program(self) -> str:
        return self.command.split()[0]

    @property
    def shell(self) -> str:
        """As it is typed."""
        if self.program == "blkid":
            return f"uuid=$({self.command})"
        if self.given:
            return rf"printf '%s\n' {self.given} | {self.command}"
        return f"{self.command} || {self.unless}" if self.unless else self.command


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
        words = _("The label {label} is not 1 to {longest} letters, digits, dots, dashes or underscores.",
                  label=f"{label!r:.40}", longest=longest)  # fmt: skip
        raise Refused(words)
    if label.casefold() in OBEYED:
        raise Refused(_("The label {label} is one that other systems act on.", label=label), _(OTHER))
    if point in SERVED:
        raise Refused(_("{path} is where services look for what they do.", path=point), _(OTHER_MOUNT_POINT))
    if not is_mount_point(point):
        words = _("The mount point {path} is not one new name in /mnt, /media or /srv.", path=f"{point!r:.60}")
        raise Refused(words, _(OTHER_MOUNT_POINT))
    if not _is_named(ACCOUNT, choices.owner):
        raise Refused(_("{owner} is not the name of an account.", owner=f"{choices.owner!r:.40}"))
    return parse_candidate(candidate.name)


def look(candidate: Candidate, choices: SetUpChoices, device: Device) -> Here:
    """What is so on this machine; Refused or Missing where anything that is needed is not so. Nothing is changed."""
    name, disk = device.name, device.disk
    if choices.partition and name != disk:
        raise Refused(_("{name} is a partition: only a whole disk gets a partition table.", name=name))
    if candidate.filesystem.name in grammar.NTFS and name == disk and not choices.partition:
        raise Refused(_("NTFS needs a partition: mkfs.ntfs takes no whole disk."), _("Choose a partition table, too."))
    if device.file:
        require_roots_alone(device.file)
    try:
        owner = pwd.getpwnam(choices.owner)
    except KeyError:
        raise Refused(_("There is no account {name}.", name=f"{choices.owner!r}")) from None
    table, link = disk_facts.expecting_label(choices.label), f"/dev/disk/by-label/{choices.label}"
    if table or (os.path.lexists(link) and HERE.device_at(link) != name):
        whose = f"{table} names it" if table else "another disk has it"
        raise Refused(_("The label {label} is taken ({whose}).", label=choices.label, whose=whose), _(OTHER))
    _require_free(choices.mount_point)
    here = Here(
        owner.pw_uid, owner.pw_gid, os.path.isdir(choices.mount_point),
        os.path.exists("/run/systemd/system"), os.path.exists("/run/udev/control"),
    )  # fmt: skip
    programs = {step.program for step in steps(candidate, choices, here)}
    if candidate.filesystem.mount_type in grammar.FUSE:
        programs.add(f"mount.{candidate.filesystem.mount_type}")
    for program in programs:
        as_root.find(program)
    return here


def require_roots_alone(path: str) -> None:
    """Refused where another account can change `path`, or put something in its place, or where it is a link."""
    try:
        place = as_root.changeable_by_others(path, lambda shared: shared != path)
    except OSError:  # a link to nowhere, or what a program sees that has mounts of its own
        place = path
    if not place and os.path.realpath(path) != path:
        place = path
    if place:
        raise Refused(_("Other accounts can change {path}.", path=safe(place)), _(OTHER))


def _require_free(point: str) -> None:
    """Refused where anything is in the mount point or on it, shall be by fstab, or could be put there by others."""
    other = _(OTHER_MOUNT_POINT)
    for mount in mounts.current().values():
        if f"{mount.path}/".startswith(f"{point}/"):
            raise Refused(_("{path} is mounted already.", path=safe(mount.path)), other)
    if os.path.islink(FSTAB):
        raise Refused(_("{fstab} is a link: another program writes it.", fstab=FSTAB))
    if not os.path.isfile(FSTAB):
        raise Refused(_("There is no {fstab} here.", fstab=FSTAB))
    require_roots_alone(FSTAB)
    for line in HERE.lines(FSTAB):
        columns = line.split()
        path = os.path.normpath(mounts.unescape(columns[1])) if len(columns) > 1 else ""
        if f"{path}/".startswith(f"{point}/") and not columns[0].startswith("#"):
            raise Refused(_("{fstab} has {path} already.", fstab=FSTAB, path=safe(path)), other)
    parent, name = os.path.split(point)
    require_roots_alone(parent)
    if parent == "/media" and name in {each.pw_name for each in pwd.getpwall()}:
        raise Refused(_("{path} is where the desktop mounts the disks of {name}.", path=point, name=name), other)
    if os.path.lexists(point):
        require_roots_alone(point)
        if not os.path.isdir(point) or os.listdir(point):
            raise Refused(_("{point} is not empty.", point=point), other)


def steps(candidate: Candidate, choices: SetUpChoices, here: Here) -> Iterator[Step]:
    """All steps, in order. What can be taken back is taken back from the last one on.

    The choices are such as `chosen_set_up` passed, so that no character of theirs means anything to a shell.
    """
    made, point, kind = candidate.filesystem, choices.mount_point, candidate.filesystem.name
    device = '"$part"' if choices.partition else '"$disk"'
    make = make_kept(candidate, choices.label)
    options = (*candidate.mount_options, *grammar.added_options(made.mount_type, here.uid, here.gid), *OPTIONS)
    reload = "systemctl daemon-reload"
    yield Step("removing what was on it", 'wipefs --all "$disk"')
    if choices.partition:
        table = 'sfdisk --quiet --wipe always --wipe-partitions always --label gpt "$disk"'
        yield Step("making a partition table (GPT) with one partition", table, f"type={TYPES[kind in WINDOWS]}")
        yield Step("telling the kernel", 'partx --update "$disk"')
    yield Step(f"making {kind}", f"{shlex.join(make)} {device}")
    yield Step("reading its UUID", f"blkid -p -s UUID -o value {device}")
    if not here.has_directory:
        remove = Undo(f"{point} is removed", f"test -d {point}", (f"rmdir {point}",))
        yield Step("making the mount point", f"mkdir {point}", undo=remove)
    line = fstab_line("UUID=$uuid", point, made.mount_type, options, made.fsck_pass)
    yield from _into_fstab(line, (reload,) if here.has_systemd else ())
    if here.has_systemd:
        yield Step("telling systemd", reload)
    if here.has_udev:
        yield Step("waiting for udev", "udevadm settle --timeout=10")
    is_mounted = f"findmnt --noheadings --output TARGET --mountpoint {point}"
    unmount = Undo(f"{point} is unmounted", is_mounted, (f"umount {point}",))
    yield Step("mounting it", f"mount {point}", undo=unmount, unless=is_mounted)  # systemd may be faster
    if made.mount_type not in grammar.OWNERLESS:
        yield Step(f"giving {point} to {choices.owner}", f"chown {choices.owner}: {point}")
    become = f"setpriv --reuid={here.uid} --regid={here.gid} --init-groups {' '.join(as_root.WITHOUT_RIGHTS)}"
    write = f"dd of={point}/{TEST_FILE} conv=excl,fsync status=none"
    yield Step("writing a test file", f"{become} {write}", shlex.quote(TEST_WORDS))


def _into_fstab(line: str, reload: tuple[str, ...]) -> Iterator[Step]:
    """fstab is written anew next to itself, and replaced whole; its old file stays under another name."""
    text, mark = f"adding a line to {FSTAB}", r"^UUID=$uuid\b"
    copy, sync = f"cp -p {FSTAB} {NEW_FSTAB}", f"sync {NEW_FSTAB}"
    rename, sync_rename = f"mv -T {NEW_FSTAB} {FSTAB}", f"sync {os.path.dirname(FSTAB)}"
    is_old = f'test {FSTAB} -ef "{OLD_FSTAB}"'
    cut = rf'sed -i "\|{mark}|d" {NEW_FSTAB}'
    without = (copy, cut, sync, rename, sync_rename, f'rm -f "{OLD_FSTAB}"', *reload)
    remove = Undo(f"no copy of {FSTAB} is left", is_old, (f'rm -f {NEW_FSTAB} "{OLD_FSTAB}"',))
    yield Step(text, f'ln {FSTAB} "{OLD_FSTAB}"', undo=remove)
    yield Step(text, copy)
    yield Step(text, f"tee -a {NEW_FSTAB}", f"'' \"{line}\"")
    yield Step(text, sync)
    yield Step(text, is_old)  # nobody has replaced it meanwhile
    yield Step(text, rename, undo=Undo(f"{FSTAB} is as it was", f'grep -q "{mark}" {FSTAB}', without))
    yield Step(text, sync_rename)


def partition_of(disk: str) -> str:
    """Kernel name of the first partition of a disk, by that of the disk."""
    return f"{disk}{'p' if disk[-1].isdigit() else ''}1"
