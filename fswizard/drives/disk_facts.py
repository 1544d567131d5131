"""Reads what `may_erase` judges: from sysfs, mount tables, udev's records, and the tables of the system.

A user and root read it the same way; root sees more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from fswizard.drives import may_erase
from fswizard.drives.may_erase import Facts, Finding, Probed, found
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
"""Code and kind, by the prefix of the device mapper's UUID, or the kernel's name of another volume."""
NO_FILES = ("socket:", "pipe:", "anon_inode:", "/memfd:", "net:", "mnt:")
NUMBERS_ONLY = ("wwn-", "nvme-eui.", "nvme-nvme.", "nvme-uuid.")
"""Names in /dev/disk/by-id that say nothing to people."""
REGISTERED = ("naa.", "eui.", "uuid.")
"""WWNs of a maker's; the kernel makes the others out of model and serial number."""


class Usage:
    """Who uses the block devices of a machine, read once for all of them."""

    def __init__(self, tree: Tree = HERE) -> None:
        self.tree = tree
        self._pools = {name: pool for pool in _pools(tree) for name in pool[1]}
        self._table = parse(tree.lines("/proc/self/mountinfo"))
        self.mounts: dict[str, list[Mount]] = {}
        """By kernel name of the device; a filesystem on several devices stands under each of them."""
        for mount in self._table:
            for name in self.devices(mount):
                self.mounts.setdefault(name, []).append(mount)
        swaps = [line.split()[0] for line in tree.lines("/proc/swaps")[1:] if line.split()]
        self._swaps = {tree.device_at(unescape(path)) for path in swaps}

    def devices(self, mount: Mount) -> list[str]:
        """Kernel names, by the number of the mount.

        A btrfs or bcachefs has another number: it is the one of those that the kernel uses which has the device that
        its source names. The kernel writes that; of other filesystems a user may choose it.
        """
        named = {self.tree.device_of(mount.device)} - {""}
        if mount.kind in ("btrfs", "bcachefs"):
            for path in mount.source.split(":"):  # a container's /dev may lack it
                named |= self._pools.keys() & {self.tree.device_at(path) or os.path.basename(path)}
        return sorted({each for name in named for each in self._pools.get(name, ("", (name,)))[1]})

    def mounts_on(self, name: str, probed: Probed | None = None) -> list[Mount]:
        """Mounts of the contents of a device, directly or through volumes and arrays on top of it."""
        mounted = list(self.mounts.get(name, ()))
        if probed and probed.type == "zfs_member":
            datasets = (mount for mount in self._table if mount.kind == "zfs")
            mounted += [mount for mount in datasets if mount.source.split("/")[0] == probed.label]
        for holder in self.tree.names(f"/sys/class/block/{name}/holders"):
            mounted += self.mounts_on(holder)
        return mounted

    def of(self, name: str) -> Iterator[Finding]:
        """Who uses a device, directly or through volumes and arrays on top of it."""
        for path in dict.fromkeys(mount.path for mount in self.mounts_on(name)):
            system = path == "/" or path.startswith(("/boot", "/usr", "/home", "/var"))
            yield found("mounted/system" if system else "mounted", name=name, path=path)
        if name in self._swaps:
            yield found("swap", name=name)
        if name in self._pools and name not in self.mounts:
            kind, _ = self._pools[name]
            yield found("pool", f"{kind}-member", name=name, kind=kind)
        for holder in self.tree.names(f"/sys/class/block/{name}/holders"):
            block = self.tree.directory(f"/sys/block/{holder}")
            called, prefix = block.text("dm/name") or holder, block.text("dm/uuid").partition("-")[0]
            code, kind = VOLUMES.get(prefix or holder.rstrip("0123456789"), ("holder", "volume"))
            case = "holder/run" if RUN_NAME.match(called) else "holder"
            yield found(case, code, name=name, kind=kind, called=called)


