"""Colours: a dark and a light theme, each also for terminals of 16 colours. No meaning rests on colour alone."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="fswizard-dark",
    primary="#7cb7ff",
    secondary="#b79bff",
    accent="#ffc46b",
    success="#6fdc9c",
    warning="#ffc46b",
    error="#ff8a8f",
    foreground="#dfe5ee",
    background="#10141b",
    surface="#10141b",
    panel="#1b222d",
    dark=True,
    variables={
        "muted": "#93a0b4",
        "faint": "#5b6779",
        "line": "#323d4d",
        "raised": "#171d27",
        "cursor": "#22344d",
        "cursor-blurred": "#1b222d",
        "band": "#202936",
        "good-bar": "#1d4a38",
        "bad-bar": "#552a33",
        "even-bar": "#2b3f5c",
        "ink": "#10141b",
        "scrollbar": "#323d4d",
        "scrollbar-hover": "#5b6779",
        "scrollbar-active": "#7cb7ff",
        "scrollbar-background": "#10141b",
        "scrollbar-background-hover": "#10141b",
        "scrollbar-background-active": "#10141b",
        "scrollbar-corner-color": "#10141b",
    },
)

LIGHT = Theme(
    name="fswizard-light",
    primary="#0a5fc2",
    secondary="#6a3fc7",
    accent="#9a5800",
    success="#147a3d",
    warning="#9a5800",
    error="#b8202f",
    foreground="#1c2430",
    background="#fbfcfe",
    surface="#fbfcfe",
    panel="#eef2f7",
    dark=False,
    variables={
        "muted": "#556274",
        "faint": "#8793a4",
        "line": "#c8d1dd",
        "raised": "#f3f6fa",
        "cursor": "#d5e6fb",
        "cursor-blurred": "#e8edf4",
        "band": "#e9eef5",
        "good-bar": "#bfe6cd",
        "bad-bar": "#f7cfd2",
        "even-bar": "#cddff6",
        "ink": "#fbfcfe",
        "scrollbar": "#c8d1dd",
        "scrollbar-hover": "#8793a4",
        "scrollbar-active": "#0a5fc2",
        "scrollbar-background": "#fbfcfe",
        "scrollbar-background-hover": "#fbfcfe",
        "scrollbar-background-active": "#fbfcfe",
        "scrollbar-corner-color": "#fbfcfe",
    },
)


def _plain(theme: Theme, colours: dict[str, str]) -> Theme:
    """`theme` under the same name, in colours that a terminal of 16 has.

    Left to itself, Rich takes the nearest of the 16, which is a grey for every one of the soft colours above.
    """
    main = ("primary", "secondary", "accent", "success", "warning", "error", "foreground", "background", "panel")
    return Theme(
        name=theme.name,
        **{name: colours[name] for name in main},  # type: ignore[arg-type]
        surface=colours["background"],
        dark=theme.dark,
        variables={name: colours[USED_AS.get(name, name)] for name in theme.variables},
    )


USED_AS = {
    "raised": "background",
    "ink": "background",
    "scrollbar": "line",
    "scrollbar-hover": "muted",
    "scrollbar-active": "primary",
    "scrollbar-background": "background",
    "scrollbar-background-hover": "background",
    "scrollbar-background-active": "background",
    "scrollbar-corner-color": "background",
}
"""The colour that a variable takes where there are few."""

DARK_16 = _plain(
    DARK,
    {
        "primary": "#55ffff",
        "secondary": "#ff55ff",
        "accent": "#ffff55",
        "success": "#55ff55",
        "warning": "#ffff55",
        "error": "#ff5555",
        "foreground": "#ffffff",
        "background": "#000000",
        "panel": "#000000",
        "muted": "#aaaaaa",
        "faint": "#aaaaaa",
        "line": "#555555",
        "cursor": "#0000aa",
        "cursor-blurred": "#000000",
        "band": "#0000aa",
        "good-bar": "#00aa00",
        "bad-bar": "#aa0000",
        "even-bar": "#00aaaa",
    },
)
LIGHT_16 = _plain(
    LIGHT,
    {
        "primary": "#0000aa",
        "secondary": "#aa00aa",
        "accent": "#aa5500",
        "success": "#00aa00",
        "warning": "#aa5500",
        "error": "#aa0000",
        "foreground": "#000000",
        "background": "#ffffff",
        "panel": "#aaaaaa",
        "muted": "#555555",
        "faint": "#555555",
        "line": "#aaaaaa",
        "cursor": "#00aaaa",
        "cursor-blurred": "#ffffff",
        "band": "#00aaaa",
        "good-bar": "#aaaaaa",
        "bad-bar": "#aaaaaa",
        "even-bar": "#aaaaaa",
    },
)
