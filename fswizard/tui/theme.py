"""Colours: a dark and a light theme, each also for terminals of 16 colours. No meaning rests on colour alone."""

from __future__ import annotations

from textual.theme import Theme

from fswizard.report.colours import HUES, OTHERS

_BY_USE = {
    "primary": ("#7cb7ff", "#0a5fc2", "#55ffff", "#0000aa"),
    "secondary": ("#b79bff", "#6a3fc7", "#ff55ff", "#aa00aa"),
    "accent": ("#ffc46b", "#9a5800", "#ffff55", "#aa5500"),
    "success": ("#6fdc9c", "#147a3d", "#55ff55", "#00aa00"),
    "warning": ("#ffc46b", "#9a5800", "#ffff55", "#aa5500"),
    "error": ("#ff8a8f", "#b8202f", "#ff5555", "#aa0000"),
    "foreground": ("#dfe5ee", "#1c2430", "#ffffff", "#000000"),
    "background": ("#10141b", "#fbfcfe", "#000000", "#ffffff"),
    "panel": ("#1b222d", "#eef2f7", "#000000", "#aaaaaa"),
    "muted": ("#93a0b4", "#556274", "#aaaaaa", "#555555"),
    "faint": ("#5b6779", "#8793a4", "#aaaaaa", "#555555"),
    "line": ("#323d4d", "#c8d1dd", "#555555", "#aaaaaa"),
    "raised": ("#171d27", "#f3f6fa", "#000000", "#ffffff"),
    "cursor": ("#22344d", "#d5e6fb", "#0000aa", "#00aaaa"),
    "cursor-blurred": ("#1b222d", "#e8edf4", "#000000", "#ffffff"),
    "band": ("#202936", "#e9eef5", "#0000aa", "#00aaaa"),
    "good-bar": ("#1d4a38", "#bfe6cd", "#00aa00", "#aaaaaa"),
    "bad-bar": ("#552a33", "#f7cfd2", "#aa0000", "#aaaaaa"),
    "even-bar": ("#2b3f5c", "#cddff6", "#00aaaa", "#aaaaaa"),
}
"""Dark, light, and both with 16 colours: left to itself, Rich takes a grey for every one of the soft colours."""
_BY_USE |= {f"fs-{name}": hues for name, hues in (*HUES.items(), ("other", OTHERS))}
_SAME_AS = {
    "surface": "background",
    "ink": "background",
    "scrollbar": "line",
    "scrollbar-hover": "faint",
    "scrollbar-active": "primary",
    "scrollbar-background": "background",
    "scrollbar-background-hover": "background",
    "scrollbar-background-active": "background",
    "scrollbar-corner-color": "background",
}
_OF_TEXTUAL = (
    "primary", "secondary", "accent", "success", "warning", "error", "foreground", "background", "surface", "panel",
)  # fmt: skip
"""What every theme of Textual has; the others are variables of our own."""


def _theme(name: str, column: int, *, dark: bool) -> Theme:
    colours = {use: colours[column] for use, colours in _BY_USE.items()}
    colours |= {use: colours[other] for use, other in _SAME_AS.items()}
    variables = {use: colours.pop(use) for use in list(colours) if use not in _OF_TEXTUAL}
    return Theme(name=name, dark=dark, variables=variables, **colours)  # type: ignore[arg-type]


DARK, LIGHT = _theme("fswizard-dark", 0, dark=True), _theme("fswizard-light", 1, dark=False)
DARK_16, LIGHT_16 = _theme("fswizard-dark", 2, dark=True), _theme("fswizard-light", 3, dark=False)
