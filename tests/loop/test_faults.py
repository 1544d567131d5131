"""Faults of devices, space, tools and the environment, each caused for real: nobody is blamed who is not to blame."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from fswizard.disks import journal
from fswizard.drives.devices import find_device
from fswizard.engines.fio import FioJob
from fswizard.engines.shared import engine
from fswizard.filesystems import parse_candidates
from fswizard.model.events import Event, StepProgressed, StepStarted
from fswizard.model.metrics import TRIAL_WRITTEN
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.system import mounts, timeouts
from tests.fakes.machine import make_program
from tests.loop.failing_host import FailingDisk, failing_disk, failing_host, fill, small_host
from tests.loop.machine_state import (
    assert_nothing_lives,
    descendants,
    device_of,
    names_in,
    process_named,
    wait_until,
)
from tests.loop.runs import (
    COPIES,
    RANDOM_WRITE,
    TINY,
    WRITES,
    At,
    at,
    result_of,
    session_in,
    short_plan,
    short_session,
)
from tests.loop.tiny_run import LASTING, Run, clean, tiny_run

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio]

MEASURING = "^Writes$"
"""The title of the step in which a candidate is measured."""


def ended_by_the_machine(run: Run, words: str) -> str:
    """What it says: it failed in good order, said why, blamed no candidate and left nothing."""
    said = run.end(1)
    assert words in said
    assert (run.result.outcome, run.result.failures) == ("failed", ())
    assert_nothing_lives(run.place, [])
    return said


def image_of(run: Run) -> Path:
    """What the run has open: no file system names it."""
    links = Path(f"/proc/{run.pid}/fd").iterdir()
    return next(link for link in links if os.readlink(link).startswith(f"{run.place}/#"))


def standing_in(program: str, script: str, directory: Path) -> list[str]:
    """A command that runs another where `program`, wherever it is, is a shell script that root owns.

    In a mount namespace of its own: nobody else sees it, and the run finds it where it looks for root's programs.
    """
    found = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin")
    assert found, f"{program} is not installed"
    real = Path(found).resolve()
    kept = directory / f"real-{real.name}"
    shutil.copy2(real, kept)
    make_program(directory, f"fake-{real.name}", script.replace("REAL", str(kept)))
    bound = 'mount --bind "$0" "$1" && shift && exec "$@"'
    fake = str(directory / f"fake-{real.name}")
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", bound, fake, str(real)]


def test_an_image_that_is_cut_off_ends_the_run(tmp_path: Path) -> None:
    with tiny_run(tmp_path, "--rounds", "1..1", still_at=MEASURING) as run:
        os.truncate(image_of(run), 1 << 20)
        run.go_on()
        ended_by_the_machine(run, "changed the size of the scratch image")


@pytest.mark.nbd
@pytest.mark.parametrize("kind", ["pread", "pwrite"])
@pytest.mark.parametrize(("candidate", "image_mib"), [("ext4", 64), pytest.param("btrfs", 128, marks=pytest.mark.slow)])
def test_a_disk_that_fails_ends_the_run_and_no_candidate_is_blamed(
    tmp_path: Path, kind: str, candidate: str, image_mib: int
) -> None:
    arguments = ("--candidates", f"{candidate}; ext2", "--rounds", "1..1")
    with (
        failing_host(tmp_path, kind, f"{image_mib * 5 // 4 + 16}M") as host,
        tiny_run(
            tmp_path, *arguments, still_at=MEASURING, target=f"image:{image_mib}M@{host.directory}"
        ) as run,
    ):  # fmt: skip
        host.fail()
        run.go_on()
        ended_by_the_machine(run, "The disk reported errors")
        host.recover()


async def ends_by_the_disk(target: TargetChoice, disk: FailingDisk, tmp_path: Path) -> str:
    """The error of a run when its disk fails at the first workload of the first candidate."""
    candidates = parse_candidates("ext4; ext2") if target.kind == "device" else ()
    plan = make_plan(Choices(WRITES, candidates, target=target, rounds=(1, 1)))
    fails, recovers = at("workload", disk.fail, candidate=plan.candidates[0].name), at("clean", disk.recover)
    session = session_in(tmp_path, plan)
    result = await result_of(session, lambda event: (fails(event), recovers(event)))
    disk.recover()
    assert (result.outcome, result.failures) == ("failed", ())
    assert session.error is not None
    assert "smartctl -a" in session.error.hint
    return session.error.message


@pytest.mark.nbd
async def test_a_device_that_fails_ends_the_run_and_no_candidate_is_blamed(tmp_path: Path) -> None:
    with failing_disk(tmp_path) as disk:
        target = TargetChoice("device", disk.path, serial=find_device(disk.path).identifiers[0])
        assert await ends_by_the_disk(target, disk, tmp_path) == "The disk reported errors."


@pytest.mark.nbd
async def test_a_disk_below_a_directory_that_fails_ends_the_run_and_blames_nobody(tmp_path: Path) -> None:
    sound = tmp_path / "a-sound-one"
    sound.mkdir()
    with failing_host(tmp_path) as host:
        target = TargetChoice("directory", f"{host.directory},{sound}")
        message = await ends_by_the_disk(target, host, tmp_path)
    # The kernel does not log every error while other tests bring about many.
    assert message in ("The disk reported errors.", "A directory can no longer be read or written.")


async def test_a_filesystem_that_counts_an_error_on_a_sound_disk_is_blamed_and_the_next_one_is_not(
    tmp_path: Path,
) -> None:
    def breaks() -> None:
        Path("/sys/fs/ext4", device_of(tmp_path).name, "trigger_fs_error").write_text("made by a test")

    session = short_session(tmp_path, "ext4; ext2", COPIES)
    result = await result_of(session, at("check", breaks, candidate="ext4"))
    assert result.outcome == "finished"
    assert [(failure.candidate, failure.kind) for failure in result.failures] == [("ext4", "health")]
    assert [sample.candidate for sample in result.samples if sample.primary and sample.candidate] == ["ext4", "ext2"]


def waits_for_the_disk(pid: int) -> bool:
    """Whether a thread of a program is where not even SIGKILL ends it."""
    states = (path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat"))
    return "D" in states


@pytest.mark.nbd
def test_a_run_on_a_disk_that_hangs_can_be_ended_and_goes_when_the_disk_answers(tmp_path: Path) -> None:
    with (
        failing_host(tmp_path) as host,
        tiny_run(tmp_path, recipe=LASTING, target=f"image:64M@{host.directory}") as run,
    ):
        run.await_words("round 1, .*Writes")
        fio = process_named("fio", run.pid)
        host.hang()
        wait_until(lambda: waits_for_the_disk(fio), 120, "fio waits for the disk")
        run.process.send_signal(signal.SIGINT)
        assert run.result.plan, "what was measured can be read although the disk hangs"
        below = descendants(run.pid)
        host.recover()
        run.end(130)
        assert_nothing_lives(host.directory, below)
        clean()
        assert not list(host.directory.glob("fswizard-*"))


def unmount_what_the_run_had() -> bool:
    """As the end of its namespace does, which one in the process of a test does not have; whether nothing is left."""
    paths = [mount.path for mount in mounts.current() if mount.path.startswith("/run/fswizard")]
    for path in reversed(paths):
        subprocess.run(["umount", path], check=False)
    return not paths


@pytest.mark.nbd
async def test_a_run_on_a_disk_that_never_answers_again_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeouts, "KILL_S", 0.1)
    monkeypatch.setattr(journal, "REMOVAL_S", 0.2)
    with failing_host(tmp_path) as host:
        session = session_in(tmp_path, short_plan(host.directory, "ext4", WRITES, 2))

        async def carry_out(*work: Any, **how: Any) -> object:
            if [sample for sample in session.result.samples if sample.round == 2]:
                host.hang()
                monkeypatch.setattr(timeouts, "LIMIT_S", 2.0)  # fio may have written nothing yet
                how["limit_s"] = 2.0
            return await carried_out(*work, **how)

        carried_out = engine.carry_out
        monkeypatch.setattr(engine, "carry_out", carry_out)
        result = await result_of(session)
        host.recover()
        wait_until(unmount_what_the_run_had, 60.0, "what the run had mounted is unmounted")
        assert_nothing_lives(host.directory, [])
        clean()
        assert not list(host.directory.glob("fswizard-*"))
    assert session.error is not None
    assert "disk no longer answers" in session.error.message
    assert "fswizard clean" in session.error.hint
    assert (result.outcome, result.failures) == ("failed", ())
    assert {sample.round for sample in result.samples if sample.primary} == {1}


def test_a_run_goes_on_although_its_directory_is_removed_and_the_host_runs_full(tmp_path: Path) -> None:
    """The image has no name there by then, and all its blocks."""
    with (
        small_host(tmp_path, 96 << 20) as host,
        tiny_run(tmp_path, "--rounds", "1..1", still_at=MEASURING, target=f"image:64M@{host}") as run,
    ):
        (directory,) = host.glob("fswizard-*")
        assert "image" not in names_in(directory)
        shutil.rmtree(directory)
        fill(host)
        run.go_on()
        run.end(0)
        assert (run.result.outcome, run.result.failures) == ("finished", ())
        assert names_in(host) == ["ballast", "lost+found"]


def test_a_result_file_that_cannot_grow_ends_the_run_and_keeps_what_it_holds(tmp_path: Path) -> None:
    with small_host(tmp_path, 16 << 20) as host:
        with tiny_run(tmp_path, "--rounds", "12..12", still_at=MEASURING, file=host / "result.jsonl") as run:
            fill(host)
            run.go_on()
            run.end(1)
            assert run.result.outcome == "killed", "who follows it cannot know more"
        assert run.result.samples


ASKS = """printf 'Proceed anyway? (y,N) '
read answer && exec REAL "$@"
echo 'no answer' >&2
exit 1"""


@pytest.mark.parametrize(("does", "kind", "words"), [(ASKS, "mkfs", "Proceed anyway?"), ("exit 0", "mount", "")])
def test_a_mkfs_that_asks_gets_no_answer_one_that_lies_is_found_out_and_the_others_go_on(
    tmp_path: Path, does: str, kind: str, words: str
) -> None:
    script = f"""[ "$1" = -V ] && exec REAL -V
