"""How the recommendation speaks: names, ratios, lists, features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fswizard.model.filesystem import Candidate, Filesystem

_FEATURES = {
    "checksums": ("has", "checksums"),
    "snapshots": ("has", "snapshots"),
    "compression": ("has", "compression"),
    "shrink": ("can", "shrink"),
    "reflink": ("has", "instant, space-saving copies"),
    "send-receive": ("can", "send changes to another disk"),
    "repair": ("has", "a repair tool"),
    "grow": ("can", "grow"),
    "windows": ("works with", "Windows"),
    "macos": ("works with", "macOS"),
    "quotas": ("has", "quotas"),
    "zoned": ("works with", "zoned disks"),
    "case-insensitive": ("can", "ignore case in names"),
}
"""Features with the words they are told in, those that decide most often first."""
_AS_A_WISH = {
    "shrink": "to shrink it later",
    "send-receive": "to send changes to another disk",
    "windows": "to use it with Windows",
    "macos": "to use it with macOS",
}
"""How people want the features that are verbs; nouns stand as they are."""
_RARELY_DECISIVE = frozenset({"repair", "grow", "quotas", "zoned", "case-insensitive"})
"""Told only to who asked for them."""


def fitting(width: int, *forms: str) -> str:
    """The first form that is no longer than `width`; the last one where none is."""
    return next((form for form in forms if len(form) <= width), forms[-1])


def wish(name: str) -> str:
    """What somebody wants who wants a feature: `checksums`, `to shrink it later`."""
    return _AS_A_WISH.get(name, feature_word(name))


def wishes(filesystem: Filesystem, beside: Filesystem) -> list[str]:
    """What somebody may want that only the first one has, what decides most often first; nouns before verbs."""
    own = sorted(present(filesystem) - present(beside), key=_importance)
    return sorted(map(wish, own), key=lambda word: word.startswith("to "))


def listing(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def has(features: Iterable[str]) -> str:
    """`has checksums and snapshots and can shrink`."""
    grouped: dict[str, list[str]] = {}
    for name in sorted(features, key=_importance):
        verb, word = _FEATURES.get(name, ("has", name))
        grouped.setdefault(verb, []).append(word)
    parts = [f"{verb} {listing(words)}" for verb, words in grouped.items()]
    return (", and " if any(" and " in part for part in parts) else " and ").join(parts)


def feature_word(name: str) -> str:
    """A feature as a noun or verb of its own, such as `checksums` or `shrink`."""
    return _FEATURES.get(name, ("has", name))[1]


def present(filesystem: Filesystem) -> frozenset[str]:
    """Names of the features that a filesystem has in full and that people choose by."""
    names = frozenset(feature.name for feature in filesystem.features if feature.present)
    return names - _RARELY_DECISIVE


def distinctions(candidates: Sequence[Candidate], most: int) -> str:
    """What each filesystem has that not all of them have: `Btrfs has checksums and snapshots, ext4 can shrink`."""
    filesystems = list({c.filesystem.name: c.filesystem for c in candidates}.values())
    if len(filesystems) < 2:
        return ""
    common = frozenset.intersection(*map(present, filesystems))
    told = []
    for filesystem in filesystems:
        own = sorted(present(filesystem) - common, key=_importance)[:most]
        if own:
            told.append(f"{filesystem.title} {has(own)}")
    return "; ".join(told) if any(", " in text or " and can " in text for text in told) else ", ".join(told)


def worth_asking(candidates: Iterable[Candidate], needs: Iterable[str]) -> Mapping[str, str]:
    """The `needs`, and features by which the candidates differ, as another would change nothing: name to words."""
    having = [frozenset(f.name for f in candidate.filesystem.features if f.present) for candidate in candidates]
    names = frozenset().union(*having) - having[0].intersection(*having)
    return {name: feature_word(name) for name in sorted(names.union(needs), key=_importance)}


def _importance(feature: str) -> int:
    return list(_FEATURES).index(feature) if feature in _FEATURES else len(_FEATURES)
