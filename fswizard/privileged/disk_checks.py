"""What stands against formatting a disk or partition: each check raises Refusal and names what was found.

All read below `root`: the machine's own, or a recorded one.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged import pools
from fswizard.privileged.protocol import Refusal

SECTOR_BYTES = 512
HOST_MANAGED = "host-managed"
"""Zones that must be written in order: what mkfs may make there is looked at again when it is asked for."""
MINIMUM_BYTES = 64 << 20
NO_FILES = ("socket:", "pipe:", "anon_inode:", "/memfd:", "net:", "mnt:")
SYSTEM_PARTITIONS = frozenset(
    {
        "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "0xef", "21686148-6449-6e6f-744e-656564454649",
        "e3c9e316-0b5c-4db8-817d-f92df00215ae", "de94bba4-06d1-4d40-a16a-bfd50179d6ac", "0x27", "0x12",
        "bfbfafe7-a34f-448a-9a5b-6213eb736c22",
    }
)  # fmt: skip
"""Partition types: ESP, BIOS boot, MSR, recovery of Windows and of makers."""
TABLES = ("etc/fstab", "etc/crypttab", "etc/mdadm.conf", "etc/mdadm/mdadm.conf", "etc/initramfs-tools/conf.d/resume")
TAGS = {"UUID": "UUID", "LABEL": "LABEL", "PARTUUID": "PART_ENTRY_UUID", "PARTLABEL": "PART_ENTRY_NAME"}
"""As tables write them, and as `blkid -p` does."""


@dataclass(frozen=True, slots=True)
class Device:
    """A block device in sysfs."""

    name: str
    disk: str
    """The whole disk: `name` itself where that is one."""
    number: str
    """`major:minor`."""
    root: Path = Path("/")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, self.disk)))

    @property
    def rdev(self) -> int:
        return os.makedev(*map(int, self.number.split(":")))

    @property
    def path(self) -> str:
        return f"/dev/{self.name.replace('!', '/')}"

    @property
    def disk_path(self) -> str:
        return f"/dev/{self.disk.replace('!', '/')}"

    @property
    def rdevs(self) -> frozenset[int]:
        """Of the device and of the disk that it is part of."""
        numbers = (self.text(f"sys/class/block/{name}/dev") for name in self.names)
        return frozenset(os.makedev(*map(int, number.split(":"))) for number in numbers)

    def text(self, path: str) -> str:
        """One attribute; empty where there is none."""
        try:
            return (self.root / path).read_bytes().decode("utf-8", "backslashreplace").strip("\0 \t\r\n")
        except OSError:
            return ""

    def table(self, path: str) -> list[str]:
        """Lines of a table of the system; Refusal where there is one that cannot be read."""
        try:
            return (self.root / path).read_bytes().decode("utf-8", "backslashreplace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise Refusal("refused", f"/{path} cannot be read: {error.strerror}") from error

    def listed(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(self.root / path))
        except OSError:
            return []


def find(number: str, root: Path = Path("/")) -> Device:
    """The block device that the kernel knows by `major:minor`."""
    link = root / "sys/dev/block" / number
    if not re.fullmatch(r"\d{1,6}:\d{1,8}", number, re.ASCII) or not link.exists():
        raise Refusal("refused", f"there is no block device {number!r:.40}")
    directory = link.resolve()
    partition = (directory / "partition").exists()
    return Device(directory.name, directory.parent.name if partition else directory.name, number, root)


def check(device: Device, *, diskseq: int, size_bytes: int) -> None:
    """Everything that can be told without opening the device."""
    check_identity(device, diskseq, size_bytes)
    check_fit(device)
    check_layers(device)
    check_mounts(device)
    check_swap(device)
    check_loops(device)


def check_identity(device: Device, diskseq: int, size_bytes: int) -> None:
    seen = device.text(f"sys/block/{device.disk}/diskseq")
    if seen != str(diskseq) or not diskseq:
        raise Refusal("refused", f"{device.disk} is not the disk any more that was chosen, or the kernel cannot tell")
    if _number(device, f"sys/class/block/{device.name}/size") * SECTOR_BYTES != size_bytes:
        raise Refusal("refused", f"{device.name} has another size than when it was chosen")


def check_serial(device: Device, serial: str, found: Mapping[str, str]) -> None:
    """What the person typed must be the disk's own, or the partition's PARTUUID, to the letter."""
    if not serial.strip() or serial not in {*identifiers(device), found.get("PART_ENTRY_UUID", "")}:
        raise Refusal("refused", f"{serial!r:.80} is not the serial number of {device.disk}")


def check_shown(device: Device, shown: str, found: Mapping[str, str]) -> None:
    """Nobody gives up what was not shown: udev's database may be older than what lies there."""
    kind = found.get("TYPE", "")
    if kind and kind != shown:
        raise Refusal("refused", f"{device.name} holds {kind}, and {shown or 'nothing'} was shown")


