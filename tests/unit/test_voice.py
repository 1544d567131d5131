"""Phrases that nobody says stay out of everything that users read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PHRASES = (
    "so many",
    "for want of",
    r"(?:is|are) to be",
    "what is known of",
    "goes? on with",
    "cannot do without",
    "rank it your way",
    "here and there",
    "by itself now",
    "which of them",
    "more time would tell",
    "does not offer",
)
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b|\d × ", re.IGNORECASE)
ROOMS = (
    "advice",
    "report",
    "results",
    "tui/screens/result.py",
    "tui/outcome.py",
    "tui/preferences.py",
    "cli/history.py",
)
"""Those whose words were gone through."""


def strings(path: Path) -> Iterator[str]:
    """The string constants of a program file, docstrings apart, with the words of an f-string in one piece."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def shown() -> list[Path]:
    places = [ROOT / "fswizard" / room for room in ROOMS]
    programs = [found for place in places for found in ([place] if place.suffix else sorted(place.rglob("*.py")))]
    return [*programs, *sorted((ROOT / "fswizard" / "filesystems" / "catalogue").glob("*.toml"))]


@pytest.mark.parametrize("path", shown(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_shown_string_has_a_phrase_that_nobody_says(path: Path) -> None:
    texts = strings(path) if path.suffix == ".py" else [path.read_text("utf-8")]
    assert [match[0] for text in texts for match in FORBIDDEN.finditer(text)] == []


def test_the_list_finds_what_it_is_for() -> None:
    assert FORBIDDEN.search("ext4 for want of others")
    assert FORBIDDEN.search("Which filesystems are to be compared?")
    assert FORBIDDEN.search("0.43 × ext4") is not None
    assert not FORBIDDEN.search("2.1× as fast as ext4")
