"""Findings as text for readers and programs: one file per format, each a pure function.

To add an export format, write `fswizard/report/NAME.py` with a function `render(findings: Findings) -> str`, and its
line in FORMATS below. Name it in `README.md`, in the table of formats in `fswizard/USAGE.md`, and in `CHANGELOG.md`.

- Its text is one line each, without control characters. `fswizard.sharing` decides before what may be in it.
- `content.full` and `content.short` have every sentence and figure as blocks of the kinds in `blocks.py`, in order; a
  format only paints them. What they lack is added there, so that the other formats say it too.
- `text.paint` paints blocks for a fixed-width font. Markup for a forum is one more table of marks in `markup.py`.
- Escape every text for the format's own markup. `tests/unit/test_report_formats.py` tries hostile names on each format
  there is; add there what opens yours, as its readers do.

The first command below makes the manual page again, the last one the pictures of the wizard's list:

    .venv/bin/python packaging/share.py
    .venv/bin/pytest tests/unit/test_report_formats.py tests/unit/test_packaging.py
    .venv/bin/pytest -k export --snapshot-update tests/tui/test_screens.py
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.analysis import Findings
from fswizard.model.frozen import frozen


@frozen
class Format:
    """A way of writing a report down."""

    title: str
    suffix: str
    """Ending of a file's name, such as `.md`."""
    module: str
    function: str = "render"
    shortened: bool = False
    """Whether it has a short form, and the whole report only where that is asked for."""
    drawn: bool = False
    """Whether its text is an SVG, of which `fswizard.system.pictures` makes a PNG."""
    english: bool = False
    """Whether it is English in every language, as programs read it."""


MARKUP = "fswizard.report.markup"
FORMATS: Mapping[str, Format] = {
    "text": Format(N_("Plain text, 80 columns"), ".txt", "fswizard.report.text", shortened=True),
    "markdown": Format(N_("Markdown: GitHub, Discourse"), ".md", MARKUP, "render_markdown", shortened=True),
    "reddit": Format(N_("Markdown, short: Reddit"), ".reddit.md", MARKUP, "render_reddit", shortened=True),
    "bbcode": Format(N_("BBCode: phpBB and others"), ".bbcode", MARKUP, "render_bbcode", shortened=True),
    "svg": Format(N_("Card as SVG, light or dark"), ".svg", "fswizard.report.svg"),
    "png": Format(N_("Card as PNG, light"), ".png", "fswizard.report.svg", drawn=True),
    "png-dark": Format(N_("Card as PNG, dark"), ".dark.png", "fswizard.report.svg", "render_dark", drawn=True),
    "html": Format(N_("Web page with charts"), ".html", "fswizard.report.html"),
    "csv": Format(N_("Every figure, as a table"), ".csv", "fswizard.report.csv", english=True),
    "json": Format(N_("Everything, for programs"), ".json", "fswizard.report.json", english=True),
    "result": Format(N_("A result to share"), ".jsonl", "fswizard.report.json", "render_result", english=True),
}


def find_format(name: str) -> Format:
    """One of FORMATS; raises UsageError if there is no such format."""
    if name not in FORMATS:
        raise UsageError(
            _("There is no format '{name}'.", name=name), _("There are: {formats}.", formats=", ".join(FORMATS))
        )
    return FORMATS[name]


def format_of(file_name: str) -> str:
    """The format for a file's name, by default text."""
    fitting = [name for name, known in FORMATS.items() if file_name.endswith(known.suffix)]
    return max(fitting, key=lambda name: len(FORMATS[name].suffix), default="text")


def render(findings: Findings, format_name: str, *, full: bool = False) -> str:
    """The report in one of FORMATS; raises UsageError if there is no such format.

    It contains all that the findings do: what leaves the machine comes from `fswizard.sharing.export`. Formats that
    have a short form are that, unless `full` asks for the whole report.
    """
    chosen = find_format(format_name)
    painted = getattr(importlib.import_module(chosen.module), chosen.function)
    text: str = painted(findings, full=full) if chosen.shortened else painted(findings)
    return text