def identifiers(device: Device) -> Iterator[str]:
    """Serial number and WWN as far as sysfs has them, and the file that a loop device stands for."""
    block = f"sys/block/{device.disk}"
    for path in ("serial", "device/serial", "wwid", "device/wwid", "loop/backing_file"):
        if text := device.text(f"{block}/{path}"):
            yield text
    with contextlib.suppress(OSError):
        page = (device.root / block / "device/vpd_pg80").read_bytes()
        yield page[4:].decode("ascii", "backslashreplace").strip("\0 ")
    with contextlib.suppress(OSError):  # IDENTIFY DEVICE words 10 to 19, the two bytes of each swapped
        words = (device.root / block / "device/vpd_pg89").read_bytes()[60 + 20 : 60 + 40]
        pairs = (words[i : i + 2][::-1] for i in range(0, len(words), 2))
        yield b"".join(pairs).decode("ascii", "backslashreplace").strip("\0 ")
    directory = (device.root / block).resolve()
    while "/usb" in str(directory):
        if (directory / "idVendor").exists():
            yield device.text(str((directory / "serial").relative_to(device.root.resolve())))
            return
        directory = directory.parent


def check_fit(device: Device) -> None:
    block = f"sys/block/{device.disk}"
    if any(_number(device, f"sys/class/block/{name}/ro") for name in device.names):
        raise Refusal("refused", f"{device.name} is read-only")
    if _number(device, f"sys/class/block/{device.name}/size") * SECTOR_BYTES < MINIMUM_BYTES:
        raise Refusal("refused", f"{device.name} is smaller than {MINIMUM_BYTES >> 20} MiB")
    zones = zone_model(device)
    if zones not in ("none", "host-aware") and not (zones == HOST_MANAGED and device.name == device.disk):
        raise Refusal("refused", f"{device.disk} has zones that are not known or must be written in order ({zones})")
    if device.text(f"{block}/hidden") == "1":
        raise Refusal("refused", f"{device.disk} is one path of a disk")


def zone_model(device: Device) -> str:
    """The kernel's word: `none`, `host-aware`, `host-managed`; empty where it has none."""
    return device.text(f"sys/block/{device.disk}/queue/zoned")


def check_layers(device: Device) -> None:
    for name in device.names:
        directory = f"sys/class/block/{name}"
        if holders := device.listed(f"{directory}/holders"):
            raise Refusal("refused", f"{name} is in use by {', '.join(holders)}")
        if slaves := device.listed(f"{directory}/slaves"):
            raise Refusal("refused", f"{name} is made of {', '.join(slaves)}")
        for line in device.table("proc/mdstat"):
            if any(word.partition("[")[0] == name for word in line.partition(" : ")[2].split()):
                raise Refusal("refused", f"{name} is part of the array {line.split()[0]}")
        for uuid in device.listed("sys/fs/btrfs"):
            if name in device.listed(f"sys/fs/btrfs/{uuid}/devices"):
                raise Refusal("refused", f"{name} is a device of a btrfs in use")
    if device.name == device.disk:
        directory = f"sys/block/{device.disk}"
        parts = [name for name in device.listed(directory) if (device.root / directory / name / "partition").exists()]
        if parts:
            raise Refusal("refused", f"{device.disk} has partitions: {', '.join(parts)}")


def check_mounts(device: Device) -> None:
    """In every mount namespace that a process lives in."""
    seen: set[str] = set()
    for pid in filter(str.isdecimal, device.listed("proc")):
        table = device.text(f"proc/{pid}/mountinfo")
        if table in seen:
            continue
        seen.add(table)
        for line in table.splitlines():
            words = line.split(" ")
            if len(words) < 10 or "-" not in words[6:]:
                continue
            sources = words[words.index("-", 6) + 2].split(":")
            known = {f"/dev/{name}" for name in device.names}
            if _is_number(words[2], device) or known.intersection(sources):
                raise Refusal("refused", f"{device.name} is mounted on {words[4]!r:.200} (process {pid})")


def _is_number(number: str, device: Device) -> bool:
    return number in {device.text(f"sys/class/block/{name}/dev") for name in device.names}


def check_swap(device: Device) -> None:
    for line in device.table("proc/swaps")[1:]:
        if line.split() and _leads_to(line.split()[0], device):
            raise Refusal("refused", f"{device.name} is used as swap")


def check_loops(device: Device) -> None:
    """Loop devices that stand on the device; one as target must not stand on a disk, nor be one of ours."""
    own = device.text(f"sys/block/{device.disk}/loop/backing_file")
    for loop in device.listed("sys/block"):
        file = device.text(f"sys/block/{loop}/loop/backing_file")
        if file.startswith("/dev/") and _leads_to(file, device):
            raise Refusal("refused", f"the loop device {loop} stands on {device.name}")
        if own and file == own and loop != device.disk:
            raise Refusal("refused", f"{loop} and {device.disk} stand for the same file")
    if own.startswith("/dev/"):
        raise Refusal("refused", f"{device.disk} stands on {own}")
    if own.endswith(" (deleted)") or (own and Path(own).parent.name.startswith("fswizard-")):
        raise Refusal("refused", f"{device.disk} stands for a file of this program, or for one that was deleted")


