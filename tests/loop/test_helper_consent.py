"""Erasing a disk takes the user's yes, given to root on a terminal; each right is a command line of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from fswizard.drives.devices import find_device
from fswizard.privileged import block_device, consent, rights
from fswizard.privileged.protocol import Refusal
from tests.loop.channel import HELPER, Channel, about
from tests.loop.devices import Bench, Case
from tests.loop.people import USERS, User
from tests.loop.terminals import talk

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, USERS]

COMMAND = shlex.join(HELPER)
IMAGES_ALONE = f"NOPASSWD: {COMMAND} images"
ERASING = (f"NOPASSWD: {COMMAND} erase", f"NOPASSWD: {COMMAND} confirm *")
ASKED = "password for"
PROMPT = "anything else cancels: "
UNCONFIRMED = "nobody confirmed on a terminal within the last 15 minutes"


@pytest.fixture
def disk(bench: Bench) -> Case:
    return bench.made("mkfs.ext4", "-q", "-L", "archive")


def claim_as(made: User, right: str, case: Case) -> str:
    """What the helper says to a claim after this user started it through sudo; empty for yes."""
    with Channel(right, before=[*made.become, "sudo", "-n", "--"]) as channel:
        text: str = channel.ask("claim", **about(case.path)).get("error", {}).get("text", "")
        return text


def number(case: Case) -> str:
    return find_device(case.path).device.number


def confirm(made: User, answer: str, *cases: Case) -> str:
    """What the terminal shows while this user is asked."""
    command = [*made.become, "sudo", "-n", "--", *HELPER, "confirm", *map(number, cases)]
    return talk(command, made.home, {PROMPT: answer})


def test_who_may_use_images_alone_gets_no_disk(nobody: User, disk: Case) -> None:
    with nobody.allowed(IMAGES_ALONE):
        assert claim_as(nobody, rights.IMAGES, disk) == "claim is not allowed: the helper was started for 'images'"
        for words in (["erase"], ["erase-unattended"], ["confirm", number(disk)], ["images", "erase"]):
            command = [*nobody.become, "sudo", "-n", "--", *HELPER, *words]
            assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    with nobody.allowed(f"NOPASSWD: {COMMAND} erase-unattended"):  # a script needs a rule of its own
        assert claim_as(nobody, rights.ERASE_UNATTENDED, disk) == ""


def test_who_may_use_one_right_is_told_the_truth_about_each(nobody: User) -> None:
    own = shlex.join([*HELPER[:-1], str(nobody.home / "fswizard" / "privileged" / "__main__.py")])
    look = "from fswizard.targets import privilege\nprint(*map(privilege.state, privilege.PURPOSES))"
    with nobody.allowed(f"NOPASSWD: {own} images"):
        assert nobody.run(look).split() == ["sudo", "sudo-refuses", "sudo-refuses"]
    with nobody.allowed(f"NOPASSWD: {own} erase"):
        assert nobody.run(look).split() == ["sudo-refuses", "sudo", "sudo-refuses"]
    with nobody.allowed(f"NOPASSWD: {own} set-up"):
        assert nobody.run(look).split() == ["sudo-refuses", "sudo-refuses", "sudo"]


def test_a_disk_is_erased_once_after_a_yes_on_the_terminal(nobody: User, disk: Case) -> None:
    with nobody.allowed(*ERASING):
        assert UNCONFIRMED in claim_as(nobody, rights.ERASE, disk)
        shown = confirm(nobody, "yes", disk)
        assert "fswizard will ERASE this disk." in shown
        assert f"  {disk.path}, 75.5 MB" in shown
        assert f"    Backing file:  {disk.file}" in shown
        assert '    Contents:      ext4 "archive"' in shown
        assert claim_as(nobody, rights.ERASE, disk) == ""
        assert UNCONFIRMED in claim_as(nobody, rights.ERASE, disk), "a yes counts once"


@pytest.mark.parametrize("answer", ["no", "", "y", "yes please", "\x03", "\x04"])
def test_whatever_is_not_yes_is_a_no(answer: str, nobody: User, disk: Case) -> None:
    with nobody.allowed(*ERASING):
        assert "you did not type yes" in confirm(nobody, answer, disk)
        assert not Path(consent.DIRECTORY, f"{nobody.uid}-{number(disk)}").exists()


def test_a_yes_to_several_disks_counts_for_these_alone(nobody: User, bench: Bench) -> None:
    cases = [Case(bench.attach(file), file) for file in map(bench.file, ("first", "second", "third"))]
    with nobody.allowed(*ERASING):
        assert "will ERASE these 2 disks" in confirm(nobody, "yes", *cases[:2])
        assert UNCONFIRMED in claim_as(nobody, rights.ERASE, cases[2])
        assert claim_as(nobody, rights.ERASE, cases[1]) == ""
        assert claim_as(nobody, rights.ERASE, cases[0]) == ""


def test_a_disk_that_was_swapped_after_the_yes_is_not_erased(nobody: User, bench: Bench, disk: Case) -> None:
    with nobody.allowed(*ERASING):
        confirm(nobody, "yes", disk)
        other = bench.file("other")
        bench.attach_instead(disk.path, other)
        assert UNCONFIRMED in claim_as(nobody, rights.ERASE, Case(disk.path, other))


def test_a_disk_in_use_is_refused_before_anybody_is_asked(nobody: User, bench: Bench, disk: Case) -> None:
    point = bench.mount(disk.path)
    with nobody.allowed(*ERASING):
        shown = confirm(nobody, "yes", disk)
    assert f"is mounted on {point}" in shown
    assert "ERASE" not in shown


def test_without_a_terminal_nothing_is_confirmed(nobody: User, disk: Case) -> None:
    command = [*nobody.become, "setsid", "--wait", "sudo", "-n", "--", *HELPER, "confirm", number(disk)]
    with nobody.allowed(*ERASING):
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert done.stdout == "there is no terminal to confirm it on\n"


def test_what_polkit_allowed_is_not_asked_again_and_what_sudo_allowed_is(trusted: User, disk: Case) -> None:
    """A stand-in for pkexec, which clears the environment and becomes the program."""
    as_pkexec = ["sudo", "-n", "env", "-i", f"PKEXEC_UID={trusted.uid}"]
    with Channel(rights.ERASE, before=[*trusted.become, *as_pkexec]) as channel:
        assert "ok" in channel.ask("claim", **about(disk.path))
    with_both = ["sudo", "-n", "env", f"PKEXEC_UID={trusted.uid}"]
    with Channel(rights.ERASE, before=[*trusted.become, *with_both]) as channel:
        assert UNCONFIRMED in channel.ask("claim", **about(disk.path))["error"]["text"]


ERASE = """
import asyncio
from dataclasses import replace
from fswizard.targets import privilege
from fswizard.targets.helper import Helper
from fswizard.errors import FswizardError

