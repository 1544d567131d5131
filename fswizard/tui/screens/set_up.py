"""Setting a disk up: windows after the result for the recommended filesystem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Input, Static

from fswizard.disks import rights, set_up_plan
from fswizard.disks.choice import require_confirmed
from fswizard.errors import FswizardError
from fswizard.language import N_, _, p_
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.units import size_text
from fswizard.tui.drawing import Piece, filled, text
from fswizard.tui.drives import losing
from fswizard.tui.screens.base import SCROLL, TextBox, Window
from fswizard.tui.screens.review import SerialBox, prompted
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.rights import State
    from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan


class MountPointBox(TextBox):
    """Enter is a key of the screen."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "submit"


class SetUpScreen(Window[None]):
    """The disk and its names. Disks are examined only here, as that may wake them."""

    CSS_PATH = "set_up.tcss"
    TITLE = N_("Set it up")
    FRAME_CLASSES = "broad"
    HELP = _(
        "Choose the disk or partition that gets this filesystem for good. Everything on it is lost, so it "
        "is checked like a disk for a test, and you confirm it in the review, which shows the exact commands.\n\n"
        "Tab goes to the mount point. Its last part becomes the label, and you can write to it.\n\n"
        "This machine starts without the disk, too, such as when it was unplugged.\n\n"
        "A whole disk gets a partition table, by which other programs and systems see that it is in use."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "review", _("review it")),
        Binding("tab", "app.focus_next", _("mount point")),
        Binding("escape", "dismiss", _("back")),
    ]
    table = getters.query_one("#spare", Table)

    def __init__(self, candidate: Candidate, plan: Plan) -> None:
        """`plan`: plan of the run that recommends the candidate."""
        super().__init__()
        self.title = _("Set up {filesystem}", filesystem=candidate.title)
        self._candidate = candidate
        self._plan = plan
        self._offers: dict[str, Offer] = {}
        """By key of the row."""
        self._proposed = ""

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield Table(
            Column(_("Disk")),
            Column(_("Model"), optional=True),
            Column(_("Size"), right=True),
            Column(p_("contents of a disk", "On it"), flexible=True),
            id="spare",
        )
        box = MountPointBox(value=set_up_plan.usual_mount_point(self._plan), id="mount", max_length=200)
        box.border_title = _("Mount point")
        yield box

    def on_mount(self) -> None:
        self._machine = self.wizard.machine
        self._machine.ask_again()  # the run may have changed what is on them
        self._machine.watch(partial(self.call_in_app, self._list), lambda: not self.is_running)
        self._check()

    def _list(self) -> None:
        """List the usable devices of each disk, or the objection; the default is highlighted until the user moves."""
        rows = []
        self._offers = {}
        for facts in (self._machine.disks or {}).values():
            self._machine.ask_for_offers(facts)
            offers, drive = facts.offers or (), facts.drive
            usable = [offer for offer in offers if offer.refused is None]
            if not usable and drive.bus != "loop":
                usable = list(offers[-1:])  # the whole of it, with all that stands against it
            for offer in usable:
                target = offer.target
                self._offers[target.path] = offer
                on_it = losing(target)
                if offer.refused:
                    on_it = text((f"✗ {_(offer.refused.message)}", "$muted"))
                model = drive.model or _("no model name")
                size = size_text(target.device.size_bytes)
                rows.append(Row(target.path, ((target.device.name, "bold"), model, size, on_it)))
        is_proposed = self.table.key == self._proposed
        self.table.show(rows)
        if is_proposed:
            measured = self._plan.target.path
            best = max(
                self._offers.values(),
                key=lambda offer: (offer.refused is None, offer.target.path == measured, offer.target.empty),
                default=None,
            )
            self.table.highlight(best.target.path if best else "")
            self._proposed = self.table.key
        self._check()

    @on(DataTable.RowHighlighted, "#spare")
    def _check(self) -> None:
        """Show whether the highlighted disk can be set up."""
        offer = self._offers.get(self.table.key)
        self.refresh_bindings()
        disks = self._machine.disks
        if offer is None and (disks is None or any(facts.offers is None for facts in disks.values())):
            self.say(_("Looking for disks …"))
        elif offer is None:
            self.say(_("No disk here can be set up so far: connect one, or free one."))
        elif offer.refused:
            self.show_error(offer.refused)
        else:
            enter = _("⏎ shows the exact commands. Nothing has happened yet.")
            usual = text((offer.target.device.name, "bold"), ": ", losing(offer.target), ". ", enter)
            self._make_plan(lambda plan: self.say(usual), group="check")

    def _make_plan(self, then: Callable[[SetUpPlan], object], group: str) -> None:
        """Plan with the highlighted disk and the entered mount point; shows an error if that is impossible."""
        point = self.query_one(MountPointBox).value.strip().rstrip("/")
        self.ask(partial(set_up_plan.plan_set_up, self._candidate, self.table.key, point), then, group=group)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "review":
            return super().check_action(action, parameters)
        offer = self._offers.get(self.table.key)
        return offer is not None and offer.refused is None

    def action_review(self) -> None:
        self._make_plan(self._show_review, group="review")

    def _show_review(self, plan: SetUpPlan) -> None:
        if self.is_current:  # else Enter was pressed twice
            self.wizard.push_screen(SetUpReview(plan))

    @on(DataTable.RowSelected, "#spare")
    async def _clicked(self) -> None:
        await self.run_action("review")


