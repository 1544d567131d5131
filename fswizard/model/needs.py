"""Features that users may require of a filesystem."""

from __future__ import annotations

from collections.abc import Collection

from fswizard.language import N_, _

NEEDS = {
    N_("checksums"): (N_("checksums"), N_("notices when stored data has changed")),
    N_("snapshots"): (N_("snapshots"), N_("keeps earlier states of all files")),
    N_("compression"): (N_("compression"), N_("compresses files automatically")),
    N_("shrink"): (N_("shrinking"), N_("can be made smaller")),
    N_("reflink"): (N_("instant, space-saving copies"), N_("copies files instantly; the copies share space")),
    N_("send-receive"): (N_("backups by send and receive"), N_("sends changes to another disk as a stream")),
    N_("repair"): (N_("a repair tool"), N_("has a tool on Linux that repairs damage")),
    N_("grow"): (N_("growing"), N_("can be made larger")),
    N_("windows"): (N_("Windows support"), N_("can be read and written by Windows")),
    N_("macos"): (N_("macOS support"), N_("can be read and written by macOS")),
    N_("quotas"): (N_("quotas"), N_("limits how much each user may store")),
    N_("case-insensitive"): (N_("case-insensitive names"), N_("can ignore upper and lower case in names")),
}
"""A noun and a description for each feature, by its name, the most decisive first."""


def feature_noun(name: str) -> str:
    """A feature as a noun, such as `checksums` or `shrinking`."""
    return _(NEEDS[name][0] if name in NEEDS else name)


def feature_nouns(names: Collection[str]) -> list[str]:
    """Features as nouns, the most decisive first."""
    return [feature_noun(name) for name in dict.fromkeys((*NEEDS, *names)) if name in names]
