"""Read the facts for `may_erase` from sysfs, mount tables, the udev database, and configuration files.

The user's process and the one of root use the same code; root sees more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from fswizard.drives import may_erase
from fswizard.drives.may_erase import Facts, Finding, Probed, make_finding
from fswizard.drives.vpd import pages_of
from fswizard.filesystems.commands import RUN_NAME
from fswizard.system.block_device import HERE, Device, Tree, look_at
from fswizard.system.mounts import Mount, parse, unescape

TABLES = (
    "/etc/fstab", "/etc/crypttab", "/etc/mdadm.conf", "/etc/mdadm/mdadm.conf",
    "/etc/initramfs-tools/conf.d/resume", "/etc/initramfs-tools/initramfs.conf",
)  # fmt: skip
KERNEL_TABLES = ("/proc/self/mountinfo", "/proc/swaps", "/proc/mdstat")
VOLUMES = {
    "CRYPT": ("encrypted", "encrypted volume"),
    "LVM": ("lvm-member", "LVM volume"),
    "mpath": ("multipath-member", "multipath disk"),
    "DMRAID": ("holder", "firmware RAID"),
    "bcache": ("bcache-member", "bcache disk"),
    "md": ("raid-member", "RAID array"),
}
"""Code and kind of volumes, by the prefix of the device mapper UUID or of the kernel name."""
NO_FILES = ("socket:", "pipe:", "anon_inode:", "/memfd:", "net:", "mnt:")
NUMBERS_ONLY = ("wwn-", "nvme-eui.", "nvme-nvme.", "nvme-uuid.")
"""Prefixes of names in /dev/disk/by-id that mean nothing to people."""
WELL_KNOWN = ("ata-", "nvme-", "usb-", "mmc-", "virtio-")
"""Prefixes of the most familiar names in /dev/disk/by-id."""
REGISTERED = ("naa.", "eui.", "uuid.")
"""Prefixes of WWNs registered by the maker; the kernel derives others from model and serial number."""


class Usage:
    """The users of all block devices of a machine, read once."""

    def __init__(self, tree: Tree = HERE) -> None:
        self.tree = tree
        self._pools: dict[str, tuple[str, tuple[str, ...]]] = {}
        """Type and devices of the btrfs or bcachefs in use on a device, by its kernel name."""
        for pool in _pools(tree):
            self._pools |= dict.fromkeys(pool[1], pool)
        self._table = parse(tree.lines("/proc/self/mountinfo"))
        self.mounts: dict[str, list[Mount]] = {}
        """Mounts by kernel name of the device; a filesystem on several devices is listed under each of them."""
        for mount in self._table:
            for name in self.devices(mount):
                self.mounts.setdefault(name, []).append(mount)
        swaps = [line.split()[0] for line in tree.lines("/proc/swaps")[1:] if line.split()]
        self._swaps = {tree.device_at(unescape(path)) for path in swaps}

    def devices(self, mount: Mount) -> list[str]:
        """Kernel names of the devices of a mount, by its device number.

        A btrfs or bcachefs has a virtual number and is identified by the device in its source. The kernel writes that
        field for them, while users may choose the source of other filesystems.
        """
        named = {self.tree.device_of(mount.device)} - {""}
        if mount.kind in ("btrfs", "bcachefs"):
            for path in mount.source.split(":"):  # may be missing in the /dev of a container
                named |= self._pools.keys() & {self.tree.device_at(path) or os.path.basename(path)}
        every: set[str] = set()
        for name in named:
            _, devices = self._pools.get(name, ("", (name,)))
            every.update(devices)
        return sorted(every)

    def mounts_on(self, name: str, probed: Probed | None = None) -> list[Mount]:
        """Mounts of a device, directly or through volumes and arrays on top of it."""
        mounted = list(self.mounts.get(name, ()))
        if probed and probed.type == "zfs_member":
            for mount in self._table:
                if mount.kind == "zfs" and mount.source.split("/")[0] == probed.label:
                    mounted.append(mount)
        for holder in self.tree.names(f"/sys/class/block/{name}/holders"):
            mounted += self.mounts_on(holder)
        return mounted

    def of(self, name: str) -> Iterator[Finding]:
        """Yield the uses of a device, directly or through volumes and arrays on top of it."""
        for path in dict.fromkeys(mount.path for mount in self.mounts_on(name)):
            system = path == "/" or path.startswith(("/boot", "/usr", "/home", "/var"))
            yield make_finding("mounted/system" if system else "mounted", name=name, path=path)
        if name in self._swaps:
            yield make_finding("swap", name=name)
        if name in self._pools and name not in self.mounts:
            kind, _ = self._pools[name]
            yield make_finding("pool", f"{kind}-member", name=name, kind=kind)
        for holder in self.tree.names(f"/sys/class/block/{name}/holders"):
            block = self.tree.directory(f"/sys/block/{holder}")
            called = block.text("dm/name") or holder
            prefix = block.text("dm/uuid").partition("-")[0] or holder.rstrip("0123456789")
            code, kind = VOLUMES.get(prefix, ("holder", "volume"))
            case = "holder/run" if RUN_NAME.match(called) else "holder"
            yield make_finding(case, code, name=name, kind=kind, called=called)


def _pools(tree: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the type and the kernel names of the devices of each btrfs and bcachefs in use."""
    for uuid in tree.names("/sys/fs/btrfs"):
        yield "btrfs", tree.names(f"/sys/fs/btrfs/{uuid}/devices")
    for uuid in tree.names("/sys/fs/bcachefs"):
        directory = f"/sys/fs/bcachefs/{uuid}"
        devices = [tree.real(f"{directory}/{each}/block") for each in tree.names(directory)]
        yield "bcachefs", tuple(map(os.path.basename, devices))


