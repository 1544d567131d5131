"""The last step: windows in which a disk is set up for good, as the result recommends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from fswizard.errors import FswizardError
from fswizard.language import N_, _, p_, shown
from fswizard.model.drive import Drive
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.text import safe
from fswizard.model.units import size_text
from fswizard.tui.backend import Backend
from fswizard.tui.drawing import Piece, bullet, cut, facts, filled, fit, heading, keyed, lines, radio, text, tick
from fswizard.tui.drives import first_sentences, losing
from fswizard.tui.machine import DiskWatcher, in_background, target_state
from fswizard.tui.screens.base import SCROLL_LINES, SCROLL_PAGES, TextBox, Window
from fswizard.tui.screens.review import ROOT, SerialBox, to_confirm
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

if TYPE_CHECKING:
    from fswizard.tui.backend import Offer, SetUpChoices, SetUpDone, SetUpPlan, State

PARTITION = "partition"


class FieldBox(TextBox):
    """One of the texts of the form."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", N_("review it"))]


class SetUpScreen(Window[None]):
    """Which disk, and how it is called. Disks are looked at only now, as that may wake them."""

    TITLE = N_("Set it up")
    LOOK = "broad"
    HELP = N_(
        "Choose the disk or partition that gets this filesystem for good, with space. Everything on it is lost, so it "
        "is checked like a disk for a test, and you confirm it in the review, which shows the exact commands.\n\n"
        "Tab goes to the label, the mount point and the owner. The owner is the account that can write to it.\n\n"
        "This machine starts without the disk, too, such as when it was unplugged.\n\n"
        "A partition table lets other programs and systems see that the disk is in use."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "review", N_("review it")),
        Binding("tab", "app.focus_next", N_("next field")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, candidate: Candidate, plan: Plan) -> None:
        super().__init__()
        self._candidate = candidate
        self._plan = plan
        self._drives: tuple[Drive, ...] = ()
        self._offers: dict[str, tuple[Offer, ...]] = {}
        self._looked_at: dict[str, object] = {}
        self._path = ""
        self._said_of: tuple[str, bool] | None = None

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield ChoiceList(id="disks", ticks=True)
        with Horizontal(id="fields"):
            for name in ("label", "mount", "owner"):
                yield FieldBox(id=name, max_length=200)

    def on_mount(self) -> None:
        self.query_one(".window").border_title = _("Set up {filesystem}", filesystem=self._candidate.title)
        self._choices: SetUpChoices = self.wizard.backend.usual_set_up(self._candidate, self._plan)
        words = (("label", p_("of a filesystem", "Label"), self._choices.label),
                 ("mount", _("Mount point"), self._choices.mount_point),
                 ("owner", _("Owner"), self._choices.owner))  # fmt: skip
        for name, title, value in words:
            box = self.query_one(f"#{name}", Input)
            box.border_title, box.value = title, value
        self._redraw()
        self.query_one(ChoiceList).focus()
        self._watcher = DiskWatcher(self.wizard.backend, self.wizard.machine, partial(self.call_in_app, self._changed))
        self._watcher.start()

    def on_unmount(self) -> None:
        self._watcher.stop()

    def _changed(self) -> None:
        """Other disks are there, or something else is on one."""
        self._drives = self.wizard.machine.drives or ()
        for drive in self._drives:
            if self._looked_at.get(drive.name) != (state := target_state(drive)):
                self._looked_at[drive.name] = state
                in_background(self._look, self.wizard.backend, drive)
        self._redraw()

    def _look(self, backend: Backend, drive: Drive) -> None:
        """In a thread for each disk: one that hangs keeps no other waiting."""
        self.call_in_app(self._looked, drive, backend.set_up_offers(drive))

    def _looked(self, drive: Drive, offers: tuple[Offer, ...]) -> None:
        none_before = not self._usable
        self._offers[drive.name] = offers
        self._redraw()
        if none_before and self._usable:
            self.query_one(ChoiceList).highlight(next(iter(self._usable)))

    # The list

    @property
    def _usable(self) -> dict[str, Offer]:
        here = [offer for drive in self._drives for offer in self._offers.get(drive.name, ())]
        return {offer.path: offer for offer in here if offer.refused is None}

    def _redraw(self) -> None:
        usable, rows = self._usable, [headline("which", _("On which disk?"))]
        if self._path not in usable:
            self._path = ""
        for drive in self._drives:
            offers = self._offers.get(drive.name)
            own = [offer for offer in offers or () if offer.path in usable]
            rows += [ListRow(offer.path, partial(self._device_row, drive, offer)) for offer in own]
            if not own and drive.bus != "loop":
                refused = (shown(offer.refused.message) for offer in offers or () if offer.refused)
                words = _("checking it …") if offers is None else f"✗ {next(refused, _('it is gone'))}"
                rows.append(ListRow(f"no:{drive.name}", partial(_refused_row, drive, words), False))
        if self._path not in usable or usable[self._path].whole:
            words = _("with a partition table (GPT)")
            rows += [gap("gap"), headline("how", _("How?")), _tick_row(PARTITION, self._choices.partition, words)]
        self.query_one(ChoiceList).rows = tuple(rows)
        self.refresh_bindings()
        if self._said_of != (self._path, bool(usable)):
            self._say_usual()

    def _say_usual(self) -> None:
        """Only where it changes, as disks are looked at again and again, and an error is to stay until then."""
        self._said_of = self._path, bool(self._usable)
        if self._path:
            self.say(_("⏎ shows the exact commands. Nothing has happened yet."))
        elif self._usable:
            words = _("Choose a disk with `space`. Everything on it will be lost; nothing happens before a review.")
            self.say(keyed(words))
        else:
            self.say(_("No disk here can be set up so far: connect one, or free one."))

    def _device_row(self, drive: Drive, offer: Offer, width: int, on: bool) -> Content:
        words = f"{offer.name}  {drive.model or _('no model name')}, {size_text(offer.size_bytes)}"
        first = text(radio(offer.path == self._path), " ", (cut(words, width - 4), "bold"))
        loss = losing(offer)
        return text(first, "  " if first.cell_length + 2 + loss.cell_length <= width else "\n    ", loss)

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        event.stop()
        if event.key == PARTITION:
            self._choices = replace(self._choices, partition=not self._choices.partition)
        else:
            self._path = event.key
        self._redraw()
        self._say_usual()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._usable) if action == "review" else super().check_action(action, parameters)

    @on(Input.Submitted)
    def action_review(self) -> None:
        row = self.query_one(ChoiceList).key  # Enter there means that disk
        if not self._path and row in self._usable:
            self._path = row
            self._redraw()
        if not self._usable:
            self._say_usual()
        elif not self._path:
            self.refuse(_("Choose a disk first: `↑↓`, then `space`."))
        else:
            self._plan_it()

    def _plan_it(self) -> None:
        label, point, owner = (self.query_one(f"#{name}", Input).value.strip() for name in ("label", "mount", "owner"))
        self._choices = replace(self._choices, label=label, mount_point=point.rstrip("/"), owner=owner)
        backend, candidate, path, choices = self.wizard.backend, self._candidate, self._path, self._choices

        def look() -> tuple[SetUpPlan, State]:
            plan = backend.plan_set_up(candidate, path, choices)
            return plan, backend.rights() if plan.identifiers else "root"

        self.ask(look, self._planned)

    def _planned(self, planned: tuple[SetUpPlan, State]) -> None:
        self.wizard.push_screen(SetUpReview(*planned))


