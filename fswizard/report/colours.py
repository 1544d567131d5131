"""A colour for each filesystem, the same in every screen, chart and page, and the colours of pictures and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Hues = tuple[str, str, str, str]
"""Colours on dark and on light ground, and both among a terminal's own colours."""

OTHERS: Hues = ("#93a0b4", "#556274", "ansi_white", "ansi_bright_black")
HUES: Mapping[str, Hues] = {
    "ext4": ("#5b8cff", "#2a5cee", "ansi_bright_cyan", "ansi_blue"),
    "xfs": ("#f7a32a", "#965f00", "ansi_bright_yellow", "ansi_yellow"),
    "btrfs": ("#5ff0a6", "#005028", "ansi_bright_green", "ansi_green"),
    "f2fs": ("#efa6ff", "#4a0a70", "ansi_bright_magenta", "ansi_magenta"),
    "zfs": ("#1fb3b8", "#00797f", "ansi_cyan", "ansi_cyan"),
    "bcachefs": ("#fb5f74", "#bd1560", "ansi_bright_red", "ansi_red"),
    "nilfs2": ("#d7d75f", "#6a6200", "ansi_bright_yellow", "ansi_yellow"),
    "ext3": ("#9fc0ff", "#3468b8", "ansi_bright_cyan", "ansi_blue"),
    "ext2": ("#c4d7ff", "#4a69a0", "ansi_bright_cyan", "ansi_blue"),
    "jfs": ("#ff9d8a", "#a8402a", "ansi_bright_red", "ansi_red"),
    "exfat": ("#cdb79e", "#75654f", "ansi_white", "ansi_bright_black"),
    "fat32": ("#e0d2b8", "#6d5f45", "ansi_white", "ansi_bright_black"),
    "udf": ("#a8a2ff", "#5a50c0", "ansi_bright_magenta", "ansi_magenta"),
    "ntfs": ("#b9e07a", "#47700a", "ansi_bright_green", "ansi_green"),
    "ntfs-3g": ("#b9e07a", "#47700a", "ansi_bright_green", "ansi_green"),
}
"""Colours by the catalogue's name of the filesystem; others share OTHERS. The first six can be distinguished with every
kind of colour blindness; nobody compares all."""


def key_of(filesystem: str) -> str:
    """The key of a filesystem's colour: a name of HUES, or `other`."""
    return filesystem if filesystem in HUES else "other"


INK: Mapping[str, tuple[str, str]] = {
    "text": ("#e4e9f0", "#1c2430"),
    "dim": ("#9aa6b5", "#5b6675"),
    "ground": ("#14191f", "#ffffff"),
    "soft": ("#1b222a", "#f3f6fa"),
    "line": ("#333c47", "#d5dbe3"),
    "good": ("#4cc38a", "#0b7a4b"),
    "bad": ("#f0825f", "#b3401f"),
    "even": ("#7fb0ff", "#2b62b8"),
    "muted": ("#9aa3b1", "#626b7a"),
    "warning": ("#e0b04c", "#8a5a00"),
}
"""By use in pictures and pages, in the dark and in the light."""


def ink(*, dark: bool) -> dict[str, str]:
    return {use: pair[0 if dark else 1] for use, pair in INK.items()}


def fills(*, dark: bool) -> str:
    """Style sheet rules by which shapes of the classes `fs-NAME` are filled."""
    known = {**HUES, "other": OTHERS}
    return "\n".join(f".fs-{name} {{ fill: {hues[0 if dark else 1]} }}" for name, hues in known.items())


def as_preferred(rules: Callable[[bool], str]) -> str:
    """CSS rules for light and dark, chosen by the reader's preference."""
    return f"{rules(False)}\n@media screen and (prefers-color-scheme: dark) {{\n{rules(True)}\n}}\n"