async def main(number, diskseq, size_bytes, identifier, shown):
    needed = replace(privilege.ERASE, devices=(number,))
    try:
        print("authorised:", privilege.authorise(needed))
        async with Helper.start(needed) as helper:
            await helper.claim(number, int(diskseq), int(size_bytes), identifier, shown)
            print("claimed")
    except FswizardError as error:
        print(type(error).__name__, "|", error.message, "|", error.hint)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({ASKED: "correct horse", PROMPT: "yes"}, "claimed"),
        (
            {ASKED: "correct horse", PROMPT: "no"},
            "Refused | Not erased: you did not type yes. | Nothing was changed.",
        ),
        ({ASKED: "wrong"}, "Missing | Erasing a disk needs root, and sudo did not give it."),
    ],
    ids=["yes", "no", "wrong password"],
)
def test_password_and_yes_are_asked_for_in_one_go(answers: dict[str, str], said: str, asked: User, disk: Case) -> None:
    fields = [str(field) for field in about(disk.path).values()]
    below_a_shell = ["sh", "-c", '"$@"; true', "sh"]  # sudo treats who leads no process group in another way
    shown = talk([*below_a_shell, *asked.command(ERASE, *fields)], asked.home, answers)
    assert said in shown
    assert answers[ASKED] not in shown


