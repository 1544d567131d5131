"""Markdown for GitHub and Discourse: a post, and the full report folded below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fswizard.model.analysis import Findings
from fswizard.report import layout
from fswizard.report.presentation import FULL_REPORT, SET_UP, Presentation, Table, present

_MARKUP = re.compile(r"[\\`*_{}\[\]|~#$!]")
_LIST_MARK = re.compile(r"^(\s*\d*)([-+.)])(?=\s|$)")
"""Characters that begin a list at the start of a line."""


def render(findings: Findings) -> str:
    view = present(findings)
    folded = (f"<details>\n<summary>{FULL_REPORT}</summary>", *_blocks(view), "</details>")
    return _joined((*_post(view), *folded))


def render_post(findings: Findings) -> str:
    """A post without the full report, for Reddit, where nothing can be folded."""
    return _joined(_post(present(findings)))


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(filter(None, blocks)) + "\n"


def _post(view: Presentation) -> Iterator[str]:
    card = view.card
    verdict = f"**{escape(card.verdict.strip())}**" if card.verdict.strip() else ""
    yield ", ".join(filter(None, (verdict, escape(card.certainty))))
    yield _list(view.below)
    yield _table(view.post_table)
    yield escape(view.in_short)
    yield f"    {view.attempt}" if view.attempt else ""  # a block of code as every kind of Markdown reads it


def _blocks(view: Presentation) -> Iterator[str]:
    if view.card.commands:
        yield f"{SET_UP}:\n\n{_fenced(view.card.commands)}"
    yield f"**{escape(view.title.strip())}**" if view.title.strip() else ""
    yield _fenced(layout.figure_bars(view))
    yield _list(reason.text for reason in view.reasons)
    yield _table(Table(("", view.title), view.facts))
    bars = layout.bars(view)
    yield f"{escape(view.axis_note)}:" if bars else ""
    yield _fenced(bars)
    yield _table(view.by_workload)
    yield escape(". ".join(text.replace("  ", ", ") for text in view.explained))
    yield _table(view.also_measured)
    for title, items in view.lists.items():
        yield f"{title}:\n\n{_list(items)}"
    for title, commands in view.commands.items():
        yield f"{title}:\n\n{_fenced(commands)}"


def escape(text: str) -> str:
    """`text` as it stands, whatever marks of Markdown or HTML are in it."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIST_MARK.sub(r"\1\\\2", _MARKUP.sub(lambda match: "\\" + match[0], text))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {escape(item)}" for item in items)


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    align = ["---", *(["---" if len(table.header) == 2 else "---:"] * (len(table.header) - 1))]
    lines = [[escape(cell) for cell in table.header], align, *([escape(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fenced(lines: Sequence[str]) -> str:
    """A block of code; its fence is longer than any within."""
    if not lines:
        return ""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *lines, fence))
