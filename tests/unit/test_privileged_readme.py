"""The page for auditors says what the code does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fswizard import privileged
from fswizard.privileged import rights
from fswizard.privileged.protocol import VERBS
from fswizard.privileged.system_calls import CAPABILITIES
from fswizard.privileged.volumes import ALLOWED

ROOM = Path(privileged.__file__).parent
README = (ROOM / "README.md").read_text()


def table(first: str) -> Iterator[list[str]]:
    """The rows of the table whose first heading that is."""
    lines = README.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_of_verbs_has_each_verb_and_its_states() -> None:
    told = {verb.strip("`"): frozenset(states.split(", ")) - {"–"} for verb, states, _ in table("verb")}
    assert told == {verb: ALLOWED.get(verb, frozenset()) for verb in VERBS}


def test_the_table_of_rights_has_each_right_and_its_verbs() -> None:
    told = {}
    for right, words, _ in table("right"):
        named = {*re.findall(r"`(\w+)`", words)}
        told[right.strip("`")] = VERBS.keys() - named if words.startswith("all verbs but") else named
    assert told == rights.VERBS


def test_the_table_of_capabilities_has_each_that_is_kept() -> None:
    assert {name for names, _ in table("capability") for name in re.findall(r"`(\w+)`", names)} == CAPABILITIES.keys()
    (denied,) = (names for names, *_ in table("setting") if "CAP_" in names)
    kept = {f"CAP_{name.upper()}" for name in CAPABILITIES}
    assert not kept.intersection(re.findall(r"`(\w+)`", denied))


def test_the_reading_order_has_each_file() -> None:
    order = README.partition("## Reading order")[2].partition("## Tests")[0]
    assert {*re.findall(r"`(\w+\.py)`", order)} == {path.name for path in ROOM.glob("*.py")} - {"__init__.py"}
