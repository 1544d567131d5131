"""Through the wizard by keyboard alone, by mouse, forward, back, and out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fswizard import drives
from fswizard.disks import rights
from fswizard.disks.journal import Identity, Leftover
from fswizard.filesystems import Availability, suggestions
from fswizard.model.drive import Drive, SmrVerdict
from fswizard.model.events import RunEnded
from fswizard.session import planning
from fswizard.system import commands
from fswizard.tui.choices import Purpose
from fswizard.tui.screens.purpose import proposed
from tests.fakes.wizard import ARCHIVE, NEW, RECIPES, SSD, FakeMachine, app
from tests.tui.driving import (
    STEPS,
    at,
    at_step,
    click_key,
    footer,
    held,
    rows,
    screen_text,
    settled,
    shows,
    until,
    wizard,
)


@pytest.mark.parametrize("size", [(80, 24), (60, 15)])
async def test_enter_alone_leads_from_a_purpose_to_a_measurement(size: tuple[int, int]) -> None:
    """Desktop SSD by mouse in a test below."""
    machine = FakeMachine(event_s=0.01)
    async with at("purpose", machine, size=size) as pilot:
        rows(pilot, "#purposes").highlight("archive-disk")
        for step in STEPS[: STEPS.index("run")]:
            await at_step(pilot, step)
            await settled(pilot)
            await pilot.press("enter")
        await at_step(pilot, "run")
        wizard(pilot).leave_now()
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")
    (plan,) = machine.started
    assert (plan.recipe.name, plan.drive.name) == ("archive-disk", "sdb"), "an archive disk is what it means"
    assert {c.name for c in plan.candidates} == set(suggestions(plan.drive))


SYSTEM = replace(ARCHIVE, partitions=(replace(ARCHIVE.partitions[0], mount_point="/"),))
LARGE = replace(NEW, kind="hdd", rotational=True, size_bytes=4 * 10**12, smr=SmrVerdict("cmr", "strong"))


@pytest.mark.parametrize(
    ("drive", "purpose"),
    [
        (ARCHIVE, "archive-disk"),
        (LARGE, "archive-disk"),
        (replace(LARGE, size_bytes=10**12), "quick"),
        (SYSTEM, "quick"),
    ],
    ids=["shingled", "large", "small", "the system's"],
)
def test_what_is_proposed_follows_the_disks(drive: Drive, purpose: Purpose) -> None:
    assert proposed((SSD, drive)) == purpose


async def test_disks_that_answer_late_move_no_highlight_after_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = held(monkeypatch, drives, "inventory")
    async with app().run_test() as pilot:
        await shows(pilot, "Quick look")
        await pilot.press("down", "up")
        answers.set()
        await at_step(pilot, "purpose")
        assert rows(pilot, "#purposes").key == "quick"


async def test_escape_goes_back_step_by_step_and_choices_stay() -> None:
    async with at("review") as pilot:
        for step in ("review", "workloads", "filesystems", "drive", "purpose"):
            await at_step(pilot, step)
            await pilot.press("escape")
        await at_step(pilot, "purpose")
        for step in ("drive", "filesystems"):
            await at_step(pilot, step, "enter")
            await pilot.pause()
        assert wizard(pilot).choices.candidates == ("ext4", "xfs", "btrfs", "ext4:noatime")


async def test_the_mouse_alone_gets_to_a_run() -> None:
    machine = FakeMachine(event_s=0.01)
    async with at("purpose", machine) as pilot:
        await pilot.click("#purposes", offset=(6, 4))
        await at_step(pilot, "drive")
        assert wizard(pilot).choices.purpose == "desktop-ssd"
        for step in ("filesystems", "workloads", "review", "run"):
            await settled(pilot)
            await click_key(pilot, "⏎")
            await at_step(pilot, step)
        assert machine.started[0].drive.name == "nvme0n1"
        await click_key(pilot, "leave")
        await shows(pilot, "Keep watching")
        await pilot.press("down", "enter")
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")


async def test_candidates_and_options_are_chosen_by_keyboard() -> None:
    async with at("filesystems", candidates=("ext4", "xfs")) as pilot:
        await pilot.press("down", "space")
        assert wizard(pilot).choices.candidates == ("ext4",)
        await shows(pilot, "ext4:noatime", "up", "o", "space")
        rows(pilot, "#options").highlight("relatime")
        await shows(pilot, "compare  ext4:relatime", "space")
        rows(pilot, "#options").highlight("nobarrier")
        await shows(pilot, "unsafe: a crash")
        await at_step(pilot, "filesystems", "enter")
        assert wizard(pilot).choices.candidates == ("ext4", "ext4:relatime")


async def test_what_cannot_be_made_is_no_candidate_and_without_one_it_does_not_go_on() -> None:
    async with at("filesystems", candidates=("ext4",)) as pilot:
        await pilot.press("space")
        rows(pilot, "#candidates").highlight("f2fs")
        await shows(pilot, "Tick at least one candidate", "space", "enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.candidates == ()


async def test_tests_whose_programs_are_absent_are_named_and_a_key_leaves_them_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = ["sqlite3"]
    find = commands.find
    monkeypatch.setattr(planning, "find", lambda name: None if name in missing else find(name))
    async with at("workloads", recipe=RECIPES[1]) as pilot:
        await shows(pilot, "sqlite3 is not installed")
        absent = {*pilot.app.screen.absent}
        await pilot.press("enter")
        await settled(pilot)
        await at_step(pilot, "workloads")
        await pilot.press("x")
        names = {workload.name for workload in wizard(pilot).choices.recipe.workloads}
        assert names == {workload.name for workload in RECIPES[1].measured} - absent
        await at_step(pilot, "review", "enter")
    async with at("workloads", recipe=RECIPES[1]) as pilot:
        await shows(pilot, "sqlite3 is not installed")
        missing.clear()  # it was installed meanwhile
        await at_step(pilot, "review", "enter")


async def test_what_cannot_be_run_says_what_to_do_and_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "state", lambda: "none")
    machine = FakeMachine()
    async with at("review", machine) as pilot:
        await shows(pilot, "Log in as root, or have sudo")
        await pilot.press("enter")
        await at_step(pilot, "review")
        assert not machine.sessions


async def test_a_run_that_cleans_up_is_not_left_by_escape() -> None:
    async with at("run") as pilot:  # nobody follows this run, so that it never ends
        await shows(pilot, "removing everything the run made", "x", "down", "enter")
        assert "esc" not in footer(pilot.app)
        await at_step(pilot, "run", "escape")


async def test_a_run_is_left_only_after_a_question_which_stays_when_the_run_ends() -> None:
    machine = FakeMachine(event_s=0.01)
    async with at("review", machine) as pilot:
        await at_step(pilot, "run", "enter")
        await at_step(pilot, "run", "l", "escape")
        await shows(pilot, "Round 1")
        await shows(pilot, "Keep watching", "escape")
        await at_step(pilot, "run", "enter")
        assert wizard(pilot).measuring, "keep watching is the default"
        await until(pilot, lambda: wizard(pilot).running.state.analysis is not None, "the first round")
        await pilot.press("x", "down")
        machine.sessions[0].order("stop")
        await until(pilot, lambda: wizard(pilot).result is not None, "the result")
        await shows(pilot, "Keep watching")
        await at_step(pilot, "result", "enter")
        assert wizard(pilot).running.state.outcome == "stopped"


async def test_a_run_that_fails_says_why_and_leads_back() -> None:
    machine = FakeMachine(rounds=0, end=RunEnded(1.0, "failed", "The disk is gone.", hint="Plug it in again."))
    async with at("review", machine) as pilot:
        await shows(pilot, "The disk is gone.", "enter")
        await shows(pilot, "Plug it in again.")
        await at_step(pilot, "review", "escape")


async def test_what_the_answer_rests_on_is_one_key_behind_it_and_needs_rank_it_anew() -> None:
    async with at("result") as pilot:
        await shows(pilot, "Searching a folder")
        screen = pilot.app.screen
        await shows(pilot, "Ratios to ext4", "d", "pagedown")
        await pilot.press("escape")
        await until(pilot, lambda: "Ratios to ext4" not in screen_text(pilot.app), "the answer")
        await pilot.press("m", "enter")
        assert not screen.adjusting and screen.is_current, "it closes these first, and shares nothing"
        await pilot.press("m")
        screen.needed.highlight("checksums")
        await shows(pilot, "Use Btrfs", "space")
        assert screen.findings.answer.first == "btrfs:noatime"
        await pilot.press("escape")
        assert not screen.adjusting and screen.is_current


async def test_export_shows_copies_and_saves_each_format_and_a_card_where_it_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with at("result", size=(120, 40)) as pilot:
        await shows(pilot, "How to set it up", "enter")
        await shows(pilot, "**✓ Use XFS", "down")
        previewed = pilot.app.screen.query_one("#previewed")
        await pilot.press("pagedown", "enter")
        assert previewed.scroll_y > 0
        copied = pilot.app.clipboard
        assert copied == pilot.app.screen.rendered
        for answer in ("Saved as", "exists already"):
            await shows(pilot, answer, "s")
            assert [path.read_text() for path in tmp_path.glob("fswizard-*.md")] == [copied]
        monkeypatch.setattr("fswizard.sharing.png", lambda svg: b"\x89PNG")
        pilot.app.screen.kinds.highlight("png")
        await shows(pilot, "A picture of 1200×630 pixels")
        await shows(pilot, "Saved as", "enter", "s")
        assert pilot.app.clipboard == copied, "a picture is not copied"
        assert [path.read_bytes() for path in tmp_path.glob("fswizard-*.png")] == [b"\x89PNG"]


async def test_what_a_killed_run_left_behind_can_be_cleaned_up_and_what_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, directory = tmp_path / "run-1.json", tmp_path / "fswizard-1"
    entry.touch()
    left = Leftover({str(directory): Identity(tmp_path.stat().st_dev, 1, "ext4")}, entry=entry)
    monkeypatch.setattr("fswizard.disks.journal.leftovers", lambda: (left,))
    async with at() as pilot:
        await shows(pilot, "Left behind by a run that was killed")
        rows(pilot, "#purposes").highlight("left-0")
        await shows(pilot, "Cleaned up.", "enter")
        assert "If you moved it elsewhere, delete it there." in " ".join(screen_text(pilot.app).split())
        assert "left-0" not in rows(pilot, "#purposes").keys
    assert not entry.exists()


async def test_a_run_that_was_ended_early_goes_on_after_a_review() -> None:
    machine = FakeMachine(event_s=0.01)
    async with at("purpose", machine) as pilot:
        for back in (True, False):
            await shows(pilot, "Resume an unfinished run")
            rows(pilot, "#purposes").highlight("resume-0")
            await at_step(pilot, "review", "enter")
            await shows(pilot, "resumes an earlier run")
            if back:
                await at_step(pilot, "purpose", "escape")
                assert wizard(pilot).taken_up is None
        shown = " ".join(screen_text(pilot.app).split())
        assert re.search(r"So far \d rounds in \d+ (s|min), kept", shown) and "Dropped" in shown
        await at_step(pilot, "run", "enter")
        (run,) = machine.sessions
        assert wizard(pilot).running.run is run and run.path.name == "old.jsonl"
        wizard(pilot).leave_now()
        await until(pilot, lambda: run.left, "clean-up")


async def test_a_volume_is_ticked_among_the_options_and_brings_its_own() -> None:
    async with at("filesystems", candidates=("ext4", "xfs")) as pilot:
        available = wizard(pilot).machine.available
        available["luks"] = Availability(False, "dmsetup is not installed.", "Install it.")
        await pilot.press("o")
        options = rows(pilot, "#options")
        options.highlight("luks")
        await shows(pilot, "✗ dmsetup is not installed. Install it.", "space")
        available["luks"] = Availability(True)
        for token, name in (
            ("noatime", "ext4:noatime"),
            ("luks", "luks+ext4:noatime"),
            ("sector=4096", "luks,sector=4096+ext4:noatime"),
        ):
            options.highlight(token)
            await shows(pilot, f"compare  {name}", "space")
        await at_step(pilot, "filesystems", "enter")
        assert wizard(pilot).choices.candidates == ("ext4", "xfs", "luks,sector=4096+ext4:noatime")
