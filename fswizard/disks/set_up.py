"""Set up a disk permanently: the choices, the checks of the machine, and the list of steps.

The steps are shown for review, written as a script, and carried out as root by `setting_up`. The user's process and the
one of root check with the same functions.
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
from fswizard.filesystems.commands import LABELS, fstab_line, make_permanent
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
"""Maximum length of a mount point and of an account name."""
SERVED = frozenset(f"/srv/{name}" for name in ("formulas", "pillar", "reactor", "salt", "spm", "tftp", "tftpboot"))
"""Directories from which services take orders that they carry out as root, or boot files for other machines."""
OBEYED = frozenset((
    "casper-rw", "cidata", "combustion", "config-2", "home-rw", "ignition", "k3os_state", "knoppix-data", "live-rw",
    "oemdrv", "persistence", "proxmox-ais", "rancher_state", "tailsdata", "ubuntu-boot", "ubuntu-data", "ubuntu-save",
    "ubuntu-seed", "writable",
))  # fmt: skip
"""Labels, in lower case, by which systems and installers find instructions or files to boot from."""
OPTIONS = ("nofail", "x-systemd.device-timeout=5s")
"""Mount options that let the machine boot without the disk, after waiting 5 s for it (systemd.mount(5))."""
WINDOWS = ("exfat", "fat32", "ntfs", "ntfs-3g", "udf")
TYPES = {True: "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", False: "0FC63DAF-8483-4772-8E79-3D69D8477DE4"}
"""GPT partition types: Microsoft basic data, which Windows requires, and Linux filesystem data (UAPI group)."""
TEST_FILE, TEST_WORDS = "fswizard-test.txt", "This file was written to see whether the disk works. You can delete it."


@dataclass(frozen=True, slots=True)
class SetUpChoices:
    """Choices of the user."""

    label: str
    mount_point: str
    owner: str
    """Account that will own the root directory of the filesystem."""
    partition: bool = True
    """Whether a whole disk gets a partition table with one partition."""


class Order(NamedTuple):
    """Order to the process that sets the disk up as root."""

    candidate: str
    """Name of the candidate, as in the catalogue."""
    choices: SetUpChoices
    number: str
    """Number of the device, `major:minor`; the other fields verify that it is the chosen one."""
    diskseq: int
    size_bytes: int
    serial: str
    """Identifier that the user typed to confirm it."""
    content_type: str
    """Type of the contents that the user saw, as libblkid names it; empty for none."""


class Here(NamedTuple):
    """Facts about the machine that the steps depend on."""

    uid: int = 1000
    """UID of the owner."""
    gid: int = 1000
    has_directory: bool = False
    """Whether the mount point exists."""
    has_systemd: bool = True
    has_udev: bool = True


class Undo(NamedTuple):
    """How to undo a step."""

    text: str
    """State after the undo, such as `/mnt/data is removed`."""
    when: str
    """Shell command with exit code 1 if there is nothing to undo."""
    commands: tuple[str, ...]


class Step(NamedTuple):
    """A command of the script, with the variables `$disk`, `$part`, `$uuid` and `$stamp`.

    `$part` is set only if the disk gets a partition table.
    """

    text: str
    """Description; consecutive steps with the same one are shown as one."""
    command: str
    stdin: str = ""
    """Lines of its standard input, as quoted shell words."""
    undo: Undo | None = None
    unless: str = ""
    """Shell command that, if successful, excuses a failure of the step."""

    @property
    def program(self) -> str:
        return self.command.split()[0]

    @property
    def shell(self) -> str:
        """The step as a shell command line."""
        if self.program == "blkid":
            return f"uuid=$({self.command})"
        if self.stdin:
            return rf"printf '%s\n' {self.stdin} | {self.command}"
        return f"{self.command} || {self.unless}" if self.unless else self.command


def why_not_set_up(candidate: Candidate) -> str:
    """Sentence that says why a candidate can't be set up; empty if it can."""
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


def _matches(pattern: str, text: str, longest: int = LONGEST) -> bool:
    return len(text) <= longest and re.fullmatch(pattern, text, re.ASCII) is not None


def is_mount_point(path: str) -> bool:
    """Whether the path is allowed as a mount point; the machine is not examined."""
    return _matches(MOUNT_POINT, path) and path not in SERVED


