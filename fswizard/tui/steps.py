"""The steps of the wizard, in order.

Add a screen: write `screens/NAME.py` with a subclass of `screens.base.StepScreen`, and add a line to `STEPS`. The bar
at the top and the navigation follow from that list. The screen has a `QUESTION`, a `HELP` text for F1, `body()` with
Textual's widgets, and a style sheet of the same name if it needs one; `screens/workloads.py` is an example.

In `tests/tui/test_walk.py`, add it to the walks by Enter, Escape and mouse: one that does not know it waits for two
minutes before it fails. The bar is in every picture, so all are redrawn; look at them before you commit them:

    .venv/bin/pytest --snapshot-update tests/tui/test_screens.py
    .venv/bin/pytest tests/tui
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass

from textual.screen import Screen

from fswizard.language import N_


@dataclass(frozen=True, slots=True)
class WizardStep:
    """A step with one question, and the screen that asks it."""

    name: str
    title: str
    """Title in the bar at the top."""
    screen: str
    """Module of `fswizard.tui.screens` and class; imported when shown, so that the first screen appears quickly."""

    def open(self) -> Screen[None]:
        """Create its screen."""
        screen: Screen[None] = pkgutil.resolve_name(f"fswizard.tui.screens.{self.screen}")(self)
        return screen


STEPS = (
    WizardStep("purpose", N_("Purpose"), "purpose:PurposeScreen"),
    WizardStep("drive", N_("Drive"), "drive:DriveScreen"),
    WizardStep("filesystems", N_("Filesystems"), "filesystems:FilesystemsScreen"),
    WizardStep("workloads", N_("Workloads"), "workloads:WorkloadsScreen"),
    WizardStep("review", N_("Review"), "review:ReviewScreen"),
    WizardStep("run", N_("Run"), "run:RunScreen"),
    WizardStep("result", N_("Result"), "result:ResultScreen"),
)
