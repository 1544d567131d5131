"""The way through the wizard: what is done, where one stands, what comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.content import Content
from textual.style import Style

from fswizard.tui.choices import StepName
from fswizard.tui.drawing import text
from fswizard.tui.widgets.canvas import CachedStatic

Titles = Mapping[StepName, str]
TITLES: Titles = {
    "purpose": "Purpose",
    "drive": "Drive",
    "filesystems": "Filesystems",
    "workloads": "Workloads",
    "review": "Review",
    "run": "Run",
    "result": "Result",
}


class StepBar(CachedStatic, can_focus=False):
    """Steps on one line; a step that can be returned to can be clicked."""

    ALLOW_SELECT = False

    def __init__(
        self, steps: Sequence[StepName], current: StepName, reachable: Sequence[StepName], titles: Titles = TITLES
    ) -> None:
        super().__init__(markup=False)
        self._titles = titles
        self._steps = tuple(steps)
        self._current = current
        self._reachable = frozenset(reachable)

    def on_resize(self) -> None:
        self.update(self._drawn(self.size.width))

    async def on_click(self, event: events.Click) -> None:
        if step := event.style.meta.get("visit"):
            await self.run_action(f"app.visit('{step}')")

    def _drawn(self, width: int) -> Content:
        names = [self._titles[step] for step in self._steps]
        needed = sum(len(name) + 2 for name in names)
        brand = text(("fswizard", "bold $primary"), "   ") if width >= needed + 2 * len(names) + 11 else Content("")
        room = width - brand.cell_length - needed
        between = max(1, min(4, room // max(1, len(names) - 1)))
        if needed + len(names) - 1 > width:
            return self._short(width)
        rule = text((" " + "─" * (between - 2) + " ", "$line")) if between >= 3 else Content(" " * between)
        return brand + rule.join(self._step(step) for step in self._steps)

    def _short(self, width: int) -> Content:
        number = self._steps.index(self._current) + 1
        return text(
            ("● ", "bold $primary"),
            (self._titles[self._current], "bold"),
            (f"  {number} of {len(self._steps)}", "$muted"),
        ).truncate(max(1, width))

    def _step(self, step: StepName) -> Content:
        title = self._titles[step]
        if step == self._current:
            return text(("● ", "bold $primary"), (title, "bold"))
        done = self._steps.index(step) < self._steps.index(self._current)
        if step not in self._reachable:
            return text((f"{'✓' if done and self._current == 'result' else '○'} {title}", "$faint"))
        content = text(("✓ " if done else "◉ ", "$success" if done else "$primary"), (title, "$muted"))
        return content.stylize(Style.from_meta({"visit": step}))
