"""Through the wizard by keyboard alone, by mouse, forward, back, and out."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.disks import rights
from fswizard.disks.journal import Identity, Leftover
from fswizard.disks.rights import State
from fswizard.errors import UsageError
from fswizard.filesystems import Availability, parse_candidate, suggestions
from fswizard.model.drive import Drive, SmrVerdict
from fswizard.model.events import RunEnded
from fswizard.session import planning
from fswizard.system import commands
from fswizard.tui.choices import Purpose
from fswizard.tui.machine import MachineCache
from fswizard.tui.screens.dialogs import LeaveScreen
from fswizard.tui.screens.export import ExportScreen
from fswizard.tui.screens.log import LogScreen
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.screens.purpose import proposed
from fswizard.tui.screens.result import ResultScreen
from fswizard.tui.screens.workloads import WorkloadsScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Facts, Table
from tests.fakes.wizard import ARCHIVE, NEW, RECIPES, SSD, FakeMachine, app, chosen
from tests.tui.driving import STEPS, at_step, click_key, footer, keys_of, screen_text, settled, shows, until, wizard

SIZE = (100, 32)


async def to_the_run(pilot: Pilot[Any]) -> None:
    """Enter alone, from the first screen to a run."""
    for step in ("purpose", "drive", "filesystems", "workloads", "review"):
        await at_step(pilot, step)
        if step == "drive":
            await shows(pilot, "scratch image in ")
        if step == "review":
            await shows(pilot, "starts the run")
        await pilot.press("enter")
    await at_step(pilot, "run")


async def to_the_question(pilot: Pilot[Any], *keys: str) -> None:
    """From a run to the question that is asked when it is left."""
    await pilot.press(*keys)
    await until(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen), "the question")


async def test_enter_alone_leads_from_a_purpose_to_a_measurement() -> None:
    """Desktop SSD by mouse in a test below."""
    machine = FakeMachine(event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await at_step(pilot, "purpose")
        pilot.app.screen.query_one("#purposes", Options).highlight("archive-disk")
        wizard_ = wizard(pilot)
        for step in STEPS[: STEPS.index("run")]:
            await at_step(pilot, step)
            await settled(pilot)
            await pilot.press("enter")
        await until(pilot, lambda: wizard_.running is not None, "the run")
        wizard_.leave_now()
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")
    (plan,) = machine.started
    assert plan.drive is not None
    assert (plan.recipe.name, plan.drive.name) == ("archive-disk", "sdb"), "an archive disk is what it means"
    assert {c.name for c in plan.candidates} == set(suggestions(plan.drive))


SYSTEM = replace(ARCHIVE, partitions=(replace(ARCHIVE.partitions[0], mount_point="/"),))
LARGE = replace(NEW, kind="hdd", rotational=True, size_bytes=4 * 10**12, smr=SmrVerdict("cmr", "strong"))


@pytest.mark.parametrize(
    ("drives", "purpose"),
    [
        ((), "quick"),
        ((SSD,), "quick"),
        ((SSD, ARCHIVE), "archive-disk"),
        ((SSD, LARGE), "archive-disk"),
        ((SSD, replace(LARGE, size_bytes=10**12)), "quick"),
        ((SSD, SYSTEM), "quick"),
    ],
    ids=["none", "SSD", "shingled", "large", "small", "the system's"],
)
def test_what_is_proposed_follows_the_disks(drives: tuple[Drive, ...], purpose: Purpose) -> None:
    assert proposed(drives) == purpose


async def test_disks_that_answer_late_move_no_highlight_after_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    def inventory() -> tuple[Drive, ...]:
        answers.wait(60.0)
        return (ARCHIVE,)

    monkeypatch.setattr("fswizard.drives.inventory", inventory)
    async with app().run_test(size=SIZE) as pilot:
        await shows(pilot, "Quick look")
        await pilot.press("down", "up")
        answers.set()
        await at_step(pilot, "purpose")
        assert pilot.app.screen.query_one("#purposes", Options).key == "quick"


async def test_escape_goes_back_step_by_step_and_choices_stay() -> None:
    async with app("review").run_test(size=SIZE) as pilot:
        for step in ("review", "workloads", "filesystems", "drive", "purpose"):
            await at_step(pilot, step)
            await pilot.press("escape")
        await at_step(pilot, "purpose")
        for step in ("drive", "filesystems"):
            await pilot.press("enter")
            await at_step(pilot, step)
            await pilot.pause()
        assert wizard(pilot).choices.candidates == ("ext4", "xfs", "btrfs", "ext4:noatime")


async def test_the_mouse_alone_gets_to_a_run() -> None:
    machine = FakeMachine(event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await at_step(pilot, "purpose")
        await pilot.click("#purposes", offset=(6, 4))
        await at_step(pilot, "drive")
        assert wizard(pilot).choices.purpose == "desktop-ssd"
        await shows(pilot, "scratch image in ")
        for step in ("filesystems", "workloads", "review", "run"):
            if step == "run":
                await shows(pilot, "starts the run")
            await click_key(pilot, "⏎")
            await at_step(pilot, step)
        assert machine.started[0].drive is not None
        assert machine.started[0].drive.name == "nvme0n1"
        await click_key(pilot, "leave")
        await until(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen), "the question")
        await pilot.press("down", "enter")
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")


async def test_candidates_options_needs_and_own_ones_are_chosen_by_keyboard() -> None:
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("down", "space")
        assert wizard(pilot).choices.candidates == ("ext4",)
        await pilot.press("up", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, OptionsScreen), "the options")
        await pilot.press("space")
        await shows(pilot, "ext4:noatime")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.candidates == ("ext4", "ext4:noatime")
        await pilot.press("a", *"btrfs:", *"compress=zstd:1", "enter")
        await until(
            pilot, lambda: "btrfs:compress=zstd:1" in wizard(pilot).choices.candidates, "the candidate that was typed"
        )
        rows = pilot.app.screen.query_one("#candidates", Table)
        typed = rows.key
        rows.highlight("xfs")
        await pilot.press("b")
        await shows(pilot, "xfs isn't ticked yet")
        rows.highlight(typed)
        await pilot.press("b")
        assert wizard(pilot).choices.against == "btrfs:compress=zstd:1"
        await pilot.press("m", "space", "enter")
        assert wizard(pilot).choices.needs == ("checksums",)
        await shows(pilot, "2 without what you must have")


async def test_a_must_have_that_nobody_meets_is_told_at_once_and_cannot_be_passed() -> None:
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("m", "space", "enter")
        assert wizard(pilot).choices.needs == ("checksums",)
        await shows(pilot, "✗ None of them has checksums.")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        rows = pilot.app.screen.query_one("#candidates", Table)
        titles = [column.label.plain for column in rows.ordered_columns]
        assert "checksums" in titles and "snapshots" not in titles, "what is required is a column"
        signs = {name: row[2].plain for name in ("xfs", "btrfs") for row in [rows.get_row(name)]}
        assert signs == {"xfs": "✗", "btrfs": "✓"}
        await pilot.press("m", "space", "escape")
        assert wizard(pilot).choices.needs == ()
        await until(pilot, lambda: rows.has_focus, "the list")
        await pilot.press("enter")
        await at_step(pilot, "workloads")


async def test_what_cannot_be_made_here_stands_at_the_end_without_a_box_and_says_why() -> None:
    async with app("filesystems", candidates=("ext4",)).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await settled(pilot)
        rows = pilot.app.screen.query_one("#candidates", Table)
        machine, choices = wizard(pilot).machine, wizard(pilot).choices
        problems = [bool(machine.problem(parse_candidate(name), choices)) for name in rows.keys]
        assert problems == sorted(problems) and problems[-1]
        rows.highlight("zfs")
        await pilot.press("space")
        assert wizard(pilot).choices.candidates == ("ext4",)
        assert "✗" in pilot.app.screen.query_one("#about", Facts).plain


def test_what_is_too_large_for_a_disk_is_no_candidate() -> None:
    small = replace(NEW, size_bytes=64 << 20)
    recipe = replace(RECIPES[0], image_bytes=1 << 20)
    choices = chosen(drive=small, devices=(small.stable_name,), device_bytes=small.size_bytes, recipe=recipe)
    problems = [MachineCache().problem(parse_candidate(name), choices) for name in ("ext4", "xfs")]
    assert problems[0] == "" and "and there is room for 67.1 MB" in problems[1]


async def test_options_untick_what_they_exclude_and_unsafe_ones_are_marked_and_explained() -> None:
    async with app("filesystems").run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("o", "space")
        options = pilot.app.screen.query_one("#options", Table)
        keys = options.keys
        assert keys.index("noatime") < keys.index("discard") < keys.index("more") < keys.index("max_batch_time=0")
        options.highlight("relatime")
        await pilot.press("space")
        await shows(pilot, "compare  ext4:relatime")
        await shows(pilot, "⚠ unsafe")
        options.highlight("nobarrier")
        await shows(pilot, "unsafe: a crash")


async def test_what_does_not_exist_or_cannot_be_made_is_no_candidate_and_without_one_it_does_not_go_on() -> None:
    async with app("filesystems", candidates=("ext4",)).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await pilot.press("a", *"xsf", "enter")
        await shows(pilot, "Did you mean xfs?")
        assert pilot.app.screen.query_one("#own", Input).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: not pilot.app.screen.query_one("#own").display, "the box to close")
        await until(pilot, lambda: "f2fs" in wizard(pilot).machine.available, "what is available")
        await pilot.press("space")
        pilot.app.screen.query_one("#candidates", Table).highlight("f2fs")
        await pilot.press("space", "enter")
        await shows(pilot, "Tick at least one candidate")
        await at_step(pilot, "filesystems")


async def test_tests_whose_programs_are_absent_are_named_and_a_key_leaves_them_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = ["sqlite3"]
    find = commands.find
    monkeypatch.setattr(planning, "find", lambda name: None if name in missing else find(name))
    for size in ((60, 15), (120, 36)):
        async with app("workloads", recipe=RECIPES[1]).run_test(size=size) as pilot:
            await shows(pilot, "sqlite3 is not installed")
            screen = pilot.app.screen
            assert isinstance(screen, WorkloadsScreen)
            absent = list(screen.absent)
            assert absent
            await pilot.press("enter")
            await settled(pilot)
            await at_step(pilot, "workloads")
            await pilot.press("x")
            recipe = wizard(pilot).choices.recipe
            assert recipe is not None
            names = [workload.name for workload in recipe.workloads]
            assert names == [workload.name for workload in RECIPES[1].measured if workload.name not in absent]
            await pilot.press("enter")
            await at_step(pilot, "review")
    async with app("workloads", recipe=RECIPES[1]).run_test(size=SIZE) as pilot:
        await shows(pilot, "sqlite3 is not installed")
        missing.clear()  # it was installed meanwhile
        await pilot.press("enter")
        await at_step(pilot, "review")


@pytest.mark.parametrize(
    ("problem", "words", "refused"),
    [
        (UsageError("There is 1 GB free.", "Name another directory."), "There is 1 GB", "Name another"),
        ("none", "log in as root, or have sudo", "sudo is not installed"),
        ("sudo-asks", "sudo asks for your password", "sudo true"),
    ],
    ids=["no plan", "no sudo", "sudo asks"],
)
async def test_what_cannot_be_run_says_what_to_do_and_starts_nothing(
    problem: UsageError | State, words: str, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_plan(choices: object) -> None:
        assert isinstance(problem, UsageError)
        raise problem

    if isinstance(problem, UsageError):
        monkeypatch.setattr("fswizard.session.make_plan", no_plan)
    else:
        monkeypatch.setattr(rights, "state", lambda: problem)
    fake = FakeMachine()
    async with app("review", fake).run_test(size=SIZE) as pilot:
        await shows(pilot, words)
        await pilot.press("enter")
        await shows(pilot, refused)
        await at_step(pilot, "review")
        assert not fake.sessions


async def test_a_run_that_cleans_up_is_not_left_by_escape() -> None:
    async with app("run").run_test(size=SIZE) as pilot:  # nobody follows this run, so that it never ends
        await at_step(pilot, "run")
        await pilot.press("x", "down", "enter")
        await shows(pilot, "removing everything the run made")
        assert "esc" not in footer(pilot.app)
        await pilot.press("escape")
        await at_step(pilot, "run")


async def test_a_question_that_the_end_of_the_run_answers_goes_and_its_keys_open_nothing() -> None:
    machine = FakeMachine(event_s=0.002)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await to_the_run(pilot)
        app_ = wizard(pilot)
        await until(pilot, lambda: app_.running.state.analysis is not None, "the first round")
        await to_the_question(pilot, "escape")
        machine.sessions[0].order("stop")
        while not app_.in_input_grace:
            await pilot.pause(0.01)
        await pilot.press("enter", "escape", "ctrl+q")
        await click_key(pilot, "⏎")
        await pilot.pause()
        assert isinstance(app_.screen, ResultScreen)
        assert app_.is_running
        await until(pilot, lambda: "Stopped early" in screen_text(app_), "the headline")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app_.screen, ExportScreen), "the export")


async def test_the_log_opens_beside_a_run_which_is_left_only_after_a_question() -> None:
    machine = FakeMachine(event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await to_the_run(pilot)
        await pilot.press("l")
        await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen), "the log")
        await pilot.press("escape")
        await at_step(pilot, "run")
        await shows(pilot, "Round 1")
        await to_the_question(pilot, "escape")
        await pilot.press("enter")
        await at_step(pilot, "run")
        assert wizard(pilot).measuring, "keep watching is the default"
        await pilot.press("x", "down", "enter")
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")
        assert wizard(pilot).running.state.outcome == "stopped"


async def test_a_run_that_fails_says_why_and_leads_back() -> None:
    machine = FakeMachine(rounds=0, end=RunEnded(1.0, "failed", "The disk is gone.", hint="Plug it in again."))
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await to_the_run(pilot)
        await shows(pilot, "The disk is gone.")
        await shows(pilot, "Plug it in again.")
        await pilot.press("escape")
        await at_step(pilot, "review")


async def test_what_the_answer_rests_on_is_one_key_behind_it_and_weights_and_needs_rank_it_anew() -> None:
    async with app("result").run_test(size=SIZE) as pilot:
        await shows(pilot, "Searching a folder")
        screen = pilot.app.screen
        assert isinstance(screen, ResultScreen)
        assert "Faster than ext4:" not in screen_text(pilot.app)
        await pilot.press("d", "pagedown")
        await shows(pilot, "Faster than ext4:")
        await pilot.press("escape")
        await until(pilot, lambda: "Faster than ext4:" not in screen_text(pilot.app), "the answer")
        await pilot.press("w")
        assert screen.weighed.has_focus
        for _ in range(5):
            await pilot.press(*["left"] * 6, "down")
        assert [weight > 0 for weight in screen.weights.values()] == [False] * 4 + [True], "one of them counts"
        await pilot.press("m")
        screen.needed.highlight("checksums")
        await pilot.press("space")
        await shows(pilot, "Use Btrfs")
        assert screen.findings is not None and screen.findings.answer.first == "btrfs:noatime"
        await pilot.press("escape")
        assert screen.focused is None and screen.is_current


async def test_export_shows_copies_and_saves_each_format(tmp_path: Path) -> None:
    async with app("result").run_test(size=(120, 40)) as pilot:
        await shows(pilot, "Use XFS")
        await pilot.press("enter")
        await shows(pilot, "How to set it up")
        screen = pilot.app.screen
        assert isinstance(screen, ExportScreen)
        await pilot.press("down")
        await shows(pilot, "**✓ Use XFS")
        await pilot.press("enter")
        assert pilot.app.clipboard == screen.rendered
        await pilot.press("s")
        box = screen.query_one("#file", Input)
        assert box.value.endswith(".md")
        box.value = str(tmp_path / "report.md")
        await pilot.press("enter")
        await shows(pilot, "Saved as")
        assert (tmp_path / "report.md").read_text() == pilot.app.clipboard
        await pilot.press("s")
        box.value = str(tmp_path / "report.md")
        await pilot.press("enter")
        await shows(pilot, "exists already")
        await pilot.press("escape")
        assert screen.is_current and not screen.box_is_open


async def test_a_card_is_saved_as_a_picture_and_not_copied_where_it_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app("result").run_test(size=(120, 40)) as pilot:
        await shows(pilot, "Use XFS")
        await pilot.press("enter")
        screen = pilot.app.screen
        assert isinstance(screen, ExportScreen)
        screen.kinds.highlight("png")
        await shows(pilot, "rsvg-convert is not installed.")
        assert "save to a file" not in footer(pilot.app)
        monkeypatch.setattr("fswizard.sharing.png", lambda svg: b"\x89PNG")
        await pilot.press("up", "down")
        await shows(pilot, "A picture of 1200×630 pixels")
        assert "save to a file" in footer(pilot.app)
        await pilot.press("enter", "s")
        assert pilot.app.clipboard == ""
        screen.query_one("#file", Input).value = str(tmp_path / "card.png")
        await pilot.press("enter")
        await shows(pilot, "Saved as")
        assert (tmp_path / "card.png").read_bytes() == b"\x89PNG"


async def test_an_earlier_result_opens_from_the_history() -> None:
    async with app().run_test(size=SIZE) as pilot:
        await at_step(pilot, "purpose")
        await pilot.press("h")
        await shows(pilot, "2025-12-31")
        await pilot.press("enter")
        await at_step(pilot, "result")
        assert isinstance(pilot.app.screen, ResultScreen)


async def test_what_a_killed_run_left_behind_can_be_cleaned_up_and_what_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, directory = tmp_path / "run-1.json", tmp_path / "fswizard-1"
    entry.touch()
    left = Leftover(entry, {directory: Identity(tmp_path.stat().st_dev, 1, "ext4")}, None)
    monkeypatch.setattr("fswizard.disks.journal.leftovers", lambda: (left,))
    async with app().run_test(size=SIZE) as pilot:
        await shows(pilot, "Left behind by a run that was killed")
        pilot.app.screen.query_one("#purposes", Options).highlight("left-0")
        await pilot.press("enter")
        await shows(pilot, "Cleaned up.")
        assert "If you moved it elsewhere, delete it there." in " ".join(screen_text(pilot.app).split())
        assert "left-0" not in keys_of(pilot.app, "#purposes")
    assert not entry.exists()


async def test_a_run_that_was_ended_early_goes_on_after_a_review() -> None:
    machine = FakeMachine(event_s=0.01)
    async with app(machine=machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "Resume an unfinished run")
        pilot.app.screen.query_one("#purposes", Options).highlight("resume-0")
        await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "resumes an earlier run")
        shown = " ".join(screen_text(pilot.app).split())
        assert re.search(r"So far \d rounds in \d+ (s|min), kept", shown)
        assert "Dropped" in shown
        await pilot.press("escape")
        await at_step(pilot, "purpose")
        assert wizard(pilot).taken_up is None
        await shows(pilot, "Resume an unfinished run")
        pilot.app.screen.query_one("#purposes", Options).highlight("resume-0")
        await pilot.press("enter")
        await shows(pilot, "resumes an earlier run")
        await pilot.press("enter")
        await at_step(pilot, "run")
        assert wizard(pilot).running.run is machine.sessions[-1]
        assert machine.sessions[-1].path.name == "old.jsonl"
        wizard(pilot).leave_now()
        await until(pilot, lambda: machine.sessions[-1].left, "clean-up")


async def test_a_volume_is_ticked_among_the_options_and_brings_its_own() -> None:
    async with app("filesystems", candidates=("ext4", "xfs")).run_test(size=SIZE) as pilot:
        await at_step(pilot, "filesystems")
        await until(pilot, lambda: wizard(pilot).machine.availability_known, "what can be made here")
        wizard(pilot).machine.available["luks"] = Availability(False, "dmsetup is not installed.", "Install it.")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, OptionsScreen), "the options")
        options = pilot.app.screen.query_one("#options", Table)
        options.highlight("luks")
        await pilot.press("space")
        await shows(pilot, "✗ dmsetup is not installed. Install it.")
        wizard(pilot).machine.available["luks"] = Availability(True)
        for token, name in (
            ("noatime", "ext4:noatime"),
            ("luks", "luks+ext4:noatime"),
            ("sector=4096", "luks,sector=4096+ext4:noatime"),
            ("sector=4096", "luks+ext4:noatime"),
        ):
            options.highlight(token)
            await pilot.press("space")
            await shows(pilot, f"compare  {name}")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.candidates == ("ext4", "xfs", "luks+ext4:noatime")


async def test_the_size_that_an_image_was_given_is_kept_with_the_disk() -> None:
    async with app("drive", drive=None).run_test(size=SIZE) as pilot:
        await settled(pilot)
        for key in ("left", "right", "right", "right"):
            await pilot.press(key)
        recipe = wizard(pilot).choices.recipe
        assert recipe is not None
        assert recipe.image_bytes != RECIPES[0].on(ARCHIVE).image_bytes
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.member_bytes == recipe.image_bytes
