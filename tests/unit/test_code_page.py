"""The page on the code shows the directories as they are. `python -m tests.unit.test_code_page` redraws it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "fswizard"
PAGE = PACKAGE / "README.md"
PICTURE = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)
DIRECTORIES = {path.parent.name: path.parent for path in sorted(PACKAGE.glob("*/__init__.py"))}


def imported(name: str) -> set[str]:
    """The other directories that one imports anything of."""
    found = set()
    for path in DIRECTORIES[name].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fswizard"):
                found |= {f"{node.module}.{alias.name}".split(".")[1] for alias in node.names}
    return (found & DIRECTORIES.keys()) - {name}


def drawn() -> str:
    """Directories from the top down, each with those that it imports and that no other one of them leads to."""
    direct = {name: imported(name) for name in DIRECTORIES}

    def below(name: str) -> set[str]:
        return direct[name].union(*map(below, direct[name]))

    depth = sorted(DIRECTORIES, key=lambda name: (-len(below(name)), name))
    lines = ["graph TD"]
    for name in depth:
        implied = set[str]().union(*map(below, direct[name]))
        if shown := [other for other in depth if other in direct[name] - implied]:
            lines.append(f"    {name} --> {' & '.join(shown)}")
    return "\n".join(lines) + "\n"


def test_the_picture_shows_which_directory_imports_which_and_the_table_has_each() -> None:
    (picture,) = PICTURE.findall(PAGE.read_text("utf-8"))
    assert picture == drawn()
    assert {*re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)} == DIRECTORIES.keys()


if __name__ == "__main__":
    PAGE.write_text(PICTURE.sub(drawn(), PAGE.read_text("utf-8")), "utf-8")
