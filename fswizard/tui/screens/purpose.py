"""First step: what would you like to know?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from fswizard.model.text import mid_sentence
from fswizard.model.units import binary_text, duration_text, rounds_text, size_text
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.drawing import cut, facts, lines, text
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.canvas import Canvas, Drawing, nothing
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

if TYPE_CHECKING:
    from fswizard.tui.backend import Backend, Entry, Leftover, OngoingRun

PURPOSES: dict[Purpose, tuple[str, str, str]] = {
    "archive-disk": ("▤", "Archive disk", "A large disk that is filled and then rarely touched"),
    "desktop-ssd": ("◉", "Desktop SSD", "System and home on one fast disk"),
    "compare": ("⇄", "Compare what I have", "Filesystems you already use: no formatting, no root"),
    "smr": ("◆", "Is this disk SMR?", "Before or after buying, with the evidence"),
    "own": ("✎", "My own choice", "Any disk, any filesystems and options, any recipe"),
}
WORDMARK = (
    "▄▀▀ ▄▀▀ █   █ █ ▀▀▀█ ▄▀▀▄ █▀▀▄ █▀▀▄",
    "█▀  ▀▀▄ █ █ █ █  ▄▀  █▄▄█ █▄▄▀ █  █",
    "█   ▄▄▀ ▀▄▀▄▀ █ █▄▄▄ █  █ █  █ █▄▄▀",
)
Facts = tuple[tuple[str, str], ...]
BESIDE = ("For", "Writes")
"""Facts for which there is room only beside the list, not below it."""
AIRY = 40
"""Lines of a terminal from which on the facts have room between them."""
EARLIER = 4
"""Earlier results that are listed here; the history has them all."""
LEAST_DISK = 12
"""Fewer cells of a disk's name say too little beside the verdict."""


