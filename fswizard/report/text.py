"""Plain text for a terminal or a forum, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.model.judgement import Findings
from fswizard.report import layout
from fswizard.report.arrays import WHEN_A_DISK_FAILS
from fswizard.report.content import PUBLISHED, Content, gather


def render(findings: Findings) -> str:
    content = gather(findings)
    return "\n\n".join("\n".join(block) for block in _blocks(content) if block) + "\n"


def _blocks(content: Content) -> Iterator[list[str]]:
    yield layout.wrap(content.headline, layout.WIDTH)
    yield [line for reason in content.reasons for line in layout.bullet(reason)]
    yield [line for label, text in content.facts for line in layout.labelled(label, text)]
    bars = layout.bars(content)
    yield [*layout.wrap(content.axis_note, layout.WIDTH), *bars] if bars else []
    yield layout.workload_table(content)
    yield layout.extras_table(content)
    for title, items in (
        (WHEN_A_DISK_FAILS, content.layouts),
        ("Failed", content.failures),
        ("Doubts", (*content.doubts, *content.notes)),
        (PUBLISHED, content.published),
    ):
        yield [title, *(line for item in items for line in layout.bullet(item))] if items else []
    for title, commands in (
        ("Commands of the run", content.measured),
        ("To use it", content.use),
        ("To repeat it", (content.repeat,) if content.repeat else ()),
    ):
        yield [title, *(line for command in commands for line in layout.command_lines(command))] if commands else []
