"""The bars above and below every step: steps of the wizard, and available keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from fswizard.language import N_, _, p_
from fswizard.tui.drawing import text
from fswizard.tui.steps import WizardStep

MENU = "ctrl+p"
GAP = 2
"""Cells between two keys."""
NAMES = {
    "enter": "⏎", "escape": "esc", "slash": "/", "question_mark": "?", "delete": "del",
    "up": "↑", "down": "↓", "right": "→", "pageup": "PgUp", "pagedown": "PgDn", "f1": "F1", "f2": "F2", "f3": "F3",
    "f4": "F4", "f5": "F5",
}  # fmt: skip
"""Symbols of keys."""
RANK = {"enter": 0, "escape": 2, "f1": 3}
"""Order of keys in the footer; other keys are between the first and the last."""
OF_TEXTUAL = {
    "Focus Next": N_("next part of the screen"),
    "Focus Previous": N_("previous part of the screen"),
    "Copy selected text": N_("copy what is selected"),
}
"""Our texts for Textual's descriptions of its keys."""


class KeyBar(Footer, can_focus=False):
    """Textual's footer in the user's language: Enter first, the menu at the right end, and between them what fits."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        self._displayed: list[tuple[str, str]] = []
        self._width = self.app.size.width

    def compose(self) -> ComposeResult:
        displayed = [active.binding for active in keys(self.screen)]
        message, room = p_("key", "more"), self._width
        menu = any(binding.key == MENU for binding in displayed)
        if menu:
            room -= cell_len(f" ^p {message}")
        for binding in sorted(displayed, key=lambda binding: RANK.get(binding.key, 1)):
            if binding.key != MENU:
                name, what = display(binding.key), description(binding)
                room -= cell_len(f"{name} {what}")
                if room < 0:
                    break
                room -= GAP
                yield FooterKey(binding.key, name, what, binding.action)
        if menu:
            more = FooterKey(MENU, "^p", message, "app.command_palette", classes="-command-palette")
            more.tooltip = _("All keys")
            yield more

    def on_resize(self) -> None:
        if self._width != self.size.width:
            self._width = self.size.width
            self.call_after_refresh(self.recompose)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Rebuild the footer only if it would change: each key of a list reports a change."""
        if not self.is_attached or screen is not self.screen:
            return
        now = [(active.binding.key, description(active.binding)) for active in keys(screen)]
        if now != self._displayed:
            self._displayed = now
            super().bindings_changed(screen)


def keys(screen: Screen[object], *, hidden: bool = False) -> Iterator[ActiveBinding]:
    """The currently available keys of a screen; with `hidden`, also those not in the footer."""
    for active in screen.active_bindings.values():
        if active.enabled and active.binding.description and (hidden or active.binding.show):
            yield active


def description(binding: Binding) -> str:
    """What a key does, in the user's language."""
    return _(OF_TEXTUAL.get(binding.description, binding.description))


def display(key: str) -> str:
    """A key as displayed."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return NAMES.get(key, key)


def all_keys(screen: Screen[object]) -> str:
    """All available keys of a screen, one line per action."""
    by_description: dict[str, list[str]] = {}
    for active in keys(screen, hidden=True):
        by_description.setdefault(description(active.binding), []).append(display(active.binding.key))
    width = max((cell_len("/".join(names)) for names in by_description.values()), default=0)
    return "\n".join(f"{'/'.join(names):{width}}  {line}" for line, names in by_description.items())


class StepBar(Static, can_focus=False):
    """Steps on one line."""

    ALLOW_SELECT = False

    def __init__(self, steps: Sequence[WizardStep], current: WizardStep) -> None:
        super().__init__(markup=False)
        self._steps = steps
        self._current = current

    def render(self) -> Content:
        """As much as fits: the program's name with all steps, all steps, or the current step."""
        brand = text(("fswizard", "bold $text-primary"), "   ")
        titles = [self._step(step) for step in self._steps]
        for gap in (" ── ", "  ", " "):
            bar = text((gap, "$line")).join(titles)
            if brand.cell_length + bar.cell_length <= self.size.width:
                return brand + bar
            if bar.cell_length <= self.size.width:
                return bar
        number = self._steps.index(self._current) + 1
        position = p_("step of the wizard", "{number} of {count}", number=number, count=len(self._steps))
        return text(self._step(self._current), (f"  {position}", "$muted"))

    def _step(self, step: WizardStep) -> Content:
        if step == self._current:
            return text(("● ", "bold $text-primary"), (_(step.title), "bold"))
        if self._steps.index(step) < self._steps.index(self._current):
            return text(("✓ ", "$text-success"), (_(step.title), "$muted"))
        return text((f"○ {_(step.title)}", "$muted"))
