"""Work in threads: nobody waits for it, and what it finds comes back only where somebody still looks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.screen import Screen

THREAD_NAME = "wizard"
"""How the names of these threads begin."""


def tell(screen: Screen[Any], function: Callable[..., object], *arguments: Any, app: App[Any] | None = None) -> None:
    """From a thread: call `function` in the wizard's own thread, unless the screen has gone or the wizard ends."""
    wizard = app or screen.app

    def call() -> None:
        if wizard.is_running and screen in wizard.screen_stack:
            function(*arguments)

    wizard.call_later(call)


def in_background(function: Callable[..., object], *arguments: Any) -> None:
    """Run in a thread that nobody waits for at the end, as a hanging disk may keep it for long."""
    name = f"{THREAD_NAME} ({function.__name__})"
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()
