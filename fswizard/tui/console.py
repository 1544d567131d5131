"""The Linux console, whose font has 256 or 512 characters: what it lacks is shown by what every font of it has."""

from __future__ import annotations

_STAND_INS = {
    "✓": "+", "✗": "x", "▲": "^", "▼": "v", "▽": "v", "○": "o", "●": "O", "◉": "@", "★": "*", "◷": "!", "⚠": "!",
    "⊘": "x", "▶": ">", "▸": ">", "◂": "<", "›": ">", "❯": ">", "↻": "@", "⇄": "=", "✎": "~", "▤": "#", "✂": "%",
    "■": "#", "⏎": "┘", "⌫": "←", "×": "x", "–": "-", "−": "-", "—": "-", "…": "~", "•": "·", "“": '"', "”": '"',
    "’": "'", "╭": "┌", "╮": "┐", "╰": "└", "╯": "┘", "━": "─", "┃": "│", "┆": "│", "╂": "┼", "▕": "│",
    "▏": " ", "▎": "▌", "▍": "▌", "▋": "▌", "▊": "█", "▉": "█",
    "▁": "_", "▂": "_", "▃": "▄", "▅": "▄", "▆": "█", "▇": "█",
}  # fmt: skip
_SPINNER = dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\" * 3))
_TABLE = str.maketrans({**_STAND_INS, **_SPINNER})


def for_console(text: str) -> str:
    """`text` of the same width, in characters that the console can show; other languages' letters stay as they are."""
    return text.translate(_TABLE)
