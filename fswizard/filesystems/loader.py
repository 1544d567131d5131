"""Load the catalogue: one TOML file per filesystem, with the fields of `model.filesystem.Filesystem`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import tomli

from fswizard.model.codec import from_json
from fswizard.model.filesystem import Filesystem

ORDINARY = ("ext4", "xfs", "btrfs")
"""Filesystems of the default run, listed before all others."""

_TABLES = resources.files(__package__).joinpath("catalogue")
_GENERIC = "generic.toml"


@cache
def catalogue() -> Mapping[str, Filesystem]:
    """All filesystems by name, the most usual ones first."""
    tables = (entry for entry in _TABLES.iterdir() if entry.name.endswith(".toml") and entry.name != _GENERIC)
    known = {filesystem.name: filesystem for filesystem in (_read(entry.name) for entry in tables)}
    return MappingProxyType({name: known[name] for name in (*ORDINARY, *sorted(known.keys() - set(ORDINARY)))})


@cache
def _by_mount_type() -> Mapping[str, Filesystem]:
    return {known.mount_type: known for known in reversed(tuple(catalogue().values()))}


def mounted_as(kind: str) -> Filesystem | None:
    """Filesystem by its catalogue name or its mount type, such as `ntfs3`; None if unknown."""
    return catalogue().get(kind) or _by_mount_type().get(kind)


def _read(file_name: str) -> Filesystem:
    table = _load(file_name)
    generic = [_generic_options()[name] for name in table.get("generic", ())]
    return from_json(Filesystem, {**table, "mount_options": generic + table.get("mount_options", [])})


@cache
def _generic_options() -> dict[str, Any]:
    return {option["name"]: option for option in _load(_GENERIC)["mount_options"]}


def _load(file_name: str) -> dict[str, Any]:
    return tomli.loads(_TABLES.joinpath(file_name).read_text("utf-8"))
