"""polkit's actions are the helper's rights: one each, found by the command line that is started."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fswizard.privileged import rights
from fswizard.targets import privilege

POLICY = Path(__file__).parents[2] / "packaging" / "polkit" / "org.fswizard.policy"
ACTIONS = ElementTree.parse(POLICY).getroot().findall("action")
BY_RIGHT = {action.attrib["id"].removeprefix("org.fswizard."): action for action in ACTIONS}
KEPT = "auth_admin_keep"


def test_each_right_but_the_one_for_scripts_has_an_action() -> None:
    assert len(ACTIONS) == len(BY_RIGHT)
    assert BY_RIGHT.keys() | {rights.ERASE_UNATTENDED} == rights.VERBS.keys()
    assert BY_RIGHT.keys() == {purpose.right for purpose in privilege.PURPOSES}


@pytest.mark.parametrize("right", BY_RIGHT)
def test_an_action_is_found_by_the_installed_helper_and_its_right(right: str) -> None:
    """Word for word: pkexec takes blanks and line ends for part of them."""
    noted = {note.attrib["key"]: note.text for note in BY_RIGHT[right].findall("annotate")}
    assert noted == {
        "org.freedesktop.policykit.exec.path": str(privilege.INSTALLED / "__main__.py"),
        "org.freedesktop.policykit.exec.argv1": right,
    }


@pytest.mark.parametrize("right", BY_RIGHT)
def test_an_administrator_is_asked_and_for_a_disk_each_time(right: str) -> None:
    said = {answer.tag: answer.text for answer in BY_RIGHT[right].findall("defaults/*")}
    active = KEPT if right == rights.IMAGES else "auth_admin"
    assert said == {"allow_any": "auth_admin", "allow_inactive": "auth_admin", "allow_active": active}


def test_the_dialogue_says_what_is_at_stake() -> None:
    messages = {right: action.findtext("message", "") for right, action in BY_RIGHT.items()}
    assert "No disk is erased" in messages[rights.IMAGES]
    assert "nothing was found" in messages[rights.PROBE]
    assert "Everything on them will be lost" in messages[rights.ERASE]
