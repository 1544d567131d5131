"""BBCode: what fits into a post, and the whole report as text, folded where the forum knows `[spoiler]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fswizard.model.analysis import Findings
from fswizard.report import layout, text
from fswizard.report.presentation import FULL_REPORT, Presentation, present

_BRACKETS = str.maketrans("[]", "()")


def render(findings: Findings) -> str:
    full = f"{FULL_REPORT}:\n[spoiler]{_code(text.render(findings).splitlines())}[/spoiler]"
    return "\n".join((*_post(present(findings)), "", full)) + "\n"


def _post(view: Presentation) -> Iterator[str]:
    card = view.card
    yield ", ".join(filter(None, (f"[b]{escape(card.verdict)}[/b]", escape(card.certainty))))
    yield from map(escape, view.below)
    table = view.post_table
    if table.rows:
        yield _code(layout.table(table.header, table.rows, longest=layout.WIDTH, ruled=False))
    yield escape(view.in_short)
    if view.attempt:
        yield _code([view.attempt])


def escape(line: str) -> str:
    """`line` without brackets: BBCode knows no way to quote them, not even inside [code]."""
    return line.translate(_BRACKETS)


def _code(lines: Iterable[str]) -> str:
    return "\n".join(("[code]", *map(escape, lines), "[/code]"))