case "$*" in
*journal*) ;;
*) exec REAL -t ext2 "$@";;
esac
{does}"""
    under = standing_in("mkfs.ext4", script, tmp_path)
    with tiny_run(tmp_path, "--candidates", "ext4; ext2", "--rounds", "1..1", under=under) as run:
        run.end(0)
        (failure,) = run.result.failures
        assert (failure.candidate, failure.kind) == ("ext4", kind)
        assert words in failure.details
        assert [sample for sample in run.result.samples if sample.candidate == "ext2" and sample.primary]


def test_a_mkfs_that_hangs_can_be_ended(tmp_path: Path) -> None:
    hangs = '[ "$1" = -V ] && exec REAL -V; exec sleep 1000'
    elsewhere = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": ""}  # another home than the account's
    with tiny_run(tmp_path, under=standing_in("mkfs.ext4", hangs, tmp_path), env=elsewhere) as run:
        run.await_words("formatting with mkfs.ext4")
        below = [*descendants(run.pid), psutil.Process(process_named("sleep", run.pid))]
        run.process.send_signal(signal.SIGTERM)
        assert f"fswizard run --resume {run.file}" in run.end(130)
        assert_nothing_lives(run.place, below)


def test_a_candidate_that_cannot_be_unmounted_ends_the_run(tmp_path: Path) -> None:
    at_once = "from fswizard.disks import image; image.BUSY_PAUSE_S = 0.0"
    with tiny_run(tmp_path, "--rounds", "1..1", script=at_once, still_at=MEASURING) as run:
        inside = ["nsenter", f"--target={run.pid}", "--mount", "sh", "-c", 'cd "$0" && echo in && exec sleep 1000']
        (place,) = Path(f"/proc/{run.pid}/root/run/fswizard").iterdir()
        holder = subprocess.Popen([*inside, f"/run/fswizard/{place.name}"], stdout=subprocess.PIPE)
        try:
            assert holder.stdout and holder.stdout.readline() == b"in\n"
            run.go_on()
            assert "cannot be unmounted: another program uses it" in run.end(1)
        finally:
            holder.kill()
            holder.communicate()
        assert_nothing_lives(run.place, [])


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo \"fio: unrecognized option '--status-interval=250ms'\" >&2; exit 1", "unrecognized option"),
        ('echo "{not json }}}"; head -c 3000000 /dev/urandom; exit 0', "without having measured anything"),
    ],
    ids=["too old", "prints nonsense"],
)
def test_an_fio_that_does_not_work_ends_the_run(tmp_path: Path, script: str, words: str) -> None:
    under = standing_in("fio", f'[ "$1" = --version ] && exec REAL --version\n{script}', tmp_path)
    with tiny_run(tmp_path, "--rounds", "1..1", under=under) as run:
        assert words in ended_by_the_machine(run, "cannot be measured on this machine")


def test_a_round_in_which_the_run_was_stopped_is_measured_again(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("place", "other")]
    places[1].mkdir()
    with tiny_run(tmp_path, "--rounds", "1..1", still_at=MEASURING, target=f"dir:{places[0]},{places[1]}") as run:
        pid = run.pid
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: psutil.Process(pid).status() == "stopped", 60, "it is stopped")
        os.kill(pid, signal.SIGCONT)
        run.go_on()
        run.end(0)
    result = run.result
    assert (result.outcome, result.discarded_rounds) == ("finished", (1,))
    assert "stopped" in {doubt.code for doubt in result.doubts}
    assert {sample.round for sample in result.samples if sample.primary and sample.candidate} == {1, 2}


LONGER = replace(RANDOM_WRITE, job=FioJob("randwrite", 4096, 4 << 20, seconds=0.5, depth=4))
"""Long enough to be killed while it is measured."""


def disturbing(sent: dict[int, signal.Signals]) -> At:
    """Sends a signal to fio after its first output in each of these rounds."""
    measured: dict[int, int] = {}

    def disturb(event: Event) -> None:
        if isinstance(event, StepStarted) and event.step.stage == "workload":
            measured[event.step.number] = event.step.round
        if isinstance(event, StepProgressed) and (number := sent.pop(measured.get(event.step, 0), None)):
            os.kill(process_named("fio", os.getpid()), number)

    return disturb


async def test_rounds_in_which_the_program_that_measures_was_killed_or_stopped_do_not_count(tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4; ext2", replace(TINY, workloads=(LONGER,)))
    result = await result_of(session, disturbing({1: signal.SIGKILL, 2: signal.SIGSTOP}))
    assert (result.outcome, result.failures, result.discarded_rounds) == ("finished", (), (1, 2))
    assert {sample.round for sample in result.samples if sample.primary and sample.candidate} - {1, 2} == {3}
    doubts = {doubt.code: doubt.text for doubt in result.doubts}
    assert "(fio, SIGKILL)" in doubts["program-killed"]
    assert "(fio, SIGSTOP)" in doubts["program-stopped"]
    assert sum(sample.metric == TRIAL_WRITTEN.name for sample in result.samples) >= 4, "all that was written is"


async def test_a_run_whose_programs_are_always_killed_fails_and_says_why(tmp_path: Path) -> None:
    session = short_session(tmp_path, "ext4; ext2", replace(TINY, workloads=(LONGER,)), rounds=9)
    result = await result_of(session, disturbing(dict.fromkeys(range(1, 9), signal.SIGKILL)))
    assert (result.outcome, result.failures, result.discarded_rounds) == ("failed", (), (1, 2, 3))
    assert session.error is not None
    assert "in 3 rounds in a row" in session.error.message
    assert names_in(tmp_path) == ["result.jsonl"]


def test_a_candidate_is_not_blamed_for_an_mkfs_that_somebody_killed(tmp_path: Path) -> None:
    once = f'[ "$1" = -V ] || [ -e {tmp_path}/killed ] && exec REAL "$@"\necho > {tmp_path}/killed; kill -KILL $$'
    with tiny_run(tmp_path, "--rounds", "1..1", under=standing_in("mkfs.ext4", once, tmp_path)) as run:
        said = run.end(0)
    assert (run.result.outcome, run.result.failures, run.result.discarded_rounds) == ("finished", (), (1,))
    assert "(mkfs.ext4, SIGKILL)" in said
