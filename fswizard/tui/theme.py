"""Textual themes to choose from, and additional colours. No meaning depends on colour alone."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

from fswizard.report.colours import HUES, OTHERS

TERMINAL = ("ansi-dark", "ansi-light")
"""Built from the terminal's sixteen colours, for dark and light backgrounds."""
THEMES = ("textual-dark", "catppuccin-latte", *TERMINAL)
"""Without textual-light, in which warnings have a contrast of 3.3."""


def variables(theme: Theme) -> dict[str, str]:
    """A colour for each filesystem (`fs-NAME`), `muted` for text and `line` for rules and rails.

    `$text-muted` is for style sheets only: in styled text Textual drops its opacity.
    """
    if theme.ansi:
        muted, line = ("ansi_white", "ansi_bright_black") if theme.dark else ("ansi_bright_black", "ansi_white")
    else:
        ground = Color.parse(theme.to_color_system().generate()["background"])
        ink = ground.get_contrast_text()
        muted, line = (ground.blend(ink, share, alpha=1.0).hex for share in (0.6, 0.25))
    column = 2 * theme.ansi + (not theme.dark)
    inks = {f"fs-{name}": hues[column] for name, hues in (*HUES.items(), ("other", OTHERS))}
    return {"muted": muted, "line": line, **inks}