class SetUpReview(Window[None]):
    """The exact commands; once confirmed, how it goes, and where the disk is then."""

    TITLE = N_("Review")
    LOOK = "full"
    HELP = N_(
        "These are the exact commands, in order, as root; $uuid is what blkid prints, $stamp the time. They start only "
        "after you type the serial number of the disk, or another name of it if that isn't unique.\n\n"
        "If a step fails, /etc/fstab and the directory are put back as they were. What was on the disk is lost.\n\n"
        "Ctrl-S saves a script that does the same, to read and to run yourself."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", N_("save as a script"), key_display="^s"),
        Binding("c", "copy", N_("copy the undo")),
        *SCROLL_LINES,
        *SCROLL_PAGES,
        Binding("escape", "back", N_("back")),
    ]

    def __init__(self, plan: SetUpPlan, rights: State) -> None:
        super().__init__()
        self._plan = plan
        self._rights = rights
        self._working = False
        self._steps: list[str] = []
        self._done: SetUpDone | None = None

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield SerialBox(id="serial")
        yield VerticalScroll(Canvas(id="plan"), can_focus=False)

    def on_mount(self) -> None:
        plan, box = self._plan, self.query_one("#serial", SerialBox)
        self.query_one("#plan", Canvas).show(self._review)
        if plan.identifiers and self._rights == "none":
            words = _("This needs root, which you can't get here. `^s` saves a script for root.")
            self.say(("! ", "bold $text-warning"), keyed(words))
            box.display, box.disabled = False, True
        elif plan.identifiers:
            self.say(to_confirm(plan.title, plan.kind, plan.identifiers[0], empty=plan.empty))
            box.placeholder = _("{kind} of {disk}", kind=_(plan.kind), disk=plan.title)
            box.focus()
        else:
            demo = (f"{_('This is a demo: nothing is done.')} ", "bold $text-warning")
            self.say(demo, _("These would be the commands."))
            box.display, box.disabled = False, True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        possible = {
            "copy": self._done is not None,
            "save": bool(self._plan.identifiers) and not (self._done or self._working),
        }
        return possible.get(action, super().check_action(action, parameters))

    def _review(self, width: int) -> Content:
        plan, chosen = self._plan, self._plan.choices
        loss = (p_("you lose", "nothing"), "bold $text-success")
        if not plan.empty:
            loss = ("; ".join(map(shown, plan.losses)), "bold $text-error")
        new = {
            "filesystem": plan.candidate.filesystem.name, "label": chosen.label, "directory": chosen.mount_point,
            "owner": chosen.owner,
        }  # fmt: skip
        pairs: tuple[tuple[str, Piece], ...] = (
            (_("You lose"), loss),
            (_("You get"), _("{filesystem} “{label}” on {directory}, owned by {owner}", **new)),
            (_("Root"), _root(self._rights) if plan.identifiers else p_("root", "not needed in a demo")),
        )
        known, title = facts(pairs, width, label=10, gap=False), heading(_("Exact commands, as root"), width)
        return lines((known, Content(""), title, _commands(plan.commands, width)))

    @on(Input.Submitted, "#serial")
    def _submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if typed and not self._working and self._done is None:
            require = self.wizard.backend.require_confirmed
            self.ask(lambda: require(self._plan, typed), lambda _: self._begin(typed))

    @work(group="begin")
    async def _begin(self, typed: str) -> None:
        try:
            await self.wizard.authorise(_("setting up a disk"))
        except FswizardError as error:
            self.show_error(error)
            return
        self._working = True
        self.query_one("#serial").display = False
        self.query_one(".window").border_title = _("Setting it up")
        self.refresh_bindings()
        self._carry_out(typed)

    @work(thread=True, group="set-up")
    def _carry_out(self, typed: str) -> None:
        try:
            for step in self.wizard.backend.set_up(self._plan, typed):
                self.call_in_app(self._step if isinstance(step, str) else self._end, step)
        except FswizardError as error:
            self.call_in_app(self._failed, error)

    def _step(self, words: str) -> None:
        words = shown(words)
        self._steps.append(words)
        self.say((f"{words[:1].upper()}{words[1:]} …", "bold"))
        self.query_one("#plan", Canvas).show(partial(_progress, tuple(self._steps)))

    def _failed(self, error: FswizardError) -> None:
        self._working = False
        self.query_one(".window").border_title = _("It wasn't set up")
        self.show_error(error)
        self.query_one("#plan", Canvas).show(partial(_progress, tuple(self._steps), failed=True))
        self.refresh_bindings()

    def _end(self, done: SetUpDone) -> None:
        self._working, self._done = False, done
        self.query_one(".window").border_title = _("Your disk is ready")
        where = filled(_("Your disk is at {directory}."), directory=(done.mount_point, "bold"))
        self.say(("✓ ", "bold $text-success"), where)
        self.query_one("#plan", Canvas).show(partial(_ended, done))
        self.refresh_bindings()

    # Keys

    def action_back(self) -> None:
        if self._working:
            self.refuse(_("Wait until it is set up: it goes on even if you leave."))
        elif self._done is None:
            self.dismiss()
        else:
            self.wizard.close_windows()

    def action_copy(self) -> None:
        if self._done is not None:
            self.wizard.copy_to_clipboard("\n".join(self._done.undo))
            self.say(("✓ ", "bold $text-success"), _("Copied, if your terminal allows it."))

    def action_save(self) -> None:
        path = Path.home() / f"fswizard-set-up-{self._plan.choices.label}.sh"
        backend, plan = self.wizard.backend, self._plan
        self.ask(lambda: backend.save_script(plan, path), lambda saved: self._saved(path), group="save")

    def _saved(self, path: Path) -> None:
        words = _("Saved as {path}. Read it, then run: sudo sh {path}", path=safe(str(path)))
        self.say(("✓ ", "bold $text-success"), words)


