"""Words of the recommendation: comparisons and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fswizard.language import N_, _, listing, number
from fswizard.model.analysis import MoreTime
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.units import duration_text, speed_text, times_text

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


def speed_against(ratio: float, rival: str, unit: str = "s") -> str:
    """`21 % faster than ext4`, `8× as fast as ext4`; `unit` as for `speed_text`."""
    if ratio >= 1.995:  # as in `speed_text`, as the next one
        return _("{times} as fast as {candidate}", times=times_text(ratio), candidate=rival)
    if 1 / 1.005 <= ratio <= 1.005:
        return _("as fast as {candidate}", candidate=rival)
    return _("{speed} than {candidate}", speed=speed_text(ratio, unit), candidate=rival)


def percent(share: float, least: float = 0.0) -> str:
    """`4 %`, at least `least`, which is in percent."""
    return _("{percent} %", percent=number(f"{max(least, share * 100):.0f}"))


def distance(share: float) -> str:
    """`52 %`, or `3.5×`."""
    return percent(share, 1.0) if share < 0.995 else times_text(1 + share)


def more_text(more: MoreTime, *, busy: bool = False) -> str:
    """`3 min more would narrow it to about ±9 %.`, and that the machine should be quiet where it was `busy`."""
    text = N_("{time} more would narrow it to about ±{share}.")
    if busy:
        text = N_("{time} more when the machine is quiet would narrow it to about ±{share}.")
    return _(text, time=duration_text(more.seconds), share=percent(more.bound, 1.0))


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
