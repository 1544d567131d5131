"""Whom the helper works for: sudo or pkexec says it and the kernel says the same, or nobody but root is behind it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fswizard.privileged import identity
from fswizard.privileged.protocol import Refusal

ROOT, USER, OTHER = (0, 0, 0), (65534, 65534, 65534), (1, 1, 1)
SUDO_BY_ITSELF = (65534, 0, 0)
"""As /proc shows a program with the setuid bit that has not changed its real user."""


def make_proc(directory: Path, *ancestors: tuple[int, int, int], login: int = identity.UNSET) -> Path:
    """A /proc where the helper, process 9, was started by `ancestors`, nearest first, the last of them by nobody."""
    processes = [ROOT, *ancestors]
    for number, uids in enumerate(processes):
        process = directory / str(9 - number)
        process.mkdir()
        parent = 9 - number - 1 if number + 1 < len(processes) else 0
        fields = f"Name:\tp{9 - number}\nPPid:\t{parent}\nUid:\t{uids[0]}\t{uids[1]}\t{uids[2]}\t{uids[1]}\n"
        (process / "status").write_text(fields)
    (directory / "9" / "loginuid").write_text(str(login))
    (directory / "self").symlink_to("9")
    return directory


@pytest.mark.parametrize(
    ("said", "ancestors", "uid"),
    [
        ({"SUDO_UID": "65534"}, (ROOT, ROOT, USER, ROOT), 65534),
        ({"SUDO_UID": "65534"}, (SUDO_BY_ITSELF, USER), 65534),
        ({"PKEXEC_UID": "65534"}, (ROOT, USER, OTHER), 65534),
        ({}, (ROOT, ROOT), 0),
        ({}, (), 0),
        ({"SUDO_UID": "0"}, (ROOT,), 0),
    ],
)
def test_who_calls_is_known(
    said: dict[str, str], ancestors: tuple[tuple[int, int, int], ...], uid: int, tmp_path: Path
) -> None:
    assert identity.invoking_user(said, make_proc(tmp_path, *ancestors)).uid == uid


@pytest.mark.parametrize(
    ("said", "ancestors", "words"),
    [
        ({}, (ROOT, USER), "neither sudo nor pkexec says who calls, and user 65534 runs p7 (process 7)"),
        ({"DOAS_USER": "ada"}, (ROOT, USER), "use sudo or pkexec instead of doas"),
        ({"SUDO_UID": "0"}, (ROOT, USER), "SUDO_UID is '0', and user 65534 runs"),
        ({"SUDO_UID": "65534"}, (ROOT, OTHER, USER), "and user 1 runs"),
        ({"SUDO_UID": "65534", "PKEXEC_UID": "0"}, (ROOT, USER), "and PKEXEC_UID is '0'"),
        ({"SUDO_UID": "065534"}, (ROOT, USER), "065534"),
        ({"SUDO_UID": "٠"}, (ROOT,), "nobody but root started it"),
        ({"SUDO_UID": ""}, (ROOT,), "SUDO_UID is ''"),
        ({"SUDO_UID": "65534"}, (ROOT, ROOT), "nobody but root started it"),
        ({}, ((0, 65534, 0),), "neither sudo nor pkexec"),
        ({"SUDO_UID": "-1"}, ((0, 65534, 0),), "SUDO_UID is '-1', and"),
    ],
)
def test_who_cannot_be_told_is_refused_with_the_reason(
    said: dict[str, str], ancestors: tuple[tuple[int, int, int], ...], words: str, tmp_path: Path
) -> None:
    with pytest.raises(Refusal) as refused:
        identity.invoking_user(said, make_proc(tmp_path, *ancestors))
    assert words in refused.value.text


def test_a_program_whose_parents_ended_is_still_of_its_login(tmp_path: Path) -> None:
    """Else it would pass for root's: init is its parent then."""
    proc = make_proc(tmp_path, ROOT, login=65534)
    with pytest.raises(Refusal, match="user 65534 logged in"):
        identity.invoking_user({}, proc)
    assert identity.invoking_user({"SUDO_UID": "65534"}, proc).uid == 65534


def test_root_who_logged_in_is_root(tmp_path: Path) -> None:
    assert identity.invoking_user({}, make_proc(tmp_path, ROOT, login=0)).uid == 0


def test_a_parent_that_ends_meanwhile_is_nobody_known(tmp_path: Path) -> None:
    proc = make_proc(tmp_path, ROOT, ROOT)
    os.unlink(proc / "7" / "status")
    with pytest.raises(Refusal, match="is gone"):
        identity.invoking_user({}, proc)


def test_a_user_without_an_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no entry"):
        identity.invoking_user({"SUDO_UID": "4123123"}, make_proc(tmp_path, (4123123, 0, 0)))
