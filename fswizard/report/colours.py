"""A colour for each filesystem, the same in every screen, chart and page, and the colours of pictures and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fswizard.model.plan import Plan

Hues = tuple[str, str, str, str]
"""On dark and on light ground, and both with 16 colours."""

OTHERS: Hues = ("#93a0b4", "#556274", "#aaaaaa", "#555555")
HUES: Mapping[str, Hues] = {
    "ext4": ("#6fa8ff", "#1f66c9", "#55ffff", "#0000aa"),
    "xfs": ("#ffb454", "#b86a00", "#ffff55", "#aa5500"),
    "btrfs": ("#6fdc9c", "#1c8a4b", "#55ff55", "#00aa00"),
    "f2fs": ("#c79bff", "#7a45c9", "#ff55ff", "#aa00aa"),
    "zfs": ("#5fd7d7", "#0f8080", "#55ffff", "#00aaaa"),
    "bcachefs": ("#ff8fb3", "#c02f66", "#ff5555", "#aa0000"),
    "nilfs2": ("#d7d75f", "#857a00", "#ffff55", "#aa5500"),
    "ext3": ("#9fc0ff", "#4f86d9", "#55ffff", "#0000aa"),
    "ext2": ("#c4d7ff", "#7396cf", "#55ffff", "#0000aa"),
    "jfs": ("#ff9d8a", "#b5482f", "#ff5555", "#aa0000"),
    "exfat": ("#cdb79e", "#7a6a55", "#aaaaaa", "#555555"),
    "udf": ("#a8a2ff", "#5a50c0", "#ff55ff", "#aa00aa"),
    "ntfs": ("#b9e07a", "#5d8a10", "#55ff55", "#00aa00"),
    "ntfs-3g": ("#b9e07a", "#5d8a10", "#55ff55", "#00aa00"),
}
"""By filesystem, as the catalogue names it; all others share OTHERS."""


def kind_of(plan: Plan, candidate: str) -> str:
    """The key of a candidate's colour: a name of HUES, or `other`."""
    name = plan.candidate(candidate).filesystem.name
    return name if name in HUES else "other"


INK: Mapping[str, tuple[str, str]] = {
    "text": ("#e4e9f0", "#1c2430"),
    "dim": ("#9aa6b5", "#5b6675"),
    "ground": ("#14191f", "#ffffff"),
    "soft": ("#1b222a", "#f3f6fa"),
    "line": ("#333c47", "#d5dbe3"),
    "near": ("#232d38", "#e6ecf4"),
    "good": ("#4cc38a", "#0b7a4b"),
    "bad": ("#f0825f", "#b3401f"),
    "even": ("#7fb0ff", "#2b62b8"),
    "muted": ("#9aa3b1", "#626b7a"),
}
"""By use in pictures and pages, in the dark and in the light."""


def ink(*, dark: bool) -> dict[str, str]:
    return {use: pair[0 if dark else 1] for use, pair in INK.items()}


def fills(*, dark: bool) -> str:
    """Style sheet rules by which shapes of the classes `fs-NAME` are filled."""
    known = {**HUES, "other": OTHERS}
    return "\n".join(f".fs-{name} {{ fill: {hues[0 if dark else 1]} }}" for name, hues in known.items())


def as_preferred(rules: Callable[[bool], str]) -> str:
    """What `rules` says of the light and of the dark, as whoever looks prefers it."""
    return f"{rules(False)}\n@media screen and (prefers-color-scheme: dark) {{\n{rules(True)}\n}}\n"
