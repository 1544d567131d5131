"""The table of layouts, and the parser for arrays in short names such as `md:raid5,chunk=64K+ext4`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

import tomli

from fswizard.errors import UsageError
from fswizard.filesystems.hints import no_option
from fswizard.language import _, n_
from fswizard.model.codec import from_json
from fswizard.model.layout import Array, Layout
from fswizard.model.text import safe


@cache
def layouts() -> Mapping[str, Layout]:
    """All layouts by name, in the order of the table."""
    table = tomli.loads(resources.files(__package__).joinpath("layouts.toml").read_text("utf-8"))
    options = {option["name"]: option for option in table["option"]}
    rows = [{**row, "options": [options[name] for name in row.get("options", ())]} for row in table["layout"]]
    return MappingProxyType({row["name"]: from_json(Layout, row) for row in rows})


@cache
def layouts_by_maker() -> Mapping[str, Mapping[str, Layout]]:
    """Layouts of `md`, `luks`, `zfs` and `btrfs`, by their word in short names."""
    made: dict[str, dict[str, Layout]] = {}
    for layout in layouts().values():
        made.setdefault(layout.maker, {})[layout.name.partition(":")[2]] = layout
    return made


def parse_array(maker: str, tokens: Sequence[str]) -> Array:
    """Parse the tokens after `md:` or the like, the layout first. Raises UsageError if they are invalid."""
    known = layouts_by_maker()[maker]
    word, *rest = tokens or [""]
    if word not in known:
        names = ", ".join(f"{maker}:{name}" for name in known)
        raise UsageError(
            _("There is no layout {layout}.", layout=f"{maker}:{safe(word)}"), _("Known: {names}.", names=names)
        )
    layout = known[word]
    tokens_of = {option.name: [f"{option.name}={value}" for value in option.values] for option in layout.options}
    chosen: dict[str, str] = {}
    for token in rest:
        name, __, value = token.partition("=")
        if token not in tokens_of.get(name, ()) or name in chosen:
            raise no_option(layout.name, token, itertools.chain.from_iterable(tokens_of.values()))
        chosen[name] = value
    options = {}
    for option in layout.options:
        if chosen.get(option.name, option.values[0]) != option.values[0]:
            options[option.name] = chosen[option.name]
    return Array(layout, options)


def require_members(name: str, array: Array | None, members: int) -> None:
    """Raise UsageError if the candidate `name` can't be made of `members` devices."""
    if array is None or array.layout.fits(members):
        return
    layout = array.layout
    if layout.alone:
        raise UsageError(
            n_(
                "{candidate} lies on one device, and the target has {count} device.",
                "{candidate} lies on one device, and the target has {count} devices.",
                members, candidate=name,
            ),
            _("Name one of them as the target."),
        )  # fmt: skip
    if members < layout.minimum_members:
        raise UsageError(
            n_(
                "{candidate} needs at least {least} devices, and the target has {count} device.",
                "{candidate} needs at least {least} devices, and the target has {count} devices.",
                members, candidate=name, least=layout.minimum_members,
            ),
            _("Name several devices: --target devices:/dev/disk/by-id/A,/dev/disk/by-id/B,…"),
        )  # fmt: skip
    raise UsageError(
        n_(
            "{candidate} takes devices in pairs, and the target has {count} device.",
            "{candidate} takes devices in pairs, and the target has {count} devices.",
            members, candidate=name,
        ),
        _("Name one more or one less, or leave it out."),
    )  # fmt: skip
