"""Parse short names such as `btrfs:noatime,compress=zstd:1` into candidates."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

from fswizard.errors import UsageError
from fswizard.filesystems.hints import hint, no_option
from fswizard.filesystems.layouts import layouts_by_maker, parse_array
from fswizard.filesystems.loader import catalogue, mounted_as
from fswizard.language import _
from fswizard.model.filesystem import AGED, Candidate, Filesystem
from fswizard.model.layout import MD, PROGRAMS, Array
from fswizard.model.option import Option
from fswizard.model.text import safe

_BELOW = re.compile(rf"\s*({'|'.join(PROGRAMS)})\s*(?:[:,]|(?=\+)|$)", re.IGNORECASE)
"""Beginning of the name of a candidate on an array or volume."""
_NO_OPTION = "defaults"
"""Option in fstab that means no options."""


def parse_candidates(text: str) -> tuple[Candidate, ...]:
    """Parse a list such as `ext4; xfs:noatime`. Raises UsageError if it is empty or has duplicates."""
    candidates = tuple(parse_candidate(part) for part in text.split(";") if part.strip())
    if not candidates:
        raise UsageError(_("No candidates named."), _('Name some, such as "ext4; xfs:noatime; btrfs".'))
    names = [candidate.name for candidate in candidates]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise UsageError(_("The candidate {candidate} was named twice.", candidate=duplicate), _("Name each one once."))
    return candidates


def parse_candidate(text: str) -> Candidate:
    """Parse a short name. The candidate has the canonical name, with options in the order of the catalogue.

    Raises UsageError for unknown parts, invalid values and conflicting options.
    """
    if below := _BELOW.match(text):
        return _on_array(below[1].lower(), text[below.end() :])
    maker, colon, rest = text.strip().partition(":")
    kind = maker.strip()
    filesystem = mounted_as(kind.lower())
    if filesystem is None:
        raise _no_filesystem(kind)
    tokens = [token.strip() for token in rest.split(",")] if colon else []
    tokens = [token for token in tokens if token != _NO_OPTION]
    is_aged = AGED in tokens
    if is_aged:
        tokens.remove(AGED)
    layouts = layouts_by_maker().get(filesystem.name, {})
    words = [token for token in tokens if token in layouts]
    if len(words) > 1:
        raise _not_combined(filesystem, words[0], words[1])
    left = [token for token in tokens if token not in words]
    chosen: list[tuple[Option, str]] = []
    for option in (*filesystem.mount_options, *filesystem.mkfs_options):
        chosen += [(option, token) for token in left if option.is_meant_by(token)]
        left = [token for token in left if (option, token) not in chosen]
    if left:
        known = [token for option in filesystem.options for token in option.tokens]
        raise no_option(filesystem.name, left[0], [*known, *layouts])
    for (one, first), (other, second) in combinations(chosen, 2):
        if one.name == other.name or other.name in one.replaces or one.name in other.replaces:
            raise _not_combined(filesystem, first, second)
    mkfs: list[Option] = []
    mount: list[str] = []
    for option, token in chosen:
        if option.flag:
            mkfs.append(replace(option, chosen=token.partition("=")[2] if option.pattern else ""))
        else:
            mount.append(token)
    named = [*words, *(token for __, token in chosen)]
    name = f"{filesystem.name}:{','.join(named)}" if named else filesystem.name
    candidate = Candidate(name, filesystem, tuple(mkfs), tuple(mount))
    if words:
        candidate = _on(parse_array(filesystem.name, words), candidate)
    return aged(candidate) if is_aged else candidate


def aged(candidate: Candidate) -> Candidate:
    """The aged variant of a candidate. Raises UsageError if it can't be aged."""
    if candidate.array is not None or candidate.filesystem.pool:
        raise _not_aged(candidate.array.name if candidate.array else candidate.filesystem.title)
    return replace(candidate, name=f"{candidate.name}{',' if ':' in candidate.name else ':'}{AGED}", aged=True)


def _not_aged(name: str) -> UsageError:
    return UsageError(
        _("{name} can't be aged: only a filesystem directly on one device can be copied back.", name=name),
        _("Leave {option} out.", option=AGED),
    )


def title_of(name: str) -> str:
    """Readable title for a short name; the name itself if it can't be parsed, as for a directory."""
    try:
        return parse_candidate(name).title
    except UsageError:
        return name


def _on_array(maker: str, text: str) -> Candidate:
    """Parse a name after `md:` or `luks,`, such as `raid5,chunk=64K+ext4:noatime` or `cipher=adiantum+ext4`."""
    layout, __, filesystem = text.strip().partition("+")
    tokens = [token.strip() for token in layout.split(",")]
    array = parse_array(maker, tokens if maker == MD or not layout else ["", *tokens])
    candidate = parse_candidate(filesystem)
    if candidate.array is not None or candidate.filesystem.pool:
        raise UsageError(
            _(
                "{candidate} can't lie on {array}: only a filesystem without arrays or volumes of its own can.",
                candidate=candidate.name,
                array=array.name,
            ),
            _("Name one or the other."),
        )
    if candidate.aged:
        raise _not_aged(array.name)
    return replace(_on(array, candidate), name=f"{array.name}+{candidate.name}")


def _on(array: Array, candidate: Candidate) -> Candidate:
    """Put a candidate on an array. Raises UsageError if both set the same option."""
    for option in candidate.mkfs_options:
        if option.name in array.layout.replaces:
            raise _not_combined(candidate.filesystem, array.layout.name, option.token)
    return replace(candidate, array=array)


def _no_filesystem(name: str) -> UsageError:
    known = catalogue()
    if not name:
        return UsageError(_("A candidate has no filesystem."), _("Name one of: {names}.", names=", ".join(known)))
    return UsageError(_("There is no filesystem {name} in the catalogue.", name=safe(name)), hint(known))


def _not_combined(filesystem: Filesystem, first: str, second: str) -> UsageError:
    return UsageError(
        _(
            "{filesystem}: {first} and {second} can't be combined.",
            filesystem=filesystem.name,
            first=first,
            second=second,
        ),
        _("Leave one of them out."),
    )
