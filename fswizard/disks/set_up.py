"""Set up a disk permanently: the choices, the checks of the machine, and the list of steps.

The steps are shown for review, written as a script, and carried out as root by `setting_up`. The user's process and the
one of root check with the same functions.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from fswizard.disks import as_root
from fswizard.drives import disk_facts
from fswizard.errors import Refused
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import LABELS, fstab_line, make_permanent
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Member
from fswizard.model.text import safe
from fswizard.system import mounts
from fswizard.system.block_device import HERE, Device

FSTAB, NEW_FSTAB, OLD_FSTAB = "/etc/fstab", "/etc/.fstab.fswizard", "/etc/fstab.fswizard-$stamp"
OTHER_MOUNT_POINT, OTHER = N_("Choose another mount point, such as /mnt/data."), N_("Choose another.")
MOUNT_POINT = "/mnt/[A-Za-z0-9][A-Za-z0-9._-]{0,50}"
"""Elsewhere, services and desktops look for files of their own, such as in /srv and /media."""
OBEYED = frozenset((
    "casper-rw", "cidata", "combustion", "config-2", "home-rw", "ignition", "k3os_state", "knoppix-data", "live-rw",
    "oemdrv", "persistence", "proxmox-ais", "rancher_state", "tailsdata", "ubuntu-boot", "ubuntu-data", "ubuntu-save",
    "ubuntu-seed", "writable",
))  # fmt: skip
"""Labels, in lower case, by which systems and installers find instructions or files to boot from."""
OPTIONS = ("nofail", "x-systemd.device-timeout=5s")
"""Mount options that let the machine boot without the disk, after waiting 5 s for it (systemd.mount(5))."""
WINDOWS = ("exfat", "fat32", "ntfs", "ntfs-3g", "udf")
WINDOWS_TYPE, LINUX_TYPE = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
"""GPT partition types: Microsoft basic data, which Windows requires, and Linux filesystem data (UAPI group)."""


class Order(NamedTuple):
    """Order to the process that sets the disk up as root."""

    candidate: str
    """Name of the candidate, as in the catalogue."""
    mount_point: str
    member: Member
    """The device, and the identifier that the user typed to confirm it."""
    content_type: str
    """Type of the contents that the user saw, as libblkid names it; empty for none."""


class Here(NamedTuple):
    """Facts about the machine that the steps depend on."""

    uid: int = 1000
    """The user, who will own the root directory of the filesystem; also if sudo started this program."""
    gid: int = 1000
    whole: bool = True
    """Whether the device is a whole disk, which gets a partition table with one partition."""
    has_systemd: bool = True


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
    """Description; empty if it is shown with the previous step."""
    command: str
    stdin: str = ""
    """Lines of its standard input, as quoted shell words."""
    undo: Undo | None = None

    @property
    def program(self) -> str:
        return self.command.split()[0]

    @property
    def shell(self) -> str:
        """The step as a shell command line."""
        if self.program == "blkid":
            return f"uuid=$({self.command})"
        if self.program == "mount" and self.undo:  # systemd may have mounted it already
            return f"{self.command} || {self.undo.when}"
        return rf"printf '%s\n' {self.stdin} | {self.command}" if self.stdin else self.command


def why_not_set_up(candidate: Candidate) -> str:
    """Sentence that says why a candidate can't be set up; empty if it can."""
    if candidate.directory:
        return _("This result compares filesystems that exist already, so there is nothing to set up.")
    if candidate.array or candidate.filesystem.name not in LABELS:
        return _("Arrays, encrypted volumes and ZFS are set up by hand, with the commands of the report.")
    return ""


def is_mount_point(path: str) -> bool:
    """Whether the path is allowed as a mount point; the machine is not examined."""
    return re.fullmatch(MOUNT_POINT, path) is not None


def label_of(candidate: Candidate, point: str) -> str:
    """Label of the filesystem: the last part of its mount point, as far as that fits."""
    return os.path.basename(point)[: LABELS[candidate.filesystem.name][1]]


def chosen_set_up(candidate: Candidate, point: str) -> Candidate:
    """Return the candidate as in the catalogue. Raises Refused for an invalid choice; the machine is not examined."""
    if reason := why_not_set_up(candidate):
        raise Refused(reason)
    if not is_mount_point(point):
        text = _("The mount point {path} is not one new name in /mnt.", path=f"{point!r:.60}")
        raise Refused(text, _(OTHER_MOUNT_POINT))
    if label_of(candidate, point).casefold() in OBEYED:
        text = _("The label {label} is one that other systems act on.", label=label_of(candidate, point))
        raise Refused(text, _(OTHER_MOUNT_POINT))
    return parse_candidate(candidate.name)


def check_machine(candidate: Candidate, point: str, device: Device) -> Here:
    """Examine this machine, without changes. Raises Refused or Missing if anything prevents the set-up."""
    if device.file:
        require_only_root(device.file)
    label = label_of(candidate, point)
    same = HERE.device_at(f"/dev/disk/by-label/{label}")
    if taken := disk_facts.expecting_label(label) or (same if same != device.name else ""):
        text = _("The label {label} is taken by {device}.", label=label, device=taken)
        raise Refused(text, _(OTHER_MOUNT_POINT))
    _require_free(point)
    uid, gid = os.getuid(), os.getgid()
    if uid == as_root.ROOT:
        owner = as_root.caller(os.environ)
        uid, gid = owner.pw_uid, owner.pw_gid
    here = Here(uid, gid, device.name == device.disk, os.path.exists("/run/systemd/system"))
    programs = {step.program for step in steps(candidate, point, here)}
    if candidate.filesystem.mount_type in grammar.FUSE:
        programs.add(f"mount.{candidate.filesystem.mount_type}")
    for program in programs:
        as_root.find(program)
    return here