def _root(rights: State) -> str:
    if rights == "root":
        return _("fswizard runs as root.")
    return _(ROOT[rights])


def _tick_row(key: str, on: bool, words: str) -> ListRow:
    return ListRow(key, text(tick(on), f" {words}"))


def _refused_row(drive: Drive, words: str, width: int, on: bool) -> Content:
    head = text(" ", radio(False, enabled=False), " ", (f"{drive.name}, {size_text(drive.size_bytes)}", "$muted"))
    return text(fit(head, 24), "  ", (first_sentences(words, max(4, width - 26)), "$muted"))


def _commands(commands: Sequence[str], width: int) -> Content:
    return lines(bullet(("#", "bold $text-warning"), command, width) for command in commands)


def _progress(steps: Sequence[str], width: int, *, failed: bool = False) -> Content:
    last = ("✗", "bold $text-error") if failed else ("…", "bold $text-primary")
    marks = [*(("✓", "bold $text-success") for _ in steps[:-1]), last]
    return lines(bullet(mark, words, width) for mark, words in zip(marks, steps))


def _ended(done: SetUpDone, width: int) -> Content:
    pairs = (
        (_("Mounted"), _("on {directory}, now and whenever this machine starts", directory=done.mount_point)),
        (_("Test file"), _("{file} was written by its owner and can be deleted", file=done.test_file)),
        (p_("setting up", "Before"), _("{file} is /etc/fstab as it was", file=done.backup)),
    )
    undo = _commands(done.undo, width)
    heading = _("To undo it; files on it stay:")
    return lines((facts(pairs, width, label=10, gap=False), Content(""), heading, undo))