def chosen_set_up(candidate: Candidate, choices: SetUpChoices) -> Candidate:
    """Return the candidate as in the catalogue. Raises Refused for an invalid choice; the machine is not examined."""
    if reason := why_not_set_up(candidate):
        raise Refused(reason)
    label, longest, point = choices.label, LABELS[candidate.filesystem.name][1], choices.mount_point
    if not _matches(NAME, label, longest):
        text = _("The label {label} is not 1 to {longest} letters, digits, dots, dashes or underscores.",
                  label=f"{label!r:.40}", longest=longest)  # fmt: skip
        raise Refused(text)
    if label.casefold() in OBEYED:
        raise Refused(_("The label {label} is one that other systems act on.", label=label), _(OTHER))
    if point in SERVED:
        raise Refused(_("{path} is where services look for what they do.", path=point), _(OTHER_MOUNT_POINT))
    if not is_mount_point(point):
        text = _("The mount point {path} is not one new name in /mnt, /media or /srv.", path=f"{point!r:.60}")
        raise Refused(text, _(OTHER_MOUNT_POINT))
    if not _matches(ACCOUNT, choices.owner):
        raise Refused(_("{owner} is not the name of an account.", owner=f"{choices.owner!r:.40}"))
    return parse_candidate(candidate.name)


def check_machine(candidate: Candidate, choices: SetUpChoices, device: Device) -> Here:
    """Examine this machine, without changes. Raises Refused or Missing if anything prevents the set-up."""
    name, disk = device.name, device.disk
    if choices.partition and name != disk:
        raise Refused(_("{name} is a partition: only a whole disk gets a partition table.", name=name))
    if candidate.filesystem.name in grammar.NTFS and name == disk and not choices.partition:
        raise Refused(_("NTFS needs a partition: mkfs.ntfs takes no whole disk."), _("Choose a partition table, too."))
    if device.file:
        require_only_root(device.file)
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


def require_only_root(path: str) -> None:
    """Raise Refused if another account can change or replace `path`, or if it is a link."""
    try:
        entry = as_root.changeable_by_others(path, lambda shared: shared != path)
    except OSError:  # a broken link, or a path in another mount namespace
        entry = path
    if not entry and os.path.realpath(path) != path:
        entry = path
    if entry:
        raise Refused(_("Other accounts can change {path}.", path=safe(entry)), _(OTHER))


def _require_free(point: str) -> None:
    """Raise Refused if the mount point is in use, listed in fstab, not empty, or writable by others."""
    other = _(OTHER_MOUNT_POINT)
    for mount in mounts.current():
        if f"{mount.path}/".startswith(f"{point}/"):
            raise Refused(_("{path} is mounted already.", path=safe(mount.path)), other)
    if os.path.islink(FSTAB):
        raise Refused(_("{fstab} is a link: another program writes it.", fstab=FSTAB))
    if not os.path.isfile(FSTAB):
        raise Refused(_("There is no {fstab} here.", fstab=FSTAB))
    require_only_root(FSTAB)
    for line in HERE.lines(FSTAB):
        columns = line.split()
        path = os.path.normpath(mounts.unescape(columns[1])) if len(columns) > 1 else ""
        if f"{path}/".startswith(f"{point}/") and not columns[0].startswith("#"):
            raise Refused(_("{fstab} has {path} already.", fstab=FSTAB, path=safe(path)), other)
    parent, name = os.path.split(point)
    require_only_root(parent)
    if parent == "/media" and name in {each.pw_name for each in pwd.getpwall()}:
        raise Refused(_("{path} is where the desktop mounts the disks of {name}.", path=point, name=name), other)
    if os.path.lexists(point):
        require_only_root(point)
        if not os.path.isdir(point) or os.listdir(point):
            raise Refused(_("{point} is not empty.", point=point), other)


def steps(candidate: Candidate, choices: SetUpChoices, here: Here) -> Iterator[Step]:
    """All steps, in order; undone in reverse order.

    `chosen_set_up` must have accepted the choices, so that they contain no special characters of the shell.
    """
    made, point, kind = candidate.filesystem, choices.mount_point, candidate.filesystem.name
    device = '"$part"' if choices.partition else '"$disk"'
    make = make_permanent(candidate, choices.label)
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
    yield Step("mounting it", f"mount {point}", undo=unmount, unless=is_mounted)  # systemd may have mounted it already
    if made.mount_type not in grammar.OWNERLESS:
        yield Step(f"giving {point} to {choices.owner}", f"chown {choices.owner}: {point}")
    become = f"setpriv --reuid={here.uid} --regid={here.gid} --init-groups {' '.join(as_root.WITHOUT_RIGHTS)}"
    write = f"dd of={point}/{TEST_FILE} conv=excl,fsync status=none"
    yield Step("writing a test file", f"{become} {write}", shlex.quote(TEST_WORDS))


def _into_fstab(line: str, reload: tuple[str, ...]) -> Iterator[Step]:
    """Steps that add a line to a copy of fstab and rename it; the old file is kept under another name."""
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
    yield Step(text, is_old)  # fails if somebody has replaced fstab
    yield Step(text, rename, undo=Undo(f"{FSTAB} is as it was", f'grep -q "{mark}" {FSTAB}', without))
    yield Step(text, sync_rename)


def partition_of(disk: str) -> str:
    """Kernel name of the first partition of a disk."""
    return f"{disk}{'p' if disk[-1].isdigit() else ''}1"
