"""Runs on a device of the user's: a loop device stands for a disk, and passes the same checks as one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.disks import as_root, image, stack
from fswizard.disks.disk import DiskFailed
from fswizard.disks.root import RootDisks
from fswizard.drives.devices import find_device
from fswizard.errors import Refused
from fswizard.filesystems import parse_candidate, parse_candidates
from fswizard.model.events import CommandFinished, Event
from fswizard.model.plan import Plan
from fswizard.report import FORMATS, render
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.sharing import shareable
from tests.loop.devices import Bench, Case, digest, run, signatures
from tests.loop.machine_state import assert_nothing_lives, wait_until
from tests.loop.runs import TINY, at, result_of, session_in, watch
from tests.loop.tiny_run import LIMIT_S, clean, killed

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

DISK_BYTES = 96 << 20


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be wiped is not tried for long."""
    monkeypatch.setattr(stack, "BUSY_LIMIT_S", 0.1)
    monkeypatch.setattr(image, "WIPE_LIMIT_S", 0.1)


def plan(case: Case) -> Plan:
    serial = find_device(case.path).identifiers[0]
    target = TargetChoice("device", case.path, serial=serial)
    return replace(make_plan(Choices(TINY, parse_candidates("ext4; ext2"), target=target, seed=1)), maximum_rounds=2)


async def test_the_device_is_measured_with_and_without_a_filesystem_and_left_wiped(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fswizard.session.trial.LEAST_BARE_S", 0.01)
    case = bench.disk(DISK_BYTES)
    made = replace(plan(case), minimum_rounds=1, maximum_rounds=1)
    commands = []

    def take(event: Event) -> None:
        if isinstance(event, CommandFinished) and "fio" in event.argv and f"--filename={case.path}" in event.argv:
            commands.append((event.as_root, event.exit_code))

    result = await result_of(session_in(bench.directory, made), take)
    findings = conclude(result)
    assert result.outcome == "finished"
    assert {s.workload for s in result.samples if s.round and not s.candidate and s.workload} == {"random-write"}
    assert commands == [(True, 0)]
    assert signatures(case) == ""
    assert "on the device itself" in render(findings, "text", full=True)
    shared = conclude(shareable(result))
    for name in FORMATS:
        assert str(case.file) not in render(shared, name, full=True), "what was typed to confirm stays at home"


async def ends_refused(made: Plan, case: Case, words: str) -> None:
    before = digest(case.file)
    session = session_in(case.file.parent, made)
    assert (await result_of(session)).outcome == "failed"
    assert isinstance(session.error, Refused)
    assert words in session.error.message
    assert digest(case.file) == before


async def test_a_device_mounted_while_the_run_waits_is_not_overwritten(
    at_once: None, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = bench.made("mkfs.ext4", "-q", size_bytes=DISK_BYTES)
    session = session_in(bench.directory, plan(case))
    before: list[str] = []

    async def mount(*_: object) -> None:
        """The run has claimed the device then, and written nothing yet."""
        if not before:
            bench.mount(case.path, "-o", "ro,noload")
            before.append(digest(case.file))

    monkeypatch.setattr("fswizard.session.session.let_rest", mount)
    await watch(session)
    assert [digest(case.file)] == before
    assert isinstance(session.error, Refused | DiskFailed), session.error


async def test_a_plan_that_was_never_confirmed_is_not_carried_out(bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    made = plan(case)
    await ends_refused(replace(made, target=replace(made.target, identifier="")), case, "would be lost")


CHANGES: dict[str, tuple[Callable[[Bench, Case], object], str]] = {
    "made": (lambda bench, case: run("mkfs.ext2", "-q", "-F", case.path), "have changed since the plan was made"),
    "another of the same name": (
        lambda bench, case: bench.attach_instead(case.path, case.file),
        "is no longer the disk that was chosen",
    ),
}  # fmt: skip
"""What somebody does with a disk after the plan was made, and what the run says of it."""


@pytest.mark.parametrize("change", CHANGES)
async def test_a_device_that_changes_after_the_plan_is_not_overwritten(change: str, bench: Bench) -> None:
    case = bench.made("mkfs.ext4", "-q", size_bytes=DISK_BYTES)
    made = plan(case)
    changes, words = CHANGES[change]
    changes(bench, case)
    await ends_refused(made, case, words)


async def test_a_run_that_is_stopped_leaves_the_device_wiped(bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    session = session_in(bench.directory, plan(case))
    await watch(session, at("workload", session.stop))
    assert signatures(case) == ""


async def test_a_device_that_turns_read_only_ends_the_run_and_is_not_called_wiped(at_once: None, bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    session = session_in(bench.directory, replace(plan(case), minimum_rounds=2))
    bench.undo.callback(run, "blockdev", "--setrw", case.path)
    result = await result_of(session, at("workload", lambda: run("blockdev", "--setro", case.path), round=2))
    assert session.error is not None
    assert "read-only" in session.error.message
    assert (result.outcome, result.failures) == ("failed", ())
    assert [doubt.code for doubt in result.doubts if doubt.code == "not-wiped"] == ["not-wiped"]
    assert "left wiped" not in " ".join(render(conclude(result), "text", full=True).split())


def test_after_sigkill_nothing_is_mounted_and_the_device_is_free(recipe: Path, bench: Bench) -> None:
    case = bench.disk(DISK_BYTES)
    output = bench.directory / "result.jsonl"
    arguments = ("--target", f"device:{case.path}", "--erase", str(case.file), "--rounds", "12..12")
    assert_nothing_lives(bench.directory, killed(output, str(recipe), *arguments))
    wait_until(lambda: _free(case.path), LIMIT_S, "the device is free")
    assert results.load(output).outcome == "killed"
    clean()


def _free(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


async def test_a_mkfs_that_locks_the_disk_itself_does_not_wait_for_our_lock(
    bench: Bench, disks: RootDisks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As mkfs.btrfs does from btrfs-progs 6.7.1 on; a stand-in does here, whichever is installed."""
    case = bench.disk(DISK_BYTES)
    (member,) = plan(case).target.members
    mkfs = bench.directory / "mkfs.btrfs"
    mkfs.write_text('#!/bin/sh\nfor device; do :; done\nexec 9<"$device" || exit 98\nflock -x -n 9 || exit 99\n')
    mkfs.chmod(0o755)
    disk, find = disks.claim([member], [""]), as_root.find
    monkeypatch.setattr(as_root, "find", lambda name: str(mkfs) if name == mkfs.name else find(name))
    made = await disk.make(parse_candidate("btrfs"), lambda argv: None)
    assert [each.exit_code for each in made] == [0]
    other = os.open(case.path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