def read(device: Device, contents: Mapping[str, Probed], tree: Tree = HERE) -> Facts:
    """Read all facts about a device except its openers. Contents missing in `contents` are taken from udev."""
    usage = Usage(tree)
    reported = _reported(device, tree)
    disk = look_at(device.disk, tree)
    start = tree.text(f"/sys/class/block/{device.name}/start")
    touched = [device.name, *device.partitions, device.disk]
    others: list[Mapping[str, str]] = []
    paths: list[str] = []
    for name in tree.names("/sys/block"):
        other = look_at(name, tree)
        if name == device.disk or not _is_disk(other, tree):
            continue
        numbers: dict[str, str] = {}
        for each in (name, *other.partitions):
            numbers |= _reported(look_at(each, tree), tree)
        # No USB disk has two paths, but a USB dock may report one serial number for all its disks.
        usb = any("/usb" in tree.real(f"/sys/block/{each}") for each in (name, device.disk))
        shared: set[str] = set()
        if other.size_bytes == disk.size_bytes and not usb:
            shared = _numbers(reported) & _numbers(numbers)
        if shared:  # another path to the same disk
            same = [name, *other.partitions]
            if device.name != device.disk:
                starts = {part: tree.text(f"/sys/class/block/{part}/start") for part in other.partitions}
                same = [part for part in other.partitions if start and starts[part] == start]
            paths += same[:1]
            touched += [name, *same]
        if not any(text.startswith(REGISTERED) for text in shared):
            others.append(numbers)
    probed = {name: contents.get(name, Probed(tree.properties(name))) for name in touched}
    uses: list[Finding] = []
    for name in probed:
        uses += [*usage.of(name), *_composite_uses(name, tree)]
    words, unreadable = _words(tree)
    uses += [*unreadable, *_foreign_mounts(probed, usage), *_loops(device, probed, tree)]
    return Facts(device, probed, uses, words, reported, others, tuple(paths))


def _is_disk(disk: Device, tree: Tree) -> bool:
    """Whether it is an attached disk, and no path of an NVMe disk, volume, optical drive or empty card slot.

    Drives and slots have the serial number of the USB device that they are part of.
    """
    block = tree.directory(f"/sys/block/{disk.name}")
    other = block.number("hidden") or block.names("slaves") or disk.name.startswith("sr")
    return disk.size_bytes > 0 and not other


