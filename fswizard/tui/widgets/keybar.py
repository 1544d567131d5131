"""The footer: every key that works, on as many lines as that takes."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.style import Style

from fswizard.tui.widgets.canvas import CachedStatic

RANK = {"enter": 0, "up": 1, "down": 1, "left": 2, "right": 2, "space": 3, "tab": 4}
LAST = {"f2": 89, "f1": 90, "escape": 91, "ctrl+p": 92, "ctrl+q": 93}
NAMES = {"enter": "⏎", "escape": "esc", "ctrl+q": "^q", "ctrl+p": "^p", "f1": "F1", "f2": "F2", "tab": "tab"}


class KeyBar(CachedStatic, can_focus=False):
    """Keys that work right now; a click does what the key does."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._keys: tuple[tuple[str, str, str], ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self._changed(self.screen)

    def on_resize(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        if key := event.style.meta.get("press"):
            self.app.simulate_key(key)

    def _changed(self, screen: Screen[object]) -> None:
        if not self.is_attached or screen is not self.screen:
            return
        found: dict[str, list[Binding]] = {}
        for _, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and enabled and binding.description:
                found.setdefault(binding.description, []).append(binding)
        keys = [
            (_joined([_display(binding) for binding in bindings]), words, bindings[0].key)
            for words, bindings in sorted(found.items(), key=lambda item: _rank(item[1][0]))
        ]
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._draw()

    def _draw(self) -> None:
        width = max(1, self.size.width or self.app.size.width)
        cells = [cell_len(display) + 1 + cell_len(words) for display, words, _ in self._keys]
        gap = 3 if sum(cells) + 3 * (len(cells) - 1) <= width else 2
        rows: list[list[Content]] = [[]]
        used = 0
        for (display, words, key), wide in zip(self._keys, cells):
            if used and used + gap + wide > width:
                rows.append([])
                used = 0
            used += wide + (gap if used else 0)
            rows[-1].append(_entry(display, words, key))
        self.update(Content("\n").join(Content(" " * gap).join(row) for row in rows))


def _entry(display: str, words: str, key: str) -> Content:
    content = Content.assemble((display, "bold $primary"), " ", (words, "$muted"))
    return content.stylize(Style.from_meta({"press": key}))


def _joined(displays: list[str]) -> str:
    short = "".join(display for display in displays if len(display) == 1)
    return "/".join((*([short] if short else []), *(display for display in displays if len(display) > 1)))


def _display(binding: Binding) -> str:
    return binding.key_display or NAMES.get(binding.key, binding.key)


def _rank(binding: Binding) -> int:
    return RANK.get(binding.key, LAST.get(binding.key, 50))
