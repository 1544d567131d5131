"""BBCode for forums: headings as text, everything in columns as code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fswizard.model.judgement import Findings
from fswizard.report import layout
from fswizard.report.arrays import WHEN_A_DISK_FAILS
from fswizard.report.content import PUBLISHED, Content, gather

_BRACKETS = str.maketrans("[]", "()")


def render(findings: Findings) -> str:
    content = gather(findings)
    return "\n\n".join(block for block in _blocks(content) if block) + "\n"


def _blocks(content: Content) -> Iterator[str]:
    yield f"[b]{escape(content.headline)}[/b]"
    yield _lines(f"- {reason}" for reason in content.reasons)
    yield "\n".join(f"[b]{escape(label)}:[/b] {escape(text)}" for label, text in content.facts)
    bars = layout.bars(content)
    yield f"{escape(content.axis_note)}\n{_code(bars)}" if bars else ""
    yield _code(layout.workload_table(content))
    yield _code(layout.extras_table(content))
    yield _section(WHEN_A_DISK_FAILS, _lines(f"- {text}" for text in content.layouts))
    yield _section("Failed", _lines(f"- {text}" for text in content.failures))
    yield _section("Doubts", _lines(f"- {text}" for text in (*content.doubts, *content.notes)))
    yield _section(PUBLISHED, _lines(f"- {text}" for text in content.published))
    yield _section("Commands of the run", _commands(content.measured))
    yield _section("To use it", _commands(content.use))
    yield _section("To repeat it", _commands((content.repeat,) if content.repeat else ()))


def escape(text: str) -> str:
    """`text` without brackets: BBCode knows no way to quote them, not even inside [code]."""
    return text.translate(_BRACKETS)


def _section(title: str, body: str) -> str:
    return f"[b]{title}[/b]\n{body}" if body else ""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(map(escape, lines))


def _commands(commands: Sequence[str]) -> str:
    return _code([line for command in commands for line in layout.command_lines(command, indent=0)])


def _code(lines: Sequence[str]) -> str:
    return f"[code]\n{_lines(lines)}\n[/code]" if lines else ""