def _numbers(reported: Mapping[str, str]) -> set[str]:
    """Identifiers that all paths to a disk share: its registered WWNs, or else its serial numbers."""
    wwns, serial_numbers = set(), set()
    for text, kind in reported.items():
        if may_erase.is_placeholder(text):
            continue
        if text.startswith(REGISTERED):
            wwns.add(text)
        if kind == may_erase.SERIAL:
            serial_numbers.add(text)
    return wwns or serial_numbers


def _composite_uses(name: str, tree: Tree) -> Iterator[Finding]:
    """Yield findings if the device is composed of others or part of an array or multipath disk."""
    block = tree.directory(f"/sys/class/block/{name}")
    if below := block.names("slaves"):
        yield make_finding("stacked", name=name, join=", ".join(below))
    for line in tree.lines("/proc/mdstat"):
        if name in re.findall(r"(\S+)\[", line):
            yield make_finding("raid-member/mdstat", name=name, array=line.split()[0])
    if block.text("hidden") == "1" or tree.properties(name).get("DM_MULTIPATH_DEVICE_PATH") == "1":
        yield make_finding("multipath-member", name=name)


def _foreign_mounts(touched: Collection[str], usage: Usage) -> Iterator[Finding]:
    """Yield mounts in other mount namespaces, as far as their processes are visible."""
    tree = usage.tree
    own: set[Mount] = set()
    for mounts in usage.mounts.values():
        own.update(mounts)
    tables = {tree.bytes(f"/proc/{pid}/mountinfo"): pid for pid in tree.names("/proc") if pid.isdecimal()}
    for table, pid in tables.items():
        program = tree.text(f"/proc/{pid}/comm")
        lines = table.decode("utf-8", "surrogateescape").split("\n")
        for mount in set(parse(lines)) - own:
            for name in set(touched).intersection(usage.devices(mount)):
                yield make_finding("mounted-elsewhere", name=name, path=mount.path, program=program, pid=pid)


def _loops(device: Device, touched: Collection[str], tree: Tree) -> Iterator[Finding]:
    """Yield loop devices on `touched`, and for a loop device a conflicting use of its file."""
    for loop in tree.names("/sys/block"):
        file = tree.text(f"/sys/block/{loop}/loop/backing_file")
        if (name := tree.device_at(file)) in touched:
            yield make_finding("loop", name=name, loop=loop)
        if file == device.file != "" and loop != device.disk:
            yield make_finding("loop/same-file", disk=device.disk, loop=loop)
    if device.file.startswith("/dev/"):
        yield make_finding("loop/on-a-disk", disk=device.disk, own=device.file)
    if re.search(r" \(deleted\)$|/fswizard-[^/]*/[^/]*$", device.file):
        yield make_finding("loop/run", disk=device.disk)


def openers(facts: Facts, tree: Tree = HERE, without_pid: str = "", *, anywhere: bool = False) -> Iterator[Finding]:
    """Yield processes that have the device open, as far as they are visible, except `without_pid`.

    With `anywhere`, this includes device nodes outside /dev. That examines every open file, which may hang on a disk or
    server that does not answer.
    """

    def holds(link: str) -> bool:
        if "/fd/" not in link or link.startswith(f"/proc/{without_pid}/"):  # directories may hang
            return False
        return _opened(link, tree, anywhere) in facts.contents

    for program, pid in programs(holds, tree):
        yield make_finding("open", name=facts.device.name, program=program, pid=pid)


def programs(holds: Callable[[str], bool], tree: Tree = HERE) -> Iterator[tuple[str, str]]:
    """Yield name and PID of each process with a /proc link to a directory or open file for which `holds` is true."""
    for pid in filter(str.isdecimal, tree.names("/proc")):
        links = [f"/proc/{pid}/cwd"]
        links += [f"/proc/{pid}/fd/{number}" for number in tree.names(f"/proc/{pid}/fd")]
        if any(map(holds, links)):
            yield tree.text(f"/proc/{pid}/comm") or "a program", pid


