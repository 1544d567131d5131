"""Last step: what to take, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from fswizard.advice.words import worth_asking
from fswizard.errors import FswizardError
from fswizard.language import N_, _, shown
from fswizard.model.analysis import Findings, MoreTime
from fswizard.model.result import Result
from fswizard.report.presentation import Presentation, present
from fswizard.tui import outcome
from fswizard.tui.preferences import NEED, WEIGHT, PreferenceList
from fswizard.tui.screens.base import SCROLL_LINES, SCROLL_PAGES, StepScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList

ROOMY = 44
"""Lines of a terminal from which on there is room for what the answer rests on, below it."""
FORUM, POST = "bbcode", "reddit"
"""The format that is shared, and the short one that a key copies at once."""


class ResultScreen(StepScreen):
    """The answer, bars, commands; behind a key what they rest on; weights and needs rank it again at once."""

    HELP = N_(
        "The first lines say what to use, why, and when to choose otherwise. ✓ stands for a proven answer, ═ for "
        "candidates that are alike, so choose by features, ○ for one that is not settled. The longest bar is the best, "
        "for durations too; where no difference is proven it is pale.\n\n"
        "d shows what it rests on. Ratios compare a candidate with the baseline: 1.21 means 1.21 times as good. The "
        "whisker, or what stands in brackets, is the interval in which the true ratio lies with 95 % certainty. "
        "Behind means that another candidate is proven faster, though the baseline is not.\n\n"
        "w changes how much each workload counts, m what you must have: the same figures are ranked again at once, "
        "nothing is measured again.\n\n"
        "g resumes a run whose answer is not settled; the last of the first lines says what that brings.\n\n"
        "u sets a disk up for good with what the answer says: it asks which disk, shows the exact commands, and begins "
        "only after you confirm.\n\n"
        "c copies the commands, y a short post with the command to try it. s shows the text for a forum, to copy it. "
        "Enter exports the report: as text, Markdown, BBCode, a web page, a picture, a table, or JSON.\n\n"
        "h opens earlier results, l the log of the run that has just ended."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", N_("export")),
        *SCROLL_LINES,
        *(replace(binding, show=False) for binding in SCROLL_PAGES),
        Binding("u", "set_up", N_("set it up")),
        Binding("d", "details", N_("details")),
        Binding("w", f"prefer('{WEIGHT}')", N_("weights")),
        Binding("m", f"prefer('{NEED}')", N_("must have")),
        Binding("s", f"export('{FORUM}')", N_("share")),
        Binding("c", "copy", N_("copy")),
        Binding("y", "copy_post", N_("copy a post"), show=False),
        Binding("g", "go_on", N_("resume")),
        Binding("l", "log", N_("log"), show=False),
        Binding("h", "app.history", N_("history"), show=False),
    ]

    _findings: Findings | None = None
    """None until they are worked out: keys are looked at before."""
    _view: Presentation | None = None
    _detailed = False
    _why_not: str | None = None
    """Why the run cannot be resumed; empty where it can, None before that is known."""

    def body(self) -> ComposeResult:
        with Horizontal(id="outcome"):
            yield VerticalScroll(Canvas(id="report"), id="reports", can_focus=False)
            yield PreferenceList(id="preferences", classes="panel")

    def on_mount(self) -> None:
        result = self._result
        plan = result.plan
        preferences = self.query_one(PreferenceList)
        preferences.border_title = _("Adjust the ranking")
        features = worth_asking(plan.candidates, plan.needs)
        preferences.offer(plan.recipe.workloads, plan.needs, features)
        self.query_one("#question", Static).update(_("Working out the answer …"))
        self._conclude()
        if (path := self.wizard.result_path) is not None:
            why_not_resumed = self.wizard.backend.why_not_resumed
            self.ask(lambda: why_not_resumed(path), self._offer_more, group="resume")

    @property
    def _result(self) -> Result:
        assert self.wizard.result is not None
        return self.wizard.result

    @on(ChoiceList.Changed)
    @on(ChoiceList.Ticked)
    def _conclude(self) -> None:
        backend, result, wanted = self.wizard.backend, self._result, self.query_one(PreferenceList)
        weights, needs = wanted.weights, wanted.needs
        self.ask(lambda: backend.conclude(result, weights, needs), self._show, group="conclude")

    def _show(self, findings: Findings) -> None:
        self._findings = findings
        view = self._view = present(findings)
        self._head()
        self._draw(view)
        self.refresh_bindings()

    def _offer_more(self, why_not: str) -> None:
        self._why_not = why_not
        self._head()
        self.refresh_bindings()

    @property
    def _more(self) -> MoreTime | None:
        """What resuming would bring; with other weights or needs than those of the run nobody knows."""
        same = self._findings is not None and self._findings.result.plan == self._result.plan
        return self._findings.answer.more if self._findings is not None and same and self._why_not == "" else None

    def _draw(self, view: Presentation) -> None:
        def draw(width: int) -> Content:
            height = self.query_one("#reports").size.height
            parts = []
            if self._unfolded or not self._detailed:
                parts.append(outcome.answer(view, width, height))
            if self._unfolded or self._detailed:
                parts.append(outcome.details(view, width))
            return Content("\n\n").join(parts)

        self.query_one("#report", Canvas).show(draw)

    def _head(self) -> None:
        if self._view is not None and self.display:
            question = self.query_one("#question", Static)
            width = max(20, question.content_size.width)
            question.update(outcome.headline(self._view, width, self._why_not or ""))
            self.query_one("#remark", Static).display = False

    def on_resize(self) -> None:
        self.call_after_refresh(self._head)
        self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        found, in_list = self._findings, isinstance(self.focused, PreferenceList)
        possible: Mapping[str, Callable[[], bool]] = {
            "log": lambda: self._has_run,
            "details": lambda: not self._unfolded,
            "go_on": lambda: self._why_not == "" and not in_list,
            "export": lambda: found is not None and not in_list,
            "forward": lambda: found is not None and not in_list,
            "set_up": lambda: found is not None and bool(found.answer.recommended) and not in_list,
            "copy": lambda: found is not None and bool(found.answer.commands) and not in_list,
        }
        return possible[action]() if action in possible else super().check_action(action, parameters)

    @property
    def _unfolded(self) -> bool:
        """There is room for the answer and for what it rests on."""
        return self.has_class("-vast") and self.size.height >= ROOMY

    @property
    def _has_run(self) -> bool:
        running = self.wizard.running
        return running is not None and running.state.plan.seed == self._result.plan.seed

    def place(self) -> Callable[[StepScreen], None]:
        """With the ranking as it was adjusted, and what is unfolded."""
        take_focus, detailed, shown = super().place(), self._detailed, self.has_class("-preferences")
        mine = self.query_one(PreferenceList)
        weights, needs = mine.weights, mine.needs

        def take(screen: StepScreen) -> None:
            assert isinstance(screen, ResultScreen)
            screen._detailed = detailed
            screen.set_class(shown, "-preferences")
            preferences = screen.query_one(PreferenceList)
            preferences.weights, preferences.needs = weights, needs
            preferences.redraw()
            screen._conclude()
            take_focus(screen)

        return take

    def action_details(self) -> None:
        """From the answer to what it rests on, and back."""
        if self._view is not None:
            self._detailed = not self._detailed
            self._draw(self._view)
            self.query_one("#reports").scroll_home(animate=False)

    def action_prefer(self, kind: str) -> None:
        """Change weights or needs."""
        preferences = self.query_one(PreferenceList)
        self.set_class(True, "-preferences")
        preferences.focus()
        preferences.highlight(next((row.key for row in preferences.rows if row.key.startswith(kind)), ""))

    def action_back(self) -> None:
        if self.focused is self.query_one(PreferenceList):
            self.set_class(False, "-preferences")
            self.set_focus(None)
        elif self.wizard.running is None or not self._has_run:
            self.wizard.visit("purpose")
        else:
            self.wizard.visit("run")

    def action_copy(self) -> None:
        if self._findings is not None:
            self.wizard.copy_to_clipboard("\n".join(self._findings.answer.commands))
            self.notify(_("The commands are in the clipboard, where the terminal allows it."))

    def action_copy_post(self) -> None:
        """The short text for a forum, with the command to try it, at one key."""
        if self._findings is not None:
            backend, findings = self.wizard.backend, self._findings
            self.ask(lambda: backend.render(findings, POST), self._copied, group="post")

    def _copied(self, post: str | bytes) -> None:
        self.wizard.copy_to_clipboard(post if isinstance(post, str) else post.decode())
        self.notify(_("A post with the command to try it is in the clipboard, where the terminal allows it."))

    def action_go_on(self) -> None:
        if (path := self.wizard.result_path) is not None:
            take_up, more = self.wizard.backend.take_up, self._more
            self.ask(lambda: take_up(path, more), self.wizard.take_up, fails=self._cannot_go_on, group="take-up")

    def _cannot_go_on(self, error: FswizardError) -> None:
        words = f"{shown(error.message)} {shown(error.hint_without_switches)}"
        self.notify(words, severity="warning", markup=False)

    def action_set_up(self) -> None:
        """What the answer recommends, for good."""
        from fswizard.tui.screens.set_up import SetUpScreen

        if self._findings is not None:
            plan = self._findings.result.plan
            candidate = plan.candidate(self._findings.answer.first)
            if reason := self.wizard.backend.why_not_set_up(candidate):
                self.notify(reason, severity="warning", markup=False)
            else:
                self.wizard.push_screen(SetUpScreen(candidate, plan))

    def action_log(self) -> None:
        from fswizard.tui.screens.log import LogScreen

        if self.wizard.running is not None:
            self.wizard.push_screen(LogScreen(self.wizard.running))

    def action_forward(self) -> None:
        self.action_export()

    def action_export(self, format_name: str = "") -> None:
        """All formats; that one first."""
        from fswizard.tui.screens.export import ExportScreen

        if self._findings is not None:
            self.wizard.push_screen(ExportScreen(self._findings, format_name))
