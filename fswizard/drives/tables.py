"""Disks that the system's own tables name, mounted or not: fstab, crypttab, mdadm.conf, and where it hibernates to."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Iterator

from fswizard.drives.identity import unescape as unescape_udev
from fswizard.drives.machine import Machine, Properties
from fswizard.drives.mounts import unescape

_TAGS = {
    "UUID": ("ID_FS_UUID", "ID_FS_UUID_ENC"),
    "LABEL": ("ID_FS_LABEL", "ID_FS_LABEL_ENC"),
    "PARTUUID": ("ID_PART_ENTRY_UUID",),
    "PARTLABEL": ("ID_PART_ENTRY_NAME",),
}


def tables_naming(name: str, number: str, properties: Properties, machine: Machine) -> tuple[str, ...]:
    """Files and kernel parameters that name the device `name` (`major:minor` is `number`), by whatever name."""
    named = (where for where, spec in _entries(machine) if _is(spec, name, number, properties, machine))
    return tuple(dict.fromkeys(named))


def _entries(machine: Machine) -> Iterator[tuple[str, str]]:
    """(table, the name in it)."""
    for words in _rows("/etc/fstab", machine):
        yield "/etc/fstab", words[0]
    for words in _rows("/etc/crypttab", machine):
        yield from (("/etc/crypttab", word) for word in words[1:2])
    for path in ("/etc/mdadm.conf", "/etc/mdadm/mdadm.conf"):
        for words in _rows(path, machine):
            listed = [part for word in words for part in word.removeprefix("devices=").split(",")]
            yield from ((path, part) for part in listed if part.startswith("/dev/"))
    for path in ("/etc/initramfs-tools/conf.d/resume", "/etc/initramfs-tools/initramfs.conf"):
        for words in _rows(path, machine):
            if words[0].startswith("RESUME="):
                yield path, words[0].partition("=")[2]
    for word in machine.text("/proc/cmdline").split():
        for parameter in ("root=", "resume="):
            if word.startswith(parameter):
                yield f"the kernel's {parameter}", word.removeprefix(parameter)
    yield "/sys/power/resume", machine.text("/sys/power/resume")


def _rows(path: str, machine: Machine) -> Iterator[list[str]]:
    for line in machine.lines(path):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield [unescape(_unquoted(word)) for word in words]


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word.replace("\\", "\\\\")))
    except ValueError:  # an odd quote is part of the name
        return word


def _is(spec: str, name: str, number: str, properties: Properties, machine: Machine) -> bool:
    if spec == number:
        return True
    tag, equals, value = spec.partition("=")
    if equals and tag in _TAGS:
        return _has(tag, value, properties)
    if not spec.startswith("/dev/"):
        return False
    for tag in _TAGS:
        if spec.startswith(f"/dev/disk/by-{tag.lower()}/"):
            if _has(tag, unescape_udev(spec.split("/", 4)[4]), properties):
                return True
            break
    path = f"/dev/{name.replace('!', '/')}"
    return machine.real(spec) == path or fnmatch.fnmatchcase(path, spec)


def _has(tag: str, value: str, properties: Properties) -> bool:
    known = {unescape_udev(properties.get(key, "")) for key in _TAGS[tag]} - {""}
    return value.casefold() in {text.casefold() for text in known}