def _opened(link: str, tree: Tree, anywhere: bool) -> str:
    """Kernel name of the device behind an open file; empty for anything else."""
    try:
        path = os.readlink(tree.path(link))
        if anywhere and not path.startswith(NO_FILES):
            return tree.device_by(tree.path(link).stat())
    except OSError:
        return ""
    return tree.device_at(path)


def _words(tree: Tree) -> tuple[list[tuple[str, str, str]], list[Finding]]:
    """Read the words of the configuration files, and findings for unreadable files.

    A word such as `RESUME=/dev/sda2` is also listed without its key. Files that only root can read are checked as root.
    """
    words: list[tuple[str, str]] = []
    unreadable: list[Finding] = []
    for table in (*TABLES, *KERNEL_TABLES):
        try:
            text = tree.path(table).read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            continue
        except OSError as error:
            if not (isinstance(error, PermissionError) and os.geteuid()):
                unreadable.append(make_finding("unknown", table=table, strerror=error.strerror))
            continue
        if table in TABLES:  # without comments and quotes
            words += [(table, unescape(word)) for word in re.split(r"[\s,]+", re.sub(r"(?m)^\s*#.*|[\"']", "", text))]
    for word in re.findall(r"(?:root|resume)=\S+", tree.text("/proc/cmdline")):
        words.append((f"the kernel's {word.partition('=')[0]}=", word))
    words.append(("/sys/power/resume", tree.text("/sys/power/resume")))
    words += [(table, word.partition("=")[2]) for table, word in words]
    return [(table, word, tree.device_at(word) or tree.device_of(word)) for table, word in words], unreadable


def expecting_label(label: str, tree: Tree = HERE) -> str:
    """Configuration file that refers to a filesystem by this label; empty if there is none."""
    words, _ = _words(tree)
    for table, word, _ in words:
        if may_erase.tag_of(word) == ("label", label.casefold()):
            return table
    return ""


def _reported(device: Device, tree: Tree) -> dict[str, str]:
    """Printable identifiers of a device and their kinds, best known first; they need not be unique."""
    every = {
        may_erase.SERIAL: serials(device.disk, tree),
        may_erase.BY_ID: links(device.name, "by-id", tree),
        may_erase.WWN: (tree.text(f"/sys/block/{device.disk}/{path}") for path in ("wwid", "device/wwid")),
        may_erase.PARTUUID: [tree.properties(device.name).get("ID_PART_ENTRY_UUID", "")],
    }
    numbers: dict[str, str] = {}
    for kind, texts in every.items():
        for text in filter(str.isprintable, filter(None, texts)):
            numbers.setdefault(text, kind)
    return numbers


def links(name: str, directory: str, tree: Tree) -> list[str]:
    """Names of a device in a directory of /dev/disk, the most familiar first; some may lead to another device."""

    def familiarity(name: str) -> tuple[bool, bool, int, str]:
        return name.startswith(NUMBERS_ONLY), not name.startswith(WELL_KNOWN), len(name), name

    prefix = f"disk/{directory}/"
    names = [link.removeprefix(prefix) for link in tree.udev(name, "S") if link.startswith(prefix)]
    return sorted(names, key=familiarity)


def serials(disk: str, tree: Tree) -> Iterator[str]:
    """Yield serial numbers of a disk, some possibly empty; its own comes before that of a USB bridge."""
    block = tree.directory(f"/sys/block/{disk}")
    yield pages_of(block).serial
    yield block.text("serial")
    yield block.text("device/serial")
    yield block.bytes("device/vpd_pg80")[4:].decode("ascii", "backslashreplace").strip("\0 ")
    if usb := usb_directory(disk, tree):
        yield tree.text(f"{usb}/serial")
    yield tree.properties(disk).get("ID_SERIAL_SHORT", "")


def usb_directory(disk: str, tree: Tree) -> str:
    """Sysfs directory of the USB device of a disk, found by its vendor ID; empty if there is none."""
    directory = tree.real(f"/sys/block/{disk}")
    while "/usb" in directory and not tree.path(f"{directory}/idVendor").exists():
        directory = os.path.dirname(directory)
    return directory if "/usb" in directory else ""
