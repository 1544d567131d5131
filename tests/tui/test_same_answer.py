"""Wizard, report, history and comparison say the same words and figures of the same result."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from fswizard.advice import conclude
from fswizard.filesystems import parse_candidates
from fswizard.model.analysis import Findings
from fswizard.model.plan import Member, Target
from fswizard.model.result import Result
from fswizard.report import FORMATS, content, render
from fswizard.tui import drawing
from fswizard.tui.screens.result import answer_lines
from tests.builders import make_plan, make_result, make_samples
from tests.tui.screenshots import result as recorded_result
from tests.unit.report_findings import make_findings


def early() -> Result:
    """The recorded run after its third round: nothing is settled between two, and one is out."""
    whole = recorded_result("six-rounds")
    return replace(whole, samples=tuple(s for s in whole.samples if s.round <= 3), survivors=None, outcome="stopped")


def beaten() -> Result:
    """One that is out although not proven slower than the baseline: another one beats it."""
    return make_result(
        {
            "ext4": (100.0, 102.0, 98.0, 101.0),
            "xfs": (107.0, 104.0, 108.0, 105.0),
            "btrfs": (95.0, 94.0, 97.0, 93.0),
        }
    )


def array() -> Result:
    """Layouts of four disks."""
    figures = {"ext4": (100.0,) * 3, "md:raid10+ext4": (300.0,) * 3, "md:raid6+ext4": (200.0,) * 3}
    target = Target("device", "/d", 1_000_000_000, others=(Member("/d", 1_000_000_000),) * 3)
    candidates = tuple(candidate.on(4) for candidate in parse_candidates("; ".join(figures)))
    plan = replace(make_plan(tuple(figures)), candidates=candidates, target=target)
    return make_result(plan=plan, samples=make_samples(figures))


RESULTS: dict[str, Callable[[], Result]] = {
    "recorded": recorded_result,
    "stopped early": early,
    "archive disk": lambda: recorded_result("smr-fileserver"),
    "alike": lambda: recorded_result("ssd-tie"),
    "one beaten": beaten,
    "one failed": lambda: make_findings().result,
    "an array": array,
    "nothing measured": lambda: replace(early(), samples=(), outcome="killed"),
}
EACH = pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)


def answered(findings: Findings) -> str:
    """The first lines of the wizard's result."""
    lines = answer_lines(findings)
    return "\n".join(f"{drawing.text(mark).plain} {drawing.text(words).plain}" for mark, words in lines)


def flat(text: str) -> str:
    return " ".join(text.translate(str.maketrans("()", "[]")).split())


@EACH
def test_all_lead_with_the_answer(make: Callable[[], Result]) -> None:
    findings = conclude(make())
    answer = findings.answer
    for name in FORMATS.keys() - {"result"}:  # which is for programs
        plain = flat(html.unescape(re.sub(r"\\(.)", r"\1", render(findings, name))))
        figure = FORMATS[name].suffix in (".svg", ".png", ".dark.png")
        if figure:  # it wraps lines, and has the certainty above
            plain = flat(html.unescape(re.sub("<[^>]*>", " ", plain)))
        certainty = [answer.certainty] if answer.certainty and name != "json" else []  # a number there
        places = [plain.find(flat(line)) for line in (answer.verdict, *certainty, *answer.lines)]
        assert min(places) >= 0, (name, answer)
        assert figure or places == sorted(places), name
    drawn = answered(findings).splitlines()
    assert drawn[0].startswith(answer.sign.glyph) and answer.verdict in drawn[0] and answer.certainty in drawn[0]
    assert flat(" ".join(answer.lines)) in flat(re.sub(" ! ", " ", " ".join(drawn)))


@EACH
def test_bars_are_the_best_first_and_the_longest_is_the_best(make: Callable[[], Result]) -> None:
    findings = conclude(make())
    for chart in content.figures(findings).charts:
        lengths = [bar.length for bar in chart.bars]
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[0] in (0.0, 1.0)


@EACH
def test_figures_are_the_same_and_nothing_is_certain_where_it_is_open(make: Callable[[], Result]) -> None:
    findings = conclude(make())
    table = content.ratios(findings).table
    for room in ("text", "markdown", "bbcode", "html"):
        page = re.sub(r"<(?:/[^>]*|[a-z][^>]*)>|\\(?=\W)", " ", render(findings, room, full=True))
        said = flat(html.unescape(page))
        assert [cell for row in table.rows for cell in row if flat(cell) not in said] == [], room
        if findings.answer.kind == "open":
            assert not re.search("✓|at least|chance of|confidence", page.partition("\n\n")[0]), room