def check_open(device: Device, own_pid: str) -> None:
    """No process but this one may have it open: a virtual machine that writes to it, a copy that is going on."""
    for pid in filter(str.isdecimal, device.listed("proc")):
        if pid == own_pid:
            continue
        for number in device.listed(f"proc/{pid}/fd"):
            if _opened(device.root / f"proc/{pid}/fd/{number}") & device.rdevs:
                name = device.text(f"proc/{pid}/comm")
                raise Refusal("refused", f"{name!r:.40} (process {pid}) has {device.name} open")


def _opened(link: Path) -> frozenset[int]:
    try:
        if os.readlink(link).startswith(NO_FILES):
            return frozenset()
        status = os.stat(link)
    except OSError:
        return frozenset()
    return frozenset({status.st_rdev}) if stat.S_ISBLK(status.st_mode) else frozenset()


def check_tables(device: Device, found: Mapping[str, str]) -> None:
    """Not named in a table of the system, mounted or not; `found` is what `blkid -p` says."""
    for table in TABLES:
        for line in device.table(table):
            if not line.lstrip().startswith("#"):
                for word in re.split(r"[\s,]+", line):
                    if _names(word, device, found):
                        raise Refusal("refused", f"{device.name} is named in /{table}")
    for word in device.text("proc/cmdline").split():
        if word.startswith(("root=", "resume=")) and _names(word.partition("=")[2], device, found):
            raise Refusal("refused", f"{device.name} is named by the kernel's {word.partition('=')[0]}=")
    if device.text("sys/power/resume") == device.number:
        raise Refusal("refused", f"{device.name} is where this machine hibernates to")


def _names(word: str, device: Device, found: Mapping[str, str]) -> bool:
    word = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word.replace('"', "").replace("'", ""))
    word = word.removeprefix("RESUME=").removeprefix("devices=")
    for tag, key in TAGS.items():
        value = found.get(key, "").casefold()
        if value and word.casefold() in (f"{tag}={value}".casefold(), f"/dev/disk/by-{tag}/{value}".casefold()):
            return True
    return word.startswith("/dev/") and (_leads_to(word, device) or fnmatch.fnmatchcase(device.path, word))


def _leads_to(path: str, device: Device) -> bool:
    """On a recorded machine, whose /dev has no devices, by the name."""
    real = (device.root / path.lstrip("/")).resolve()
    with contextlib.suppress(OSError):
        status = os.stat(real)
        if stat.S_ISBLK(status.st_mode):
            return status.st_rdev in device.rdevs
    return real.name in device.names and real.parent.name == "dev"


def check_contents(device: Device, found: Mapping[str, str], signatures: frozenset[str], devices: int) -> None:
    """`found` by `blkid -p`, `signatures` by wipefs, `devices` of a btrfs as its superblock counts them."""
    kept = LEFT_BY_A_RUN if pools.NAME.fullmatch(found.get("LABEL", "").rpartition(":")[2]) else ()
    for kind in {found.get("TYPE", ""), *signatures}:
        if kind in kept:
            continue
        if kind.endswith("_member") or kind.startswith(PARTS_OF_MORE):
            raise Refusal("refused", f"{device.name} is part of a larger whole ({kind})")
    if found.get("USAGE") == "raid" and found.get("TYPE") not in kept:
        raise Refusal("refused", f"{device.name} is part of a larger whole ({found.get('TYPE', '')})")
    if len(signatures - PARTITION_TABLES) > 1:
        raise Refusal("refused", f"{device.name} bears the marks of several: {', '.join(sorted(signatures))}")
    if devices > 1 and not kept:
        raise Refusal("refused", f"{device.name} is one of {devices} devices of a btrfs")
    if found.get("PART_ENTRY_TYPE", "").lower() in SYSTEM_PARTITIONS:
        raise Refusal("refused", f"{device.name} is a boot, reserved or recovery partition")


PARTITION_TABLES = frozenset({"gpt", "dos", "PMBR", "mac", "sgi", "sun", "bsd", "atari"})
LEFT_BY_A_RUN = ("zfs_member", "linux_raid_member")
"""What a killed run may have left of a pool or an array on a disk that was given up to it: its label, which mdadm puts
after the machine's name, is a name of ours."""
PARTS_OF_MORE = ("bcache", "drbd", "ceph", "oracleasm", "stratis", "DM_", "vdo", "VMFS")


def _number(device: Device, path: str) -> int:
    text = device.text(path)
    return int(text) if text.isdecimal() else 0
