"""The last question before a disk is erased, word for word, and that a disk cannot speak for itself in it."""

from __future__ import annotations

import os
import termios
import threading
from pathlib import Path

import pytest

from fswizard.privileged.block_device import Device, Tree
from fswizard.privileged.consent import IUTF8, ask, contents, question
from fswizard.privileged.exclusive_claim import Claimable
from fswizard.privileged.in_use import Probed

ARCHIVE = Probed({"ID_FS_TYPE": "ext4", "ID_FS_LABEL": "archive"}, frozenset({"ext4"}))
NOTHING = Probed()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Two disks as sysfs describes them."""
    for disk, model, serial in (("sdb", "ST8000AS0002-1NA\n", "Z840A1B2"), ("nvme0n1", "SSD\x1b]52;c;x\x07", "")):
        device = tmp_path / "sys" / "block" / disk / "device"
        device.mkdir(parents=True)
        (device / "model").write_text(model)
        (device / "serial").write_text(serial)
    return Tree(tmp_path)


def seen(tree: Tree, name: str, disk: str, found: Probed, size_bytes: int = 8_001_563_222_016) -> Claimable:
    return Claimable(Device(name, disk, "8:16", tree), 7, size_bytes, found)


def test_a_disk_is_shown_with_all_that_it_can_be_told_by(tree: Tree) -> None:
    assert question([seen(tree, "sdb", "sdb", ARCHIVE)]) == (
        """
fswizard will ERASE this disk. Everything on it will be lost for good:

  /dev/sdb, 8.00 TB
    Model:         ST8000AS0002-1NA
    Serial number: Z840A1B2
    Contents:      ext4 "archive"

Type yes to erase it; anything else cancels: """
    )


def test_of_several_each_is_shown(tree: Tree) -> None:
    asked = question([seen(tree, "sdb1", "sdb", NOTHING, 512_110_190_592), seen(tree, "nvme0n1", "nvme0n1", ARCHIVE)])
    assert "will ERASE these 2 devices. Everything on them will be lost for good:" in asked
    assert "  /dev/sdb1, a partition of sdb, 512 GB\n" in asked
    assert "    Contents:      nothing was found\n" in asked
    assert "    Serial number: unknown\n" in asked
    assert asked.endswith("Type yes to erase them; anything else cancels: ")


def test_what_a_disk_says_of_itself_cannot_write_over_the_question(tree: Tree) -> None:
    hostile = Probed({"ID_FS_TYPE": "ext4", "ID_FS_LABEL_ENC": r"\x1b[2J\u202eno\x0aContents:" + "x" * 500})
    asked = question([seen(tree, "nvme0n1", "nvme0n1", hostile)])
    assert "Model:         SSD\\x1b]52;c;x\\x07\n" in asked
    assert not set(asked) & {"\x1b", "\x07", "\u202e"}
    assert max(map(len, asked.splitlines())) < 130
    assert len(asked.splitlines()) == 9


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (NOTHING, "nothing was found"),
        (Probed({"ID_PART_TABLE_TYPE": "gpt"}, frozenset({"gpt", "PMBR"})), "a partition table (gpt)"),
        (Probed({"ID_FS_TYPE": "xfs"}, frozenset({"xfs", "swap"})), "xfs, swap"),
    ],
)
def test_what_lies_on_a_disk_stands_in_a_line(found: Probed, words: str) -> None:
    assert contents(found) == words


def replied(early: str, reply: str, text: str = "Sure? ", *, utf8: bool = True) -> tuple[bool, bytes]:
    """Whether that is a yes, where `early` was typed before the question stood there; and what the terminal showed."""
    (user, terminal), shown = os.openpty(), bytearray()

    def answer() -> None:
        while not shown.endswith(b"? "):
            shown.extend(os.read(user, 100))
        os.write(user, reply.encode())

    modes = termios.tcgetattr(terminal)
    modes[0] = modes[0] | IUTF8 if utf8 else modes[0] & ~IUTF8
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    os.write(user, early.encode())
    typing = threading.Thread(target=answer)
    typing.start()
    try:
        return ask(terminal, text), bytes(shown)
    finally:
        typing.join()
        os.close(user)
        os.close(terminal)


@pytest.mark.parametrize(
    ("early", "reply", "yes"),
    [
        ("", "yes\n", True), ("", " YES \n", True), ("", "y\n", False), ("", "\n", False),
        ("yes\n", "no\n", False),
        ("", "yes\x04", False),  # the end of input sends what stands there without the end of its line
    ],
)  # fmt: skip
def test_yes_in_whole_is_a_yes_unless_it_was_typed_before_the_question_or_cut_off(
    early: str, reply: str, yes: bool
) -> None:
    assert replied(early, reply)[0] is yes


def test_a_terminal_gets_the_characters_that_it_understands() -> None:
    assert replied("", "no\n", "Фото? ")[1] == "Фото? ".encode()
    assert replied("", "no\n", "Фото? ", utf8=False)[1] == rb"\u0424\u043e\u0442\u043e? "
