"""Every format, opened by something that really reads it."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from itertools import chain

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fswizard.advice import conclude
from fswizard.errors import UsageError
from fswizard.model.analysis import Analysis, Findings
from fswizard.model.codec import from_json
from fswizard.model.text import harmless
from fswizard.report import FORMATS, content, format_of, render
from fswizard.report.subject import attempt_command
from fswizard.report.svg import HEIGHT, WIDTH
from fswizard.sharing import export
from fswizard.system.pictures import png
from tests.builders import make_drive, make_plan, make_result, make_samples, make_workload
from tests.result_schema import PATH, schema
from tests.unit.report_findings import FAILURE, make_findings, renamed

HOSTILE = (
    "[/code][b]x",
    "<script>alert(1)</script>",
    "a|b|c",
    "two\nlines\r\nthree",
    "\u202egnol\u2066",
    "\x1b]52;c;eA==\x07",
    "```\n# head",
    "]]><!--",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(1)",
    "![i](http://e/x.png) [l](http://e)",
    "{{7*7}}",
    "&lt;b&gt;",
    "\\",
    "a`b",
    "1. a",
    "+ a",
)
ANY_NAME = st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=40)
VOID = {"meta", "line", "rect", "circle", "br"}
MARKDOWN_TAGS = {
    *("p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"),
    *("details", "summary"),
}


def with_name_everywhere(name: str) -> Findings:
    """Findings in which a candidate, a workload, the disk and every sentence carry `name`."""
    findings = make_findings()
    texts = (
        *("xfs", "Large-files", "ST8000AS0002-1NA17Z", "6.1.0-18-amd64", "our table names this family", FAILURE.text),
        *(findings.answer.verdict, findings.doubts[0].text, findings.reasons[0].text),
    )
    as_read: Findings = harmless(renamed(findings, dict.fromkeys(texts, name)))
    return as_read


class Page(HTMLParser):
    """What a browser would make of a page, with its tags in balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


PLAIN = {name: render(make_findings(), name, full=True) for name in FORMATS}
PLAIN_PAGE = Page(PLAIN["html"])
NAMED = render(with_name_everywhere("x"), "bbcode", full=True)
"""Without the commands of XFS, as a candidate that is not of the catalogue has none."""


def markdown_page(text: str) -> Page:
    return Page(MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text))


def with_many_workloads(count: int) -> Findings:
    """Findings with `count` tests, alike in each."""
    workloads = [make_workload(f"large-files-{number}") for number in range(count)]
    figures = {"ext4": (180e6, 181e6, 179e6), "xfs": (187e6, 188e6, 186e6)}
    samples = chain.from_iterable(make_samples(figures, workload.name) for workload in workloads)
    plan = make_plan(tuple(figures), workloads, drive=make_drive("drive-managed"))
    return conclude(make_result(plan=plan, samples=tuple(samples)))


def test_a_file_name_asks_for_the_format_with_its_longest_ending_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'"):
        render(make_findings(), "pdf")
    names = ("a.md", "a.reddit.md", "a.png", "a.dark.png", "a.html", "a", "notes.doc")
    assert [format_of(name) for name in names] == [*("markdown", "reddit", "png", "png-dark", "html", "text", "text")]


# What stays text


@settings(deadline=None, max_examples=60)
@given(ANY_NAME)
def test_in_each_format_any_name_stays_text(name: str) -> None:
    findings = with_name_everywhere(name)
    texts = {form: render(findings, form, full=True) for form in ("markdown", "bbcode", "csv", "json", "svg", "html")}
    assert markdown_page(texts["markdown"]).tags <= MARKDOWN_TAGS
    assert cells_of(texts["markdown"]) == cells_of(PLAIN["markdown"])

    tags, plain_tags = (re.findall(r"\[([^\]\[]*)\]", each) for each in (texts["bbcode"], NAMED))
    assert tags == plain_tags
    assert texts["bbcode"].count("[") == texts["bbcode"].count("]") == len(tags)

    for row in csv.reader(io.StringIO(texts["csv"])):
        assert len(row) == 10
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)
    VALIDATOR.validate(json.loads(texts["json"]))
    kinds = {element.tag.rpartition("}")[2] for element in ET.fromstring(texts["svg"]).iter()}
    assert kinds <= {"svg", "title", "style", "rect", "line", "text", "tspan", "circle", "polygon"}
    page = Page(texts["html"])
    assert (page.tags, page.attributes, page.open) == (PLAIN_PAGE.tags, PLAIN_PAGE.attributes, [])


