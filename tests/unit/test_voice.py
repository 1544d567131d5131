"""Phrases that nobody says stay out of everything that users read."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.errors import FswizardError

ROOT = Path(__file__).parents[2]
PHRASES = (
    "so many",
    "for want of",
    r"(?:is|are) to be",
    r"what (?:is|are) known of",
    r"what lies",
    r"lies on no",
    r"(?:go|goes|going|went|gone) on with",
    "still goes on",
    "cannot do without",
    "rank it your way",
    "here and there",
    "by itself now",
    "which of them",
    "more time would tell",
    "does not offer",
    "serves? on",
    "past the page cache",
    "otherwise than",
    "others than",
    "any more that",
    "for some minutes",
    "one after the other",
    "as quick as",
    "do(?:es)? not go together",
    r"not known(?! to\b)",
    "cold",
    "anew",
    "what c(?:a|o)mes? of",
    "after whom",
    "be blamed",
    "tells its rate",
    "recommend nothing",
    "rank otherwise",
    "of which the verdict",
    "allowed for you",
    "zero or no number",
    "told from chance",
    "look why",
    "have that and",
    "they average both",
    "with nothing personal",
    "like one's own",
    "sudo gave no",
    r"(?<!there )(?:is|are) no (?!longer|faster|slower|more|less|better)\w+",
)
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.IGNORECASE)
RATIO = re.compile(r"\d × ")
"""As in `0.43 × ext4`: programs say faster or slower. Documents may count and multiply."""
PROGRAMS = sorted((ROOT / "fswizard").rglob("*.py"))
DOCUMENTS = ("*.md", "recipes/**/*.toml", "fswizard/**/*.toml", "fswizard/**/*.md")
RIGHT = {
    "fswizard/drives/inventory.py": ["0 × "],  # a count of disks
    "fswizard/filesystems/catalogue/f2fs.toml": ["cold"],  # F2FS's own term for data that is rarely written
}
"""What is right where it stands."""


def strings(path: Path) -> Iterator[str]:
    """What of a file may be shown: Markdown and tables whole; of programs the string constants, docstrings apart,
    with the words of an f-string in one piece, and on the command line the docstrings of classes, which are help."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield " ".join(text.split())
        return
    helps = path.parent == ROOT / "fswizard" / "cli"
    tree = ast.parse(text)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
        elif isinstance(node, ast.ClassDef) and helps:
            yield ast.get_docstring(node) or ""


def inside(path: Path) -> Iterator[str]:
    """Docstrings and comments of a program."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield " ".join(node.value.value.split())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def shown() -> list[Path]:
    return sorted({*PROGRAMS, *(path for glob in DOCUMENTS for path in ROOT.glob(glob))})


@pytest.mark.parametrize("path", shown(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_shown_string_has_a_phrase_that_nobody_says(path: Path) -> None:
    patterns = (FORBIDDEN, RATIO) if path.suffix == ".py" else (FORBIDDEN,)
    found = [match[0] for text in strings(path) for pattern in patterns for match in pattern.finditer(text)]
    assert found == RIGHT.get(str(path.relative_to(ROOT)), [])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_docstring_or_comment_has_one_either(path: Path) -> None:
    assert [match[0] for text in inside(path) for match in FORBIDDEN.finditer(text)] == []


def test_a_doubt_is_one_sentence_and_few_say_what_was_found_or_told() -> None:
    words = re.compile(r"\b(?:found|told|tell|person)\b")
    assert sum(len(words.findall(path.read_text("utf-8"))) for path in PROGRAMS) <= 80
    calls = (
        node
        for path in PROGRAMS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Doubt"
    )
    texts = [ast.unparse(call.args[1]) for call in calls if len(call.args) > 1]
    assert len(texts) > 20
    assert [text for text in texts if ". " in text] == []
    assert "Measure, and print a report." in " ".join(strings(ROOT / "fswizard" / "cli" / "run.py"))
    read = {str(path.relative_to(ROOT)) for path in shown()}
    assert {"README.md", "recipes/quick.toml", "fswizard/drives/smr_models.toml", "fswizard/USAGE.md"} <= read


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("Name a directory with more free space, or a smaller image: --target image:SIZE@DIRECTORY.",
         "Name a directory with more free space, or a smaller image."),
        ("A scratch image (--target image:SIZE@DIR) erases nothing.", "A scratch image erases nothing."),
        ("The figures so far are kept. Start a new run with other --candidates.", "The figures so far are kept."),
        ("Confirm it with `--erase Z840`.", ""),
        ("Install it with `fswizard doctor --install`.", "Install it with `fswizard doctor --install`."),
        ("空きを増やすか、イメージを小さくしてください: --target image:SIZE@DIRECTORY。",
         "空きを増やすか、イメージを小さくしてください。"),
        ("記録は残ります。他の--candidatesで始めてください。", "記録は残ります。"),
        ("スクラッチイメージ（--target image:SIZE@DIR）は何も消しません。", "スクラッチイメージは何も消しません。"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_wizard_gives_a_hint_without_the_switches_in_it(hint: str, told: str) -> None:
    assert FswizardError("It failed.", hint).hint_without_switches == told
