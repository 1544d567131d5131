"""What people are told of root's rights is what the code does: the page for auditors, and polkit's actions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fswizard import privileged
from fswizard.privileged import install, rights
from fswizard.privileged.protocol import VERBS
from fswizard.privileged.system_calls import CAPABILITIES
from fswizard.privileged.volumes import ALLOWED
from fswizard.targets import privilege

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


def test_the_page_has_each_verb_right_capability_and_file() -> None:
    told = {verb.strip("`"): frozenset(states.split(", ")) - {"–"} for verb, states, _ in table("verb")}
    assert told == {verb: ALLOWED.get(verb, frozenset()) for verb in VERBS}
    rights_told = {}
    for right, words, _ in table("right"):
        named = {*re.findall(r"`(\w+)`", words)}
        rights_told[right.strip("`")] = VERBS.keys() - named if words.startswith("all verbs but") else named
    assert rights_told == rights.VERBS
    assert {name for names, _ in table("capability") for name in re.findall(r"`(\w+)`", names)} == CAPABILITIES.keys()
    (denied,) = (names for names, *_ in table("setting") if "CAP_" in names)
    kept = {f"CAP_{name.upper()}" for name in CAPABILITIES}
    assert not kept.intersection(re.findall(r"`(\w+)`", denied))
    order = README.partition("## Reading order")[2].partition("## Tests")[0]
    assert {*re.findall(r"`(\w+\.py)`", order)} == {path.name for path in ROOM.glob("*.py")} - {"__init__.py"}


ACTIONS = ElementTree.parse(ROOM / install.POLICY).getroot().findall("action")
BY_RIGHT = {action.attrib["id"].removeprefix("org.fswizard."): action for action in ACTIONS}


def test_each_right_but_the_one_for_scripts_has_an_action_that_says_what_is_at_stake() -> None:
    assert len(ACTIONS) == len(BY_RIGHT)
    assert BY_RIGHT.keys() | {rights.ERASE_UNATTENDED} == rights.VERBS.keys()
    assert BY_RIGHT.keys() == {purpose.right for purpose in privilege.PURPOSES}
    messages = {right: action.findtext("message", "") for right, action in BY_RIGHT.items()}
    assert "No disk is erased" in messages[rights.IMAGES]
    assert "Everything on them will be lost" in messages[rights.ERASE]
    assert "ERASE" in messages[rights.SET_UP] and "/etc/fstab" in messages[rights.SET_UP]


@pytest.mark.parametrize("right", BY_RIGHT)
def test_an_action_is_found_by_the_installed_helper_and_an_administrator_asked(right: str) -> None:
    """Word for word: pkexec takes blanks and line ends for part of them."""
    noted = {note.attrib["key"]: note.text for note in BY_RIGHT[right].findall("annotate")}
    assert noted == {
        "org.freedesktop.policykit.exec.path": str(install.INSTALLED / install.PROGRAM),
        "org.freedesktop.policykit.exec.argv1": right,
    }
    said = {answer.tag: answer.text for answer in BY_RIGHT[right].findall("defaults/*")}
    active = "auth_admin_keep" if right == rights.IMAGES else "auth_admin"
    assert said == {"allow_any": "auth_admin", "allow_inactive": "auth_admin", "allow_active": active}