def cells_of(text: str) -> list[int]:
    """Number of cells of each row of any table."""
    kinds = " ".join(token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text))
    return sorted(len(re.findall("td_open|th_open", row)) for row in re.findall("tr_open(.*?)tr_close", kinds))


# Posts and pages


def test_markdown_and_the_page_have_tables_and_figures_and_need_nothing_else() -> None:
    page = markdown_page(PLAIN["markdown"])
    assert {"table", "ul", "pre", "strong"} <= page.tags and not page.open
    assert not markdown_page(PLAIN["reddit"]).tags & {"details", "summary"}
    assert not PLAIN_PAGE.open
    assert not PLAIN_PAGE.attributes & {"src", "href", "onclick", "onload"}
    assert "url(" not in PLAIN["html"]
    row = PLAIN["html"].partition(">xfs</span>")[2].partition("</svg>")[0]
    assert re.findall("<title>(.*?)</title>", row) == ["187 MB/s", "188 MB/s", "186 MB/s"]


@pytest.mark.parametrize("name", ["markdown", "reddit", "bbcode"])
@pytest.mark.parametrize("workloads", [1, 40])
def test_a_post_has_at_most_12_lines_with_verdict_figures_disk_and_a_command_to_try_it(
    name: str, workloads: int
) -> None:
    findings = with_many_workloads(workloads)
    text = render(replace(findings, answer=replace(findings.answer, lines=("A line.",) * 5)), name)
    lines = [line for line in re.sub(r"\[/?\w+\]", "", text).splitlines() if re.search(r"\w", line)]
    assert len(lines) <= 12
    assert findings.answer.verdict in lines[0]
    assert ("2 of 40 tests, by difference" in text) == (workloads == 40)
    assert sum("187 MB/s" in line for line in lines) == min(workloads, 2)
    assert lines[-1].strip() == attempt_command(findings.result.plan)


# JSON and CSV

VALIDATOR = jsonschema.Draft202012Validator(json.loads(PATH.read_text("utf-8")))


def test_json_keeps_to_its_schema_which_is_one_and_made_of_the_types_of_the_document() -> None:
    VALIDATOR.check_schema(VALIDATOR.schema)
    assert PATH.read_text("utf-8") == schema(), "python -m tests.result_schema writes it anew"
    VALIDATOR.validate(json.loads(export(make_findings().result, "json")))


def test_json_and_csv_have_samples_failures_and_ratios_in_full() -> None:
    findings = make_findings()
    document = json.loads(PLAIN["json"])
    assert from_json(Analysis, document["analysis"]) == findings.analysis
    assert next(iter(document)) == "answer" and document["answer"]["choice"] == list(findings.answer.choice)
    discarded = replace(findings, result=replace(findings.result, discarded_rounds=(2,)))
    rows = list(csv.DictReader(io.StringIO(render(discarded, "csv"))))
    measured = [row for row in rows if row["value"]]
    figures = [(int(row["round"]), row["candidate"], row["workload"], float(row["value"])) for row in measured]
    assert figures == [(s.round, s.candidate, s.workload, s.value) for s in findings.result.samples]
    assert {row["status"] for row in rows if row["round"] == "2"} == {"discarded"}
    assert (rows[-1]["status"], rows[-1]["note"].partition(":")[0]) == ("failed", "ENOSPC")


# The card


def test_the_card_has_the_figures_with_the_largest_differences_and_all_of_it_is_within_it() -> None:
    card = ET.fromstring(render(with_many_workloads(40), "svg"))
    words = ["".join(element.itertext()) for element in card.iter() if element.tag.endswith("text")]
    drawn = [word for word in words if word.startswith("Large-files-")]
    assert 2 <= len(drawn) < 40 and f"{len(drawn)} of 40 tests" in " ".join(words)
    charts = content.figures(make_findings()).charts
    assert [chart.workload for chart in content.highlights(charts, 2)] == ["large-files", "random-append"]
    for element in card.iter():
        x, y, width, height = (float(element.get(key, 0)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= WIDTH
        assert 0 <= y <= y + height <= HEIGHT


@pytest.mark.rsvg
def test_the_card_is_drawn_light_and_dark_in_1200_by_630_pixels() -> None:
    light, dark = (png(PLAIN[name]) for name in ("png", "png-dark"))
    assert light != dark
    for drawn in (light, dark):
        assert drawn.startswith(b"\x89PNG")
        assert struct.unpack(">II", drawn[16:24]) == (1200, 630)
