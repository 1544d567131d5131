"""Load the catalogue: one TOML file per filesystem, with the fields of `model.filesystem.Filesystem`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

import tomli

from fswizard.model.codec import from_json
from fswizard.model.filesystem import Filesystem

ORDINARY = ("ext4", "xfs", "btrfs")
"""Filesystems of the default run, listed before all others."""


@cache
def catalogue() -> Mapping[str, Filesystem]:
    """All filesystems by name, the most usual ones first."""
    tables = {}
    for entry in resources.files(__package__).joinpath("catalogue").iterdir():
        if entry.name.endswith(".toml"):
            tables[entry.name] = tomli.loads(entry.read_text("utf-8"))
    generic = {option["name"]: option for option in tables.pop("generic.toml")["mount_options"]}
    known = {}
    for table in tables.values():
        options = [generic[name] for name in table.get("generic", ())]
        options += table.get("mount_options", ())
        known[table["name"]] = from_json(Filesystem, {**table, "mount_options": options})
    return MappingProxyType({name: known[name] for name in (*ORDINARY, *sorted(known.keys() - set(ORDINARY)))})


def mounted_as(kind: str) -> Filesystem | None:
    """Filesystem by its catalogue name or its mount type, such as `ntfs3`; None if unknown."""
    known = catalogue()
    return known.get(kind) or next((each for each in known.values() if each.mount_type == kind), None)
