"""The steps that set a disk up for good, what may be chosen, and the words that a report has of them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fswizard.disks import as_root, set_up
from fswizard.disks.set_up import Here, check_machine, chosen_set_up, label_of, steps
from fswizard.disks.set_up_plan import usual_mount_point
from fswizard.errors import Missing, Refused
from fswizard.filesystems import mounting as grammar
from fswizard.filesystems import parse_candidate
from fswizard.filesystems.commands import LABELS, make_permanent
from fswizard.system.block_device import Device

POINT = "/mnt/data"


def test_the_room_kept_for_root_is_what_was_measured() -> None:
    made = make_permanent(parse_candidate("ext4:reserved=1"), "data", "/d")
    assert made == ("mkfs.ext4", "-m", "1", "-L", "data", "/d")


@pytest.mark.parametrize("name", sorted(LABELS))
def test_each_filesystem_takes_a_label_as_long_as_it_may_be(name: str) -> None:
    candidate = parse_candidate(name)
    assert label_of(candidate, f"/mnt/{'a' * 50}") == ("a" * 50)[: LABELS[name][1]]
    assert chosen_set_up(candidate, POINT) == candidate
    made = {step.program: step for step in steps(candidate, POINT, Here())}
    assert ("chown" in made) == (candidate.filesystem.mount_type not in grammar.OWNERLESS)
    line = shlex.split(made["tee"].stdin)[1]
    assert line.startswith("UUID=$uuid  /mnt/data  ") and {"nofail", "nosuid", "nodev"} <= {*line.split()[3].split(",")}


@pytest.mark.parametrize(
    "point",
    ["/mnt", "/home/a", "/mnt/.x", "/mnt/a b", "mnt/a", "/mnt//a", "/mnt/a/b", "/mnt/..", "/mnt/a\n", "/srv/a",
     "/media/a", f"/mnt/{'a' * 64}", "/mnt/ä", "/mnt/$(id)"],
)  # fmt: skip
def test_no_other_mount_point_is_taken(point: str) -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("ext4"), point)


@pytest.mark.parametrize("label", ["CIDATA", "config-2", "OEMDRV", "persistence"])
def test_no_label_that_others_act_on_is_taken(label: str) -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("ext4"), f"/mnt/{label}")


def test_a_label_that_is_cut_to_one_that_others_act_on_is_not_taken() -> None:
    with pytest.raises(Refused):
        chosen_set_up(parse_candidate("exfat"), "/mnt/persistence-2")


def test_a_recipes_mount_point_is_proposed_where_it_is_allowed() -> None:
    for point, proposed in (("/home", POINT), ("/mnt/films", "/mnt/films")):
        plan: Any = SimpleNamespace(recipe=SimpleNamespace(mount_point=point))
        assert usual_mount_point(plan) == proposed


def test_a_program_that_is_missing_is_named_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(program: str) -> str:
        if program == "sfdisk":
            raise Missing("sfdisk is not installed.")
        return program

    monkeypatch.setattr(as_root, "find", find)
    monkeypatch.setattr(set_up, "_require_free", lambda point: None)
    candidate = parse_candidate("ext4")
    with pytest.raises(Missing):
        check_machine(candidate, POINT, Device("sdz", "sdz", ""))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1")
    here = check_machine(candidate, POINT, Device("sdz1", "sdz", ""))
    assert (here.uid, here.whole) == (1, False), "the owner is who called sudo"


def test_a_label_that_another_device_has_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"/dev/disk/by-label/data": "sdy"}
    monkeypatch.setattr(set_up, "HERE", SimpleNamespace(device_at=lambda path: labels.get(path, "")))
    monkeypatch.setattr(set_up, "_require_free", lambda point: None)
    monkeypatch.setattr(as_root, "find", lambda program: program)
    candidate = parse_candidate("ext4")
    check_machine(candidate, POINT, Device("sdy", "sdy", ""))
    with pytest.raises(Refused):
        check_machine(candidate, POINT, Device("sdz", "sdz", ""))


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
