"""Wizard, report, history and comparison say the same words and figures of the same result."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.filesystems import parse_candidates
from fswizard.model.analysis import Findings
from fswizard.model.plan import Member, Target
from fswizard.model.result import Result
from fswizard.report import FORMATS, content, render
from fswizard.report.subject import run_text
from fswizard.results import all_results
from fswizard.stats import analyse
from fswizard.tui import drawing
from fswizard.tui.screens.history import answer_of
from fswizard.tui.screens.result import answer_lines
from tests.builders import make_plan, make_result, make_samples, write_result
from tests.fakes.command_line import fswizard
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


def said(findings: Findings) -> dict[str, str]:
    """What each format for people says, without its markup; the wizard's details are the text."""
    page = re.sub(r"<(?:/[^>]*|[a-z][^>]*)>", " ", render(findings, "html"))
    texts = {name: render(findings, name, full=True) for name in ("text", "markdown", "bbcode")}
    texts["markdown"] = re.sub(r"\\(.)", r"\1", texts["markdown"])
    return {"html": html.unescape(page), **texts}


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
def test_figures_and_sentences_are_the_same_and_nothing_is_certain_where_it_is_open(make: Callable[[], Result]) -> None:
    findings = conclude(make())
    table = content.ratios(findings).table
    texts = [each.text for each in (*findings.reasons, *findings.doubts)]
    sentences = (findings.answer.verdict, *findings.answer.lines, *texts, *content.notes(findings))
    for room, text in said(findings).items():
        if findings.answer.kind == "open":
            assert not re.search("✓|at least|chance of|confidence", text.partition("\n\n")[0]), room
        shorter = flat(text)
        for row in table.rows:
            assert [cell for cell in row if flat(cell) not in shorter] == [], room
        joined = flat(re.sub(r"(?m)^\s*[-!·▲▼▽✗★◷⊘›✓═○] ", "", text))
        assert [sentence for sentence in sentences if flat(sentence) not in joined] == [], room


@EACH
def test_the_history_has_the_verdict_who_is_not_out_and_how_long_it_took(
    make: Callable[[], Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("fswizard.results.all_results", all_results)  # of this directory
    result = make()
    findings = conclude(result)
    write_result(results.new_path(result.plan), result, analyse(result), findings.answer)
    (entry,) = all_results()
    failed = {ratio.candidate for ratio in findings.analysis.overall if ratio.verdict == "failed"}
    assert not {*entry.ending.leaders} & {*findings.answer.behind, *failed}
    assert (entry.verdict, entry.sign) == (findings.answer.verdict, findings.answer.sign)
    marks = (answer_of(entry)[0], next(iter(answer_lines(findings)))[0])
    assert drawing.text(marks[0]).markup == drawing.text(marks[1]).markup
    listed = fswizard("history").stdout
    assert flat(entry.verdict) in flat(listed)
    length = run_text(findings.analysis.rounds, result.elapsed_s, result.outcome, len(result.discarded_rounds))
    assert length in listed
    assert length in flat(said(findings)["text"])
