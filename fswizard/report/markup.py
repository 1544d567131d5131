"""The painter of forum markup: a short post, and the whole report below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from fswizard.language import _
from fswizard.model.analysis import Answer, Findings
from fswizard.model.frozen import frozen
from fswizard.report import content, text
from fswizard.report.blocks import Block, Bullets, Commands, Facts, Figures, Paragraph, Ratios, Table


@frozen
class Marks:
    """The marks of one kind of markup; `{}` is where the text goes."""

    escape: Callable[[str], str]
    """Escapes marks in a text."""
    strong: str
    between: str
    """What separates blocks."""
    code: Callable[[Sequence[str]], str]
    table: Callable[[Table], str]
    fold: str
    """Title and text of what is folded away, or stands below."""


def _render(marks: Marks, findings: Findings, *, full: bool) -> str:
    post = _painted(content.short(findings), marks)
    if not full:
        return f"{post}\n"
    _answer, *rest, _attempt = content.full(findings)  # the post has both
    return f"{post}\n\n{marks.fold.format(_('Full report'), _painted(rest, marks))}\n"


def _painted(blocks: Iterable[Block], marks: Marks) -> str:
    escape = marks.escape
    parts: list[str] = []
    for block in blocks:
        items: tuple[str, ...] = ()
        shown = block.table if isinstance(block, Ratios) else block
        match shown:
            case Answer():
                parts.append(marks.strong.format(escape(shown.headline)))
                items = shown.lines
            case Bullets() if shown.items:
                parts.append(f"{escape(shown.title)}:" if shown.title else "")
                items = shown.items
            case Paragraph():
                parts.append(escape(shown.text))
            case Facts():
                parts.append(marks.table(Table(("", shown.title), shown.rows)))
            case Table() if shown.rows:
                parts += [marks.table(shown), *map(escape, shown.notes)]
            case Commands() if shown.commands:
                parts += [f"{escape(shown.title)}:" if shown.title else "", marks.code(shown.commands)]
            case Figures() if shown.charts:
                parts += [escape(shown.caption), marks.code(text.bars(shown.charts))]
        parts.append("\n".join(f"- {escape(item)}" for item in items))
    return marks.between.join(filter(None, parts))


_MARKUP = re.compile(r"[\\`*_{}\[\]|~#$!]")
_LIST_MARK = re.compile(r"^(\s*\d*)([-+.)])(?=\s|$)")
"""Characters that begin a list at the start of a line."""


def no_markdown(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIST_MARK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", text))


def _indented(lines: Sequence[str]) -> str:
    """A block of code as every kind of Markdown reads it."""
    return "\n".join(f"    {line}".rstrip() for line in lines)


def _piped(table: Table) -> str:
    figures = "---" if len(table.header) == 2 else "---:"
    align = ("---", *[figures] * (len(table.header) - 1))
    header, *rows = [tuple(map(no_markdown, row)) for row in (table.header, *table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, align, *rows))


REDDIT = Marks(no_markdown, "**{}**", "\n\n", _indented, _piped, "**{}**\n\n{}")
MARKDOWN = Marks(
    no_markdown, "**{}**", "\n\n", _indented, _piped, "<details>\n<summary>{}</summary>\n\n{}\n\n</details>"
)


def _no_brackets(line: str) -> str:
    """`line` without brackets: BBCode knows no way to quote them, not even inside [code]."""
    return line.translate(str.maketrans("[]", "()"))


def _code(lines: Sequence[str]) -> str:
    return "\n".join(("[code]", *map(_no_brackets, lines), "[/code]"))


BBCODE = Marks(
    _no_brackets, "[b]{}[/b]", "\n", _code, lambda table: _code(text.table(table)), "{}:\n[spoiler]{}[/spoiler]"
)

render_markdown, render_reddit, render_bbcode = (partial(_render, marks) for marks in (MARKDOWN, REDDIT, BBCODE))
