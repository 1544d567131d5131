"""Every way back, and every key that is shown: nothing traps, and nothing that will be refused can be passed."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from fswizard import session
from fswizard.disks.locations import location
from fswizard.model.plan import Plan
from fswizard.tui.planning import make_plan
from fswizard.tui.screens.result import ResultScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Table
from tests.fakes.wizard import ARCHIVE, BRIDGED, NEW, SSD, FakeMachine, FakeSession, app, chosen, two_results
from tests.tui.driving import TIMEOUT_S, at_step, footer, screen_text, settled, shows, until, wizard

SIZE = (100, 32)


async def test_escape_leads_from_the_result_of_a_run_back_to_its_plan() -> None:
    async with app("review").run_test(size=SIZE) as pilot:
        await shows(pilot, "starts the run")
        await pilot.press("enter")
        await at_step(pilot, "result")
        await settled(pilot)
        await pilot.press("escape")
        await at_step(pilot, "run")
        await shows(pilot, "The run has ended")
        await pilot.press("enter")
        await at_step(pilot, "result")
        await pilot.press("escape", "escape")
        await at_step(pilot, "review")


async def test_from_the_review_after_a_run_a_key_leads_to_its_result_and_enter_measures_again() -> None:
    machine = FakeMachine()
    async with app("review", machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "starts the run")
        assert "result" not in footer(pilot.app)
        for runs in (1, 2):
            await pilot.press("enter")
            await at_step(pilot, "result")
            await settled(pilot)
            assert len(machine.sessions) == runs
            wizard(pilot).visit("review")
            await at_step(pilot, "review")
            await pilot.press("f5")
            await at_step(pilot, "result")
            wizard(pilot).visit("review")
            await shows(pilot, "starts the run")


async def test_after_a_run_on_a_disk_a_new_one_asks_for_its_serial_number_again() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with app("review", machine, drive=NEW, devices=(NEW.stable_name,)).run_test(size=SIZE) as pilot:
        box = pilot.app.screen.query_one("#serial", Input)
        await until(pilot, lambda: box.has_focus, "the question")
        box.value = NEW.serial
        await pilot.press("enter")
        await at_step(pilot, "result")
        await settled(pilot)
        wizard(pilot).visit("review")
        await until(pilot, lambda: footer(pilot.app).startswith("⏎ erase and start"), "the question")
        await pilot.press("enter", "enter")
        await settled(pilot)
        assert len(machine.sessions) == 1
        await at_step(pilot, "review")


async def test_a_run_stopped_before_its_first_round_claims_no_figures_and_escape_leaves_it() -> None:
    machine = FakeMachine(event_s=0.01)
    async with app("review", machine).run_test(size=SIZE) as pilot:
        await shows(pilot, "starts the run")
        await pilot.press("enter")
        await at_step(pilot, "run")
        wizard(pilot).running.stop()
        await shows(pilot, "stopped before anything was measured")
        assert "kept" not in screen_text(pilot.app)
        await pilot.press("escape")
        await at_step(pilot, "review")


async def test_where_the_first_key_stands_quit_never_does_and_quitting_asks_while_choices_would_be_lost() -> None:
    async with app("purpose").run_test(size=(80, 24)) as pilot:
        for step in ("purpose", "drive", "filesystems", "workloads", "review"):
            await at_step(pilot, step)
            await settled(pilot)
            await pilot.click(offset=(3, 23))
        await at_step(pilot, "result")
        await pilot.press("escape", "escape")
        await at_step(pilot, "review")
        await pilot.press("q")
        await shows(pilot, "What you chose is not kept")
        await pilot.press("enter")
        await at_step(pilot, "review")
        await pilot.press("q", "down", "enter")
        await until(pilot, lambda: pilot.app._exit, "the end")


async def test_a_directory_is_named_and_what_was_wrong_with_it_goes_with_the_box() -> None:
    async with app("drive").run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("d", *"/nowhere", "enter")
        await shows(pilot, "✗ /nowhere is not a directory")
        box = pilot.app.screen.query_one("#directory", Input)
        await pilot.press("escape")
        await until(pilot, lambda: not box.display, "the box to go")
        assert "nowhere" not in str(pilot.app.screen.query_one("#remark").render())
        await pilot.press("d")
        box.value = "/srv/scratch"
        await pilot.press("enter")
        await shows(pilot, "in /srv/scratch")


async def test_enter_and_escape_close_the_weights_and_needs_first_and_share_nothing() -> None:
    async with app("result").run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, ResultScreen)
        await pilot.press("m", "down", "space")
        await until(pilot, lambda: "space tick" in footer(pilot.app), "its keys")
        assert screen.needs == (screen.needed.key,)
        await pilot.press("w", "right")
        assert screen.adjusting == "weights"
        weights = screen.weights
        for key in ("enter", "escape"):
            assert "⏎ done" in footer(pilot.app)
            await pilot.press(key)
            assert screen.adjusting == "" and screen.focused is None and screen.is_current
            await pilot.press("w")
        assert screen.weights == weights


async def test_the_size_of_an_image_is_chosen_and_goes_into_the_plan_unless_it_does_not_fit() -> None:
    machine = FakeMachine()
    async with app("drive", machine).run_test(size=SIZE) as pilot:
        await settled(pilot)
        facts = (wizard(pilot).machine.disks or {})["sdb"]
        facts.location = replace(location(ARCHIVE), image_room_bytes=7 << 30)
        await pilot.press("tab", "right", "enter")
        await shows(pilot, "Too large: there is room for 5.45 GiB")
        await at_step(pilot, "drive")
        await pilot.press("left")
        await shows(pilot, "A scratch image in ")
        assert wizard(pilot).choices.recipe.image_bytes == 5 << 30
        facts.location = location(ARCHIVE)
        await pilot.press("right")
        await shows(pilot, "8 GiB")
        for step in ("filesystems", "workloads", "review"):
            await pilot.press("enter")
            await at_step(pilot, step)
            await settled(pilot)
        await shows(pilot, "8 GiB")


async def test_without_root_nothing_is_chosen_that_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fswizard.disks.rights.state", lambda: "none")
    async with app("drive").run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await shows(pilot, "Formatting and mounting need root")
        await at_step(pilot, "drive")


async def test_an_image_on_another_disk_is_told_in_amber_wherever_the_disk_stands() -> None:
    machine = FakeMachine(drives=(BRIDGED, SSD))
    async with app("drive", machine, drive=BRIDGED).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await shows(pilot, "! There is no mounted filesystem on sdc")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        await shows(pilot, "! image on sdb")
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "! image on sdb")
        wizard(pilot).visit("drive")
        await settled(pilot)
        await pilot.press("d", *"/home/ada", "enter")
        await shows(pilot, "! It goes onto nvme0n1, so nvme0n1 is")


async def test_more_writes_than_allowed_are_refused_where_the_cap_is_chosen() -> None:
    async with app("workloads", drive=SSD).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press(*["w"] * 5)
        assert wizard(pilot).choices.write_budget_bytes == 5e9
        await shows(pilot, "One round writes about")
        assert "--" not in str(pilot.app.screen.query_one("#remark").render())
        await pilot.press("enter")
        await at_step(pilot, "workloads")
        await pilot.press("w", "w", "w", "enter")
        await at_step(pilot, "review")


async def test_more_images_than_fit_are_refused() -> None:
    machine = FakeMachine()
    async with app("drive", machine).run_test(size=SIZE) as pilot:
        await settled(pilot)
        facts = (wizard(pilot).machine.disks or {})["sdb"]
        facts.location = replace(location(ARCHIVE), image_room_bytes=12 << 30)
        await pilot.press("tab", "down", "right")
        await shows(pilot, "✗ The images take")
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await pilot.press("left", "left", "left", "enter")
        await at_step(pilot, "filesystems")
        assert wizard(pilot).choices.images == 2


async def test_a_run_that_is_to_be_resumed_is_forgotten_once_another_step_is_visited() -> None:
    machine = FakeMachine()
    async with app("review", machine).run_test(size=(100, 32)) as pilot:
        await settled(pilot)
        wizard(pilot).take_up(session.take_up(two_results()[1].path))
        await shows(pilot, "resumes an earlier run")
        wizard(pilot).visit("workloads")
        await at_step(pilot, "workloads")
        await pilot.press("enter")
        await at_step(pilot, "review")
        await shows(pilot, "Nothing has happened yet")


async def test_a_run_that_was_started_is_shown_although_escape_came_before_it_began() -> None:
    class Slow(FakeMachine):
        asked, let_go = threading.Event(), threading.Event()

        def start(self, plan: Plan, path: Path | None) -> FakeSession:
            self.asked.set()
            self.let_go.wait(TIMEOUT_S)
            return super().start(plan, path)

    machine = Slow(event_s=0.01)
    async with app("review", machine).run_test(size=(100, 32)) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, machine.asked.is_set, "the start")
        await pilot.press("escape")
        await at_step(pilot, "workloads")
        machine.let_go.set()
        await at_step(pilot, "run")
        wizard(pilot).leave_now()
        await until(pilot, lambda: machine.sessions[0].left, "clean-up")


@pytest.mark.parametrize("step", ["purpose", "drive"])
async def test_enter_takes_what_the_keys_typed_before_it_chose(step: str) -> None:
    async with app(step).run_test(size=SIZE) as pilot:
        await settled(pilot)
        rows = pilot.app.screen.query_one("#purposes" if step == "purpose" else "#drives")
        assert isinstance(rows, (Options, Table))
        rows.highlight(rows.keys[0])
        await pilot.pause()
        for key in ("down", "enter"):  # at once, as a slow connection delivers them
            pilot.app.post_message(events.Key(key, None))
        await at_step(pilot, "drive" if step == "purpose" else "filesystems")
        choices = wizard(pilot).choices
        assert rows.keys[1] == (choices.purpose if step == "purpose" else choices.drive and choices.drive.name)


async def test_a_low_terminal_shows_why_enter_does_not_go_on() -> None:
    async with app("filesystems", candidates=()).run_test(size=(60, 15)) as pilot:
        await settled(pilot)
        wizard(pilot).choose(candidates=())
        await pilot.press("enter")
        await shows(pilot, "Tick at least one candidate")


async def test_without_disks_a_directory_that_is_named_is_measured_in() -> None:
    async with app("drive", FakeMachine(drives=()), drive=None).run_test(size=SIZE) as pilot:
        await shows(pilot, "No disks found")
        await pilot.press("d", *"/mnt/archive", "enter")
        await shows(pilot, "A scratch image in /mnt/archive, removed afterwards: nothing is lost.")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")


async def test_a_run_that_begins_below_a_window_is_shown_without_it() -> None:
    async with app("review", FakeMachine(event_s=0.05)).run_test(size=SIZE) as pilot:
        await shows(pilot, "starts the run")
        await pilot.press("f1")
        await wizard(pilot).begin(make_plan(chosen()))
        await at_step(pilot, "run")
        assert len(pilot.app.screen_stack) == 2  # the first is Textual's own


async def test_the_main_key_and_the_menu_stand_at_the_ends_of_a_narrow_footer() -> None:
    async with app("filesystems").run_test(size=(60, 15)) as pilot:
        await settled(pilot)
        shown = screen_text(pilot.app).splitlines()[-1]
        assert shown.startswith("⏎ next  ") and shown.endswith(" ^p more")
