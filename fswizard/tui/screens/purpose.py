"""First step: what would you like to know?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from fswizard.language import N_, _, n_, p_, shown
from fswizard.model.text import mid_sentence
from fswizard.model.units import binary_text, duration_text, size_text
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.drawing import answer_mark, cut, facts, lines, text
from fswizard.tui.screens.base import AIRY, StepScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

if TYPE_CHECKING:
    from fswizard.tui.backend import Entry, Leftover, OngoingRun

PURPOSES: dict[Purpose, tuple[str, str, str]] = {
    "archive-disk": ("▤", N_("Archive disk"), N_("A large disk that is filled and then rarely touched")),
    "desktop-ssd": ("◉", N_("Desktop SSD"), N_("System and home on one fast disk")),
    "quick": ("▸", N_("Quick look"), N_("Copying, searching, saving: an answer in minutes")),
    "compare": ("⇄", N_("Compare what I have"), N_("Filesystems you already use: no formatting, no root")),
    "smr": ("◆", N_("Is this disk SMR?"), N_("Before or after buying, with the evidence")),
    "own": ("✎", N_("My own choice"), N_("Any disk, any filesystems and options, any recipe")),
}
WORDMARK = (
    "▄▀▀ ▄▀▀ █   █ █ ▀▀▀█ ▄▀▀▄ █▀▀▄ █▀▀▄",
    "█▀  ▀▀▄ █ █ █ █  ▄▀  █▄▄█ █▄▄▀ █  █",
    "█   ▄▄▀ ▀▄▀▄▀ █ █▄▄▄ █  █ █  █ █▄▄▀",
)
EARLIER = 4
"""Earlier results that are listed here; the history has them all."""
LEAST_DISK = 12
"""Fewer cells of a disk's name say too little beside the verdict."""


