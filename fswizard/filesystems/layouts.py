"""The table of layouts, and the layouts that short names such as `md:raid5,chunk=64K+ext4` name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

import tomli

from fswizard.errors import UsageError
from fswizard.model.codec import from_json
from fswizard.model.layout import DEGRADED, Array, Layout
from fswizard.model.text import safe

SEVERAL = "Name several devices: --target images:4x2G@DIRECTORY, or devices:/dev/disk/by-id/A,/dev/disk/by-id/B,…"


@cache
def layouts() -> Mapping[str, Layout]:
    """All layouts that the program knows, by name, in the table's order."""
    table = tomli.loads(resources.files(__package__).joinpath("layouts.toml").read_text("utf-8"))
    options = {option["name"]: option for option in table["option"]}
    rows = [
        {**row, "options": [options[own] if isinstance(own, str) else own for own in row.get("options", ())]}
        for row in table["layout"]
    ]
    return MappingProxyType({row["name"]: from_json(Layout, row) for row in rows})


def layouts_of(maker: str) -> dict[str, Layout]:
    """Those that `md`, `luks`, `zfs` or `btrfs` makes, by the word that names them there."""
    return {layout.word: layout for layout in layouts().values() if layout.maker == maker}


def parse_array(maker: str, tokens: Sequence[str]) -> Array:
    """The array or volume that the words after `md:` name, the layout first; UsageError otherwise."""
    known = layouts_of(maker)
    word, *rest = tokens or [""]
    if word not in known:
        names = ", ".join(f"{maker}:{name}" for name in known)
        raise UsageError(f"There is no layout {maker}:{safe(word)}.", f"Known: {names}.")
    layout = known[word]
    if len(set(rest)) < len(rest):
        raise UsageError(f"{layout.name}: an option was named twice.", "Name each one once.")
    chosen = {}
    for token in rest:
        name, _, value = token.partition("=")
        if token == DEGRADED and not layout.alone:
            continue
        option = next((option for option in layout.options if option.name == name), None)
        if option is None or name in chosen:
            offered = ", ".join(f"{option.name}=VALUE" for option in layout.options)
            offered += "" if layout.alone else f", {DEGRADED}"
            raise UsageError(
                f"{layout.name} does not take {safe(token) or 'an empty option'}.", f"It takes: {offered}."
            )
        if value not in option.values:
            raise UsageError(
                f"{layout.name}: {name} does not take the value {safe(value)}.", f"One of: {', '.join(option.values)}."
            )
        chosen[name] = value
    ordered = {o.name: chosen[o.name] for o in layout.options if chosen.get(o.name, o.values[0]) != o.values[0]}
    return Array(layout, ordered, DEGRADED in rest)


def require_members(name: str, array: Array | None, members: int) -> None:
    """UsageError where the candidate `name` can't be made of `members` devices."""
    if array is None or array.layout.fits(members):
        return
    layout = array.layout
    devices = f"{members} device{'s' * (members != 1)}"
    if layout.alone:
        raise UsageError(f"{name} lies on one device, and the target has {devices}.", "Name one of them as the target.")
    if members == 1:
        raise UsageError(f"{name} is spread over several devices, and the target is one.", SEVERAL)
    if members < layout.minimum_members:
        raise UsageError(
            f"{name} needs at least {layout.minimum_members} devices, and the target has {devices}.",
            "Name more of them, or leave it out.",
        )
    raise UsageError(
        f"{name} takes devices in pairs, and the target has {devices}.",
        "Name one more or one less, or leave it out.",
    )
