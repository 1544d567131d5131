"""Last step: the recommendation and its reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.reactive import reactive
from textual.widgets import Static

from fswizard import session
from fswizard.errors import FswizardError
from fswizard.language import _
from fswizard.model.analysis import Findings
from fswizard.model.needs import NEEDS, feature_noun
from fswizard.model.result import Result
from fswizard.report import content, render
from fswizard.report.subject import OUTCOMES
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, answer_mark, keyed, text
from fswizard.tui.screens.base import SCROLL, SIDEWAYS, StepScreen
from fswizard.tui.widgets.chart import Bars
from fswizard.tui.widgets.table import Column, Facts, Row, Table

LEFT_BEHIND = ("not-removed", "not-wiped")
"""Doubts about remains of a run on the machine, which are shown with the answer."""
WARNING = ("!", "bold $text-warning")


def answer_lines(findings: Findings, why_not: str = "") -> Iterator[tuple[Piece, Piece]]:
    """Symbols and sentences of the answer; `why_not`: why the run cannot be resumed."""
    answer, result = findings.answer, findings.result
    certainty = f", {answer.certainty}" if answer.certainty else ""
    yield answer_mark(answer.sign), text((answer.verdict, "bold"), (certainty, "$muted"))
    for line in answer.lines:
        warns = answer.warning and line == answer.lines[0]
        yield (WARNING, keyed(line, "$text-warning")) if warns else ("", keyed(line))
    ended = _(OUTCOMES[result.outcome])
    if ended and result.outcome != "failed":  # the verdict of which says it
        ended = f"{ended[:1].upper()}{ended[1:]}"
        yield WARNING, (" · ".join(filter(None, (ended, why_not))), "$muted")
    for doubt in result.doubts:
        if doubt.code in LEFT_BEHIND:
            yield WARNING, keyed(_(doubt.text), "$text-warning")


class ResultScreen(StepScreen):
    """The answer, bars and commands, and on request the report as text. Weights and needs change the ranking."""

    CSS_PATH = "result.tcss"
    HELP = _(
        "The first lines say what to use, why, and when to choose otherwise. ✓ stands for a proven answer, ═ for "
        "candidates that are alike, so choose by features, ○ for one that is not settled. The longest bar is the best, "
        "for durations too; where no difference is proven it is pale.\n\n"
        "d shows what it rests on. Ratios compare a candidate with the baseline: 1.21 means 1.21 times as good. What "
        "stands in brackets is the interval in which the true ratio lies with 95 % certainty. "
        "Behind means that another candidate is proven faster, though the baseline is not.\n\n"
        "m changes what you must have: the same figures are ranked again at once, nothing is measured again.\n\n"
        "g resumes a run whose answer is not settled; the last of the first lines says what that brings.\n\n"
        "u sets a disk up for good with what the answer says: it asks which disk, shows the exact commands, and begins "
        "only after you confirm.\n\n"
        "Enter shares the report: as text, Markdown, BBCode, a web page, a picture, a table, or JSON. c copies the "
        "commands.\n\n"
        "h opens earlier results, l the log of the run that has just ended."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "forward", _("share")),
        Binding("enter", "back", _("done")),
        *SCROLL,
        *SIDEWAYS,
        Binding("u", "set_up", _("set up")),
        Binding("d", "toggle('detailed')", _("details")),
        Binding("m", "toggle('adjusting')", _("must have")),
        Binding("g", "resume", _("resume")),
        Binding("c", "copy", _("copy the commands"), show=False),
        Binding("l", "log", _("log"), show=False),
        Binding("h", "app.history", _("history"), show=False),
    ]

    answer = getters.query_one("#answer", Facts)
    needed = getters.query_one("#needed", Table)

    findings: reactive[Findings | None] = reactive(None, init=False, bindings=True)
    """None until they are computed."""
    detailed = reactive(False, init=False, toggle_class="-detailed")
    adjusting = reactive(False, init=False, toggle_class="-adjusting", bindings=True)
    """The panel with what is required is open."""
    resumption: reactive[session.Resumption | None] = reactive(None, init=False, bindings=True)
    """What resumes the run; None if it cannot be resumed, or until that is known."""

    def body(self) -> ComposeResult:
        with Horizontal(id="parts"):
            with VerticalScroll(id="figures", can_focus=False):
                with Vertical(id="top"):
                    yield Facts(id="answer")
                    yield Static(id="caption", markup=False)
                yield Bars()
                yield Facts(id="stalls")
                yield Static(id="commands", markup=False)
            with VerticalScroll(id="details", can_focus=False):
                yield Static(id="report")
            yield Table(Column(flexible=True), ticks=True, id="needed")

    def on_mount(self) -> None:
        self.query_one("#question", Static).update(_("Working out the answer …"))
        self.query_one("#commands").border_title = _(content.SET_UP)
        self.needed.border_title = _("Must have")
        self.needs = self.result.plan.needs
        self._commands: tuple[str, ...] = ()
        self._why_not = ""
        self._rank()
        if (path := self.wizard.result_path) is not None:
            found = partial(setattr, self, "resumption")
            self.ask(partial(session.take_up, path), found, fails=self._cannot_resume, group="resume")

    @cached_property
    def result(self) -> Result:
        """What this screen shows, also once the wizard begins another run."""
        assert self.wizard.result is not None
        return self.wizard.result

    # The ranking

    def _rank(self) -> None:
        """Compute the answer for the current needs."""
        from fswizard.advice import conclude

        ask = partial(conclude, self.result, needs=self.needs)
        self.ask(ask, partial(setattr, self, "findings"), group="conclude")
        features = dict.fromkeys((*NEEDS, *self.result.plan.needs))
        self.needed.show(Row(name, (feature_noun(name),), name in self.needs) for name in features)

    def watch_adjusting(self) -> None:
        self.set_focus(self.needed if self.adjusting else None)

    @on(Table.Ticked)
    def _ticked(self, event: Table.Ticked) -> None:
        self.needs = toggled(self.needs, event.key)
        self._rank()

    # What is shown

    def watch_findings(self, findings: Findings) -> None:
        self.add_class("-concluded")
        self.answer.show(answer_lines(findings, self._why_not))
        measured = content.figures(findings)
        self.query_one("#caption", Static).update(text((measured.caption, "$muted")))
        self.query_one(Bars).show(measured.charts)
        stalls = " · ".join(content.worst_stalls(findings))
        self.query_one("#stalls", Facts).show([(_("Worst stall"), stalls)] if stalls else [])
        commands = self.query_one("#commands", Static)
        self._commands = content.set_up(findings).commands
        commands.display = bool(self._commands)
        commands.update(text(("\n".join(self._commands), "$text-primary")))
        self.watch_detailed()

    def _cannot_resume(self, error: FswizardError) -> None:
        self._why_not = _(error.message)
        if self.findings is not None:
            self.answer.show(answer_lines(self.findings, self._why_not))

    def watch_detailed(self) -> None:
        """Show the full report, as in exports."""
        if self.findings is not None and self.detailed:
            self.query_one("#report", Static).update(keyed(render(self.findings, "text", full=True)))

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        answer = self.findings.answer if self.findings and not self.adjusting else None
        possible = {
            "log": self._has_run,
            "resume": self.resumption is not None and not self.adjusting,
            "forward": answer is not None,
            "set_up": answer is not None and bool(answer.recommended) and not self.wizard.banner,
            "copy": answer is not None and bool(self._commands),
        }
        return possible[action] if action in possible else super().check_action(action, parameters)

    @property
    def _has_run(self) -> bool:
        running = self.wizard.running
        return running is not None and running.state.plan.seed == self.result.plan.seed

    def action_log(self) -> None:
        from fswizard.tui.screens.log import LogScreen

        assert self.wizard.running is not None
        self.wizard.push_screen(LogScreen(self.wizard.running.state.log))

    def action_back(self) -> None:
        if self.adjusting:
            self.adjusting = False
        elif self.detailed:
            self.detailed = False
        else:
            self.wizard.visit("run" if self._has_run else "purpose")

    def action_copy(self) -> None:
        """Copy the commands."""
        self.wizard.copy_to_clipboard("\n".join(self._commands))
        self.notify(_("The commands are in the clipboard, where the terminal allows it."))

    def action_resume(self) -> None:
        """Review the run as it goes on, for as long as the answer says that it needs."""
        run, findings = self.resumption, self.findings
        assert run is not None and findings is not None
        more = findings.answer.more
        # with other needs than those of the run nobody knows what more time would bring
        if more is not None and more.limit_s and findings.result.plan == self.result.plan:
            run = replace(run, plan=replace(run.plan, time_limit_s=run.plan.preparation_s + more.limit_s))
        self.wizard.take_up(run)

    def action_set_up(self) -> None:
        """Set up the recommended filesystem."""
        from fswizard.disks.set_up import why_not_set_up
        from fswizard.tui.screens.set_up import SetUpScreen

        assert self.findings is not None
        plan = self.findings.result.plan
        candidate = plan.candidate(self.findings.answer.first)
        if reason := why_not_set_up(candidate):
            self.notify(reason, severity="warning", markup=False)
        else:
            self.wizard.push_screen(SetUpScreen(candidate, plan))

    def action_forward(self) -> None:
        from fswizard.tui.screens.export import ExportScreen

        assert self.findings is not None
        self.wizard.push_screen(ExportScreen(self.findings.result))
