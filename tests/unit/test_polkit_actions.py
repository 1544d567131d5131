"""The actions of polkit fit the rights of the helper."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fswizard import privileged
from fswizard.privileged import install, rights
from fswizard.targets import privilege

ROOM = Path(privileged.__file__).parent
ACTIONS = ElementTree.parse(ROOM / install.POLICY).getroot().findall("action")
BY_RIGHT = {action.attrib["id"].removeprefix("org.fswizard."): action for action in ACTIONS}


def test_each_right_but_the_one_for_scripts_has_an_action_that_says_what_is_at_stake() -> None:
    assert len(ACTIONS) == len(BY_RIGHT)
    assert BY_RIGHT.keys() | {rights.ERASE_UNATTENDED} == rights.VERBS.keys()
    assert BY_RIGHT.keys() == {purpose.right for purpose in privilege.PURPOSES}
    assert all(action.findtext("message") for action in ACTIONS)


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