class PurposeScreen(StepScreen):
    """Four ways in, one's own, and what was done before."""

    QUESTION = "What would you like to know?"
    HELP = (
        "fswizard finds out which filesystem, with which mount options, suits a disk and what you do with it, "
        "by measuring on that disk.\n\n"
        "Pick a purpose, then keep pressing Enter: the defaults lead to a recommendation.\n\n"
        "Nothing of yours is formatted or lost: the filesystems are made in a scratch image, a large file "
        "that is removed afterwards, unless you choose a partition or a whole disk and type its serial number. "
        "Making and mounting them needs root; comparing what is mounted does not."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("h", "app.history", "history")]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield ChoiceList(id="purposes", keeps_highlight=True)
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self._ongoing: tuple[OngoingRun, ...] = ()
        self._entries: tuple[Entry, ...] = ()
        self._leftovers: tuple[Leftover, ...] = ()
        self._resumable: tuple[Entry, ...] = ()
        self._refused: Mapping[Path, str] = {}
        self._brief: Drawing = nothing
        self.say("Measured on your own disk, in minutes. Nothing of yours is lost.")
        self.query_one(".panel").border_title = "What this does"
        wordmark = lines(text((line, "bold $primary")) for line in WORDMARK)
        self.mount(Static(wordmark, id="wordmark", markup=False), before="#heading")
        self._fill()
        rows = self.query_one("#purposes", ChoiceList)
        rows.highlight(self.choices.purpose)
        rows.focus()
        backend = self.wizard.backend
        self.ask(lambda: (backend.history(), backend.leftovers()), self._show_past, group="past", exit_on_error=False)
        self.ask(backend.ongoing, self._show_ongoing, group="ongoing", exit_on_error=False)
        self.ask(partial(_unfinished, backend), self._show_resumable, group="resumable", exit_on_error=False)

    def _show_ongoing(self, runs: tuple[OngoingRun, ...]) -> None:
        own = self.wizard.running.run.path if self.wizard.running else None
        self._ongoing = tuple(run for run in runs if Path(run.result) != own)
        self._fill()

    def _show_resumable(self, unfinished: tuple[tuple[Entry, ...], Mapping[Path, str]]) -> None:
        self._resumable, self._refused = unfinished
        self._fill()

    def _show_past(self, past: tuple[tuple[Entry, ...], tuple[Leftover, ...]]) -> None:
        self._entries, self._leftovers = past
        self._fill()

    def on_resize(self) -> None:
        self._fill()

    def _fill(self) -> None:
        airy = self.size.height >= 30
        rows = []
        for name in PURPOSES:
            rows.append(ListRow(name, partial(_purpose, name)))
            if airy:
                rows.append(gap(f"after-{name}"))
        if self._ongoing:
            rows.append(headline("ongoing", "In progress"))
            rows += [ListRow(f"ongoing-{i}", partial(_ongoing, run)) for i, run in enumerate(self._ongoing)]
        if self._leftovers:
            rows.append(headline("left", "Left behind by a run that was killed"))
            rows += [ListRow(f"left-{i}", partial(_leftover, item)) for i, item in enumerate(self._leftovers)]
        if self._resumable:
            rows.append(headline("resumable", "Resume an unfinished run"))
            rows += [ListRow(f"resume-{i}", partial(_entry, it, "↻ resume")) for i, it in enumerate(self._resumable)]
        if self._entries:
            rows.append(headline("earlier", "Earlier results"))
            rows += [
                ListRow(f"result-{i}", partial(_entry, item, "")) for i, item in enumerate(self._entries[:EARLIER])
            ]
        self.query_one("#purposes", ChoiceList).rows = tuple(rows)

    @on(ChoiceList.Chosen, "#purposes")
    def _explain(self, event: ChoiceList.Chosen) -> None:
        kind, number = self._kind(event.key)
        airy = self.size.height >= AIRY
        if event.key in PURPOSES:
            pairs = self._about(event.key)
        elif kind in ("result", "resume"):
            entry = (self._entries if kind == "result" else self._resumable)[number]
            titles = self.wizard.backend.titles(entry.header.candidates)
            pairs = _about_entry(entry, titles, self._refused.get(entry.path, ""))
        elif kind == "ongoing":
            pairs = (("Enter", "shows this run live. You can pause or stop it there, or just watch."),)
        else:
            pairs = (("Enter", "removes what the run left on the disk. Its results so far stay in the history."),)
        self.query_one("#about", Canvas).show(lambda width: facts(pairs, width, label=11, gap=airy))
        self.query_one(".panel", VerticalScroll).scroll_home(animate=False)
        brief = [pair for pair in pairs if pair[0] not in BESIDE]
        self._brief = lambda width: facts(brief, width, label=11, gap=False)
        self.query_one("#below", Canvas).show(self._below)

    def _below(self, width: int) -> Content:
        """The facts below the list, where there is room for all of them."""
        drawn = self._brief(width)
        room = self.query_one("#below").content_size.height
        return drawn if drawn.plain.count("\n") < room else Content("")

    @on(ChoiceList.Clicked, "#purposes")
    def _clicked(self) -> None:
        self.action_forward()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "back" and super().check_action(action, parameters)

    def action_forward(self) -> None:
        key, backend = self.query_one("#purposes", ChoiceList).key, self.wizard.backend
        kind, number = self._kind(key)
        if kind == "result":
            path = self._entries[number].path
            self.ask(lambda: backend.load(path), lambda result: self.wizard.show_result(result, path))
        elif kind == "resume":
            path = self._resumable[number].path
            self.ask(lambda: backend.take_up(path), self.wizard.take_up)
        elif kind == "ongoing":
            self.wizard.run_worker(self.wizard.follow(self._ongoing[number]))
        elif kind == "left":
            leftover = self._leftovers[number]
            self.ask(lambda: backend.clean(leftover), partial(self._cleaned, leftover))
        elif key in PURPOSES:
            self._choose(key)

    @staticmethod
    def _kind(key: str) -> tuple[str, int]:
        """Of a row's key: what it stands for, and its number among those."""
        kind, _, number = key.rpartition("-")
        return (kind, int(number)) if number.isdigit() else (key, 0)

    def _choose(self, purpose: Purpose) -> None:
        if purpose != self.choices.purpose or self.choices.recipe is None:
            self.wizard.choices = WizardChoices(purpose=purpose, recipe=self.wizard.machine.recipe_for(purpose))
        self.wizard.go_on()

    def _cleaned(self, leftover: Leftover, not_found: tuple[str, ...]) -> None:
        self._leftovers = tuple(item for item in self._leftovers if item is not leftover)
        self._fill()
        self.say(("✓ ", "bold $success"), " ".join(("Cleaned up.", *not_found)))

    def _about(self, purpose: Purpose) -> Facts:
        if purpose == "smr":
            return (
                ("Asks", "the kernel, smartctl and a table of models about each disk"),
                ("Shows", "the verdict, how sure it is, and the evidence, so you can check it"),
                ("Also", "look up a model you're thinking of buying"),
                ("Then", "Enter helps you choose a filesystem for it"),
                ("Time", "seconds; nothing is written"),
            )
        recipe = self.wizard.machine.recipe_for(purpose)
        names = ", ".join(mid_sentence(workload.title) for workload in recipe.workloads)
        writes = sum(workload.writes_bytes for workload in recipe.workloads)
        pairs = [("For", recipe.why), ("Measures", names)]
        if purpose == "compare":
            pairs += [
                ("Compares", "directories on mounted filesystems, as they are"),
                ("Needs", "no root; nothing is formatted"),
            ]
        else:
            image = binary_text(recipe.image_bytes)
            pairs += [
                ("Compares", ", ".join(self.wizard.backend.titles(recipe.candidates)) + ", or your choice"),
                ("Needs", f"administrator rights, once, and {image} free for a scratch image"),
            ]
        pairs += [
            ("You lose", "nothing; all test files are deleted"),
            ("Time", f"up to {duration_text(recipe.minutes * 60)}; stops early once the result is clear"),
            ("Writes", f"about {size_text(writes)} per filesystem and round"),
        ]
        return tuple(pairs)


