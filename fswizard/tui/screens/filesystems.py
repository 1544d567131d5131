"""Third step: which filesystems, with which options, and what one cannot do without."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Need
from fswizard.report.writes import budget_text
from fswizard.tui.candidates import (
    best_first,
    candidate_row,
    explain_candidate,
    explain_layout,
    layout_header,
    layout_row,
    need_table,
)
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import cursor, cut, fit, lines, text, tick
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

NEED = "need:"


class FilesystemsScreen(BoxScreen):
    """Candidates to tick, explained as they are highlighted."""

    BOX, LIST = "#own", "#candidates"
    QUESTION = "Choose filesystems to compare"
    HELP = (
        "Tick what you would consider. Two to four is a good number: each one you add takes its share of the time.\n\n"
        "A candidate is a filesystem with options, so you can also compare ext4 with ext4:noatime. "
        "o shows the options of the highlighted filesystem and explains each; those marked unsafe may lose data in a "
        "crash and are never recommended. a lets you type a candidate, such as btrfs:noatime,compress=zstd:1.\n\n"
        "Everything is compared with the baseline; b makes the highlighted candidate the baseline.\n\n"
        "m jumps to what you must have. Candidates without it are skipped."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "options", "options"),
        Binding("a", "type", "add"),
        Binding("b", "baseline", "baseline"),
        Binding("m", "needs", "must have"),
    ]

    def body(self) -> ComposeResult:
        with Horizontal(classes="split uneven"):
            with Vertical(classes="left"):
                yield TextBox(id="own")
                yield ChoiceList(id="candidates", ticks=True, keeps_highlight=True)
                yield Canvas(id="below", classes="panel brief")
            yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)

    def on_mount(self) -> None:
        machine, backend = self.wizard.machine, self.wizard.backend
        self._list = self.query_one("#candidates", ChoiceList)
        self._reasons: dict[str, str] = {}
        self._listed: tuple[str, ...] = ()
        self._forward_pending = False
        self._looking = not machine.availability_known
        self._across = self.choices.across
        if self.choices.drive is not None and self._across == 1:
            self._reasons = {item.candidate_name: item.reason for item in backend.suggestions(self.choices.drive)}
        if self.choices.zoned:
            self.wizard.choose(candidates=tuple(self._usable(self.choices.candidates)))
        self._offered = self._first_offered()
        self._proposed = not self.choices.candidates
        self._propose()
        self.query_one(".panel").border_title = "About this filesystem"
        self._redraw()
        self._list.focus()
        if self._looking:
            self.ask(machine.look_for_availability, self._looked)

    def _first_offered(self) -> tuple[str, ...]:
        """What there is to compare above all."""
        recipe = self.choices.recipe
        if recipe is None:
            return ()
        if self._across > 1:
            return self.wizard.backend.layout_candidates(recipe, self._across)
        return recipe.candidates or ("ext4", "xfs", "btrfs")

    def _propose(self) -> None:
        """Tick what is sensible, as long as nobody has ticked anything."""
        if not self._proposed:
            return
        names = self._usable(self._offered)
        if self._across > 1:
            candidates = [self.wizard.backend.parse_candidate(name) for name in names]
            names = best_first(candidates, self._across, self.choices.member_bytes)
        self.wizard.choose(candidates=tuple(names))

    def _looked(self, _: None) -> None:
        self._looking = False
        self._propose()
        self.wizard.choose(candidates=tuple(self._usable(self.choices.candidates)))
        self._redraw()
        if self._forward_pending:
            self.action_forward()

    def _usable(self, names: tuple[str, ...]) -> list[str]:
        return [name for name in names if self._possible(name)]

    def _possible(self, name: str) -> bool:
        """The candidate can be measured here, on what was chosen to measure on."""
        return self.wizard.machine.possible(name, self.choices)

    # The list

    def _redraw(self) -> None:
        self._fill()
        self._estimate()

    def _fill(self) -> None:
        catalogue = self.wizard.machine.catalogue
        others = [name for name in self.choices.candidates if name not in catalogue or not self._listed]
        offered = self._offered if self._across > 1 else ()
        self._listed = tuple(dict.fromkeys((*self._listed, *offered, *others, *self._reasons)))  # so that nothing moves
        first = self._listed
        rest = [name for name in catalogue if name not in first]
        rows = [headline("compare", "Compare")]
        rows += [ListRow("head", layout_header, False)] if self._across > 1 else []
        rows += [self._row(name) for name in first if self._possible(name)]
        alone = "On the first disk alone" if self._across > 1 else "Also available"
        rows += [gap("before-others"), headline("others", alone)]
        rows += [self._row(name) for name in rest if self._possible(name)]
        rows += [gap("before-needs"), headline("needs", "Must have")]
        needs = self.choices.needs
        rows += [ListRow(NEED + need.name, partial(_need_row, need, need.name in needs)) for need in self._needs]
        impossible = [name for name in (*first, *rest) if not self._possible(name)]
        if impossible:
            where = "disk" if self.choices.zoned else "machine"
            rows += [gap("before-impossible"), headline("impossible", f"Not possible on this {where}")]
            rows += [self._row(name) for name in impossible]
        self._list.rows = tuple(rows)
        self._explain()

    @property
    def _needs(self) -> tuple[Need, ...]:
        return self.wizard.backend.needs()

    def _row(self, name: str) -> ListRow:
        candidate = self.wizard.backend.parse_candidate(name)
        usable = self._possible(name)
        lacks = [need for need in self.choices.needs if not _has(candidate, need)]
        note = "not here" if not usable else f"no {lacks[0]}" if lacks else "suggested" if name in self._reasons else ""
        row = partial(candidate_row, candidate)
        if self._across > 1:
            row = partial(layout_row, candidate, members=self._across, member_bytes=self.choices.member_bytes)
        ticked, baseline = name in self.choices.candidates, name == self.choices.against
        return ListRow(
            name, partial(row, among=self._listed, ticked=ticked, usable=usable, note=note, baseline=baseline)
        )

    @on(ChoiceList.Chosen, "#candidates")
    def _chosen(self) -> None:
        self._explain()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("options", "baseline"):
            return self.is_mounted and self._highlighted() is not None
        return super().check_action(action, parameters)

    def _explain(self) -> None:
        key = self._list.key
        if not key:
            return
        if key.startswith(NEED):
            need = next(need for need in self._needs if need.name == key.removeprefix(NEED))
            candidates = self.wizard.machine.candidates(self.choices)

            def draw(width: int) -> Content:
                title = text((need.name, "bold"), f": {need.title}.")
                return lines((title, Content(""), need_table(candidates, need.name, width)))

            self.query_one("#about", Canvas).show(draw)
            self.query_one("#below", Canvas).show(draw)
            return
        candidate, machine = self.wizard.backend.parse_candidate(key), self.wizard.machine
        available = machine.unavailable(candidate) or machine.available.get(candidate.filesystem.name)
        reason = self._reasons.get(key, "")
        if self.choices.zoned and not self._possible(key):
            reason = "Needs random writes, and this disk's zones must be written in order."

        def about(width: int, brief: bool = False) -> Content:
            words = explain_candidate(candidate, available, reason, width, brief=brief)
            if self._across == 1:
                return words
            spread = explain_layout(candidate, self._across, self.choices.member_bytes, width)
            return spread if brief and (available is None or available.usable) else lines((spread, Content(""), words))

        self.query_one("#about", Canvas).show(about)
        self.query_one("#below", Canvas).show(lambda width: about(width, brief=True))

    @on(ChoiceList.Ticked, "#candidates")
    def _tick(self, event: ChoiceList.Ticked) -> None:
        key = event.key
        if key.startswith(NEED):
            self.wizard.choose(needs=toggled(self.choices.needs, key.removeprefix(NEED)))
        elif self._possible(key):
            self._proposed = False
            self.wizard.choose(candidates=toggled(self.choices.candidates, key))
        self._redraw()

    def _estimate(self) -> None:
        count = len(self.choices.candidates)
        if count == 0:
            self.say("Tick at least one: ", ("space", "bold $primary"), ".")
            return
        try:
            budget = budget_text(self.wizard.backend.draft(self.choices))
        except FswizardError as error:
            self.show_error(error)
            return
        lacking = sum(
            any(not _has(candidate, need) for need in self.choices.needs)
            for candidate in self.wizard.machine.candidates(self.choices)
        )
        self.say(
            (f"{count} candidate{'s' if count != 1 else ''}", "bold"),
            f" · {budget}",
            (f" · {lacking} without what you must have" if lacking else "", "$warning"),
        )

    # Keys

    def _highlighted(self) -> Candidate | None:
        key = self._list.key
        if not key or key.startswith(NEED):
            return None
        return self.wizard.backend.parse_candidate(key)

    def action_options(self) -> None:
        if (candidate := self._highlighted()) is not None:
            self.wizard.push_screen(OptionsScreen(candidate), self._add)

    def _add(self, name: str | None) -> None:
        if not name:
            return
        self._listed = tuple(dict.fromkeys((*self._listed, name)))
        if self._possible(name) and name not in self.choices.candidates:
            self.wizard.choose(candidates=(*self.choices.candidates, name))
        self._redraw()
        self._list.highlight(name)

    def action_baseline(self) -> None:
        candidate = self._highlighted()
        if candidate is None:
            return
        if candidate.name not in self.choices.candidates:
            self.say(("✗ ", "bold $error"), f"{candidate.name} isn't ticked yet: ",
                     ("space", "bold $primary"), " ticks it.")  # fmt: skip
            return
        self.wizard.choose(baseline=candidate.name)
        self._redraw()

    def action_needs(self) -> None:
        self._list.highlight(NEED + self._needs[0].name)

    def action_type(self) -> None:
        example = "md:raid5,chunk=64K+xfs" if self._across > 1 else "btrfs:noatime,compress=zstd:1"
        self.open_box(f"such as {example}")

    def handle_text(self, typed: str) -> None:
        try:
            candidate = self.wizard.backend.parse_candidate(typed)
            self.wizard.backend.require_members(candidate, self._across)
        except FswizardError as error:
            self.show_error(error)
        else:
            self.close_box()
            self._add(candidate.name)

    def say_usual(self) -> None:
        self._estimate()

    def action_forward(self) -> None:
        if self._looking:
            self._forward_pending = True
            self.say("Checking what is available …")
        elif self.choices.candidates:
            self.wizard.go_on()
        else:
            self.say(("✗ ", "bold $error"), "Tick at least one candidate: ", ("space", "bold $primary"), " ticks.")


def _has(candidate: Candidate, need: str) -> bool:
    feature = candidate.filesystem.feature(need)
    return feature is not None and feature.present


def _need_row(need: Need, ticked: bool, width: int, on: bool) -> Content:
    name = fit((need.name, "bold"), 18)
    return text(cursor(on), tick(ticked), " ", name, (cut(need.title, width - 24), "$muted"))