class SetUpReview(Window[None]):
    """The exact commands; once confirmed, the progress, and finally the location of the disk."""

    CSS_PATH = "set_up.tcss"
    TITLE = N_("Review")
    AUTO_FOCUS = ""
    FRAME_CLASSES = "full"
    HELP = _(
        "These are the exact commands, in order, as root; $uuid is what blkid prints, $stamp the time. They start only "
        "after you type the serial number of the disk, or another name of it if that isn't unique.\n\n"
        "If a step fails, /etc/fstab and the directory are put back as they were. What was on the disk is lost."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *SCROLL,
        Binding("escape", "back", _("back")),
    ]
    serial = getters.query_one("#serial", SerialBox)

    def __init__(self, plan: SetUpPlan) -> None:
        super().__init__()
        self._plan = plan
        self._state: Literal["asks", "works", "done"] = "asks"

    def body(self) -> ComposeResult:
        yield Static(id="message", markup=False)
        yield SerialBox(id="serial")
        with VerticalScroll(can_focus=False):
            yield Facts(id="facts")
            yield Static(id="above", markup=False)
            yield Facts(id="commands")

    def on_mount(self) -> None:
        self.serial.display = False
        self.ask(rights.state, self._review)

    def _review(self, by: State) -> None:
        plan = self._plan
        loss = ("; ".join(map(_, plan.losses)), "bold $text-error")
        if plan.target.empty:
            loss = (p_("you lose", "nothing"), "bold $text-success")
        facts: list[tuple[Piece, Piece]] = [(_("You lose"), loss), (_("Root"), _(rights.REASONS[by]))]
        self._show(facts, _("Exact commands, as root"), plan.commands)
        if by == "none":
            self.refuse(_("This needs root, which you can't get here. `fswizard set-up --script` prints it."))
        else:
            self.say(self.serial.ask_about(plan.target))

    def _show(self, facts: Iterable[tuple[Piece, Piece]], title: str, commands: Iterable[str]) -> None:
        """Show facts, and commands to run as root under a title."""
        self.query_one("#facts", Facts).show(facts)
        self.query_one("#above", Static).update(title)
        self.query_one("#commands", Facts).show(prompted(f"# {command}" for command in commands))

    @on(Input.Submitted, "#serial")
    @work(group="begin")
    async def _submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if not typed or self._state != "asks":
            return
        self._state = "works"
        try:
            require_confirmed(self._plan.target, typed)
            await self.wizard.authorise()
        except FswizardError as error:
            self._state = "asks"
            self.show_error(error)
        else:
            self.serial.display = False
            self._carry_out(typed)

    @work(thread=True, group="set-up")
    def _carry_out(self, typed: str) -> None:
        try:
            for step in set_up_plan.set_up(self._plan, typed):
                self.call_in_app(self._step if isinstance(step, str) else self._end, step)
        except FswizardError as error:
            self.call_in_app(self._failed, error)

    def _step(self, step: str) -> None:
        self.say(("… ", "bold $text-primary"), _(step))

    def _failed(self, error: FswizardError) -> None:
        self._state = "asks"
        self.show_error(error)

    def _end(self, done: SetUpDone) -> None:
        self._state = "done"
        point = (self._plan.mount_point, "bold")
        self.say(("✓ ", "bold $text-success"), filled(_("Your disk is at {directory}."), directory=point))
        facts = [(p_("setting up", "Before"), _("{file} is /etc/fstab as it was", file=done.backup))]
        self._show(facts, _("To undo it; files on it stay:"), done.undo)

    def action_back(self) -> None:
        if self._state == "works":
            self.refuse(_("Wait until it is set up: it goes on even if you leave."))
        elif self._state == "done":
            self.wizard.close_windows()
        else:
            self.dismiss()
