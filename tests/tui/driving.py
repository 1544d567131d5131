"""Driving the wizard in tests: wait for what should come, read what stands on the screen."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from textual._context import active_app
from textual.app import App, ScreenStackError
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Footer, Input, Static
from textual.widgets._footer import FooterKey
from textual.worker import Worker, WorkerCancelled

from fswizard.tui import steps
from fswizard.tui.app import FswizardApp
from fswizard.tui.machine import THREAD_NAME
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.run import RunScreen
from fswizard.tui.widgets.options import Options
from fswizard.tui.widgets.table import Table
from tests.fakes.wizard import FakeMachine
from tests.fakes.wizard import app as make_app

STEPS = tuple(step.name for step in steps.STEPS)
"""Names of the steps where filesystems are made."""
TIMEOUT_S = 120.0
"""The last resort, where something never comes however long one waits."""
LOOK_S = 0.01
"""Between two looks at what threads and timers bring."""


@asynccontextmanager
async def at(
    step: str = "purpose", machine: FakeMachine | None = None, *, size: tuple[int, int] = (100, 32), **choices: Any
) -> AsyncIterator[Pilot[Any]]:
    """The wizard at a step, once everything that it looks up is there."""
    async with make_app(step, machine, **choices).run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


def held(patch: pytest.MonkeyPatch, module: object, name: str) -> threading.Event:
    """From here on a function of `module` answers only once this is set; that is far longer than anybody waits."""
    let_go, answer = threading.Event(), getattr(module, name)

    def waits(*arguments: Any, **named: Any) -> Any:
        let_go.wait(5 * TIMEOUT_S)
        return answer(*arguments, **named)

    patch.setattr(module, name, waits)
    return let_go


async def until(pilot: Pilot[Any], condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` holds; fail with `what` and the screen's text when it never does."""
    app = pilot.app
    await idle(app)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TIMEOUT_S
    while not condition():
        if loop.time() > deadline:
            raise AssertionError(f"in vain waited for {what}\n{screen_text(app)}")
        await asyncio.sleep(LOOK_S)
        await idle(app)
    await pilot.pause()


async def idle(app: App[Any]) -> None:
    """Let the wizard handle what it was sent, and draw it. What threads may still find is not waited for."""
    calm = turns = 0
    while calm < 3:
        turns += 1
        await asyncio.sleep(0 if turns < 100 else LOOK_S)  # a handler may wait for a thread
        calm = 0 if turns < 1000 and _has_work(app) else calm + 1


async def handled(*_: float) -> None:
    """In place of Textual's `wait_for_idle`, which sleeps until its process is idle."""
    await idle(active_app.get())


def _has_work(app: App[Any]) -> bool:
    try:
        screen = app.screen
    except ScreenStackError:
        return False
    if app._resize_timer is not None:  # several changes of size within a moment are taken together
        app._check_resize()
    waiting = any(widget._layout_required or widget._repaint_required for widget in screen.walk_children(Widget))
    if screen._dirty_widgets or screen._layout_required or screen._callbacks or screen._repaint_required:
        screen._on_timer_update()
    return waiting or any(
        pump.is_running and (pump.message_queue_size or pump._next_callbacks) for pump in (app, *app._registry)
    )


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until every thread has reported its findings and they are drawn."""
    app = wizard(pilot)
    await pilot.pause()
    if isinstance(app.screen, StepScreen) and app.screen.step.name == "drive":

        def everything() -> bool:
            disks = app.machine.disks
            return disks is not None and all(facts.details is not None for facts in disks.values())

        await until(pilot, everything, "what is known of the disks")
    while found := [*_workers(app), *_threads()]:
        for one in found:
            if isinstance(one, Worker):
                with suppress(WorkerCancelled):  # nobody wants to know any more
                    await one.wait()
            elif one.is_alive():  # otherwise it is just about to start
                await asyncio.to_thread(one.join, TIMEOUT_S)
        await pilot.pause()
    for screen in app.screen_stack:
        if isinstance(screen, RunScreen):  # it draws by a timer, also below a window
            screen._draw()
    await pilot.pause()


def _workers(app: FswizardApp) -> list[Worker[Any]]:
    return [worker for worker in app.workers if not worker.is_finished and worker.group != "run"]


def _threads() -> list[threading.Thread]:
    """Those that look something up: watching for disks goes on for as long as they are shown."""
    return [t for t in threading.enumerate() if t.name.startswith(THREAD_NAME) and not t.name.endswith("(_watch)")]


async def at_step(pilot: Pilot[Any], step: str, *keys: str) -> None:
    """Press `keys`, and wait until the wizard is at a step."""
    app = wizard(pilot)
    await pilot.press(*keys)

    def arrived() -> bool:
        asks = any(worker.group == "disks" for worker in _workers(app))  # and then moves the highlight
        screen = app.screen
        return isinstance(screen, StepScreen) and step == screen.step.name and screen.is_current and not asks

    await until(pilot, arrived, f"the step {step}")


async def shows(pilot: Pilot[Any], words: str, *keys: str) -> None:
    """Press `keys`, and wait until `words` stand on the screen, in one line or wrapped."""
    await pilot.press(*keys)
    await until(
        pilot, lambda: words in screen_text(pilot.app) or words in unwrapped(pilot.app), f"“{words}” on the screen"
    )


def wizard(pilot: Pilot[Any]) -> FswizardApp:
    assert isinstance(pilot.app, FswizardApp)
    return pilot.app


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, line by line, as the user sees it."""
    compositor = app.screen._compositor
    return "\n".join("".join(segment.text for segment in strip) for strip in compositor.render_strips())


def unwrapped(app: App[Any]) -> str:
    """What stands on the screen as one line, without frames: paths of any length wrap what stands behind them."""
    return " ".join(re.sub("[│┃╷╵▎▊▋]", " ", screen_text(app)).split())


def question(app: App[Any]) -> str:
    """The line that the screen asks."""
    return str(app.screen.query_one("#question", Static).render())


async def click_key(pilot: Pilot[Any], words: str) -> None:
    """Click a key in the footer, by what it does."""
    key = next(key for key in pilot.app.screen.query(FooterKey) if words in (key.description, key.key_display))
    await pilot.click(key)


def footer(app: App[Any]) -> str:
    """The keys that the footer shows: `⏎ next  r rescan`."""
    return "  ".join(f"{key.key_display} {key.description}" for key in app.screen.query_one(Footer).query(FooterKey))


def rows(pilot: Pilot[Any], selector: str) -> Any:
    """A list, or a table, on the screen."""
    found = pilot.app.screen.query_one(selector)
    assert isinstance(found, (Options, Table))
    return found


def box(pilot: Pilot[Any], selector: str) -> Input:
    """What can be typed into, on the screen."""
    return pilot.app.screen.query_one(selector, Input)
