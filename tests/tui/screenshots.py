"""Makes screenshots/: the wizard's screens on a recorded real run, as PNG for the pages, and its card.

    python -m tests.tui.screenshots

The disks of the first screens are recorded ones, so that more than this machine's can be seen; the run is that of the
demo's first story.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from fswizard import recipes
from fswizard.advice import conclude
from fswizard.model.events import RunStarted, StepProgressed, fold
from fswizard.model.recipe import SHIPPED
from fswizard.model.result import Result
from fswizard.report import render
from fswizard.system.pictures import png
from fswizard.tui.app import FswizardApp
from tests.fakes.desktop import at_the_desktop
from tests.fakes.wizard import FakeMachine, app, monitor
from tests.recording import recorded
from tests.tui.animation import animated
from tests.tui.crisp import crisp
from tests.tui.driving import handled, settled

FOLDER = Path(__file__).parents[2] / "screenshots"
RUN = "xfs-searching"
SERIAL = "overlayblk"
"""Of the disk of both; the demo's recording is without it."""
SIZE = (120, 36)
FRAMES, FRAME_S, LAST_FRAME_S = 10, 1.4, 5.0
"""Of the picture that moves; the last one is the recommendation."""
SHARE_SHOWN = 0.85
"""How much of the run the picture of a running one shows done."""
WEB_FONT = re.compile(r",?\s*url\([^)]*\)\s*format\([^)]*\)")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with (
        patch("textual.app.wait_for_idle", handled),
        patch("textual.pilot.wait_for_idle", handled),
        patch("fswizard.tui.monitor.monotonic", lambda: 0.0),
    ):
        asyncio.run(_take_all())
    (FOLDER / "card.svg").write_text(render(conclude(result()), "svg"), "utf-8")


async def _take_all() -> None:
    for name in ("drive", "filesystems", "workloads"):
        await _take(name, app(name, _machine(), recipe=recipes.find("archive-disk")))
    with patch("fswizard.session.make_plan", lambda choices: _started().plan):
        await _take("review", app("review", _machine(), drive=_started().plan.drive))
    await _take(
        "arrays",
        app(
            "filesystems",
            devices=("/dev/sdw", "/dev/sdx", "/dev/sdy", "/dev/sdz"),
            device_bytes=4 * 10**12,
            candidates=(),
        ),
        "down",
    )
    await _take("run", running())
    await _take("result", finished())
    await _take("export", finished(), "enter")
    await _animate()


def _machine() -> FakeMachine:
    return FakeMachine(recipes=recipes.available())


async def _animate() -> None:
    """The recorded run from its beginning to the recommendation, as one picture that moves."""
    events = list(recorded(RUN))
    lively = [n for n, event in enumerate(events) if isinstance(event, StepProgressed) and event.rate]
    shown = [lively[number * (len(lively) - 1) // (FRAMES - 1)] for number in range(FRAMES)]
    wizard, pictures = running(0.0), []
    held = wizard.running
    assert held is not None
    async with wizard.run_test(size=SIZE) as pilot:
        for number, event in enumerate(events):
            held.take(event)
            if number in shown:
                await settled(pilot)
                pictures.append(_picture(wizard))
    wizard = finished()
    async with wizard.run_test(size=SIZE) as pilot:
        await settled(pilot)
        pictures.append(_picture(wizard))
    seconds = [FRAME_S] * FRAMES + [LAST_FRAME_S]
    (FOLDER / "animation.svg").write_text(animated(pictures, seconds), "utf-8")


async def _take(name: str, wizard: FswizardApp, *keys: str) -> None:
    with at_the_desktop():
        async with wizard.run_test(size=SIZE) as pilot:
            await settled(pilot)
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            picture = _picture(wizard)
    (FOLDER / f"{name}.png").write_bytes(png(picture))


def _picture(wizard: FswizardApp) -> str:
    """What stands on the screen, without a font from elsewhere."""
    return crisp(WEB_FONT.sub("", wizard.export_screenshot(title="fswizard")))


def running(share: float = SHARE_SHOWN) -> FswizardApp:
    """The wizard in the recorded run, after that share of its events."""
    wizard = FswizardApp(machine=FakeMachine(), start="run")
    wizard.running = monitor((_started(), *tuple(recorded(RUN))[1:]), share)
    return wizard


def result(name: str = RUN) -> Result:
    """The result of a recorded run."""
    started = _started(name)
    return fold(Result(replace(started.environment, host=""), started.plan), recorded(name))


def finished() -> FswizardApp:
    """The wizard at the end of the recorded run."""
    return at_result(result())


def at_result(result: Result) -> FswizardApp:
    """The wizard at a result."""
    wizard = FswizardApp(machine=FakeMachine(), start="result")
    wizard.result = result
    return wizard


def _started(name: str = RUN) -> RunStarted:
    """How a recorded run began, with what the demo leaves out: the serial number, and that the recipe is shipped."""
    started = next(recorded(name))
    assert isinstance(started, RunStarted)
    plan = started.plan
    assert plan.drive is not None
    drive, recipe = replace(plan.drive, serial=SERIAL), replace(plan.recipe, source=SHIPPED)
    return replace(started, plan=replace(plan, drive=drive, recipe=recipe))


if __name__ == "__main__":
    main()
