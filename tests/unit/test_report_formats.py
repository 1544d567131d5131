"""Every format, opened by something that really reads it."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fswizard.errors import UsageError
from fswizard.model.judgement import Findings
from fswizard.report import FORMATS, render
from tests.result_schema import PATH, schema
from tests.unit.report_findings import FAILURE, make_findings, renamed, with_result

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


def with_name_everywhere(name: str) -> Findings:
    """Findings in which a candidate, a workload, the disk and every sentence carry `name`."""
    findings = make_findings()
    texts = (
        *("xfs", "Large-files", "large-files", "ST8000AS0002-1NA17Z", "6.1.0-18-amd64", "mkfs.xfs DEVICE"),
        *("our table names this family", findings.advice.card.verdict, findings.doubts[0].text, FAILURE.text),
    )
    return renamed(findings, dict.fromkeys(texts, name))


class Page(HTMLParser):
    """What a browser would make of a page: its tags in balance, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
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

    def handle_data(self, data: str) -> None:
        self.words.append(data)


PLAIN = render(make_findings(), "html")
PLAIN_PAGE = Page(PLAIN)


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'") as caught:
        render(make_findings(), "pdf")
    assert "markdown" in caught.value.hint


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_character_that_commands_a_terminal_or_turns_text_round_gets_through(name: str, hostile: str) -> None:
    text = render(with_name_everywhere(hostile), name)
    assert all(character.isprintable() or character == "\n" for character in text)


# Markdown


def markdown_page(text: str) -> Page:
    return Page(MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text))


def test_markdown_becomes_tables_lists_and_code() -> None:
    page = markdown_page(render(make_findings(), "markdown"))
    assert {"table", "ul", "pre", "strong"} <= page.tags
    assert not page.open
    assert "1.98 ±4% ▲" in page.words


@given(ANY_NAME)
def test_markdown_keeps_any_name_as_text_in_its_cell(name: str) -> None:
    text = render(with_name_everywhere(name), "markdown")
    page = markdown_page(text)
    assert page.tags <= {"p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}
    assert cells_of(text) == cells_of(render(make_findings(), "markdown"))


def cells_of(text: str) -> list[int]:
    """So many has each row of any table, in order."""
    kinds = " ".join(token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text))
    return sorted(len(re.findall("td_open|th_open", row)) for row in re.findall("tr_open(.*?)tr_close", kinds))


# BBCode


@given(ANY_NAME)
def test_bbcode_tags_are_ours_alone_and_in_balance(name: str) -> None:
    text = render(with_name_everywhere(name), "bbcode")
    opened: list[str] = []
    for closing, tag in re.findall(r"\[(/?)([^\]\[]*)\]", text):
        assert tag in ("b", "code")
        if closing:
            assert opened.pop() == tag
        else:
            assert not opened
            opened.append(tag)
    assert not opened
    assert text.count("[") == text.count("]") == render(make_findings(), "bbcode").count("[")


# CSV


def rows_of(findings: Findings) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(findings, "csv"))))


def test_csv_has_every_figure_exactly() -> None:
    findings = make_findings()
    rows = rows_of(findings)
    figures = [(row["round"], row["candidate"], row["workload"], float(row["value"])) for row in rows if row["value"]]
    assert figures == [(str(s.round), s.candidate, s.workload, s.value) for s in findings.result.samples]


def test_csv_has_failures_and_says_what_does_not_count() -> None:
    rows = rows_of(with_result(discarded_rounds=(2,)))
    assert {row["status"] for row in rows if row["round"] == "2"} == {"discarded"}
    assert rows[-1]["status"] == "failed"
    assert rows[-1]["note"].startswith("ENOSPC: The volume was full")


@given(ANY_NAME)
def test_csv_has_no_cell_that_a_spreadsheet_would_carry_out(name: str) -> None:
    for row in csv.reader(io.StringIO(render(with_name_everywhere(name), "csv"))):
        assert len(row) == 10
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


# JSON

SCHEMA = json.loads(PATH.read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("identify", [True, False])
def test_json_keeps_to_its_schema_which_is_one_and_made_of_the_types_of_the_document(
    intervals: bool, identify: bool
) -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert PATH.read_text("utf-8") == schema(), "python -m tests.result_schema writes it anew"
    document = json.loads(render(make_findings(intervals=intervals), "json", identify=identify))
    VALIDATOR.validate(document)


@given(ANY_NAME)
def test_json_keeps_to_its_schema_whatever_the_names(name: str) -> None:
    VALIDATOR.validate(json.loads(render(with_name_everywhere(name), "json")))


def test_json_tells_samples_ratios_and_advice_in_full() -> None:
    findings = make_findings()
    document = json.loads(render(findings, "json"))
    assert [sample["value"] for sample in document["samples"]] == [s.value for s in findings.result.samples]
    assert [series["rates"] for series in document["throughput_series"]] == [[512.0, 0.0, 498.0]]
    assert document["ratios"][1] == {
        **{"candidate": "xfs", "baseline": "ext4", "workload": "random-append", "rounds": 3, "verdict": "faster"},
        **{"ratio": 1.98, "low": 1.98 / 1.04, "high": 1.98 * 1.04, "text": ""},
    }
    assert document["overall"][-1]["verdict"] == "failed"
    assert document["overall"][-1]["ratio"] is None
    assert document["advice"]["choice"] == ["xfs"]
    assert document["advice"]["reasons"][0] == "It is ahead in random appends: 1.98 × ext4."


# SVG and HTML


@given(ANY_NAME)
def test_the_picture_is_well_formed_and_holds_text_and_shapes_alone(name: str) -> None:
    root = ET.fromstring(render(with_name_everywhere(name), "svg"))
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "title", "style", "rect", "line", "text", "circle", "polygon"}


def test_the_picture_tells_headline_ratio_and_verdict() -> None:
    words = ["".join(e.itertext()) for e in ET.fromstring(render(make_findings(), "svg")).iter() if "text" in e.tag]
    assert {"1.21", "faster", "nilfs2", "failed: volume full, the cleaner could not keep up"} <= set(words)


@pytest.mark.rsvg
def test_the_picture_can_be_drawn(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(render(make_findings(), "svg"), "utf-8")
    subprocess.run(["rsvg-convert", tmp_path / "a.svg", "-o", tmp_path / "a.png"], check=True)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_is_in_balance_and_needs_nothing_else() -> None:
    assert not PLAIN_PAGE.open
    assert not PLAIN_PAGE.attributes & {"src", "href", "onclick", "onload"}
    assert "1.15–1.28" in PLAIN_PAGE.words
    assert "url(" not in PLAIN


@given(ANY_NAME)
def test_the_page_shows_any_name_as_text(name: str) -> None:
    page = Page(render(with_name_everywhere(name), "html"))
    assert (page.tags, page.attributes, page.open) == (PLAIN_PAGE.tags, PLAIN_PAGE.attributes, [])


@pytest.mark.slow
@pytest.mark.chromium
def test_a_browser_shows_the_page_within_a_phones_width(tmp_path: Path) -> None:
    probe = "<script>document.title=document.documentElement.scrollWidth+' '+innerWidth</script>"
    page = PLAIN.replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'")
    (tmp_path / "a.html").write_text(page.replace("</body>", f"{probe}</body>"), "utf-8")
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    asked = ["--window-size=500,900", "--dump-dom", f"file://{tmp_path}/a.html"]
    done = subprocess.run([*browser, *asked], capture_output=True, check=True, timeout=60)
    match = re.search(r"<title>(\d+) (\d+)</title>", done.stdout.decode())
    assert match is not None
    assert int(match[1]) <= int(match[2])