def require_only_root(path: str) -> None:
    """Raise Refused if another account can change or replace `path`, or if it is a link or missing."""
    try:
        entry = as_root.changeable_by_others(path, lambda shared: shared != path)
    except OSError:  # also a broken link, or a path in another mount namespace
        entry = path
    if entry or os.path.realpath(path) != path:
        text = _("Other accounts can change {path}, or it is a link or missing.", path=safe(entry or path))
        raise Refused(text, _(OTHER))


def _require_free(point: str) -> None:
    """Raise Refused if the mount point exists or is in use, or if fstab lists it or something below it."""
    require_only_root(FSTAB)
    require_only_root(os.path.dirname(point))
    for line in HERE.lines(FSTAB):
        columns = line.split()
        if len(columns) > 1 and not columns[0].startswith("#"):
            path = os.path.normpath(mounts.unescape(columns[1]))
            if f"{path}/".startswith(f"{point}/"):
                text = _("{path} is in {fstab} already.", path=safe(path), fstab=FSTAB)
                raise Refused(text, _(OTHER_MOUNT_POINT))
    mounted = [mount.path for mount in mounts.current()]  # what a dead program has mounted seems not to exist
    if point in mounted or os.path.lexists(point):
        raise Refused(_("{point} exists already.", point=point), _(OTHER_MOUNT_POINT))


def steps(candidate: Candidate, point: str, here: Here) -> Iterator[Step]:
    """All steps, in order; undone in reverse order.

    `chosen_set_up` must have accepted the mount point, so that it contains no special characters of the shell.
    """
    made, kind = candidate.filesystem, candidate.filesystem.name
    device = '"$part"' if here.whole else '"$disk"'
    make = make_permanent(candidate, label_of(candidate, point))
    options = (*candidate.mount_options, *grammar.added_options(made.mount_type, here.uid, here.gid), *OPTIONS)
    reload = "systemctl daemon-reload"
    yield Step("removing what was on it", 'wipefs --all "$disk"')
    if here.whole:
        table = 'sfdisk --quiet --wipe always --wipe-partitions always --label gpt "$disk"'
        part = f"type={WINDOWS_TYPE if kind in WINDOWS else LINUX_TYPE}"
        yield Step("making a partition table (GPT) with one partition", table, part)
        yield Step("telling the kernel", 'partx --update "$disk"')
    yield Step(f"making {kind}", f"{shlex.join(make)} {device}")
    yield Step("reading its UUID", f"blkid -p -s UUID -o value {device}")
    remove = Undo(f"{point} is removed", f"test -d {point}", (f"rmdir {point}",))
    yield Step("making the mount point", f"mkdir {point}", undo=remove)
    line = fstab_line("UUID=$uuid", point, made.mount_type, options, made.fsck_pass)
    yield from _into_fstab(line, (reload,) if here.has_systemd else ())
    if here.has_systemd:
        yield Step("telling systemd", reload)
        yield Step("waiting for udev", "udevadm settle --timeout=10")
    is_mounted = f"findmnt --noheadings --output TARGET --mountpoint {point}"
    yield Step("mounting it", f"mount {point}", undo=Undo(f"{point} is unmounted", is_mounted, (f"umount {point}",)))
    if made.mount_type not in grammar.OWNERLESS:
        yield Step("giving it to its owner", f"chown {here.uid}:{here.gid} {point}")


def _into_fstab(line: str, reload: tuple[str, ...]) -> Iterator[Step]:
    """Steps that add a line to a copy of fstab and rename it; the old file is kept under another name."""
    mark = r"^UUID=$uuid\b"
    copy, sync = f"cp -p {FSTAB} {NEW_FSTAB}", f"sync {NEW_FSTAB}"
    rename, sync_rename = f"mv -T {NEW_FSTAB} {FSTAB}", f"sync {os.path.dirname(FSTAB)}"
    is_old = f'test {FSTAB} -ef "{OLD_FSTAB}"'
    cut = rf'sed -i "\|{mark}|d" {NEW_FSTAB}'
    without = (copy, cut, sync, rename, sync_rename, f'rm -f "{OLD_FSTAB}"', *reload)
    remove = Undo(f"no copy of {FSTAB} is left", is_old, (f'rm -f {NEW_FSTAB} "{OLD_FSTAB}"',))
    yield Step(f"adding a line to {FSTAB}", f'ln {FSTAB} "{OLD_FSTAB}"', undo=remove)
    yield Step("", copy)
    yield Step("", f"tee -a {NEW_FSTAB}", f"'' \"{line}\"")
    yield Step("", sync)
    yield Step("", is_old)  # fails if somebody has replaced fstab
    yield Step("", rename, undo=Undo(f"{FSTAB} is as it was", f'grep -q "{mark}" {FSTAB}', without))
    yield Step("", sync_rename)


def partition_of(disk: str) -> str:
    """Kernel name of the first partition of a disk."""
    return f"{disk}{'p' if disk[-1].isdigit() else ''}1"