def _pools(tree: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each btrfs and bcachefs that the kernel uses: its kind and the kernel names of its devices."""
    for uuid in tree.names("/sys/fs/btrfs"):
        yield "btrfs", tree.names(f"/sys/fs/btrfs/{uuid}/devices")
    for uuid in tree.names("/sys/fs/bcachefs"):
        links = (f"/sys/fs/bcachefs/{uuid}/{each}/block" for each in tree.names(f"/sys/fs/bcachefs/{uuid}"))
        yield "bcachefs", tuple(os.path.basename(tree.real(link)) for link in links)


def read(device: Device, contents: Mapping[str, Probed], tree: Tree = HERE) -> Facts:
    """All but who has it open. What `contents` lacks of the devices is taken from udev."""
    usage, reported, others = Usage(tree), _reported(device, tree), list[Mapping[str, str]]()
    touched, paths = [device.name, *device.partitions, device.disk], list[str]()
    ours, start = look_at(device.disk, tree), tree.text(f"/sys/class/block/{device.name}/start")
    for name in tree.names("/sys/block"):
        disk = look_at(name, tree)
        if name == device.disk or not _is_disk(disk, tree):
            continue
        names = (name, *disk.partitions)
        numbers = {text: kind for each in names for text, kind in _reported(look_at(each, tree), tree).items()}
        # By USB no disk has two paths: its bridges and docks may give one number to all their disks.
        usb = any("/usb" in tree.real(f"/sys/block/{each}") for each in (name, device.disk))
        possible = not usb and disk.size_bytes == ours.size_bytes
        shared = _numbers(reported) & _numbers(numbers) if possible else set[str]()
        if shared:
            here = [part for part in disk.partitions if tree.text(f"/sys/class/block/{part}/start") == start != ""]
            here = [*names] if device.name == device.disk else here
            paths += here[:1]
            touched += [name, *here]
        if not any(text.startswith(REGISTERED) for text in shared):
            others.append(numbers)
    probed = {name: contents.get(name, Probed(tree.properties(name))) for name in touched}
    words, unreadable = _words(tree)
    uses = [use for name in probed for use in (*usage.of(name), *_further(name, tree))]
    uses += [*unreadable, *_elsewhere(probed, usage), *_loops(device, probed, tree)]
    return Facts(device, probed, uses, words, reported, others, tuple(paths))


def _is_disk(disk: Device, tree: Tree) -> bool:
    """Whether it is attached. A path of an NVMe disk or a volume is none, nor is a drive for discs or an empty slot for
    cards, which have the serial number of the USB device that they are part of."""
    block = tree.directory(f"/sys/block/{disk.name}")
    other = block.number("hidden") or block.names("slaves") or disk.name.startswith("sr")
    return disk.size_bytes > 0 and not other


def _numbers(reported: Mapping[str, str]) -> set[str]:
    """Those that every path to a disk reports: the WWNs that its maker registered, or else its serial numbers."""
    sound = [text for text in reported if not may_erase.is_placeholder(text)]
    wwns = {text for text in sound if text.startswith(REGISTERED)}
    return wwns or {text for text in sound if reported[text] == may_erase.SERIAL}


def _further(name: str, tree: Tree) -> Iterator[Finding]:
    """Why it is no plain disk or partition."""
    block = tree.directory(f"/sys/class/block/{name}")
    if below := block.names("slaves"):
        yield found("stacked", name=name, join=", ".join(below))
    for line in tree.lines("/proc/mdstat"):
        if name in re.findall(r"(\S+)\[", line):
            yield found("raid-member/mdstat", name=name, array=line.split()[0])
    if block.text("hidden") == "1" or tree.properties(name).get("DM_MULTIPATH_DEVICE_PATH") == "1":
        yield found("multipath-member", name=name)


def _elsewhere(touched: Collection[str], usage: Usage) -> Iterator[Finding]:
    """Mounts in other mount namespaces, as far as their processes can be looked at."""
    tree, here = usage.tree, {mount for table in usage.mounts.values() for mount in table}
    tables = {tree.bytes(f"/proc/{pid}/mountinfo"): pid for pid in tree.names("/proc") if pid.isdecimal()}
    for table, pid in tables.items():
        program = tree.text(f"/proc/{pid}/comm")
        for mount in set(parse(table.decode("utf-8", "surrogateescape").split("\n"))) - here:
            for name in set(touched).intersection(usage.devices(mount)):
                yield found("mounted-elsewhere", name=name, path=mount.path, program=program, pid=pid)


def _loops(device: Device, touched: Collection[str], tree: Tree) -> Iterator[Finding]:
    """Loop devices that stand on the device; one that is to be erased must not stand on a disk, nor be one of ours."""
    for loop in tree.names("/sys/block"):
        file = tree.text(f"/sys/block/{loop}/loop/backing_file")
        if (name := tree.device_at(file)) in touched:
            yield found("loop", name=name, loop=loop)
        if file == device.file != "" and loop != device.disk:
            yield found("loop/same-file", disk=device.disk, loop=loop)
    if device.file.startswith("/dev/"):
        yield found("loop/on-a-disk", disk=device.disk, own=device.file)
    if re.search(r" \(deleted\)$|/fswizard-[^/]*/[^/]*$", device.file):
        yield found("loop/run", disk=device.disk)


def openers(facts: Facts, tree: Tree = HERE, besides: str = "", *, anywhere: bool = False) -> Iterator[Finding]:
    """Processes that have it open, as far as they can be looked at: a virtual machine, a copy that runs.

    With `anywhere` also through a node that is not in our /dev: to look at each open file can take its time where one
    lies on a disk or a server that does not answer.
    """

    own = f"/proc/{besides}/"

    def holds(link: str) -> bool:  # no directory is a device, and one may be on a server that does not answer
        return "/fd/" in link and not link.startswith(own) and _opened(link, tree, anywhere) in facts.contents

    for program, pid in programs(holds, tree):
        yield found("open", name=facts.device.name, program=program, pid=pid)


def programs(holds: Callable[[str], bool], tree: Tree = HERE) -> Iterator[tuple[str, str]]:
    """Name and number of each process for which that holds of one of its links in /proc: to its directory and files."""
    for pid in filter(str.isdecimal, tree.names("/proc")):
        links = ("cwd", *(f"fd/{number}" for number in tree.names(f"/proc/{pid}/fd")))
        if any(holds(f"/proc/{pid}/{link}") for link in links):
            yield tree.text(f"/proc/{pid}/comm") or "a program", pid


def _opened(link: str, tree: Tree, anywhere: bool) -> str:
    """Kernel name of the device that is open there; empty for anything else."""
    try:
        path = os.readlink(tree.path(link))
        if anywhere and not path.startswith(NO_FILES):
            return tree.device_by(tree.path(link).stat())
    except OSError:
        return ""
    return tree.device_at(path)


def _words(tree: Tree) -> tuple[list[tuple[str, str, str]], list[Finding]]:
    """The words in the tables of the system, also the second half of `RESUME=/dev/sda2` and the like, and which tables
    could not be read. What only root can read, root reads."""
    words, unreadable = list[tuple[str, str]](), list[Finding]()
    for table in (*TABLES, *KERNEL_TABLES):
        try:
            text = tree.path(table).read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            continue
        except OSError as error:
            if not (isinstance(error, PermissionError) and os.geteuid()):
                unreadable.append(found("unknown", table=table, strerror=error.strerror))
            continue
        if table in TABLES:  # without comments and quotes
            words += [(table, unescape(word)) for word in re.split(r"[\s,]+", re.sub(r"(?m)^\s*#.*|[\"']", "", text))]
    for word in re.findall(r"(?:root|resume)=\S+", tree.text("/proc/cmdline")):
        words.append((f"the kernel's {word.partition('=')[0]}=", word))
    words.append(("/sys/power/resume", tree.text("/sys/power/resume")))
    words += [(table, word.partition("=")[2]) for table, word in words]
    return [(table, word, tree.device_at(word) or tree.device_of(word)) for table, word in words], unreadable


def expecting_label(label: str, tree: Tree = HERE) -> str:
    """The table that names a filesystem by this label, whichever disk has it; empty where none does."""
    tag = ("label", label.casefold())
    return next((table for table, word, _ in _words(tree)[0] if may_erase.tag_of(word) == tag), "")


def _reported(device: Device, tree: Tree) -> dict[str, str]:
    """Numbers and names, whether or not others have them, too. What cannot be printed cannot be typed."""
    links = [link.removeprefix("disk/by-id/") for link in tree.udev(device.name, "S") if "/by-id/" in link]
    links.sort(key=lambda link: (link.startswith(NUMBERS_ONLY), len(link), link))
    every = {
        may_erase.SERIAL: serials(device.disk, tree),
        may_erase.BY_ID: links,
        may_erase.WWN: (tree.text(f"/sys/block/{device.disk}/{path}") for path in ("wwid", "device/wwid")),
        may_erase.PARTUUID: [tree.properties(device.name).get("ID_PART_ENTRY_UUID", "")],
    }
    numbers: dict[str, str] = {}
    for kind, texts in every.items():
        for text in filter(str.isprintable, filter(None, texts)):
            numbers.setdefault(text, kind)
    return numbers


def serials(disk: str, tree: Tree) -> Iterator[str]:
    """Of a disk, some of which may be empty: its own before that of a USB bridge."""
    block = tree.directory(f"/sys/block/{disk}")
    words = block.bytes("device/vpd_pg89")[60 + 20 : 60 + 40]  # IDENTIFY DEVICE words 10 to 19 ...
    swapped = b"".join(words[at : at + 2][::-1] for at in range(0, len(words), 2))  # ... their bytes swapped
    yield swapped.decode("ascii", "backslashreplace").strip("\0 ")
    yield block.text("serial")
    yield block.text("device/serial")
    yield block.bytes("device/vpd_pg80")[4:].decode("ascii", "backslashreplace").strip("\0 ")
    if usb := usb_directory(disk, tree):
        yield tree.text(f"{usb}/serial")
    yield tree.properties(disk).get("ID_SERIAL_SHORT", "")


def usb_directory(disk: str, tree: Tree) -> str:
    """The USB device that a disk is behind: the nearest directory above with a vendor number; empty without."""
    directory = tree.real(f"/sys/block/{disk}")
    while "/usb" in directory and not tree.path(f"{directory}/idVendor").exists():
        directory = os.path.dirname(directory)
    return directory if "/usb" in directory else ""