def _purpose(name: Purpose, width: int, on: bool) -> Content:
    glyph, title, why = PURPOSES[name]
    return text((f" {glyph} ", "$primary"), (title, "bold"), (f"\n   {cut(why, width - 3)}", "$muted"))


def _entry(entry: Entry, remark: str, width: int, on: bool) -> Content:
    head = entry.header
    end = cut(remark or entry.verdict, max(8, width - 21 - cell_len(head.recipe)))
    room = max(8, width - 21 - cell_len(end))
    disk = cut(head.drive, room - cell_len(head.recipe) - 2)
    words = cut(f"{head.recipe}  {disk}" if cell_len(disk) >= LEAST_DISK else head.recipe, room)
    style = "$success" if remark or len(entry.leaders) == 1 else "$muted"
    return text(" ", (entry.when, "$muted"), f"  {words}", (f"  {end}", style))


def _unfinished(backend: Backend) -> tuple[tuple[Entry, ...], Mapping[Path, str]]:
    """Runs that can be resumed; of the others that are listed here, why not. In a thread."""
    resumable = backend.resumable()
    listed = (entry for entry in backend.history()[:EARLIER] if entry.unfinished and entry not in resumable)
    return resumable, {entry.path: backend.why_not_resumed(entry.path) for entry in listed}


def _about_entry(entry: Entry, titles: Sequence[str], why_not: str) -> Facts:
    head, ending = entry.header, entry.ending
    return (
        ("When", entry.when),
        ("Recipe", head.recipe),
        ("Disk", head.drive or "no model name"),
        ("Candidates", ", ".join(titles)),
        (
            "Ended",
            f"{ending.text} {rounds_text(ending.rounds).capitalize()}." if ending else "Cut off; its results are kept.",
        ),
        ("Result", entry.verdict),
        *([("Resume", why_not)] if why_not else []),
    )


def _ongoing(run: OngoingRun, width: int, on: bool) -> Content:
    return text((" ▶ ", "$success"), cut(f"Watch {run.text}", width - 3))


def _leftover(item: Leftover, width: int, on: bool) -> Content:
    where = ", ".join(map(str, item.directories))
    what = f"{size_text(item.size_bytes)} in {where}" if item.size_bytes else where
    return text((" ⌫ ", "$warning"), cut(f"Clean up {what}", width - 3))
