"""Which copy of the helper root would run, whom it works for, and what is said when root cannot be had."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fswizard.errors import Missing, Refused
from fswizard.model.plan import Member, Target
from fswizard.privileged import identity
from fswizard.privileged.protocol import Refusal
from fswizard.system import commands, programs
from fswizard.targets import helper_copy, privilege
from fswizard.targets.helper_copy import PACKAGE
from tests.builders import make_plan
from tests.fakes.machine import make_program


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy as a package would install it, in a directory that is root's alone from / on."""
    directory = Path("/root") if os.access("/root", os.W_OK) else Path("/nonexistent")
    copy = directory / f".fswizard-test-{os.getpid()}"
    monkeypatch.setattr(helper_copy, "INSTALLED", copy)
    monkeypatch.setattr(programs, "owner_of", lambda path: "")
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(autouse=True)
def _removed() -> object:
    yield
    shutil.rmtree(f"/root/.fswizard-test-{os.getpid()}", ignore_errors=True)


@pytest.mark.root
def test_an_installed_copy_that_is_roots_alone_and_ours_is_used(installed: Path) -> None:
    (installed / "__pycache__").mkdir()
    assert (helper_copy.path(), helper_copy.fault(), helper_copy.warning()) == (installed, "", "")
    assert privilege.way() == "root"


def link_out(copy: Path) -> None:
    (copy / "jobs.py").unlink()
    (copy / "jobs.py").symlink_to(PACKAGE / "jobs.py")


CHANGED, ANOTHERS = "other accounts", "does not belong to this version"


@pytest.mark.root
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        pytest.param(lambda copy: copy.chmod(0o777), CHANGED, id="others could change the directory"),
        pytest.param(lambda copy: (copy / "protocol.py").chmod(0o777), CHANGED, id="others could change a file"),
        pytest.param(lambda copy: os.chown(copy / "jobs.py", 65534, 65534), CHANGED, id="a file is somebody else's"),
        pytest.param(link_out, CHANGED, id="a link leads out"),
        pytest.param(lambda copy: (copy / "jobs.py").write_text("# old\n"), ANOTHERS, id="a file differs"),
        pytest.param(lambda copy: (copy / "jobs.py").unlink(), ANOTHERS, id="a file is missing"),
        pytest.param(lambda copy: (copy / "more.py").touch(), ANOTHERS, id="there is one file more"),
        pytest.param(shutil.rmtree, "", id="it is gone"),
    ],
)
def test_an_installed_copy_that_is_not_roots_alone_or_not_ours_is_refused_and_not_passed_over(
    change: Callable[[Path], None], fault: str, installed: Path
) -> None:
    change(installed)
    assert fault in helper_copy.fault()
    assert privilege.state() == ("wrong-helper" if fault else "root")
    if fault:
        with pytest.raises(Missing, match=fault) as refused:
            privilege.authorise()
        assert "`fswizard install-helper` renews it" in refused.value.hint


def test_a_checkout_is_not_roots_alone_and_started_by_an_interpreter_that_takes_nothing_from_the_user(
    tmp_path: Path,
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "privileged")
    (tmp_path / "privileged").chmod(0o757)
    assert not helper_copy.is_roots_alone(tmp_path / "privileged")
    python, *options, program, right = helper_copy.command("erase")
    assert (options, right) == (["-I", "-S", "-B", "-X", "utf8"], "erase")
    assert Path(program) == PACKAGE / "__main__.py"
    assert Path(python).is_absolute()


def test_who_has_no_rights_is_told_which_and_what_needs_none() -> None:
    states: tuple[privilege.State, ...] = (*privilege.NO_WAY, "sudo-asks")
    assert all("--target dir:" in error.hint for error in map(privilege.missing, states))
    for needed in (privilege.ERASE, privilege.ERASE_UNATTENDED):
        program = helper_copy.INSTALLED / "__main__.py"
        assert f"`{program} {needed.right}`" in privilege.missing("sudo-refuses", needed).hint


@pytest.mark.root
def test_root_needs_no_sudo() -> None:
    assert privilege.state() == "root"
    privilege.authorise()


def test_without_sudo_pkexec_asks_in_a_window_of_which_is_said_what_it_is_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert privilege.starting() == "starting the privileged helper"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(commands, "find", lambda name: "/usr/bin/pkexec" if name == "pkexec" else None)
    for variable, state in (("", "none"), ("DISPLAY", "pkexec"), ("WAYLAND_DISPLAY", "pkexec")):
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.setenv(name, ":0" if name == variable else "")
        assert privilege.state() == state
    monkeypatch.setattr(privilege, "way", lambda: "pkexec")
    privilege.authorise()
    said = capsys.readouterr().err
    assert "Making and mounting filesystems needs root: pkexec asks for your password in a window" in said
    assert "pkexec's window" in privilege.starting()


@pytest.mark.root
def test_the_installed_copy_is_a_program_by_itself(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert helper_copy.command("images") == (str(installed / "__main__.py"), "images")
    monkeypatch.setattr(helper_copy, "SYSTEM_PYTHON", "/nonexistent")
    assert helper_copy.command("images")[0] == sys.executable, "its first line names one that is not there"


DISKS = Target("device", "/dev/sdb", number="8:16", others=(Member("/dev/sdc", number="8:32"),))


@pytest.mark.parametrize(
    ("way", "at_terminal", "needed"),
    [
        ("root", True, privilege.ERASE),
        ("pkexec", False, privilege.ERASE),
        ("sudo", False, privilege.ERASE_UNATTENDED),
        ("sudo", True, replace(privilege.ERASE, devices=("8:16", "8:32"))),
    ],
)
def test_disks_are_confirmed_on_the_terminal_where_sudo_is_the_way(
    way: str, at_terminal: bool, needed: privilege.Purpose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(privilege, "way", lambda: way)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: at_terminal))
    assert privilege.purpose(make_plan(target=DISKS)) == needed
    assert privilege.purpose(make_plan()) == privilege.IMAGES


