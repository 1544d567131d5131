"""Several pictures of a screen as one SVG that shows them one after the other; what stays the same is there once."""

from __future__ import annotations

import re
from collections.abc import Sequence

NAME = re.compile(r'class="(terminal-\d+)-matrix"')
STYLE = re.compile(r"\.terminal-(r\d+) \{ (.*) \}\n")
PART = re.compile(r"<rect [^>]*/>|<text .*?</text>")
CLASS = re.compile(r'class="terminal-(r\d+)"')
SCREEN = '<g transform="translate(9, 41)" clip-path="url(#terminal-clip-terminal)">'
TEXTS = '<g class="terminal-matrix">'
STILL = "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }"


def animated(pictures: Sequence[str], seconds: Sequence[float]) -> str:
    """One SVG from screenshots of the same size, each shown for its time; where nothing moves, the last one shows."""
    plain = [picture.replace(NAME.findall(picture)[0], "terminal") for picture in pictures]
    shown: dict[str, set[int]] = {}
    for number, picture in enumerate(plain):
        styles = dict(STYLE.findall(picture))
        for part in PART.findall(picture.partition(SCREEN)[2]):
            styled = CLASS.sub(lambda match, styles=styles: f'style="{styles[match[1]]}"', part)
            shown.setdefault(styled, set()).add(number)
    groups: dict[frozenset[int], str] = {}
    drawn = []
    for part in sorted(shown, key=lambda part: not part.startswith("<rect fill")):  # grounds are below shapes and texts
        numbers = frozenset(shown[part])
        name = groups.setdefault(numbers, f"a{len(groups)}")
        drawn.append(part if len(numbers) == len(plain) else f'<g class="{name}">{part}</g>')
    rules = [STILL]
    for numbers, name in groups.items():
        visible = ["visible" if number in numbers else "hidden" for number in range(len(plain))]
        starts = [100 * sum(seconds[:number]) / sum(seconds) for number in range(len(plain))]
        stages = " ".join(f"{start:.2f}% {{ visibility: {seen} }}" for start, seen in zip(starts, visible))
        rules.append(f"@keyframes {name} {{ {stages} }}")
        timing = f"{name} {sum(seconds):g}s step-end infinite"
        rules.append(f".{name} {{ visibility: {visible[-1]}; animation: {timing} }}")
    head, _, rest = plain[0].partition("</style>")
    before = STYLE.sub("", head).rstrip() + "\n" + "\n".join(rules) + "\n</style>" + rest.partition(SCREEN)[0]
    return f"{before}{SCREEN}{TEXTS}{''.join(drawn)}</g></g></svg>\n"
