"""Comparisons and features as text."""

from __future__ import annotations

from fswizard.language import N_, _, number
from fswizard.model.analysis import MoreTime
from fswizard.model.filesystem import Filesystem
from fswizard.model.needs import NEEDS
from fswizard.model.units import duration_text, times_text

_RARELY_DECIDE = {"repair", "grow", "quotas", "case-insensitive"}


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


def present(filesystem: Filesystem) -> set[str]:
    """Names of the features that a filesystem has in full, without those that rarely decide, or that are obsolete."""
    return {feature.name for feature in filesystem.features if feature.present} & NEEDS.keys() - _RARELY_DECIDE
