"""The probe from the drive screen: it says what it will write, shows the rate, can be stopped, and ends in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from fswizard.errors import RunFailed, UsageError
from fswizard.model.drive import SmrVerdict
from fswizard.tui.screens.probe import ProbeScreen
from tests.fakes.wizard import ARCHIVE, BRIDGED, NEW, SSD, STALLS, FakeMachine, app, probe_of
from tests.tui.driving import at_step, footer, screen_text, shows, until, wizard

SIZE = (100, 32)
UNKNOWN = replace(ARCHIVE, model="A disk", smr=SmrVerdict("unknown", "weak"))


async def opened(pilot: Pilot[Any]) -> ProbeScreen:
    """The window of the probe, over the drive screen."""
    await at_step(pilot, "drive")
    app_ = wizard(pilot)
    await until(pilot, lambda: bool(app_.machine.places and app_.machine.offers), "what is known of the disk")
    await pilot.press("p")
    await until(pilot, lambda: isinstance(app_.screen, ProbeScreen), "the probe's window")
    assert isinstance(app_.screen, ProbeScreen)
    return app_.screen


async def begun(pilot: Pilot[Any], machine: FakeMachine) -> None:
    await shows(pilot, "up to")
    await pilot.press("enter")
    await until(pilot, lambda: bool(machine.probes), "the probe to begin")


async def test_a_shingled_disk_is_found_and_its_verdict_changes() -> None:
    machine = FakeMachine(drives=(UNKNOWN, SSD))
    async with app("drive", machine, drive=UNKNOWN).run_test(size=SIZE) as pilot:
        await shows(pilot, "? unknown")
        await opened(pilot)
        await begun(pilot, machine)
        await shows(pilot, "◆ SMR, drive-managed")
        await shows(pilot, STALLS.evidence.text[:40])
        await pilot.press("enter")
        await at_step(pilot, "drive")
        await shows(pilot, "◆ SMR, drive-managed   strong evidence")
        await pilot.press("r")
        await until(pilot, lambda: len(wizard(pilot).machine.details) == 2, "the disks to be asked again")
        await shows(pilot, "◆ SMR, drive-managed   strong evidence")
        await pilot.press("enter")
        await at_step(pilot, "filesystems")
        drive = wizard(pilot).choices.drive
        assert drive is not None
        assert drive.smr.kind == "drive-managed"
        assert [piece.code for piece in drive.smr.evidence] == ["periodic-stall"]


async def test_inconclusive_is_said_as_such_and_changes_no_verdict() -> None:
    machine = FakeMachine(drives=(UNKNOWN, SSD))
    machine.probe_script = probe_of("plain")
    async with app("drive", machine, drive=UNKNOWN).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await begun(pilot, machine)
        await shows(pilot, "? Inconclusive")
        assert "CMR" not in screen_text(pilot.app)
        await pilot.press("escape")
        await at_step(pilot, "drive")
        await shows(pilot, "4.3 GB written in 180 s")
        assert wizard(pilot).machine.drives is not None
        assert wizard(pilot).machine.drives[0].smr.kind == "unknown"


async def test_it_says_how_much_before_anything_is_written_and_escape_stops_it() -> None:
    machine = FakeMachine()
    machine.probe_script, machine.probe_waits = probe_of("shingled", 60), True
    async with app("drive", machine, drive=ARCHIVE).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await shows(pilot, "36.0 GB, in at most 3 min")
        await shows(pilot, "/mnt/archive")
        await pilot.press("escape")
        await at_step(pilot, "drive")
        assert not machine.probes
        await opened(pilot)
        await begun(pilot, machine)
        await shows(pilot, "┆listening")
        assert "esc stop" in footer(pilot.app)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ProbeScreen)
        await pilot.press("escape")
        await shows(pilot, "showed neither")
        await pilot.press("escape")
        await at_step(pilot, "drive")
    assert len(machine.probes) == 1


async def test_a_failing_disk_and_a_place_that_cannot_be_probed_say_so() -> None:
    class Failing(FakeMachine):
        def probe(self, target: Any, stopped: Any, progress: Any) -> Any:
            for report in probe_of("shingled", 30)[:-1]:
                progress(report)
            raise RunFailed(
                "sdb failed while it was being written to: Input/output error.", "Look at the disk's health."
            )

    async with app("drive", Failing(), drive=ARCHIVE).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await shows(pilot, "up to")
        await pilot.press("enter")
        await shows(pilot, "✗ sdb failed while it was being written to")
        await pilot.press("escape")
        await at_step(pilot, "drive")

    class Full(FakeMachine):
        def probe_target(self, path: str, serial: str) -> Any:
            raise UsageError(
                "/mnt/archive has too little free space for a probe.", "A probe needs at least 268 MB free."
            )

    async with app("drive", Full(), drive=ARCHIVE).run_test(size=SIZE) as pilot:
        await opened(pilot)
        await shows(pilot, "✗ /mnt/archive has too little free space for a probe. A probe needs at least 268 MB free.")
        assert "begin" not in footer(pilot.app)
        await pilot.press("escape")
        await at_step(pilot, "drive")


async def test_an_empty_disk_is_probed_itself_once_its_serial_number_was_typed() -> None:
    machine = FakeMachine(drives=(NEW, SSD))
    async with app("drive", machine, drive=NEW).run_test(size=SIZE) as pilot:
        screen = await opened(pilot)
        await shows(pilot, "Nothing was found on sde")
        box = screen.query_one("#serial", Input)
        await pilot.press("enter")
        box.value = NEW.serial[:-1]
        await pilot.press("enter")
        await shows(pilot, "✗ Anything on sde (")
        assert not machine.probes
        box.value = NEW.serial
        await pilot.press("enter")
        await begun(pilot, machine)
        await shows(pilot, "◆ SMR, drive-managed")
    assert machine.probes[0].serial == NEW.serial


async def test_the_key_is_offered_only_where_there_are_platters_and_nothing_else_writes() -> None:
    machine = FakeMachine(drives=(SSD, BRIDGED))
    async with app("drive", machine, drive=SSD).run_test(size=SIZE) as pilot:
        await shows(pilot, "a scratch image of")
        assert "p probe" not in footer(pilot.app)
        await pilot.press("down")
        await until(pilot, lambda: "p probe" in footer(pilot.app), "the key")
        known = wizard(pilot).machine
        await until(pilot, lambda: BRIDGED.name in known.places.keys() & known.offers.keys(), "what is on it")
        await pilot.press("p")
        await shows(pilot, "needs a mounted, writable")
        await at_step(pilot, "drive")
    async with app("places", FakeMachine(), purpose="compare").run_test(size=SIZE) as pilot:
        await shows(pilot, "/home/ada")
        assert "p probe" not in footer(pilot.app)
