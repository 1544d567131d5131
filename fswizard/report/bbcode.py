"""BBCode for forums: headings as text, everything in columns as code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fswizard.model.judgement import Findings
from fswizard.report import layout
from fswizard.report.presentation import SET_UP, Presentation, present

_BRACKETS = str.maketrans("[]", "()")


def render(findings: Findings) -> str:
    return "\n\n".join(block for block in _blocks(present(findings)) if block) + "\n"


def _blocks(view: Presentation) -> Iterator[str]:
    card = view.card
    yield f"[b]{escape(card.verdict)}[/b]\n" + _lines((card.certainty, *view.below))
    if card.commands:
        lines = [line for each in card.commands for line in layout.command_lines(each, indent=0)]
        yield f"[b]{SET_UP}[/b]\n{_code(lines)}"
    yield f"[b]{escape(view.title)}[/b]\n{_code(layout.figure_bars(view))}"
    yield _lines(f"- {reason.text}" for reason in view.reasons)
    yield "\n".join(f"[b]{escape(label)}:[/b] {escape(text)}" for label, text in view.facts)
    bars = layout.bars(view)
    yield f"{escape(view.axis_note)}\n{_code(bars)}" if bars else ""
    yield _code(layout.workload_table(view))
    yield _code(layout.tables(view.also_measured, fixed=1))
    for title, items in view.lists.items():
        yield f"[b]{title}[/b]\n{_lines(f'- {item}' for item in items)}"
    for title, commands in view.commands.items():
        yield f"[b]{title}[/b]\n{_code([line for each in commands for line in layout.command_lines(each, indent=0)])}"


def escape(text: str) -> str:
    """`text` without brackets: BBCode knows no way to quote them, not even inside [code]."""
    return text.translate(_BRACKETS)


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(map(escape, lines))


def _code(lines: Sequence[str]) -> str:
    return f"[code]\n{_lines(lines)}\n[/code]" if lines else ""
