"""How layouts over several disks are shown: their room, what they survive, and what a failed disk does."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from fswizard.model.filesystem import Candidate, MkfsOption
from fswizard.model.layout import DEGRADED, Array
from fswizard.model.units import size_text
from fswizard.tui.drawing import cut, facts, fit, lines, text, tick, wrap
from fswizard.tui.widgets.choice_list import Draw, ListRow

ALONE = "Everything on it is lost with it."
DEGRADED_TEXT = "One disk is taken away before measuring: what the layout is like until a new one is put in."


def header(width: int) -> Content:
    """Names of the columns of `layout_row`."""
    cells = [text((name, "$faint")) for name in ("", "Layout", "Room", "May fail", "")]
    return _line(cells, width)


def header_row(key: str) -> ListRow:
    """The same as a row of a list."""
    return ListRow(key, lambda width, on: header(width), False)


def layout_row(
    candidate: Candidate, members: int, member_bytes: int, *, ticked: bool, usable: bool, note: str, baseline: bool
) -> Draw:
    """Tick, name, room, and how many disks may fail."""

    def draw(width: int, on: bool) -> Content:
        mark = text(("▌" if on else " ", "$primary"), tick(ticked, enabled=usable))
        name = text((cut(candidate.name, _widths(width)[1]), "bold" if usable else "$faint"))
        remark = text(("baseline", "$primary") if baseline else (note, "$muted"))
        style = "" if usable else "$faint"
        room = text((size_text(room_bytes(candidate, members, member_bytes)), style))
        survives = candidate.on(members).array
        may_fail = text((str(survives.survives) if survives else "none", style))
        return _line((mark, name, room, may_fail, remark), width)

    return draw


def _widths(width: int) -> tuple[int, ...]:
    note = 10 if width >= 56 else 0
    return (4, max(8, width - 4 - 8 - 8 - note - 2 * (4 if note else 3)), 8, 8, note)


def _line(cells: Sequence[Content], width: int) -> Content:
    parts = [fit(c, w, "right" if n in (2, 3) else "left") for n, (c, w) in enumerate(zip(cells, _widths(width))) if w]
    return fit(Content("  ").join(parts), width)


def room_bytes(candidate: Candidate, members: int, member_bytes: int) -> int:
    """The room it has, before its own structures."""
    if candidate.array is None:
        return member_bytes
    return candidate.array.layout.usable_bytes(members, member_bytes)


def explain_layout(candidate: Candidate, members: int, member_bytes: int, width: int) -> Content:
    """What it is good for, its room, what it survives, and what a failed disk does."""
    array = candidate.on(members).array
    whole, room = size_text(members * member_bytes), size_text(room_bytes(candidate, members, member_bytes))
    if array is None:
        rows = [text(("On the first disk alone", "bold"))]
        pairs = [("Room", f"{room} of {whole}"), ("May fail", "no disk"), ("Then", ALONE)]
        return lines([*rows, facts(pairs, width, label=10, gap=False)])
    fail = array.survives
    more = "more " if array.degraded else ""
    failing = f"any {fail} {more}disk{'s' * (fail != 1)}" if fail > 0 else f"no {more}disk"
    pairs = [("Room", f"{room} of {whole}"), ("May fail", failing), ("Then", array.layout.failed)]
    if array.degraded:
        pairs.append(("Missing", DEGRADED_TEXT))
    rows = [text((array.layout.title, "bold")), *wrap(array.layout.text, width)]
    return lines([*rows, facts(pairs, width, label=10, gap=False)])


def layout_tokens(array: Array | None) -> dict[str, MkfsOption]:
    """What can be chosen about an array, as it is typed, beside the filesystem's own options."""
    if array is None:
        return {}
    tokens = {
        f"{option.name}={value}": MkfsOption(option.name, option.flag, value, option.text, source=option.source)
        for option in array.layout.options
        for value in option.values[1:]
    }
    tokens[DEGRADED] = MkfsOption(DEGRADED, "", "", DEGRADED_TEXT, unsafe=False, source=array.layout.source)
    return tokens


def chosen_tokens(array: Array | None) -> set[str]:
    """Those of `layout_tokens` that an array has."""
    if array is None:
        return set()
    chosen = {f"{name}={value}" for name, value in array.options.items()}
    return chosen | ({DEGRADED} if array.degraded else set())


def short_name(filesystem: str, array: Array | None, layout_words: Sequence[str], options: Sequence[str]) -> str:
    """What people type for a filesystem with options on an array with words of its own."""
    on_it = filesystem + (":" + ",".join(options) if options else "")
    if array is None:
        return on_it
    words = [array.layout.word, *layout_words]
    if array.layout.maker == "md":
        return f"md:{','.join(words)}+{on_it}"
    return f"{filesystem}:{','.join([*words, *options])}"


def best_first(candidates: Sequence[Candidate], members: int, member_bytes: int) -> list[str]:
    """What to tick to begin with: one disk alone, and of each maker what leaves most room and lets a disk fail."""
    chosen: dict[str, Candidate] = {}
    for candidate in candidates:
        maker = candidate.array.layout.maker if candidate.array else ""
        known = chosen.get(maker)
        room = room_bytes(candidate, members, member_bytes)
        if known is None or room > room_bytes(known, members, member_bytes):
            chosen[maker] = candidate
    return [candidate.name for candidate in chosen.values()]
