"""What the usual machine leaves out: NTFS through the kernel's own driver, and an instance of systemd for each user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fswizard.filesystems import catalogue
from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import Machine, awaited, booted
from tests.long.vm.root import NEWER
from tests.long.vm.runs import RECIPE, RUN_S, on_disk, report
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow]

USER = "eve"
COMPRESSED = "ntfs:compression"
"""This driver refuses direct writes to compressed files ("direct i/o + compressed not supported")."""


@pytest.fixture(scope="module")
def newer_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("machine"), [MEASURED], suite=NEWER) as machine:
        yield machine


def test_ntfs_is_measured_through_the_kernels_own_driver_with_each_option(newer_machine: Machine) -> None:
    filesystem = catalogue()["ntfs"]
    mounted = ["noatime", *(option.name for option in filesystem.mount_options if "atime" not in option.name)]
    names = ["ntfs", *(f"ntfs:{option}" for option in mounted), "ntfs:cluster=64k"]
    candidates = "; ".join(["ext4", *names, COMPRESSED])
    run = on_disk(newer_machine, MEASURED, candidates, "--rounds", "1..1", recipe=writing("512M", "16M", 1))
    run.assert_whole(1, *names)
    assert run.failures(COMPRESSED), "a workload that it refuses is its failure"


def test_systemd_limits_what_a_user_measures_in_directories(newer_machine: Machine) -> None:
    home = f"/home/{USER}"
    newer_machine.ok("useradd", "--create-home", USER)
    newer_machine.ok("loginctl", "enable-linger", USER)  # systemd's instance for somebody who has not logged in
    runtime = f"/run/user/{newer_machine.ok('id', '-u', USER).strip()}"
    as_user = ("runuser", "-u", USER, "--", "env", f"XDG_RUNTIME_DIR={runtime}", "fswizard")
    awaited(lambda: newer_machine.run(*as_user, "doctor").stdout, lambda said: b"systemd-run without root" in said)
    newer_machine.write(f"{home}/short.toml", RECIPE)
    newer_machine.ok("runuser", "-u", USER, "--", "mkdir", f"{home}/one", f"{home}/two")
    places, result = f"dir:{home}/one,{home}/two", f"{home}/result.jsonl"
    options = ("--target", places, "--rounds", "1..1", "--output", result)
    newer_machine.ok(*as_user, "run", f"{home}/short.toml", *options, timeout_s=RUN_S)
    found = report(newer_machine, result)
    assert len({sample["candidate"] for sample in found["samples"] if sample["round"]}) == 2
    assert "fits-in-memory" not in {doubt["code"] for doubt in found["doubts"]}