# What is kept of a yes


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "consent")


DISK = block_device.Device("sdb", "sdb", "8:16")


def refused(
    place: str, uid: int = 1000, diskseq: int = 7, size_bytes: int = 4096, maximum_age_s: float = 900.0
) -> bool:
    try:
        consent.take(uid, DISK, diskseq, size_bytes, directory=place, maximum_age_s=maximum_age_s)
    except Refusal as refusal:
        return UNCONFIRMED in refusal.text or "is not root's alone" in refusal.text
    return False


def test_a_yes_is_for_one_user_and_one_disk_and_counts_once(place: str) -> None:
    consent.give(1000, DISK, 7, 4096, directory=place)
    assert refused(place, uid=1001)
    assert not refused(place)
    assert refused(place)
    for diskseq, size_bytes, maximum_age_s in ((8, 4096, 900.0), (7, 8192, 900.0), (7, 4096, 0.0), (0, 0, 900.0)):
        consent.give(1000, DISK, 7, 4096, directory=place)
        assert refused(place, diskseq=diskseq, size_bytes=size_bytes, maximum_age_s=maximum_age_s)
        assert refused(place), "it is used up even so"
    for diskseq in (7, 9):
        consent.give(1000, DISK, diskseq, 4096, directory=place)
    assert not refused(place, diskseq=9), "the last one replaces the one before"


@pytest.mark.parametrize("said", ["", "7", "7 4096", "7 4096 soon", "7 4096 99999999999999999999", "7 4096 0 0"])
def test_what_is_no_yes_is_none(said: str, place: str) -> None:
    """A time that lies ahead is none either."""
    consent.give(1000, DISK, 7, 4096, directory=place)
    Path(place, "1000-8:16").write_text(said)
    assert refused(place)


def test_a_link_is_no_yes_and_its_target_is_not_written_over(place: str, tmp_path: Path) -> None:
    consent.give(1000, DISK, 7, 4096, directory=place)
    genuine = Path(place, "1000-8:16").rename(tmp_path / "genuine")
    Path(place, "1000-8:16").symlink_to(genuine)
    before = genuine.read_text()
    assert refused(place)
    consent.give(1000, DISK, 9, 4096, directory=place)
    assert genuine.read_text() == before


def test_a_directory_that_others_could_change_is_refused(place: str, tmp_path: Path) -> None:
    consent.give(1000, DISK, 7, 4096, directory=place)
    for mode, owner in ((0o710, 0), (0o700, 65534)):
        os.chmod(place, mode)
        os.chown(place, owner, owner)
        assert refused(place)
        with pytest.raises(Refusal, match="is not root's alone"):
            consent.give(1000, DISK, 7, 4096, directory=place)
        os.chmod(place, 0o700)
        os.chown(place, 0, 0)
    link = tmp_path / "link"
    link.symlink_to(place)
    assert refused(str(link))
    assert not refused(place)


def test_of_two_helpers_at_once_one_alone_has_the_yes(place: str) -> None:
    consent.give(1000, DISK, 7, 4096, directory=place)
    code = f"""
from fswizard.privileged import block_device, consent
sys.stdin.read()
consent.take(1000, block_device.Device("sdb", "sdb", "8:16"), 7, 4096, directory={place!r})
"""
    command = ["/usr/bin/python3", "-c", f"import sys; sys.path.insert(0, {os.getcwd()!r})\n{code}"]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    for one in both:
        assert one.stdin
        one.stdin.close()
    assert sorted(one.wait() for one in both) == [0, 1]
