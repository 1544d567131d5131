"""Colours: dark, light, high contrast, and those that the terminal has of its own. No meaning rests on colour alone."""

from __future__ import annotations

from dataclasses import fields

from textual.theme import Theme

from fswizard.report.colours import HUES, OTHERS

_BY_USE = {
    "primary": ("#7cb7ff", "#0a5fc2", "#8cc8ff", "ansi_bright_cyan", "ansi_blue"),
    "secondary": ("#b79bff", "#6a3fc7", "#cdb8ff", "ansi_bright_magenta", "ansi_magenta"),
    "accent": ("#ffc46b", "#8a4e00", "#ffd866", "ansi_bright_yellow", "ansi_yellow"),
    "success": ("#6fdc9c", "#0f6b34", "#7dffb0", "ansi_bright_green", "ansi_green"),
    "warning": ("#ffc46b", "#8a4e00", "#ffd866", "ansi_bright_yellow", "ansi_yellow"),
    "error": ("#ff8a8f", "#b8202f", "#ff9ea2", "ansi_bright_red", "ansi_red"),
    "foreground": ("#dfe5ee", "#1c2430", "#ffffff", "ansi_default", "ansi_default"),
    "background": ("#10141b", "#fbfcfe", "#000000", "ansi_default", "ansi_default"),
    "panel": ("#1b222d", "#eef2f7", "#12161c", "ansi_default", "ansi_default"),
    "ink": ("#10141b", "#fbfcfe", "#000000", "ansi_black", "ansi_bright_white"),
    "muted": ("#a6b2c4", "#47536a", "#e2e8f0", "ansi_white", "ansi_bright_black"),
    "faint": ("#8c99ad", "#566274", "#c6cfdb", "ansi_white", "ansi_bright_black"),
    "line": ("#323d4d", "#c8d1dd", "#7d8896", "ansi_bright_black", "ansi_white"),
    "past": ("#717c8e", "#8790a0", "#aab4c2", "ansi_bright_black", "ansi_bright_black"),
    "raised": ("#171d27", "#f3f6fa", "#000000", "ansi_default", "ansi_default"),
    "cursor": ("#1e2d45", "#d5e6fb", "#00284f", "ansi_blue", "ansi_cyan"),
    "cursor-blurred": ("#1b222d", "#e8edf4", "#12161c", "ansi_default", "ansi_default"),
    "band": ("#202936", "#e9eef5", "#1c2128", "ansi_blue", "ansi_cyan"),
    "good-bar": ("#1d4a38", "#bfe6cd", "#00401f", "ansi_green", "ansi_white"),
    "bad-bar": ("#552a33", "#f7cfd2", "#560010", "ansi_red", "ansi_white"),
    "even-bar": ("#2b3f5c", "#cddff6", "#002a55", "ansi_cyan", "ansi_white"),
}
"""Dark, light, high contrast, and the terminal's own on dark and on light ground. `ink` is for text on `primary`."""
_BY_USE |= {
    f"fs-{name}": (hues[0], hues[1], hues[0], hues[2], hues[3]) for name, hues in (*HUES.items(), ("other", OTHERS))
}
_SAME_AS = {
    "surface": "background",
    "scrollbar": "line",
    "scrollbar-hover": "faint",
    "scrollbar-active": "primary",
    "scrollbar-background": "background",
    "scrollbar-background-hover": "background",
    "scrollbar-background-active": "background",
    "scrollbar-corner-color": "background",
}


def _theme(name: str, column: int, *, dark: bool = True) -> Theme:
    colours = {use: colours[column] for use, colours in _BY_USE.items()}
    colours |= {use: colours[other] for use, other in _SAME_AS.items()}
    of_textual = {field.name for field in fields(Theme)}
    variables = {use: colours.pop(use) for use in list(colours) if use not in of_textual}
    return Theme(name=name, dark=dark, variables=variables, **colours)  # type: ignore[arg-type]


DARK, LIGHT = _theme("fswizard-dark", 0), _theme("fswizard-light", 1, dark=False)
HIGH_CONTRAST = _theme("fswizard-high-contrast", 2)
OWN = (DARK, LIGHT, HIGH_CONTRAST)
TERMINAL = (_theme("fswizard-terminal", 3), _theme("fswizard-terminal-light", 4, dark=False))
"""Of the 16 colours that the user gave the terminal; the second one is for a light ground."""
