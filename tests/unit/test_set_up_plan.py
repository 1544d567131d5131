"""The steps that set a disk up for good, and the words that a report has of them."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace

import pytest

from fswizard.advice import conclude
from fswizard.demo import find_story
from fswizard.filesystems import catalogue
from fswizard.privileged import grammar, set_up_plan
from fswizard.privileged.commands import LABELS, make_kept
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.set_up_plan import Names, SetUp, mount_options, require, shell, steps
from fswizard.report import FORMATS, render

PLAIN = SetUp("ext4", ("-E", "packed_meta_blocks=1"), "ext4", ("noatime",), 2, True, "data", "/mnt/data", "anna", True)
NAMES = Names("/dev/sdb", "/dev/sdb1", 1000, 1000, "0b1c", "20260102-030405")


def test_the_steps_say_all_that_is_run_in_order() -> None:
    require(PLAIN)
    assert [" ".join(step.command) for step in steps(PLAIN, NAMES)] == [
        "wipefs --all /dev/sdb",
        "sfdisk --quiet --wipe always --wipe-partitions always --label gpt /dev/sdb",
        "partx --update /dev/sdb",
        "mkfs.ext4 -E packed_meta_blocks=1 -m 0 -L data /dev/sdb1",
        "blkid -p -s UUID -o value /dev/sdb1",
        "mkdir -p /mnt/data",
        "cp -p /etc/fstab /etc/fstab.fswizard-20260102-030405",
        r"printf %s\n UUID=0b1c  /mnt/data  ext4  noatime,errors=remount-ro,nosuid,nodev,nofail,"
        "x-systemd.device-timeout=5s  0  2",
        "systemctl daemon-reload",
        "udevadm settle --timeout=10",
        "mount /mnt/data",
        "findmnt --verify --target /mnt/data",
        "chown anna: /mnt/data",
        "runuser -u anna -- tee /mnt/data/fswizard-test.txt",
    ]
    bare = replace(PLAIN, partition=False, may_be_absent=False)
    assert [step.name for step in steps(bare, NAMES)][:2] == ["wipe", "make"]
    assert mount_options(bare, NAMES) == ("noatime", "errors=remount-ro", "nosuid", "nodev")
    assert make_kept("ext4", "mkfs.ext4", ("-m", "1"), "data", "/d") == ("mkfs.ext4", "-m", "1", "-L", "data", "/d")


def test_what_is_shown_means_to_a_shell_what_is_run() -> None:
    for step in steps(PLAIN, NAMES):
        if step.name not in ("uuid", "fstab") and not step.given:
            assert tuple(shlex.split(shell(step))) == step.command
    told = {step.name: shell(step) for step in steps(PLAIN, Names("$disk", "$part", 0, 0))}
    line = told["fstab"].removesuffix(" >> /etc/fstab")
    assert told["make"].endswith(' "$part"') and told["uuid"].startswith("uuid=$(blkid ")
    assert subprocess.check_output(["sh", "-c", f"uuid=1b2; {line}"], text=True).startswith("UUID=1b2  /mnt/data  ext4")


@pytest.mark.parametrize("name", sorted(LABELS))
def test_each_filesystem_is_known_to_the_catalogue_and_takes_a_label_as_long_as_it_may_be(name: str) -> None:
    made = catalogue()[name]
    what = SetUp(
        name, (), made.mount_type or name, (), made.fsck_pass, True, "a" * LABELS[name][1], "/mnt/d", "a", True
    )
    require(what)
    with pytest.raises(Refusal, match="letters, digits"):
        require(replace(what, label=what.label + "a"))
    own = {"own"} & {step.name for step in steps(what, NAMES)}
    assert bool(own) == (what.mount_type not in grammar.OWNERLESS)


@pytest.mark.parametrize(
    "point", ["/mnt", "/media", "/", "/etc/x", "/home/a", "/mnt/.x", "/mnt/a b", "mnt/a", "/mnt//a", "/mnt/a/"]
)
def test_no_mount_point_is_of_the_system_or_means_anything_to_fstab(point: str) -> None:
    with pytest.raises(Refusal):
        set_up_plan.require_mount_point(point)


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"result"}))
def test_what_is_exported_names_label_and_options_and_no_device(name: str) -> None:
    text = render(conclude(find_story("ssd-tie").result), name)
    assert "/dev/DEVICE" not in text
    if name in ("text", "markdown", "bbcode", "html", "json", "csv"):
        assert re.search(r"mkfs\.ext4 -m 0 -L data /dev/disk/by-id/DISK", text) and "LABEL=data" in text
