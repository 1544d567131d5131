"""Words of the recommendation: lists, speeds, features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.units import speed_text

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
"""Verb and noun for each feature, those that decide most often first."""
_AS_A_WISH = {
    "shrink": "to shrink it later",
    "send-receive": "to send changes to another disk",
    "windows": "to use it with Windows",
    "macos": "to use it with macOS",
}
"""Words behind `you want` for features that are verbs; nouns need none."""


def fitting(width: int, *forms: str) -> str:
    """The first form that is no longer than `width`, or the last one."""
    return next((form for form in forms if len(form) <= width), forms[-1])


def speed_against(ratio: float, rival: str) -> str:
    """`21 % faster than ext4`, `8× as fast as ext4`."""
    speed = speed_text(ratio)
    return f"{speed} as {rival}" if speed.endswith("fast") else f"{speed} than {rival}"


def wish(name: str) -> str:
    """A feature behind `you want`: `checksums`, `to shrink it later`."""
    return _AS_A_WISH.get(name, feature_word(name))


def wishes(filesystem: Filesystem, beside: Filesystem) -> list[str]:
    """Wishes that only the first filesystem fulfils, the most decisive first; nouns before verbs."""
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
    """Names of the features that a filesystem has in full, without those that rarely decide."""
    names = frozenset(feature.name for feature in filesystem.features if feature.present)
    return names - {"repair", "grow", "quotas", "zoned", "case-insensitive"}


def distinctions(candidates: Sequence[Candidate], most: int) -> str:
    """Features that not all filesystems have: `Btrfs has checksums and snapshots, ext4 can shrink`."""
    filesystems = list({c.filesystem.name: c.filesystem for c in candidates}.values())
    if len(filesystems) < 2:
        return ""
    common = frozenset.intersection(*map(present, filesystems))
    own = ((each.title, sorted(present(each) - common, key=_importance)[:most]) for each in filesystems)
    texts = [f"{title} {has(features)}" for title, features in own if features]
    return ("; " if any(", " in text or " and can " in text for text in texts) else ", ").join(texts)


def worth_asking(candidates: Iterable[Candidate], needs: Iterable[str]) -> Mapping[str, str]:
    """Name and words of the `needs`, and of features by which the candidates differ."""
    having = [frozenset(f.name for f in candidate.filesystem.features if f.present) for candidate in candidates]
    names = frozenset().union(*having) - having[0].intersection(*having)
    return {name: feature_word(name) for name in sorted(names.union(needs), key=_importance)}


def _importance(feature: str) -> int:
    return list(_FEATURES).index(feature) if feature in _FEATURES else len(_FEATURES)
