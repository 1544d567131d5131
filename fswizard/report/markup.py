"""The painter of forum markup: a post of what fits into one, and the whole report folded below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fswizard.language import _
from fswizard.model.analysis import Findings
from fswizard.report import layout, text
from fswizard.report.document import Answer, Block, Bullets, Commands, Document, Facts, Table, Words
from fswizard.report.presentation import FULL_REPORT, document, post, present


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one kind of markup; `{}` is where the text goes."""

    escape: Callable[[str], str]
    """Escapes marks in a text."""
    strong: str
    item: str
    between: str
    """What separates blocks."""
    code: Callable[[Iterable[str]], str]
    table: Callable[[Table], str]
    folded: Callable[[Document], str] | None = None
    """The whole report, folded."""


def render_markdown(findings: Findings) -> str:
    return _render(findings, MARKDOWN)


def render_reddit(findings: Findings) -> str:
    return _render(findings, REDDIT)


def render_bbcode(findings: Findings) -> str:
    return _render(findings, BBCODE)


def _render(findings: Findings, marks: Marks) -> str:
    view = present(findings)
    parts = [_painted(post(view), marks)]
    if marks.folded:
        parts.append(marks.folded(document(view)))
    return "\n\n".join(parts) + "\n"


def _painted(blocks: Document, marks: Marks) -> str:
    return marks.between.join(part for block in blocks for part in _parts(block, marks) if part)


def _parts(block: Block, marks: Marks) -> Iterator[str]:
    escape = marks.escape
    match block:
        case Answer():
            yield _strong(block.headline, marks)
            yield _list(block.lines, marks)
        case Words():
            yield from (_strong(text, marks) if block.strong else escape(text) for text in block.paragraphs)
        case Facts():
            yield marks.table(Table(("", block.title), block.rows))
        case Table():
            yield marks.table(block)
            yield escape(". ".join(note.replace("  ", ", ") for note in block.notes))
        case Bullets() if block.items:
            yield f"{escape(block.title)}:" if block.title else ""
            yield _list(block.items, marks)
        case Commands() if block.commands:
            yield f"{escape(block.title)}:" if block.title else ""
            yield marks.code(block.commands)
        case _:
            lines = text.block_lines(block)
            if lines:
                yield marks.code(lines)


def _strong(words: str, marks: Marks) -> str:
    return marks.strong.format(marks.escape(words.strip())) if words.strip() else ""


def _list(items: Iterable[str], marks: Marks) -> str:
    return "\n".join(marks.item.format(marks.escape(item)) for item in items)


# Markdown

_MARKUP = re.compile(r"[\\`*_{}\[\]|~#$!]")
_LIST_MARK = re.compile(r"^(\s*\d*)([-+.)])(?=\s|$)")
"""Characters that begin a list at the start of a line."""


def no_markdown(words: str) -> str:
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIST_MARK.sub(r"\1\\\2", _MARKUP.sub(lambda match: "\\" + match[0], words))


def _indented(lines: Iterable[str]) -> str:
    """A block of code as every kind of Markdown reads it."""
    return "\n".join(f"    {line}".rstrip() for line in lines)


def _piped(table: Table) -> str:
    if not table.rows:
        return ""
    align = ["---", *(["---" if len(table.header) == 2 else "---:"] * (len(table.header) - 1))]
    cells = [list(map(no_markdown, row)) for row in (table.header, *table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], align, *cells[1:]))


def _details(blocks: Document) -> str:
    """Without the answer, which stands above."""
    return f"<details>\n<summary>{_(FULL_REPORT)}</summary>\n\n{_painted(blocks[1:], MARKDOWN)}\n\n</details>"


REDDIT = Marks(no_markdown, "**{}**", "- {}", "\n\n", _indented, _piped)
MARKDOWN = Marks(no_markdown, "**{}**", "- {}", "\n\n", _indented, _piped, _details)


# BBCode


def _no_brackets(line: str) -> str:
    """`line` without brackets: BBCode knows no way to quote them, not even inside [code]."""
    return line.translate(str.maketrans("[]", "()"))


def _code(lines: Iterable[str]) -> str:
    return "\n".join(("[code]", *map(_no_brackets, lines), "[/code]"))


def _columns(table: Table) -> str:
    rows = layout.table(table.header, table.rows, longest=layout.WIDTH, ruled=False)
    return _code(rows) if table.rows else ""


def _spoiler(blocks: Document) -> str:
    return f"{_(FULL_REPORT)}:\n[spoiler]{_code(text.paint(blocks).splitlines())}[/spoiler]"


BBCODE = Marks(_no_brackets, "[b]{}[/b]", "{}", "\n", _code, _columns, _spoiler)
