"""The user's yes to erasing a disk: asked for on the terminal, as what a message says proves nothing, and kept by root.

It lasts for a quarter of an hour and is used up by the first claim of that disk. It is one file for each user and
device, in a directory that root alone can look into and that is gone with the next boot.
"""

from __future__ import annotations

import contextlib
import os
import stat
import termios
import time
from collections.abc import Sequence

from fswizard.privileged import disk_identity, exclusive_claim
from fswizard.privileged.block_device import Device
from fswizard.privileged.disk_checks import PARTITION_TABLES
from fswizard.privileged.exclusive_claim import Claimable
from fswizard.privileged.identity import ROOT, User
from fswizard.privileged.in_use import Probed
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.system_calls import closing

TERMINAL = "/dev/tty"
IUTF8 = 0o40000
"""The terminal speaks UTF-8 (termios(3)); Python has no name for it."""
YES = "yes"
MAXIMUM_DEVICES = 16
MAXIMUM_TEXT = 100
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
DIRECTORY = "/run/fswizard-consent"
MAXIMUM_AGE_S = 15 * 60


def confirm(numbers: Sequence[str], user: User) -> None:
    """Show the devices, `major:minor` each, ask once for all, and keep the yes for a claim; Refusal without one."""
    if not 0 < len(numbers) <= MAXIMUM_DEVICES:
        raise Refusal("invalid", f"name one to {MAXIMUM_DEVICES} devices, each by its number such as 8:16")
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise Refusal("refused", "there is no terminal to confirm it on") from None
    seen = [exclusive_claim.inspect(number) for number in dict.fromkeys(numbers)]
    if not ask(terminal, question(seen)):
        raise Refusal("refused", f"you did not type {YES}")
    for each in seen:
        give(user.uid, each.device, each.diskseq, each.size_bytes)


def question(seen: Sequence[Claimable]) -> str:
    """What is lost, for the terminal, of which 80 columns are enough."""
    kinds = {"disk" if each.device.name == each.device.disk else "partition" for each in seen}
    kind = kinds.pop() if len(kinds) == 1 else "device"
    these, it = (f"this {kind}", "it") if len(seen) == 1 else (f"these {len(seen)} {kind}s", "them")
    devices = "\n\n".join(map(_described, seen))
    return (
        f"\nfswizard will ERASE {these}. Everything on {it} will be lost for good:\n\n{devices}\n\n"
        f"Type {YES} to erase {it}; anything else cancels: "
    )


def _described(seen: Claimable) -> str:
    device, disk = seen.device, f"/sys/block/{seen.device.disk}"
    part = "" if device.name == device.disk else f", a partition of {_printable(device.disk)}"
    model = device.tree.text(f"{disk}/device/model") or device.tree.text(f"{disk}/device/name")
    identifier, kind = next(iter(disk_identity.identifiers(device).items()), ("", disk_identity.SERIAL))
    rows = {"Model": model, kind[0].upper() + kind[1:]: identifier, "Contents": contents(seen.contents)}
    if device.backing_file:
        rows = {"Backing file": device.backing_file, "Contents": contents(seen.contents)}
    width = max(15, *(len(name) + 2 for name in rows))
    lines = [f"    {name + ':':{width}}{_printable(text) or 'unknown'}" for name, text in rows.items()]
    return "\n".join([f"  {_printable(device.path)}{part}, {_size(seen.size_bytes)}", *lines])


def contents(probed: Probed) -> str:
    """The contents in a line."""
    label = f' "{probed.label}"' if probed.label else ""
    named = [f"{probed.type}{label}"] if probed.type else []
    others = [kind for kind in probed.types if kind not in (probed.type, *PARTITION_TABLES)]
    table = [f"a partition table ({probed.table})"] if probed.table else []
    return ", ".join((*named, *others, *table)) or "nothing was found"


def _printable(text: str) -> str:
    """As it can be shown on any terminal: what a disk says of itself may be hostile."""
    return repr(text)[1:-1].replace("\\'", "'")[:MAXIMUM_TEXT]


def _size(size_bytes: int) -> str:
    """Three digits and a decimal unit, as disks are sold: `8.00 TB`."""
    digits = len(str(size_bytes))
    power = min((digits - 1) // 3, len(UNITS) - 1)
    return f"{size_bytes / 1000**power:.{(-digits) % 3}f} {UNITS[power]}"


def ask(terminal: int, text: str) -> bool:
    """What was typed before the question stood there is no answer to it."""
    encoding = "utf-8" if termios.tcgetattr(terminal)[0] & IUTF8 else "ascii"
    termios.tcflush(terminal, termios.TCIFLUSH)
    try:
        os.write(terminal, text.encode(encoding, "backslashreplace"))
        answer = os.read(terminal, 1024)
    except (KeyboardInterrupt, OSError):  # OSError where the terminal is gone
        answer = b""
    if answer.endswith(b"\n"):
        return answer.decode("ascii", "replace").strip().casefold() == YES
    with contextlib.suppress(OSError):
        os.write(terminal, b"\n")
    return False


def give(uid: int, device: Device, diskseq: int, size_bytes: int, *, directory: str = DIRECTORY) -> None:
    """User `uid` said yes just now, instead of whatever was said before."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with closing(_open(directory)) as place:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_name(uid, device), dir_fd=place)
        with closing(os.open(_name(uid, device), flags, 0o600, dir_fd=place)) as file:
            os.write(file, f"{diskseq} {size_bytes} {time.clock_gettime_ns(time.CLOCK_BOOTTIME)}".encode())


def take(
    uid: int, device: Device, diskseq: int, size_bytes: int, *, directory: str = DIRECTORY,
    maximum_age_s: float = MAXIMUM_AGE_S,
) -> None:  # fmt: skip
    """Use up the user's yes to exactly this disk; Refusal where there is none."""
    with contextlib.suppress(OSError, ValueError):
        *said, then_ns = _taken(directory, _name(uid, device))
        age_s = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - then_ns) / 1e9
        if said == [diskseq, size_bytes] and 0 <= age_s <= maximum_age_s:
            return
    minutes = f"{MAXIMUM_AGE_S // 60} minutes"
    raise Refusal(
        "refused", f"nobody confirmed on a terminal within the last {minutes} that {device.name} may be erased"
    )


def _taken(directory: str, name: str) -> tuple[int, ...]:
    """Disk sequence number, size and time. Of several helpers, the one that could unlink the file has it."""
    with (
        closing(_open(directory)) as place,
        closing(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)) as file,
    ):
        os.unlink(name, dir_fd=place)
        return tuple(map(int, os.read(file, 100).split()))


def _name(uid: int, device: Device) -> str:
    return f"{uid}-{device.number}"


def _open(directory: str) -> int:
    """Descriptor of the directory; Refusal unless it is root's alone, and so is all that it contains."""
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(place)
    if status.st_uid != ROOT or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(place)
        raise Refusal("refused", f"{directory} is not root's alone")
    return place
