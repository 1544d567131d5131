"""Fifth step: review of the whole plan before anything happens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, Static

from fswizard.disks import rights
from fswizard.disks.choice import confirmed, devices_of, require_confirmed
from fswizard.errors import FswizardError, Refused
from fswizard.language import N_, _, p_
from fswizard.model.plan import Plan
from fswizard.report.plan import image_sentences, plan_commands, plan_facts
from fswizard.tui.drawing import Piece, filled, keyed
from fswizard.tui.planning import make_plan
from fswizard.tui.screens.base import SCROLL, StepScreen, TextBox
from fswizard.tui.widgets.table import Facts

if TYPE_CHECKING:
    from fswizard.drives.devices import DeviceTarget

    Planned = tuple[Plan, tuple[DeviceTarget, ...], str]

KINDS = (N_("serial number"), N_("name in /dev/disk/by-id"), N_("file's path"))
"""Kinds of text that confirm a disk."""
PROMPTS = {"#": "bold $text-warning", "$": "bold $text-success"}


class SerialBox(TextBox):
    """Box for the confirmation that a disk may be erased; the plan can be scrolled while it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", _("erase and start")),
        Binding("enter", "next", _("next disk")),
        *SCROLL,
    ]
    last: reactive[bool] = reactive(True, bindings=True)
    """It asks about the last disk."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return action not in ("submit", "next") or self.last == (action == "submit")

    async def action_next(self) -> None:
        await self.action_submit()

    def ask_about(self, disk: DeviceTarget) -> Content:
        """Open the box for the confirmation of `disk`; returns the question."""
        self.placeholder = _("{kind} of {disk}", kind=_(disk.kind), disk=disk.title)
        self.value = ""
        self.display = True
        self.focus()
        loss = (_("it is erased"), "bold $text-error")
        if disk.empty:
            loss = (_("nothing was found on it"), "$text-success")
        return filled(
            _("{disk}: {loss}. To confirm, type its {kind} {identifier} and press {key}."),
            disk=disk.title,
            loss=loss,
            kind=_(disk.kind),
            identifier=(disk.identifiers[0], "bold"),
            key=("⏎", "bold $text-primary"),
        )


class ReviewScreen(StepScreen):
    """The whole plan."""

    CSS_PATH = "review.tcss"
    QUESTION = N_("Ready to measure")
    HELP = _(
        "These are the exact commands of the run. DEVICE, MOUNT and the like stand for names chosen when it starts; "
        "commands marked # run as root, those marked $ as you.\n\n"
        "Only the scratch image is formatted. The image, its loop device and its mount are removed at the end, even "
        "if fswizard is killed. Enter starts the run.\n\n"
        "If you chose a partition or a whole disk, that is formatted, again and again, and left empty. The first line "
        "says what you lose, and Enter starts the run only after you type the serial number of that disk, or "
        "another name of it if the number isn't unique. Then everything is checked once more, and the run doesn't "
        "start if anything has changed."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", _("start")),
        Binding("f5", "result", _("result"), key_display="F5"),
        *SCROLL,
    ]
    serial = getters.query_one("#serial", SerialBox)
    facts = getters.query_one("#facts", Facts)

    def body(self) -> ComposeResult:
        yield SerialBox(id="serial")
        with VerticalScroll(id="plan", can_focus=False):
            with VerticalScroll(can_focus=False):
                yield Facts(id="facts")
            with VerticalScroll(id="exact", can_focus=False) as exact:
                exact.border_title = _("Exact commands")
                yield Facts(id="commands")

    def on_mount(self) -> None:
        self._plan: Plan | None = None
        """The plan that Enter starts."""
        self._questions: tuple[DeviceTarget, ...] = ()
        """Disks to be confirmed before the start."""
        self._answers: list[str] = []
        self.serial.display = self.query_one("#exact").display = False
        self.say(_("Making the plan …"))
        self.ask(self._make, self._planned, fails=self._cannot)

    def _make(self) -> Planned:
        """The plan, the disks to confirm, and the need for root. Called in a thread."""
        taken_up = self.wizard.taken_up
        plan = taken_up.plan if taken_up else make_plan(self.choices)
        questions = devices_of(plan) if plan.target.kind == "device" else ()
        if plan.target.kind == "directory":
            return plan, questions, p_("root", "not needed")
        by = "udisks" if plan.by_udisks else rights.state()
        if by == "none":
            raise rights.missing(by)
        return plan, questions, _(rights.REASONS[by])

    def _cannot(self, error: FswizardError) -> None:
        self.problem = error
        self.refresh_bindings()
        self.query_one("#question", Static).update(_("This can't run yet"))
        self.say(keyed(_("`esc` goes back to change it.")))
        sentences = filter(None, map(_, (error.message, error.hint_without_switches, error.details)))
        self.facts.show([(("✗", "bold $text-error"), "\n\n".join(sentences))])

    def _planned(self, planned: Planned) -> None:
        plan, questions, root = planned
        taken_up = self.wizard.taken_up
        (name, loss), *facts = plan_facts(plan, earlier=taken_up.earlier if taken_up else None).rows
        harmless = all(disk.empty for disk in questions) if questions else plan.target.kind != "device"
        if harmless and questions:
            loss = f"{p_('you lose', 'nothing')}. {' '.join(map(_, plan.losses))}"
        colour = "$text-success" if harmless else "$text-error"
        rows: list[tuple[str, Piece]] = [(name, (loss, f"bold {colour}")), (_("Root"), root), *facts]
        self.facts.show(rows)
        around = [("", sentence) for sentence in image_sentences(plan)]
        self.query_one("#commands", Facts).show([*prompted(plan_commands(plan)), *around])
        self.query_one("#exact").display = True
        self._plan, self._questions = plan, questions
        self._ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "result":
            return self.wizard.result is not None
        if action == "forward" and self.problem:
            return False
        return super().check_action(action, parameters)

    def action_result(self) -> None:
        """Show the result of the last run again."""
        self.wizard.visit("result")

    def action_back(self) -> None:
        if self.wizard.taken_up is None:
            super().action_back()
        else:
            self.wizard.taken_up = None
            self.wizard.visit("purpose")

    def action_forward(self) -> None:
        if self._questions:
            self._answer()
        elif self._plan is not None:
            self._begin(self._plan)

    def _ask(self) -> None:
        """Show how to start the run: by Enter, or by typing the confirmation for the next disk."""
        number, count = len(self._answers) + 1, len(self._questions)
        if count:
            message = self.serial.ask_about(self._questions[number - 1])
            self.serial.last = number == count
            of = _("{number} of {count}", number=number, count=count)
            self.say((f"{of}  " if count > 1 else "", "bold $text-primary"), message)
        elif self.wizard.taken_up is not None:
            self.say(keyed(_("This resumes an earlier run. `⏎` starts it.")))
        else:
            self.say(keyed(_("Nothing has happened yet. `⏎` starts the run.")))

    @on(Input.Submitted, "#serial")
    def _answer(self) -> None:
        typed, plan = self.serial.value.strip(), self._plan
        if not typed or plan is None:
            self._ask()
            return
        try:
            require_confirmed(self._questions[len(self._answers)], typed)
        except Refused as error:
            self.show_error(error)
            return
        if not self.serial.last:
            self._answers.append(typed)
            self._ask()
        else:
            answers = ",".join([*self._answers, typed])
            self.ask(lambda: confirmed(plan, answers), self._begin)

    def _begin(self, plan: Plan) -> None:
        """Start the run in a worker of the wizard, so that it is shown even if this screen is removed."""
        self.wizard.run_worker(self._start(plan), group="begin")

    async def _start(self, plan: Plan) -> None:
        try:
            await self.wizard.begin(plan)
        except FswizardError as error:
            self.show_error(error)


def prompted(commands: Iterable[str]) -> list[tuple[Piece, Piece]]:
    """Commands for `Facts`, with coloured prompts."""
    pairs: list[tuple[Piece, Piece]] = []
    for command in commands:
        prompt, message = command.split(" ", 1)
        pairs.append(((prompt, PROMPTS[prompt]), message))
    return pairs
