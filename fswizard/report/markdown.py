"""Markdown with tables, as GitHub and most forums read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fswizard.model.judgement import Findings
from fswizard.report import layout
from fswizard.report.arrays import WHEN_A_DISK_FAILS
from fswizard.report.content import LEGEND, PUBLISHED, Content, gather

_MARKUP = re.compile(r"[\\`*_{}\[\]|~#$!]")
_LIST_MARK = re.compile(r"^(\s*\d*)([-+.)])(?=\s|$)")
"""What begins a list where it begins a line."""


def render(findings: Findings) -> str:
    content = gather(findings)
    return "\n\n".join(block for block in _blocks(content) if block) + "\n"


def _blocks(content: Content) -> Iterator[str]:
    yield f"**{escape(content.headline.strip())}**" if content.headline.strip() else ""
    yield _list(content.reasons)
    yield _table(("", content.title), [(label, text) for label, text in content.facts])
    bars = layout.bars(content)
    yield f"{escape(content.axis_note)}:" if bars else ""
    yield _fenced(bars)
    yield from _workloads(content)
    names = content.measured_candidates
    rows = [[extra.title, *(extra.figures.get(name, "–") for name in names)] for extra in content.extras]
    yield _table(("Also measured", *names), rows) if rows else ""
    yield _section(WHEN_A_DISK_FAILS, _list(content.layouts))
    yield _section("Failed", _list(content.failures))
    yield _section("Doubts", _list((*content.doubts, *content.notes)))
    yield _section(PUBLISHED, _list(content.published))
    yield _section("Commands of the run", _fenced(content.measured))
    yield _section("To use it", _fenced(content.use))
    yield _section("To repeat it", _fenced((content.repeat,) if content.repeat else ()))


def _workloads(content: Content) -> Iterator[str]:
    if not content.rows:
        return
    compared = [name for name in content.candidates if any(name in row.ratios for row in content.rows)]
    shares = any(row.share for row in content.rows)
    header = ("By workload", "Weight", content.baseline, *(["of bare"] * shares), *compared)
    rows = [
        (
            row.title,
            f"{row.weight:g}",
            row.figures.get(content.baseline, "–"),
            *([row.share or "–"] * shares),
            *(layout.ratio_cell(row, name) for name in compared),
        )
        for row in content.rows
    ]
    yield _table(header, rows)
    bare = f" Of bare: share of the bare device's figure that {content.first} reached." if shares else ""
    yield escape(f"Verdicts: {LEGEND.replace('  ', ', ')}.{bare}")


def escape(text: str) -> str:
    """`text` as it stands, whatever marks of Markdown or HTML are in it."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIST_MARK.sub(r"\1\\\2", _MARKUP.sub(lambda match: "\\" + match[0], text))


def _section(title: str, body: str) -> str:
    return f"{title}:\n\n{body}" if body else ""


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {escape(item)}" for item in items)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    align = ["---", *(["---" if len(header) == 2 else "---:"] * (len(header) - 1))]
    lines = [[escape(cell) for cell in header], align, *([escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fenced(lines: Sequence[str]) -> str:
    """A block of code; its fence is longer than any within."""
    if not lines:
        return ""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *lines, fence))
