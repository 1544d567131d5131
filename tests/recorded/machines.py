r"""Recorded machines: the parts of /sys, /proc, /dev and udev's database that matter, one text file for each machine.

`[DIRECTORY]` opens a directory; in it `NAME = TEXT` is an attribute (with Python's escapes), `NAME := HEX` one of
bytes and `NAME -> TARGET` a link. `[file PATH]` holds the lines of a file, `[udev DEVICE]` udev's properties.
The links below /sys/block, /sys/class/block and /sys/dev/block follow from the `dev` attributes, udev's records below
/run/udev/data and names by bus and serial number from its properties and from the links in /dev/disk/by-id.

`inventory.tsv` beside the machines has the disks that each one is expected to have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from fswizard.system.block_device import Tree

HERE = Path(__file__).parent / "sysfs"


def machine(name: str, root: Path) -> Tree:
    """The recorded machine `name`, laid out below `root`."""
    udev: dict[str, dict[str, str]] = {}
    for heading, lines in _sections((HERE / f"{name}.txt").read_text("utf-8")):
        kind, _, rest = heading.partition(" ")
        if kind == "udev":
            udev[rest] = dict(line.split("=", 1) for line in lines)
        elif kind == "file":
            _write(root / rest.lstrip("/"), "\n".join(lines).encode() + b"\n")
        else:
            _directory(root, heading, lines)
    for block in sorted((root / "sys/class/block").iterdir()):
        record(root, block.name, udev.get(block.name, {}))
    return Tree(root)


def record(root: Path, name: str, properties: Mapping[str, str]) -> None:
    """udev's record of a device, as its rules make it: every name, also one with a link to another device."""
    device, links = root / "dev" / name.replace("!", "/"), root / "dev/disk/by-id"
    every = (root / "dev/disk").glob("*/*")
    names = {f"{link.parent.name}/{link.name}" for link in every if link.resolve() == device.resolve()}
    if {"ID_BUS", "ID_SERIAL"} <= properties.keys():
        link = links / f"{properties['ID_BUS']}-{properties['ID_SERIAL']}"
        names.add(f"by-id/{link.name}")
        if not link.is_symlink():
            _link(link, os.path.relpath(device, links))
    number = (root / "sys/class/block" / name / "dev").read_text("utf-8").strip()
    lines = [f"S:disk/{each}" for each in sorted(names)] + [f"E:{key}={properties[key]}" for key in properties]
    _write(root / f"run/udev/data/b{number}", "\n".join(["I:1000000", *lines]).encode())


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    heading, lines = "", list[str]()
    for line in text.splitlines():
        if line.startswith("["):
            if heading:
                yield heading, lines
            heading, lines = line[1:-1], []
        elif line.strip() and not line.startswith("#"):
            lines.append(line)
    yield heading, lines


def _directory(root: Path, heading: str, lines: list[str]) -> None:
    directory = root / heading.lstrip("/")
    directory.mkdir(parents=True, exist_ok=True)
    for line in lines:
        if " -> " in line:
            name, target = line.split(" -> ")
            _link(directory / name, target)
        elif " := " in line:
            name, value = line.split(" := ")
            _write(directory / name, bytes.fromhex(value))
        else:
            name, value = line.split(" = ")
            _write(directory / name, value.encode().decode("unicode_escape").encode("latin-1") + b"\n")
            if name == "dev":
                _indexes(root, directory, value, partition=any(line.startswith("partition = ") for line in lines))


def _indexes(root: Path, directory: Path, number: str, *, partition: bool) -> None:
    """The links by which the kernel lists a block device."""
    places = [root / "sys/class/block" / directory.name, root / "sys/dev/block" / number]
    if not partition:
        places.append(root / "sys/block" / directory.name)
    for place in places:
        _link(place, os.path.relpath(directory, place.parent))
    _write(root / "dev" / directory.name.replace("!", "/"), b"")


def _link(place: Path, target: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
