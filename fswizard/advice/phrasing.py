"""Comparisons and features as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fswizard.language import N_, _, number
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
"""A noun for each feature, the most decisive first."""
_RARELY_DECIDE = {"repair", "grow", "quotas", "case-insensitive"}


def speed_against(ratio: float, rival: str, unit: str = "s") -> str:
    """A ratio with its reference: `21 % faster than ext4`, `8× as fast as ext4`; `unit` as for `speed_text`."""
    if ratio >= 1.995:  # the limit from which on `speed_text` counts in times
        return _("{times} as fast as {candidate}", times=times_text(ratio), candidate=rival)
    if 1 / 1.005 <= ratio <= 1.005:
        return _("as fast as {candidate}", candidate=rival)
    return _("{speed} than {candidate}", speed=speed_text(ratio, unit), candidate=rival)


def percent(share: float) -> str:
    """A share of 1 in whole percent, at least one: `4 %`."""
    return _("{percent} %", percent=number(f"{max(1.0, share * 100):.0f}"))


def distance(share: float) -> str:
    """A difference: `52 %`, or `3.5×` from about twice on."""
    return percent(share) if share < 0.995 else times_text(1 + share)


def more_text(more: MoreTime, *, busy: bool = False) -> str:
    """The benefit of more time; for a `busy` run, with the advice to leave the machine alone."""
    text = N_("{time} more would narrow it to about ±{share}.")
    if busy:
        text = N_("{time} more when the machine is quiet would narrow it to about ±{share}.")
    return _(text, time=duration_text(more.seconds), share=percent(more.bound))


def feature_noun(name: str) -> str:
    """A feature as a noun, such as `checksums` or `shrinking`."""
    return _(_FEATURES.get(name, name))


def feature_nouns(names: Collection[str]) -> list[str]:
    """Features as nouns, the most decisive first."""
    return [feature_noun(name) for name in dict.fromkeys((*_FEATURES, *names)) if name in names]


def present(filesystem: Filesystem) -> set[str]:
    """Names of the features that a filesystem has in full, without those that rarely decide."""
    return _all_present(filesystem) - _RARELY_DECIDE


def _all_present(filesystem: Filesystem) -> set[str]:
    """Names of the features that a filesystem has in full, without obsolete ones in old results."""
    return {feature.name for feature in filesystem.features if feature.present and feature.name in _FEATURES}


def worth_asking(candidates: Sequence[Candidate], needs: Sequence[str]) -> Mapping[str, str]:
    """Nouns by name of the `needs`, and of the features in which the candidates differ, the most decisive first."""
    features = [_all_present(candidate.filesystem) for candidate in candidates]
    common = set.intersection(*features)
    wanted = set.union(*features) - common | {*needs}
    return {name: feature_noun(name) for name in (*_FEATURES, *needs) if name in wanted}
