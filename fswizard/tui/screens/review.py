"""Fifth step: everything that will happen, before it happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, Static

from fswizard.errors import FswizardError, Refused
from fswizard.language import N_, _, p_, shown
from fswizard.model.drive import Drive
from fswizard.model.plan import Plan
from fswizard.model.result import Result
from fswizard.report.plan import LOSES, NOTHING, PLACE, plan_commands, plan_facts
from fswizard.tui.drawing import bullet, facts, filled, keyed, lines, text, wrap
from fswizard.tui.screens.base import AIRY, SCROLL_LINES, SCROLL_PAGES, StepScreen, TextBox
from fswizard.tui.widgets.canvas import Canvas

if TYPE_CHECKING:
    from fswizard.tui.backend import DeviceTarget, State

    Planned = tuple[Plan, tuple[DeviceTarget, ...], State, str]

ROOT = {
    "udisks": N_("Not needed: udisks2 attaches and mounts the scratch image, and everything runs as you."),
    "root": N_("fswizard runs as root, and so do the workloads."),
    "sudo": N_("sudo starts the run, for formatting and mounting; the workloads run as you."),
    "sudo-asks": N_("sudo asks for your password once, before the run begins; the workloads run as you."),
    "doas": N_("doas starts the run, for formatting and mounting; the workloads run as you."),
    "doas-asks": N_("doas asks for your password once, before the run begins; the workloads run as you."),
    "pkexec": N_("pkexec asks for your password in a window, as sudo is not installed; the workloads run as you."),
    "none": N_("Formatting and mounting need root, and sudo is not installed."),
}
NO_ROOT = N_(
    "log in as root, or have sudo installed and your account allowed to use it, or go back to the first step and "
    "choose “Compare what I have”: comparing mounted filesystems needs no root."
)
KINDS = (N_("serial number"), N_("name in /dev/disk/by-id"), N_("file's path"))
"""What confirms a disk."""


class SerialBox(TextBox):
    """Where the serial number is typed; the plan can be scrolled meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("erase and start")),
        Binding("enter", "go_on", N_("next disk")),
        *(replace(binding, action=f"screen.{binding.action}") for binding in (*SCROLL_LINES, *SCROLL_PAGES)),
    ]
    last: reactive[bool] = reactive(True, bindings=True)
    """No other disk is asked about after this one."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return {"submit": self.last, "go_on": not self.last}.get(action, True)

    async def action_go_on(self) -> None:
        await self.action_submit()


class ReviewScreen(StepScreen):
    """The plan, whole."""

    QUESTION = N_("Ready to measure")
    HELP = N_(
        "These are the exact commands of the run. DEVICE, MOUNT and the like stand for names chosen when it starts; "
        "commands marked # run as root, those marked $ as you.\n\n"
        "Only the scratch image is formatted. The image, its loop device and its mount are removed at the end, even "
        "if fswizard is killed. Enter starts the run.\n\n"
        "If you chose a partition or a whole disk, that is formatted, again and again, and left empty. The first line "
        "says what you lose, and Enter starts the run only after you type the serial number of that disk, or "
        "another name of it if the number isn't unique. Then everything is checked once more, and the run doesn't "
        "start if anything has changed."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "forward", N_("start")), *SCROLL_LINES]

    def body(self) -> ComposeResult:
        yield SerialBox(id="serial")
        with Horizontal(classes="split"):
            with VerticalScroll(classes="left", can_focus=False):
                yield Canvas(id="plan")
                yield Canvas(id="below", classes="narrow-only")
            yield VerticalScroll(Canvas(id="commands"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        self._plan: Plan | None = None
        self._questions: tuple[DeviceTarget, ...] = ()
        self._answers: list[str] = []
        self.query_one("#serial").display = False
        self.query_one(".panel").border_title = _("Exact commands")
        if self.wizard.measuring and self.wizard.running is not None:
            self._planned((self.wizard.running.state.plan, (), "root", ""))
            return
        if self.wizard.taken_up is None:
            self.say(_("Making the plan …"))
        self.ask(self._make, self._planned, fails=self._cannot)

    def _make(self) -> Planned:
        """In a thread."""
        backend, taken_up = self.wizard.backend, self.wizard.taken_up
        plan = backend.make_plan(self.choices) if taken_up is None else taken_up.plan
        questions = backend.questions(plan) if taken_up is None and plan.target.kind == "device" else ()
        rights = "udisks" if plan.by_udisks else backend.rights()
        because = backend.why_root(plan) if plan.target.kind == "image" and rights not in ("udisks", "root") else ""
        warning = _("Reason: {reason}.", reason=because) if because else ""
        return plan, questions, rights, warning

    def _cannot(self, error: FswizardError) -> None:
        self.problem = error
        self.query_one("#question", Static).update(_("This can't run yet"))
        self.say(keyed(_("`esc` goes back to change it.")))
        self.query_one("#plan", Canvas).show(lambda width: _problem(error, width))

    def _planned(self, planned: Planned) -> None:
        plan, questions, rights, warning = planned
        self._plan = plan
        self._questions, self._answers = questions, []
        self.wizard.choose(plan=plan)
        if self.wizard.measuring:
            self.say(keyed(_("A run with this plan is under way. `⏎` returns to it.")))
        elif plan.target.kind != "directory" and rights == "none":
            self.say(("! ", "bold $text-warning"), _("This needs root, which you can't get here."))
        elif self.wizard.taken_up is not None:
            self.say(keyed(_("This resumes an earlier run. `⏎` starts it.")))
        elif questions:
            self._ask()
        else:
            self.say(keyed(_("Nothing has happened yet. `⏎` starts the run.")))
        taken_up = self.wizard.taken_up
        earlier = taken_up.earlier if taken_up else None
        chosen = None if taken_up or self.choices.comparing else self.choices.drive
        more: dict[str, Any] = {"warning": warning, "earlier": earlier}
        self.query_one("#plan", Canvas).show(
            lambda width: plan_words(plan, rights, width, questions, chosen, gap=self.size.height >= AIRY, **more)
        )
        self.query_one("#commands", Canvas).show(partial(commands, plan))
        self.query_one("#below", Canvas).show(
            lambda width: lines((Content(""), text((_("Exact commands"), "bold $muted")), commands(plan, width)))
        )

    def action_back(self) -> None:
        if self.wizard.taken_up is None:
            super().action_back()
        else:
            self.wizard.taken_up = None
            self.wizard.visit("purpose")

    def action_forward(self) -> None:
        if self.wizard.measuring:
            self.wizard.visit("run")
        elif self._questions:
            self._answer()
        elif self._plan is not None:
            self._begin(self._plan)
        elif self.problem is not None:
            self.show_error(self.problem)

    # A disk that is given up

    def _ask(self) -> None:
        """The question for the next device."""
        question = self._questions[len(self._answers)]
        many = len(self._questions)
        number = _("{number} of {count}", number=len(self._answers) + 1, count=many)
        words = to_confirm(question.title, question.kind, question.identifier, empty=question.empty)
        self.say((f"{number}  " if many > 1 else "", "bold $text-primary"), words)
        box = self.query_one("#serial", SerialBox)
        box.last = len(self._answers) + 1 == many
        box.placeholder = _("{kind} of {disk}", kind=_(question.kind), disk=question.title)
        box.display = True
        box.focus()

    @on(Input.Submitted, "#serial")
    def _answer(self) -> None:
        box, plan = self.query_one("#serial", Input), self._plan
        typed = box.value.strip()
        if not self._questions or plan is None:
            return
        asked, many = self._questions[len(self._answers)], len(self._questions)
        if not typed:
            self._ask()
        elif many > 1 and typed not in asked.identifiers:
            words = _("'{typed}' is not the {kind} of {disk}.", typed=typed, kind=_(asked.kind), disk=asked.title)
            self._refused(typed, Refused(words, ""))
        elif len(self._answers) + 1 < many:
            self._answers.append(typed)
            box.value = ""
            self._ask()
        else:
            all_typed = ",".join([*self._answers, typed])
            confirmed = self.wizard.backend.confirmed
            self.ask(lambda: confirmed(plan, all_typed), self._begin, fails=partial(self._refused, typed))

    def _refused(self, typed: str, error: FswizardError) -> None:
        asked = self._questions[len(self._answers)]
        if typed not in asked.identifiers:
            name = {"kind": _(asked.kind), "identifier": asked.identifier}
            error = Refused(error.message, _("Look again which disk it is: its {kind} is {identifier}.", **name))
        self.show_error(error)

    @work(group="begin")
    async def _begin(self, plan: Plan) -> None:
        try:
            await self.wizard.begin(plan)
        except FswizardError as error:
            self.show_error(error)


def to_confirm(disk: str, kind: str, identifier: str, *, empty: bool) -> Content:
    """What has to be typed before a disk is erased."""
    loss = (_("nothing was found on it"), "$text-success") if empty else (_("it is erased"), "bold $text-error")
    return filled(
        _("{disk}: {loss}. To confirm, type its {kind} {identifier} and press {key}."),
        disk=disk, loss=loss, kind=_(kind), identifier=(identifier, "bold"), key=("⏎", "bold $text-primary"),
    )  # fmt: skip


def plan_words(
    plan: Plan,
    rights: State,
    width: int,
    questions: Sequence[DeviceTarget] = (),
    chosen: Drive | None = None,
    *,
    warning: str = "",
    earlier: Result | None = None,
    gap: bool = True,
) -> Content:
    """What will happen, what will be lost, where files go, how long it takes. `chosen` is the disk that was chosen,
    where the plan may be about another, `warning` what to know before root is given, `earlier` the run that is resumed;
    `gap` leaves a line between any two."""
    kind, drive = plan.target.kind, plan.drive
    rows: dict[str, str | Content] = dict(plan_facts(plan, earlier=earlier).rows)
    loses, place = _(LOSES), _(PLACE)
    if kind != "device":
        nothing, colon, why = _(NOTHING).partition(":")
        rows[loses] = text((nothing, "bold $text-success"), f"{colon}{why}")
    elif questions and all(question.empty for question in questions):
        rows[loses] = text((p_("you lose", "nothing"), "bold $text-success"), ". ", " ".join(map(shown, plan.losses)))
    else:
        rows[loses] = text((str(rows[loses]), "bold $text-error"))
    if kind == "image" and chosen is not None and drive is not None and drive.name != chosen.name:
        other = _("This tests {disk}, not {chosen}, which you chose", disk=drive.name, chosen=chosen.name)
        rows[place] = text(rows[place], (f". {other}", "$text-warning"))
    if kind == "directory":
        root = p_("root", "not needed")
    elif rights == "none":
        refused = {_("Root"): f"{_(ROOT[rights])} {warning}", _("Instead"): _(NO_ROOT)}
        return facts({**refused, **rows}.items(), width, label=11, gap=gap)
    else:
        root = f"{_(ROOT[rights])} {warning}"
    rows = {loses: rows.pop(loses), _("Root"): root, **rows}
    return facts(rows.items(), width, label=11, gap=gap)


def commands(plan: Plan, width: int) -> Content:
    """The exact commands, their prompts in colour."""
    colours = {"#": "bold $text-warning", "$": "bold $text-success"}
    split = (command.split(" ", 1) for command in plan_commands(plan))
    return lines(bullet((mark, colours[mark]), words, width) for mark, words in split)


def _problem(error: FswizardError, width: int) -> Content:
    rows = [bullet(("✗", "bold $text-error"), (shown(error.message), "bold"), width)]
    if hint := shown(error.hint_without_switches):
        rows += [Content(""), bullet(("›", "$text-primary"), hint, width)]
    if error.details:
        rows += [Content(""), *(line for part in error.details.splitlines() for line in wrap((part, "$muted"), width))]
    return lines(rows)