class PurposeScreen(StepScreen):
    """Five ways in, one's own, and what was done before."""

    QUESTION = N_("What would you like to know?")
    HELP = N_(
        "fswizard finds out which filesystem, with which mount options, suits a disk and what you do with it, "
        "by measuring on that disk.\n\n"
        "Pick a purpose, then keep pressing Enter: the defaults lead to a recommendation.\n\n"
        "Nothing of yours is formatted or lost: the filesystems are made in a scratch image, a large file "
        "that is removed afterwards, unless you choose a partition or a whole disk and type its serial number. "
        "Making and mounting them needs root; comparing what is mounted does not."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("h", "app.history", N_("history"))]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield ChoiceList(id="purposes", keeps_highlight=True)
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self._past: dict[str, Sequence[Any]] = {}
        """What was done before, by the beginning of its rows' keys."""
        self._brief: list[tuple[str, str]] = []
        self.say(_("Measured on your own disk, in minutes. Nothing of yours is lost."))
        self.query_one(".panel").border_title = _("What this does")
        wordmark = lines(text((line, "bold $text-primary")) for line in WORDMARK)
        self.mount(Static(wordmark, id="wordmark", markup=False), before="#heading")
        self._fill()
        rows = self.query_one("#purposes", ChoiceList)
        rows.highlight(self.choices.purpose)
        rows.focus()
        backend = self.wizard.backend
        looks: dict[str, Callable[[], Sequence[Any]]] = {
            "ongoing": backend.ongoing,
            "left": backend.leftovers,
            "resume": backend.resumable,
            "result": lambda: backend.history()[:EARLIER],
        }
        for kind, look in looks.items():
            self.ask(look, partial(self._show, kind), group=kind, exit_on_error=False)

    def _show(self, kind: str, items: Sequence[Any]) -> None:
        own = self.wizard.running.run.path if self.wizard.running else None
        if kind == "ongoing":
            items = [run for run in items if Path(run.result) != own]
        self._past[kind] = items
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
        for kind, (words, draw) in PAST.items():
            if items := self._past.get(kind):
                rows.append(headline(kind, _(words)))
                rows += [ListRow(f"{kind}-{number}", partial(draw, item)) for number, item in enumerate(items)]
                if self.size.height >= AIRY:
                    rows.append(gap(f"after-{kind}"))
        self.query_one("#purposes", ChoiceList).rows = tuple(rows)

    def _item(self, key: str) -> tuple[str, Any]:
        """The kind of a row, as in `PAST`, and the earlier run that it shows; None in its place for a purpose."""
        kind, _, number = key.rpartition("-")
        rows = [f"{kind}-{place}" for place in range(len(self._past.get(kind, ())))]
        return (kind, self._past[kind][int(number)]) if key in rows else (kind, None)

    @on(ChoiceList.Chosen, "#purposes")
    def _explain(self, event: ChoiceList.Chosen) -> None:
        kind, item = self._item(event.key)
        if event.key in PURPOSES:
            self._show_facts(self._about(event.key))
        elif item is None:  # it has gone meanwhile
            return
        elif kind == "ongoing":
            self._show_facts(
                [(p_("key", "Enter"), _("shows this run live. You can pause or stop it there, or just watch."))]
            )
        elif kind == "left":
            words = _("removes what the run left on the disk. Its results so far stay in the history.")
            self._show_facts([(p_("key", "Enter"), words)])
        else:
            self._show_facts(_about_entry(item))

    def _show_facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        airy = self.size.height >= AIRY
        self.query_one("#about", Canvas).show(lambda width: facts(pairs, width, label=11, gap=airy))
        self.query_one(".panel", VerticalScroll).scroll_home(animate=False)
        beside = p_("purpose", "For"), _("Writes")  # there is no room for them below the list
        self._brief = [pair for pair in pairs if pair[0] not in beside]
        self.query_one("#below", Canvas).show(self._below)

    def _below(self, width: int) -> Content:
        """The facts below the list, where there is room for all of them, or for all but the list of the tests."""
        room = self.query_one("#below").content_size.height
        for pairs in (self._brief, [pair for pair in self._brief if pair[0] != _("Measures")]):
            drawn = facts(pairs, width, label=11, gap=False)
            if drawn.plain.count("\n") < room:
                return drawn
        return Content("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "back" and super().check_action(action, parameters)

    @on(ChoiceList.Clicked, "#purposes")
    def action_forward(self) -> None:
        key, backend = self.query_one("#purposes", ChoiceList).key, self.wizard.backend
        kind, item = self._item(key)
        if key in PURPOSES:
            if key != self.choices.purpose or self.choices.recipe is None:
                self.wizard.choices = WizardChoices(purpose=key, recipe=self.wizard.machine.recipe_for(key))
            self.wizard.go_on()
        elif item is None:  # it has gone meanwhile
            return
        elif kind == "result":
            self.ask(lambda: backend.load(item.path), lambda result: self.wizard.show_result(result, item.path))
        elif kind == "resume":
            self.ask(lambda: backend.take_up(item.path), self.wizard.take_up)
        elif kind == "ongoing":
            self.wizard.run_worker(self.wizard.follow(item))
        elif kind == "left":
            self.ask(lambda: backend.clean(item), partial(self._cleaned, item))

    def _cleaned(self, leftover: Leftover, not_found: tuple[str, ...]) -> None:
        self._show("left", [item for item in self._past["left"] if item is not leftover])
        self.say(("✓ ", "bold $text-success"), " ".join((_("Cleaned up."), *map(shown, not_found))))

    def _about(self, purpose: Purpose) -> Sequence[tuple[str, str]]:
        from fswizard.filesystems import title_of

        if purpose == "smr":
            return (
                (_("Asks"), _("the kernel, smartctl and a table of models about each disk")),
                (_("Shows"), _("the verdict, how sure it is, and the evidence, so you can check it")),
                (_("Also"), _("look up a model you're thinking of buying")),
                (_("Then"), _("Enter helps you choose a filesystem for it")),
                (_("Time"), _("seconds; nothing is written")),
            )
        recipe = self.wizard.machine.recipe_for(purpose)
        writes = sum(workload.writes_bytes for workload in recipe.workloads)
        if purpose == "compare":
            compares = _("directories on mounted filesystems, as they are")
            needs = _("no root; nothing is formatted")
        else:
            compares = _("{filesystems}, or your choice", filesystems=", ".join(map(title_of, recipe.candidates)))
            size = binary_text(recipe.image_bytes)
            needs = _("{size} free for a scratch image, and no administrator rights on a desktop", size=size)
        longest = duration_text(recipe.minutes * 60)
        return (
            (p_("purpose", "For"), _(recipe.why)),
            (_("Measures"), ", ".join(mid_sentence(workload.title) for workload in recipe.workloads)),
            (_("Compares"), compares),
            (_("Needs"), needs),
            (_("You lose"), _("nothing; all test files are deleted")),
            (_("Time"), _("up to {duration}; stops early once the result is clear", duration=longest)),
            (_("Writes"), _("about {size} per filesystem and round", size=size_text(writes))),
        )


def _purpose(name: Purpose, width: int, on: bool) -> Content:
    glyph, title, why = PURPOSES[name]
    return text((f" {glyph} ", "$text-primary"), (_(title), "bold"), (f"\n   {cut(_(why), width - 3)}", "$muted"))


def entry_answer(entry: Entry, width: int) -> Content:
    """What an earlier result says, as the result itself does."""
    if entry.ending is None:
        return text((cut(shown(entry.verdict), width), "$muted"))
    return text(answer_mark(entry.sign), cut(shown(entry.verdict), width - 2))


def _entry(entry: Entry, width: int, on: bool, *, remark: str = "") -> Content:
    head = entry.header
    left = max(8, width - 15 - cell_len(head.recipe))
    end = text((cut(_(remark), left), "$text-success")) if remark else entry_answer(entry, left)
    room = max(8, width - 15 - end.cell_length)
    disk = cut(head.drive, room - cell_len(head.recipe) - 2)
    words = cut(f"{head.recipe}  {disk}" if cell_len(disk) >= LEAST_DISK else head.recipe, room)
    return text(" ", (entry.when[:10], "$muted"), f"  {words}  ", end)


def _about_entry(entry: Entry) -> Sequence[tuple[str, str]]:
    from fswizard.filesystems import title_of

    head, ending = entry.header, entry.ending
    ended = _("Cut off; its results are kept.")
    if ending:
        ended = f"{shown(ending.text)} {n_('{count} round.', '{count} rounds.', ending.rounds)}"
    return (
        (_("When"), entry.when),
        (_("Recipe"), head.recipe),
        (_("Disk"), head.drive or _("no model name")),
        (_("Candidates"), ", ".join(map(title_of, head.candidates))),
        (_("Ended"), ended),
        (_("Result"), shown(entry.verdict)),
    )


def _ongoing(run: OngoingRun, width: int, on: bool) -> Content:
    return text((" ▶ ", "$text-success"), cut(_("Watch {run}", run=run.text), width - 3))


def _leftover(item: Leftover, width: int, on: bool) -> Content:
    where = ", ".join(map(str, item.directories))
    if item.size_bytes:
        where = _("{size} in {directories}", size=size_text(item.size_bytes), directories=where)
    return text((" ⌫ ", "$text-warning"), cut(_("Clean up {what}", what=where), width - 3))


PAST: dict[str, tuple[str, Callable[..., Content]]] = {
    "ongoing": (N_("In progress"), _ongoing),
    "left": (N_("Left behind by a run that was killed"), _leftover),
    "resume": (N_("Resume an unfinished run"), partial(_entry, remark=N_("↻ resume"))),
    "result": (N_("Earlier results"), _entry),
}
"""Kinds of earlier runs: their heading, and the function that draws a row."""
