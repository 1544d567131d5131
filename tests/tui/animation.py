"""Several pictures of a screen as one SVG that shows them one after the other; what stays the same is there once."""

from __future__ import annotations

import re
from collections.abc import Sequence

NAME = re.compile(r'class="(terminal-\d+)-matrix"')
STYLE = re.compile(r"\.terminal-(r\d+) \{ (.*) \}")
PART = re.compile(r"<rect [^>]*/>|<text .*?</text>")
CLASS = re.compile(r'class="terminal-(r\d+)"')
SCREEN = '<g transform="translate(9, 41)" clip-path="url(#terminal-clip-terminal)">'
TEXTS = '<g class="terminal-matrix">'
STILL = "@media (prefers-reduced-motion: reduce) {{ {selectors} {{ animation: none }} }}"


def animated(pictures: Sequence[str], seconds: Sequence[float]) -> str:
    """One SVG from screenshots of the same size, each shown for its time; where nothing moves, the last one shows."""
    plain = [_renamed(picture) for picture in pictures]
    styles: dict[str, str] = {}
    grounds: dict[str, set[int]] = {}
    words: dict[str, set[int]] = {}
    for number, picture in enumerate(plain):
        own = dict(STYLE.findall(picture))
        below, above = picture.partition(SCREEN)[2].split(TEXTS)
        for parts, found in ((grounds, below), (words, above)):
            for part in PART.findall(found):
                parts.setdefault(_shared(part, styles, own), set()).add(number)
    clock = _Clock(seconds)
    drawn = ["".join(clock.part(part, shown) for part, shown in parts.items()) for parts in (grounds, words)]
    head, _, rest = plain[0].partition("</style>")
    rules = [*(f".{name} {{ {rule} }}" for rule, name in styles.items()), *clock.rules()]
    return "".join(
        (
            STYLE.sub("", head).rstrip(), "\n", "\n".join(rules), "\n</style>", rest.partition(SCREEN)[0],
            SCREEN, drawn[0], TEXTS, drawn[1], "</g></g></svg>\n",
        )
    )  # fmt: skip


def _renamed(picture: str) -> str:
    name = NAME.findall(picture)[0]
    return picture.replace(name, "terminal")


def _shared(part: str, styles: dict[str, str], own: dict[str, str]) -> str:
    """`part` with the classes that all pictures share in place of its picture's own."""
    return CLASS.sub(lambda match: _class(styles, own[match[1]]), part)


def _class(styles: dict[str, str], rule: str) -> str:
    return f'class="{styles.setdefault(rule, f"c{len(styles)}")}"'


class _Clock:
    """When which parts are to be seen."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self._count = len(seconds)
        self._total_s = sum(seconds)
        self._starts = [100 * sum(seconds[:number]) / self._total_s for number in range(self._count)]
        self._names: dict[frozenset[int], str] = {}

    def part(self, part: str, shown: set[int]) -> str:
        """A part that is there all the time, or one of a group that comes and goes together."""
        if len(shown) == self._count:
            return part
        return f'<g class="{self._names.setdefault(frozenset(shown), f"a{len(self._names)}")}">{part}</g>'

    def rules(self) -> list[str]:
        rules = []
        for shown, name in self._names.items():
            stages = " ".join(
                f"{start:.2f}% {{ visibility: {_seen(number in shown)} }}" for number, start in enumerate(self._starts)
            )
            rest = _seen(self._count - 1 in shown)
            rules.append(f"@keyframes {name} {{ {stages} }}")
            rules.append(f".{name} {{ visibility: {rest}; animation: {name} {self._total_s:g}s step-end infinite }}")
        return [*rules, STILL.format(selectors=", ".join(f".{name}" for name in self._names.values()))]


def _seen(seen: bool) -> str:
    return "visible" if seen else "hidden"
