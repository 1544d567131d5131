"""Setting a disk up: windows after the result for the recommended filesystem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Checkbox, DataTable, Input, Static

from fswizard.disks import rights, set_up_plan
from fswizard.disks.set_up import SetUpChoices
from fswizard.errors import FswizardError
from fswizard.language import N_, _, p_
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.model.units import size_text
from fswizard.tui.drawing import Piece, filled, text
from fswizard.tui.drives import gone_warning, losing
from fswizard.tui.screens.base import ROOT, SCROLL, TextBox, Window
from fswizard.tui.screens.review import SerialBox, prompted
from fswizard.tui.widgets.table import Column, Facts, Row, Table

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.rights import State
    from fswizard.disks.set_up_plan import SetUpDone, SetUpPlan


class TickBox(Checkbox, inherit_bindings=False):
    """Textual's checkbox without Enter, which is a key of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "toggle_button", _("tick"), key_display="space")]


class FieldBox(TextBox):
    """One of several boxes: Enter is a key of the screen."""

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
        "Tab goes to the label, the mount point and the owner. The owner is the account that can write to it.\n\n"
        "This machine starts without the disk, too, such as when it was unplugged.\n\n"
        "A partition table lets other programs and systems see that the disk is in use."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "review", _("review it")),
        Binding("tab", "app.focus_next", _("next field")),
        Binding("escape", "dismiss", _("back")),
    ]
    table = getters.query_one("#spare", Table)
    partition = getters.query_one("#partition", TickBox)

    def __init__(self, candidate: Candidate, plan: Plan) -> None:
        """`plan`: plan of the run that recommends the candidate."""
        super().__init__()
        self.title = _("Set up {filesystem}", filesystem=candidate.title)
        self._candidate = candidate
        self._plan = plan
        self._offers: dict[str, Offer] = {}
        """By key of the row."""
        self._proposed = ""
        self._gone = ""
        """Highlighted device that has been detached, until Enter has been pressed."""

    def body(self) -> ComposeResult:
        usual = set_up_plan.usual_choices(self._candidate, self._plan)
        yield Static(id="message", markup=False)
        yield Table(
            Column(_("Disk")),
            Column(_("Model"), optional=True),
            Column(_("Size"), right=True),
            Column(p_("contents of a disk", "On it"), flexible=True),
            id="spare",
        )
        yield TickBox(_("with a partition table (GPT)"), usual.partition, id="partition", compact=True)
        texts = (
            ("label", p_("of a filesystem", "Label"), usual.label),
            ("mount", _("Mount point"), usual.mount_point),
            ("owner", _("Owner"), usual.owner),
        )
        with Horizontal(id="texts"):
            for name, title, value in texts:
                box = FieldBox(value=value, id=name, max_length=200)
                box.border_title = title
                yield box

    def on_mount(self) -> None:
        self._machine = self.wizard.machine
        self._machine.ask_again()  # the run may have changed what is on them
        self._stopped = self._machine.watch(partial(self.call_in_app, self._list))
        self._check()

    def on_unmount(self) -> None:
        if stopped := getattr(self, "_stopped", None):  # none where the screen goes before it is filled
            stopped.set()

    def _list(self) -> None:
        """List the usable devices of each disk, or the objection; the default is highlighted until the user moves."""
        before, known, rows = self.table.key, self._offers, []
        self._offers = {}
        for facts in (self._machine.disks or {}).values():
            self._machine.ask_for_offers(facts)
            offers, drive = facts.offers or (), facts.drive
            usable = [offer for offer in offers if offer.refused is None]
            if not usable and drive.bus != "loop":
                usable = list(offers[-1:])  # the whole of it, with all that stands against it
            for offer in usable:
                self._offers[offer.path] = offer
                on_it = losing(offer)
                if offer.refused:
                    on_it = text((f"✗ {_(offer.refused.message)}", "$muted"))
                model = drive.model or _("no model name")
                rows.append(Row(offer.path, ((offer.name, "bold"), model, size_text(offer.size_bytes), on_it)))
        if before and before not in self._offers:
            self._gone = known[before].name
        self.table.show(rows)
        if before == self._proposed:
            best = max(self._offers.values(), key=self._suits, default=None)
            self.table.highlight(best.path if best else "")
            self._proposed = self.table.key
        self._check()

    def _suits(self, offer: Offer) -> tuple[bool, ...]:
        """Sort key for the default: the measured disk, or else an empty one."""
        measured = [member.path for member in self._plan.target.members]
        if self._plan.drive is not None:
            measured.append(f"/dev/{self._plan.drive.name}")
        return offer.refused is None, offer.path in measured or f"/dev/{offer.name}" in measured, offer.empty

    @on(DataTable.RowHighlighted, "#spare")
    @on(Checkbox.Changed, "#partition")
    def _check(self) -> None:
        """Show whether the highlighted disk can be set up."""
        offer = self._offers.get(self.table.key)
        self.partition.display = offer is None or offer.whole
        self.refresh_bindings()
        disks = self._machine.disks
        if self._gone:
            self.say(gone_warning(self._gone))
        elif offer is None and (disks is None or any(facts.offers is None for facts in disks.values())):
            self.say(_("Looking for disks …"))
        elif offer is None:
            self.say(_("No disk here can be set up so far: connect one, or free one."))
        elif offer.refused:
            self.show_error(offer.refused)
        else:
            usual = text(
                (offer.name, "bold"),
                ": ",
                losing(offer),
                ". ",
                _("⏎ shows the exact commands. Nothing has happened yet."),
            )
            self._make_plan(lambda plan: self.say(usual), group="check")

    def _make_plan(self, then: Callable[[SetUpPlan], object], group: str) -> None:
        """Plan with the highlighted disk and the entered texts; shows an error if that is impossible."""
        typed = {box.id: box.value.strip() for box in self.query(TextBox)}
        choices = SetUpChoices(typed["label"], typed["mount"].rstrip("/"), typed["owner"], self.partition.value)
        self.ask(partial(set_up_plan.plan_set_up, self._candidate, self.table.key, choices), then, group=group)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "review":
            return super().check_action(action, parameters)
        offer = self._offers.get(self.table.key)
        return offer is not None and offer.refused is None

    def action_review(self) -> None:
        if self._gone:
            self._gone = ""
            self._check()
            return
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
    window = getters.query_one(".window", Vertical)
    serial = getters.query_one("#serial", SerialBox)

    def __init__(self, plan: SetUpPlan) -> None:
        super().__init__()
        self._plan = plan
        self._working = False
        self._steps: list[str] = []
        """Steps begun so far, as listed."""
        self._done = False

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
        plan, chosen = self._plan, self._plan.choices
        loss = ("; ".join(map(_, plan.losses)), "bold $text-error")
        if plan.empty:
            loss = (p_("you lose", "nothing"), "bold $text-success")
        result = _(
            "{filesystem} “{label}” on {directory}, owned by {owner}",
            filesystem=plan.candidate.filesystem.name,
            label=chosen.label,
            directory=chosen.mount_point,
            owner=chosen.owner,
        )
        facts: list[tuple[Piece, Piece]] = [(_("You lose"), loss), (_("You get"), result)]
        if by == "none":
            facts.append((_("Root"), _(ROOT[by])))
            self.refuse(_("This needs root, which you can't get here. `fswizard set-up --script` prints it."))
        else:
            facts.append((_("Root"), _("fswizard runs as root.") if by == "root" else _(ROOT[by])))
            self.say(self.serial.ask_about(plan))
        self._show(facts, _("Exact commands, as root"), plan.commands)

    def _show(self, facts: Iterable[tuple[Piece, Piece]], title: str = "", commands: Iterable[str] = ()) -> None:
        """Show facts, and commands to run as root under a title."""
        self.query_one("#facts", Facts).show(facts)
        self.query_one("#above", Static).update(title)
        self.query_one("#commands", Facts).show(prompted(f"# {command}" for command in commands))

    @on(Input.Submitted, "#serial")
    def _submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if typed and not self._working and not self._done:
            self.ask(lambda: set_up_plan.require_confirmed(self._plan, typed), lambda _: self._begin(typed))

    @work(group="begin")
    async def _begin(self, typed: str) -> None:
        if self._working:  # Enter was pressed once more before this began
            return
        self._working = True
        self.refresh_bindings()
        try:
            await self.wizard.authorise(_("setting up a disk"))
        except FswizardError as error:
            self._working = False
            self.refresh_bindings()
            self.show_error(error)
            return
        self.serial.display = False
        self.window.border_title = _("Setting it up")
        self.refresh_bindings()
        self._carry_out(typed)

    @work(thread=True, group="set-up")
    def _carry_out(self, typed: str) -> None:
        try:
            for step in set_up_plan.set_up(self._plan, typed):
                self.call_in_app(self._step if isinstance(step, str) else self._end, step)
        except FswizardError as error:
            self.call_in_app(self._failed, error)

    def _step(self, step: str) -> None:
        self.say()
        self._steps.append(_(step))
        self._show_steps(("…", "bold $text-primary"))

    def _show_steps(self, last: Piece) -> None:
        """The steps so far, all marked as done except for the last one."""
        marks: list[Piece] = [("✓", "bold $text-success")] * (len(self._steps) - 1)
        self._show(zip([*marks, last], self._steps))

    def _stopped(self, title: str) -> None:
        self._working = False
        self.window.border_title = title
        self.refresh_bindings()

    def _failed(self, error: FswizardError) -> None:
        self._stopped(_("It wasn't set up"))
        self.show_error(error)
        self._show_steps(("✗", "bold $text-error"))

    def _end(self, done: SetUpDone) -> None:
        self._done = True
        self._stopped(_("Your disk is ready"))
        where = filled(_("Your disk is at {directory}."), directory=(done.mount_point, "bold"))
        self.say(("✓ ", "bold $text-success"), where)
        facts: list[tuple[Piece, Piece]] = [
            (_("Mounted"), _("on {directory}, now and whenever this machine starts", directory=done.mount_point)),
            (_("Test file"), _("{file} was written by its owner and can be deleted", file=done.test_file)),
            (p_("setting up", "Before"), _("{file} is /etc/fstab as it was", file=done.backup)),
        ]
        self._show(facts, _("To undo it; files on it stay:"), done.undo)

    # Keys

    def action_back(self) -> None:
        if self._working:
            self.refuse(_("Wait until it is set up: it goes on even if you leave."))
        elif self._done:
            self.wizard.close_windows()
        else:
            self.dismiss()
