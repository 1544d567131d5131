"""Screenshots that look the same wherever they are drawn: bars as shapes, and each word where it stands.

Fonts draw block characters with seams between them, or in another width; and not every program that draws SVG keeps
several spaces in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape

from rich.cells import cell_len

TEXT = re.compile(
    r'<text class="(terminal-\S+-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"[^>]*>([^<]*)</text>'
)
CELL, LINE, ABOVE, SEAM = 12.2, 24.4, 18.5, 0.25
"""Width and height of a cell, how far its top is above the line that text stands on, and an overlap, in pixels."""
BLOCKS = {
    **{"▁▂▃▄▅▆▇█"[n - 1]: (0.0, 1 - n / 8, 1.0, n / 8) for n in range(1, 9)},
    **{"▏▎▍▌▋▊▉"[n - 1]: (0.0, 0.0, n / 8, 1.0) for n in range(1, 8)},
    "▀": (0.0, 0.0, 1.0, 0.5),
    "▐": (0.5, 0.0, 0.5, 1.0),
}
"""Left, top, width and height as shares of a cell."""
PARTS = re.compile(rf"([▁▂▃▄▅▆▇█▀])\1*|([▏▎▍▌▋▊▉▐])|[^\xa0\n{''.join(BLOCKS)}]+(?:\xa0[^\xa0\n{''.join(BLOCKS)}]+)*")


def crisp(svg: str) -> str:
    """A screenshot of Textual's, redrawn."""
    return TEXT.sub(lambda match: "".join(_parts(*match.groups())), svg)


def _parts(style: str, x: str, y: str, escaped: str) -> Iterator[str]:
    words = unescape(escaped)
    for part in PARTS.finditer(words):
        left = float(x) + cell_len(words[: part.start()]) * CELL
        wide = cell_len(part[0]) * CELL
        if part[0][0] in BLOCKS:
            yield _shape(style, part[0], left, float(y) - ABOVE)
        else:
            plain = escape(part[0], quote=False).replace("\xa0", "&#160;")
            yield f'<text class="{style}" x="{left:.5g}" y="{y}" textLength="{wide:.5g}">{plain}</text>'


def _shape(style: str, blocks: str, left: float, top: float) -> str:
    from_left, from_top, wide, high = BLOCKS[blocks[0]]
    place = f'x="{left + from_left * CELL:.5g}" y="{top + from_top * LINE:.5g}"'
    width = (len(blocks) if wide == 1.0 else wide) * CELL
    height = high * LINE + SEAM * (from_top + high == 1.0)
    return f'<rect class="{style}" {place} width="{width:.5g}" height="{height:.5g}"/>'
