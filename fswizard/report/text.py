"""Plain text for a terminal or a forum, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.model.analysis import Findings
from fswizard.report import layout
from fswizard.report.presentation import SET_UP, Presentation, present


def render(findings: Findings) -> str:
    return "\n\n".join("\n".join(block) for block in _blocks(present(findings)) if block) + "\n"


def _blocks(view: Presentation) -> Iterator[list[str]]:
    yield layout.card(view)
    if view.card.commands:
        yield [SET_UP, *(line for each in view.card.commands for line in layout.command_lines(each))]
    yield layout.wrap(view.title, layout.WIDTH)
    yield layout.figure_bars(view)
    yield [line for reason in view.reasons for line in layout.bullet(reason.text)]
    yield [line for label, text in view.facts for line in layout.labelled(label, text)]
    bars = layout.bars(view)
    yield [*layout.wrap(view.axis_note, layout.WIDTH), *bars] if bars else []
    yield layout.workload_table(view)
    yield layout.tables(view.also_measured, fixed=1)
    for title, items in view.lists.items():
        yield [title, *(line for item in items for line in layout.bullet(item))]
    for title, commands in view.commands.items():
        yield [title, *(line for command in commands for line in layout.command_lines(command))]
