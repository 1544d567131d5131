"""The bars above and below every step: the way through the wizard, and the keys that work."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style

from fswizard.language import N_, _, p_
from fswizard.tui.drawing import text
from fswizard.tui.steps import WizardStep
from fswizard.tui.widgets.canvas import CachedStatic

RANK = {
    "enter": 0, "up": 1, "down": 1, "left": 2, "right": 2, "space": 3, "tab": 4,
    "f3": 87, "f4": 88, "f2": 89, "f1": 90, "escape": 91, "ctrl+p": 92, "ctrl+q": 93,
}  # fmt: skip
"""Where keys stand in the bar; letters stand in the middle."""
NAMES = {
    "enter": "⏎", "escape": "esc", "ctrl+q": "^q", "ctrl+p": "^p", "ctrl+c": "^c", "f1": "F1", "f2": "F2", "f3": "F3",
    "f4": "F4", "slash": "/", "question_mark": "?",
}  # fmt: skip
OF_TEXTUAL = {
    "Focus Next": N_("next part of the screen"),
    "Focus Previous": N_("previous part of the screen"),
    "Copy selected text": N_("copy what is selected"),
}
"""Its words for its own keys, and ours."""


class KeyBar(CachedStatic, can_focus=False):
    """Keys that work right now, on as many lines as that takes; a click does what the key does.

    The first ones stand on the last line: a second click on a key finds no other one, however many lines there are.
    """

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._keys: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self._changed(self.screen)

    @property
    def entries(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """The keys that are shown together, and what is said of them."""
        return tuple((keys, words) for __, words, keys in self._keys)

    def on_resize(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        if key := event.style.meta.get("press"):
            self.app.simulate_key(key)

    def _changed(self, screen: Screen[object]) -> None:
        if not self.is_attached or screen is not self.screen:
            return
        keys = [
            (_joined(bindings), words, tuple(binding.key for binding in bindings)) for words, bindings in _keys(screen)
        ]
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._draw()

    def _draw(self) -> None:
        width = max(1, self.size.width or self.app.size.width)
        cells = [cell_len(display) + 1 + cell_len(words) for display, words, __ in self._keys]
        gap = 3 if sum(cells) + 3 * (len(cells) - 1) <= width else 2
        rows: list[list[Content]] = [[]]
        used = 0
        for (display, words, keys), wide in zip(self._keys, cells):
            if used and used + gap + wide > width:
                rows.append([])
                used = 0
            used += wide + (gap if used else 0)
            entry = text((display, "bold $text-primary"), " ", (words, "$muted"))
            rows[-1].append(entry.stylize(Style.from_meta({"press": keys[0]})))
        self.update(Content("\n").join(Content(" " * gap).join(row) for row in reversed(rows)))


def _keys(screen: Screen[object], *, hidden: bool = False) -> list[tuple[str, list[Binding]]]:
    """What keys do here, in the reader's language, and the keys for it; `hidden` ones, too."""
    by_description: dict[str, list[Binding]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if (binding.show or hidden) and active.enabled and binding.description:
            words = OF_TEXTUAL.get(binding.description, binding.description)
            by_description.setdefault(_(words), []).append(binding)
    return sorted(by_description.items(), key=lambda item: RANK.get(item[1][0].key, 50))


def all_keys(screen: Screen[object]) -> str:
    """Every key that works on a screen: a line for each thing to do."""
    keys = [(_joined(bindings), words) for words, bindings in _keys(screen, hidden=True)]
    width = max((cell_len(display) for display, __ in keys), default=0)
    return "\n".join(f"{display:{width}}  {words}" for display, words in keys)


def _joined(bindings: Sequence[Binding]) -> str:
    """The names of keys that do the same, those of one letter first."""
    names = [binding.key_display or NAMES.get(binding.key, binding.key) for binding in bindings]
    short = "".join(name for name in names if len(name) == 1)
    return "/".join(filter(None, (short, *(name for name in names if len(name) > 1))))


class StepBar(CachedStatic, can_focus=False):
    """Steps on one line; a step that can be returned to can be clicked."""

    ALLOW_SELECT = False

    def __init__(self, steps: Sequence[WizardStep], current: WizardStep, reachable: Sequence[str]) -> None:
        super().__init__(markup=False)
        self._steps = steps
        self._current = current
        self._reachable = reachable

    def on_resize(self) -> None:
        self.update(self._drawn(self.size.width))

    async def on_click(self, event: events.Click) -> None:
        if step := event.style.meta.get("visit"):
            await self.run_action(f"app.visit('{step}')")

    def _drawn(self, width: int) -> Content:
        names = [_(step.title) for step in self._steps]
        needed = sum(cell_len(name) + 2 for name in names)
        brand = (
            text(("fswizard", "bold $text-primary"), "   ") if width >= needed + 2 * len(names) + 11 else Content("")
        )
        room = width - brand.cell_length - needed
        between = max(1, min(4, room // max(1, len(names) - 1)))
        if needed + len(names) - 1 > width:
            number = self._steps.index(self._current) + 1
            words = p_("step of the wizard", "{number} of {count}", number=number, count=len(self._steps))
            short = text(("● ", "bold $text-primary"), (_(self._current.title), "bold"), (f"  {words}", "$muted"))
            return short.truncate(max(1, width))
        rule = text((" " + "─" * (between - 2) + " ", "$line")) if between >= 3 else Content(" " * between)
        return brand + rule.join(self._step(step) for step in self._steps)

    def _step(self, step: WizardStep) -> Content:
        if step == self._current:
            return text(("● ", "bold $text-primary"), (_(step.title), "bold"))
        done = self._steps.index(step) < self._steps.index(self._current)
        if step.name not in self._reachable:
            return text((f"{'✓' if done and self._current == self._steps[-1] else '○'} {_(step.title)}", "$muted"))
        content = text(
            ("✓ " if done else "◉ ", "$text-success" if done else "$text-primary"), (_(step.title), "$muted")
        )
        return content.stylize(Style.from_meta({"visit": step.name}))
