"""The steps that set a disk up for good, what may be chosen, and the words that a report has of them."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fswizard.disks import as_root, set_up
from fswizard.disks.set_up import Here, SetUpChoices, check_machine, chosen_set_up, steps
from fswizard.disks.set_up_plan import usual_choices
from fswizard.errors import Missing, Refused
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import LABELS, make_permanent
from fswizard.system.block_device import Device

PLAIN = SetUpChoices("data", "/mnt/data", "root")


def test_the_room_kept_for_root_is_what_was_measured() -> None:
    made = make_permanent(parse_candidate("ext4:reserved=1"), "data", "/d")
    assert made == ("mkfs.ext4", "-m", "1", "-L", "data", "/d")


@pytest.mark.parametrize("name", sorted(LABELS))
def test_each_filesystem_takes_a_label_as_long_as_it_may_be(name: str) -> None:
    candidate = parse_candidate(name)
    longest = replace(PLAIN, label="a" * LABELS[name][1])
    assert chosen_set_up(candidate, longest) == candidate
    with pytest.raises(Refused):
        chosen_set_up(candidate, replace(longest, label=f"{longest.label}a"))
    made = {step.program: step for step in steps(candidate, PLAIN, Here())}
    assert ("chown" in made) == (candidate.filesystem.mount_type not in grammar.OWNERLESS)
    assert "--no-new-privs --bounding-set=-all --inh-caps=-all" in made["setpriv"].command
    line = shlex.split(made["tee"].stdin)[1]
    assert line.startswith("UUID=$uuid  /mnt/data  ") and {"nofail", "nosuid", "nodev"} <= {*line.split()[3].split(",")}


@pytest.mark.parametrize(
    "point",
    ["/mnt", "/", "/etc/x", "/home/a", "/mnt/.x", "/mnt/a b", "mnt/a", "/mnt//a", "/mnt/a/", "/mnt/a/b", "/mnt/..",
     "/mnt/a\n", "/srv/salt", "/new", f"/mnt/{'a' * 64}", "/mnt/ä", "/mnt/$(id)"],
)  # fmt: skip
def test_no_other_mount_point_is_taken(point: str) -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("ext4"), replace(PLAIN, mount_point=point))


@pytest.mark.parametrize(
    "label", ["CIDATA", "config-2", "OEMDRV", "persistence", "", "-L", "a b", "a\n", "[/b]", "a;b"]
)
def test_no_other_label_is_taken(label: str) -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("ext4"), replace(PLAIN, label=label))


@pytest.mark.parametrize("owner", ["", "0", "-h", "a b", "root\n", "Anna", "a:b", "$USER"])
def test_no_other_owner_is_taken(owner: str) -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("ext4"), replace(PLAIN, owner=owner))


def test_the_owner_is_who_called_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    plan: Any = SimpleNamespace(recipe=SimpleNamespace(mount_point="/home"))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1")
    assert usual_choices(parse_candidate("ext4"), plan) == SetUpChoices("data", "/mnt/data", "daemon")


def test_a_program_that_is_missing_is_named_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(program: str) -> str:
        if program == "sfdisk":
            raise Missing("sfdisk is not installed.")
        return program

    monkeypatch.setattr(as_root, "find", find)
    monkeypatch.setattr(set_up, "_require_free", lambda point: None)
    candidate = parse_candidate("ext4")
    with pytest.raises(Missing):
        check_machine(candidate, PLAIN, Device("sdz", "sdz", ""))
    check_machine(candidate, replace(PLAIN, partition=False), Device("sdz", "sdz", ""))


def test_what_others_can_change_is_not_roots_alone(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("what root alone can change only root can make")
    file = tmp_path / "a" / "file"
    file.parent.mkdir()
    file.touch()
    set_up.require_only_root(str(file))
    for path, mode in ((file, 0o622), (file.parent, 0o775)):
        before = path.stat().st_mode
        path.chmod(mode)
        with pytest.raises(Refused):
            set_up.require_only_root(str(file))
        path.chmod(before)
    (tmp_path / "link").symlink_to("a")
    for name in ("link", "link/file", "missing"):
        with pytest.raises(Refused):
            set_up.require_only_root(f"{tmp_path}/{name}")
    os.chown(file.parent, 1, 1)
    with pytest.raises(Refused):
        set_up.require_only_root(str(file))
