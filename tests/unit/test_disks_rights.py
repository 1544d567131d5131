"""How root's rights are had, by what is installed and what it answers, and what comes back from a process of root's."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fswizard.disks import rights
from fswizard.errors import Missing, Refused, RunFailed
from fswizard.system import commands
from tests.fakes.machine import make_program, without_root

GOES_ON = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
"""As sudo and doas do that need no password now."""
ASKS = "echo sudo: a password is required >&2; exit 1"
ORDERS = """
import os
from fswizard.disks import rights
from fswizard.disks.disk import DiskFailed
from fswizard.errors import Refused
def carry_out(order):
    for content in order["say"]:
        yield content
    if order.get("refuse"):
        raise Refused("It is mounted \\x1b[2J.", "Unmount it.", "line 1\\nline 2")
    if order.get("die"):
        os.kill(os.getpid(), 9)
    if order.get("fail"):
        raise DiskFailed("It failed.")
    if order.get("touch"):
        open(order["touch"], "w").close()
def main():
    rights.serve(carry_out)
"""


@pytest.fixture(autouse=True)
def here(programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a user has nothing but what a test installs."""
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(commands, "SYSTEM_PATH", ())
    without_root(monkeypatch)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return programs


@pytest.mark.parametrize(
    ("installed", "display", "state"),
    [
        ({}, "", "none"),
        ({"sudo": "exit 0"}, ":0", "sudo"),
        ({"sudo": ASKS, "doas": "exit 0"}, ":0", "sudo-asks"),
        ({"doas": "exit 0", "pkexec": ""}, ":0", "doas"),
        ({"doas": "exit 1"}, ":0", "doas-asks"),
        ({"pkexec": ""}, "", "none"),
        ({"pkexec": ""}, ":0", "pkexec"),
    ],
)
def test_it_is_known_by_what_is_installed_and_what_that_answers(
    installed: dict[str, str], display: str, state: rights.State, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in installed.items():
        make_program(here, name, f'echo "$*" >> {here}/log\n{script}')
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.setenv(variable, display)
        assert rights.state() == state
        monkeypatch.delenv(variable)
    asked = (here / "log").read_text().splitlines() if (here / "log").exists() else []
    assert set(asked) <= {"-n true"}, "nothing is asked that could wait for somebody"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert rights.state() == rights.authorise() == "root"


@pytest.mark.parametrize(("program", "types"), [("sudo", "-v"), ("doas", "true")])
def test_a_password_is_typed_on_a_terminal_or_not_at_all(
    program: str, types: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    knows = f"{here}/knows"
    make_program(here, program, f'if [ "$1" = {types} ]; then : > {knows}; fi; [ -e {knows} ]')
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: False))
    with pytest.raises(Missing, match="did not give its rights"):
        rights.authorise()
    with pytest.raises(Missing):
        rights.start(("true",), b"")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert rights.authorise() == program
    assert capsys.readouterr().err == f"This needs root: {program} asks for your password.\n"
    make_program(here, program, "exit 1")
    with pytest.raises(Missing, match=f"{program} did not give its rights"):
        rights.authorise()
    (here / program).unlink()
    with pytest.raises(Missing, match="neither sudo nor doas is installed"):
        rights.authorise()


@pytest.fixture
def sudo(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that starts programs, and a module `orders` that they find."""
    (tmp_path / "orders.py").write_text(ORDERS)
    monkeypatch.syspath_prepend(tmp_path)
    make_program(here, "sudo", f'if [ "$2" = true ]; then exit 0; fi; {GOES_ON}')
    return tmp_path


UNFINISHED = RunFailed("It ended early.", "Look at the disk.")


def answers(**order: object) -> list[object]:
    return list(rights.ask("orders", {"say": [], **order}, UNFINISHED))


@pytest.mark.usefixtures("sudo")
def test_contents_and_errors_come_back_as_they_were() -> None:
    assert answers(say=[1, {"a": "\u202e"}, None]) == [1, {"a": "\u202e"}, None]
    with pytest.raises(Refused) as refused:
        answers(say=["begun"], refuse=True)
    error = refused.value
    assert (error.message, error.hint, error.details) == ("It is mounted \x1b[2J.", "Unmount it.", "line 1\nline 2")
    with pytest.raises(RunFailed, match="It failed") as failed:
        answers(fail=True)
    assert type(failed.value) is RunFailed, "of those that everybody knows, the nearest"


def test_it_goes_on_to_its_end_whoever_listens(sudo: Path) -> None:
    told = rights.ask("orders", {"say": [*range(10_000)], "touch": f"{sudo}/done"}, UNFINISHED)
    assert next(told) == 0
    told.close()
    commands._launched[-1].wait(30)
    assert (sudo / "done").exists()


def test_what_was_not_started_is_told_with_what_sudo_said(sudo: Path, here: Path) -> None:
    refusing = "printf 'not in \\033[2J the sudoers file\\n' >&2; exit 1"
    make_program(here, "sudo", f'if [ "$2" = true ]; then exit 0; fi; {refusing}')
    with pytest.raises(Missing) as missing:
        answers()
    assert missing.value.details == "not in \\x1b[2J the sudoers file"


@pytest.mark.usefixtures("sudo")
@pytest.mark.parametrize("say", [[], ["begun"]])
def test_a_process_that_was_killed_has_not_done_what_was_asked(say: list[str]) -> None:
    with pytest.raises(RunFailed, match="It ended early") as killed:
        answers(say=say, die=True)
    assert killed.value is UNFINISHED