SHUT = "echo \"/usr/bin/python3: can't open file '/home/ada/x': [Errno 13] Permission denied\" >&2; exit 2"
REFUSED, ASKS = "exit 1", "echo sudo: a password is required >&2; exit 1"


@pytest.fixture
def sudo(programs: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A stand-in that answers as sudo was seen to, and notes what it was asked; the real one is in `tests/loop`."""

    def stand_in(starts: str, lists: str = REFUSED, confirms: str = "exit 0") -> Path:
        answers = f'case "$*" in *" confirm "*) {confirms};; "-n -l "*) {lists};; *) {starts};; esac'
        make_program(programs, "sudo", f'echo "$*" >> {programs}/log\n{answers}')
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        return programs / "log"

    return stand_in


@pytest.mark.parametrize(
    ("starts", "lists", "state"),
    [
        ("exit 0", REFUSED, "sudo"),
        ("echo unshare: unshare failed: Operation not permitted >&2; exit 1", REFUSED, "sudo"),
        (ASKS, ASKS, "sudo-asks"),
        (ASKS, "exit 0", "sudo-asks"),
        (ASKS, REFUSED, "sudo-refuses"),
        (SHUT, "exit 0", "unreadable-helper"),
    ],
)
def test_sudo_is_asked_about_the_command_line_that_will_be_started(
    starts: str, lists: str, state: str, sudo: Callable[..., Path]
) -> None:
    log = sudo(starts, lists)
    assert privilege.state(privilege.SET_UP) == state
    for line in log.read_text().splitlines():
        assert line.endswith("/privileged/__main__.py set-up")


CONFIRMED = replace(privilege.ERASE, devices=("8:16", "8:32"))


def test_a_yes_to_the_helper_is_all_that_erasing_takes(sudo: Callable[..., Path]) -> None:
    log = sudo("exit 0")
    assert privilege.authorise(CONFIRMED) == "sudo"
    assert [line for line in log.read_text().splitlines() if line.endswith("/__main__.py confirm 8:16 8:32")]


@pytest.mark.parametrize(
    ("answers", "error", "said", "asked"),
    [
        (("exit 0", REFUSED, "echo sdb is mounted on /mnt; exit 1"), Refused,
         r"Not erased: sdb is mounted on /mnt\.$", True),
        ((ASKS, ASKS, REFUSED), Missing, "no terminal where sudo could ask", True),
        ((ASKS,), Missing, "sudo doesn't let you start the helper", False),
    ],
    ids=["a no to the helper", "a no of sudo's", "nobody is asked to confirm where sudo will not start it"],
)  # fmt: skip
def test_a_no_is_told_with_its_reason(
    answers: tuple[str, ...], error: type[Exception], said: str, asked: bool, sudo: Callable[..., Path]
) -> None:
    log = sudo(*answers)
    with pytest.raises(error, match=said):
        privilege.authorise(CONFIRMED)
    assert ("confirm" in log.read_text()) == asked


def test_before_a_password_is_typed_it_is_said_what_for_and_once_who_can_change_the_helper(
    sudo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sudo("exit 0")
    privilege._warn.cache_clear()
    monkeypatch.setattr(helper_copy, "is_roots_alone", lambda directory: False)
    privilege.authorise()
    assert "which your account can change; `fswizard install-helper` gives root a copy" in capsys.readouterr().err
    privilege.authorise()
    assert capsys.readouterr().err == ""
    sudo(ASKS, ASKS)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(Missing, match="sudo did not give it"):
        privilege.authorise()
    assert "Making and mounting filesystems needs root: sudo asks for your password.\n" in capsys.readouterr().err


ROOT, USER, OTHER = (0, 0, 0), (65534, 65534, 65534), (1, 1, 1)
SUDO_BY_ITSELF = (65534, 0, 0)
"""As /proc shows a program with the setuid bit that has not changed its real user."""


def make_proc(directory: Path, *ancestors: tuple[int, int, int], login: int = identity.UNSET) -> Path:
    """A /proc where the helper, process 9, was started by `ancestors`, nearest first, the last of them by nobody."""
    for number, (real, effective, saved) in zip(range(9, 0, -1), [ROOT, *ancestors]):
        parent = number - 1 if 9 - number < len(ancestors) else 0
        (directory / str(number)).mkdir()
        uids = f"{real}\t{effective}\t{saved}\t{effective}"
        (directory / str(number) / "status").write_text(f"Name:\tp{number}\nPPid:\t{parent}\nUid:\t{uids}\n")
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


def test_root_who_logged_in_is_root_and_a_parent_that_ends_meanwhile_is_nobody_known(tmp_path: Path) -> None:
    proc = make_proc(tmp_path, ROOT, ROOT, login=0)
    assert identity.invoking_user({}, proc).uid == 0
    os.unlink(proc / "7" / "status")
    with pytest.raises(Refusal, match="is gone"):
        identity.invoking_user({}, proc)


def test_a_user_without_an_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no entry"):
        identity.invoking_user({"SUDO_UID": "4123123"}, make_proc(tmp_path, (4123123, 0, 0)))
