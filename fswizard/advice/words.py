"""Words of the recommendation: comparisons and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fswizard.language import N_, _, listing, number
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.text import cells
from fswizard.model.units import speed_text, times_text

_FEATURES = {
    "checksums": N_("checksums"),
    "snapshots": N_("snapshots"),
    "compression": N_("compression"),
    "shrink": N_("shrinking"),
    "reflink": N_("instant, space-saving copies"),
    "send-receive": N_("backups by send and receive"),
    "repair": N_("a repair tool"),
    "grow": N_("growing"),
    "windows": N_("Windows support"),
    "macos": N_("macOS support"),
    "quotas": N_("quotas"),
    "case-insensitive": N_("case-insensitive names"),
}
"""A noun for each feature, those that decide most often first."""


def fitting(width: int, *forms: str) -> str:
    """The first form that fits into `width` columns, or the last one."""
    return next((form for form in forms if cells(form) <= width), forms[-1])


def speed_against(ratio: float, rival: str) -> str:
    """`21 % faster than ext4`, `8× as fast as ext4`."""
    if ratio >= 1.995:  # as in `speed_text`, as the next one
        return _("{times} as fast as {candidate}", times=times_text(ratio), candidate=rival)
    if 1 / 1.005 <= ratio <= 1.005:
        return _("as fast as {candidate}", candidate=rival)
    return _("{speed} than {candidate}", speed=speed_text(ratio), candidate=rival)


def percent(share: float, least: float = 0.0) -> str:
    """`4 %`, at least `least`, which is in percent."""
    return _("{percent} %", percent=number(f"{max(least, share * 100):.0f}"))


def wishes(filesystem: Filesystem, beside: Filesystem) -> list[str]:
    """Features that only the first filesystem has, the most decisive first."""
    return feature_words(present(filesystem) - present(beside))


def feature_words(names: Iterable[str]) -> list[str]:
    """The most decisive first."""
    return [feature_word(name) for name in sorted(names, key=_importance)]


def feature_word(name: str) -> str:
    """A feature as a noun, such as `checksums` or `shrinking`."""
    return _(_FEATURES.get(name, name))


def present(filesystem: Filesystem) -> frozenset[str]:
    """Names of the features that a filesystem has in full, without those that rarely decide."""
    return _all_present(filesystem) - {"repair", "grow", "quotas", "case-insensitive"}


def _all_present(filesystem: Filesystem) -> frozenset[str]:
    """Without those that only old results have."""
    return frozenset(each.name for each in filesystem.features if each.present and each.name in _FEATURES)


def distinctions(candidates: Sequence[Candidate]) -> str:
    """Features that not all filesystems have: `checksums and snapshots (Btrfs); shrinking (ext4)`."""
    filesystems = list({c.filesystem.name: c.filesystem for c in candidates}.values())
    common = frozenset.intersection(*map(present, filesystems))
    return features_of((each.title, present(each) - common) for each in filesystems)


def features_of(filesystems: Iterable[tuple[str, Iterable[str]]]) -> str:
    """`checksums and snapshots (Btrfs); shrinking (ext4)`."""
    words = ((title, feature_words(names)) for title, names in filesystems)
    return "; ".join(f"{listing(features)} ({title})" for title, features in words if features)


def worth_asking(candidates: Iterable[Candidate], needs: Iterable[str]) -> Mapping[str, str]:
    """Name and words of the `needs`, and of features by which the candidates differ."""
    having = [_all_present(candidate.filesystem) for candidate in candidates]
    names = frozenset().union(*having) - having[0].intersection(*having)
    return {name: feature_word(name) for name in sorted(names.union(needs), key=_importance)}


def _importance(feature: str) -> int:
    return list(_FEATURES).index(feature) if feature in _FEATURES else len(_FEATURES)
