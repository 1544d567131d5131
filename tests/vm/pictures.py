"""What stands on the serial terminal, kept as text, as SVG and, where there is a browser, as PNG."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from tests.tui.screenshots import WEB_FONT, draw
from tests.vm.terminal import Terminal

SIZE = (110, 40)
"""Columns and lines."""
FOLDER = Path(__file__).parents[2] / "build" / "test-machine"


def keep(terminal: Terminal, name: str) -> None:
    """Files of this name in `FOLDER`, in place of those of an earlier run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.txt").write_text(terminal.text(), "utf-8")
    width, height = SIZE
    console = Console(record=True, width=width, height=height, file=io.StringIO())
    console.print(Text.from_ansi(terminal.text(coloured=True)), end="")
    picture = FOLDER / f"{name}.svg"
    svg = console.export_svg(title="fswizard").replace(SVG_EXPORT_THEME.background_color.hex, "#000000")
    picture.write_text(WEB_FONT.sub("", svg), "utf-8")
    draw(picture)
