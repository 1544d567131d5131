"""Several pictures of a screen as one SVG that shows them one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

STILL = "@media (prefers-reduced-motion: reduce) { svg { animation: none !important } }"


def animated(pictures: Sequence[str], seconds: Sequence[float]) -> str:
    """One SVG from screenshots of the same size, each shown for its time; where nothing moves, the last one shows."""
    whole, begins, rules, drawn = sum(seconds), 0.0, [STILL], []
    for number, (picture, lasts) in enumerate(zip(pictures, seconds)):
        stages = f"{100 * begins / whole:.2f}% {{ opacity: 1 }} {100 * (begins + lasts) / whole:.2f}% {{ opacity: 0 }}"
        rules.append(f"@keyframes a{number} {{ 0% {{ opacity: 0 }} {stages} }}")
        shown = int(number == len(pictures) - 1)
        rules.append(f".a{number} {{ opacity: {shown}; animation: a{number} {whole:g}s step-end infinite }}")
        drawn.append(picture.replace('class="rich-terminal"', f'class="rich-terminal a{number}"', 1))
        begins += lasts
    size = re.search(r'viewBox="[^"]*"', pictures[0])
    assert size is not None
    style = "\n".join(rules)
    return f'<svg {size[0]} xmlns="http://www.w3.org/2000/svg">\n<style>\n{style}\n</style>\n{"".join(drawn)}</svg>\n'
