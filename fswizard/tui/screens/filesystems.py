"""Third step: which filesystems, with which options, and which features are needed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.filesystems import NEEDS, catalogue, parse_candidate, require_members, suggestions
from fswizard.language import N_, _, n_
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import Plan
from fswizard.tui.candidates import best_first, explain_candidate, explain_layout, need_table, reasons_list
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import keyed, lines, text
from fswizard.tui.matrix import FEATURES, Mark, Matrix
from fswizard.tui.screens.base import BoxScreen, TextBox
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.chips import Chips
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow, gap, headline

USUAL = ("ext4", "xfs", "btrfs")
"""What recipes compare that are not about certain filesystems: then what suits the disk takes part."""


class FilesystemsScreen(BoxScreen):
    """Candidates to tick, explained as they are highlighted."""

    BOX, LIST = "#own", "#candidates"
    QUESTION = N_("Choose filesystems to compare")
    HELP = N_(
        "Tick what you would consider. Two to four is a good number: each one you add takes its share of the time.\n\n"
        "A candidate is a filesystem with options, so you can also compare ext4 with ext4:noatime. "
        "o shows the options of the highlighted filesystem and explains each; those marked unsafe may lose data in a "
        "crash and are never recommended. The last one lays it on an encrypted volume (luks). "
        "a lets you type a candidate, such as btrfs:noatime,compress=zstd:1.\n\n"
        "Everything is compared with the baseline; b makes the highlighted candidate the baseline.\n\n"
        "m jumps to what you must have, left and right explain each feature, and space sets it. Candidates that lack "
        "it turn grey and are skipped. In the columns, ✓ is yes, ~ in part, – no, and ✗ something you must have. "
        "★ marks what suits this disk."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "options", N_("options")),
        Binding("a", "type", N_("add")),
        Binding("b", "baseline", N_("baseline")),
        Binding("m", "needs", N_("must have")),
    ]

    def body(self) -> ComposeResult:
        with Container(id="matrix"):
            with Vertical(classes="left"):
                yield TextBox(id="own")
                yield Chips(_("Must have"), {name: _(word) for name, word in FEATURES.items()}, id="needs")
                yield Canvas(id="columns")
                yield ChoiceList(id="candidates", ticks=True, keeps_highlight=True)
            with Vertical(classes="right"):
                yield VerticalScroll(Canvas(id="about"), classes="panel", can_focus=False)
                yield Canvas(id="suggested", classes="panel")

    def on_mount(self) -> None:
        machine = self.wizard.machine
        self._list = self.query_one("#candidates", ChoiceList)
        self._chips = self.query_one("#needs", Chips)
        self._reasons: dict[str, str] = {}
        self._listed: tuple[str, ...] = ()
        self._forward_pending = False
        self._looking = not machine.availability_known
        self._across = self.choices.across
        if self.choices.drive is not None and self._across == 1:
            self._reasons = {item.candidate_name: item.reason for item in suggestions(self.choices.drive)}
        suggested = self.query_one("#suggested", Canvas)
        suggested.border_title = _("★ Suits this disk")
        suggested.set_class(not self._reasons, "-none")
        suggested.show(partial(reasons_list, self._reasons))
        recipe = self.choices.recipe
        self._offered: tuple[str, ...] = ()
        """What there is to compare above all."""
        if recipe is not None and self._across > 1:
            self._offered = self.wizard.backend.layout_candidates(recipe, self._across)
        elif recipe is not None:
            named = recipe.candidates or USUAL
            about_others = {parse_candidate(name).filesystem.name for name in named} - set(USUAL)
            self._offered = named if about_others else tuple(self._reasons) or named
        self._proposed = not self.choices.candidates
        self._propose()
        self._redraw()
        self._list.focus()
        if self._looking:
            self.ask(machine.look_for_availability, self._looked)

    def _propose(self) -> None:
        """Tick what is sensible, as long as nobody has ticked anything."""
        if not self._proposed:
            return
        names = self._usable(self._offered)
        if self._across > 1:
            candidates = [parse_candidate(name) for name in names]
            names = best_first(candidates, self._across, self.choices.member_bytes)
        self.wizard.choose(candidates=tuple(names))

    def _looked(self, _: None) -> None:
        self._looking = False
        self._propose()
        self.wizard.choose(candidates=tuple(self._usable(self.choices.candidates)))
        self._redraw()
        if self._forward_pending:
            self.action_forward()

    def _usable(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self._possible(name)]

    def _possible(self, name: str) -> bool:
        """The candidate can be measured here, on what was chosen to measure on."""
        return self.wizard.machine.possible(name, self.choices)

    # The list

    def _redraw(self) -> None:
        self._fill()
        self._estimate()

    def _fill(self) -> None:
        chosen = [name for name in self.choices.candidates if name not in catalogue() or not self._listed]
        offered = self._offered if self._across > 1 else ()
        self._listed = tuple(dict.fromkeys((*self._listed, *offered, *chosen, *self._reasons)))  # so that nothing moves
        first = self._listed
        rest = [name for name in catalogue() if name not in first]
        matrix = Matrix(first, self.choices.needs, self._across, self.choices.member_bytes)
        rows = [self._row(matrix, name) for name in first if self._possible(name)]
        also = _("On the first disk alone") if self._across > 1 else _("Also available")
        refused = [name for name in (*first, *rest) if not self._possible(name)]
        for title, names in ((also, self._usable(rest)), (_("Not possible on this machine"), refused)):
            if names:
                rows += [gap(f"before {title}"), headline(title, title), *(self._row(matrix, name) for name in names)]
        self._list.rows = tuple(rows)
        self.query_one("#columns", Canvas).show(matrix.header)
        self._chips.show_set(frozenset(self.choices.needs))
        self._explain()

    def _row(self, matrix: Matrix, name: str) -> ListRow:
        ticked, baseline = name in self.choices.candidates, name == self.choices.against
        mark = Mark(ticked, self._possible(name), name in self._reasons, baseline)
        return ListRow(name, partial(matrix.row, parse_candidate(name), mark))

    @on(ChoiceList.Chosen, "#candidates")
    def _chosen(self) -> None:
        self._explain()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("options", "baseline"):
            return self.is_mounted and self._highlighted() is not None
        if action == "needs":
            return self.is_mounted and not self._chips.has_focus
        return super().check_action(action, parameters)

    @on(Chips.Chosen)
    def on_descendant_focus(self) -> None:
        self._explain()

    def _explain(self) -> None:
        panel, about = self.query_one(".panel"), self.query_one("#about", Canvas)
        if self._chips.has_focus:
            panel.border_title = _("About this feature")
            about.show(partial(self._about_need, self._chips.key))
        elif key := self._list.key:
            panel.border_title = _("About this filesystem")
            about.show(partial(self._about_candidate, key))

    def _about_need(self, name: str, width: int) -> Content:
        title = next(need.title for need in NEEDS if need.name == name)
        brief = not self.has_class("-tall")
        table = need_table([parse_candidate(each) for each in self.choices.candidates], name, width, brief=brief)
        return text((_(FEATURES[name]), "bold"), f": {_(title)}.\n" if brief else f": {_(title)}.\n\n", table)

    def _about_candidate(self, name: str, width: int) -> Content:
        brief = not self.has_class("-vast")
        candidate, machine = parse_candidate(name), self.wizard.machine
        available = machine.unavailable(candidate) or machine.available.get(candidate.filesystem.name)
        refusal, why = machine.refusal(candidate, self.choices), self._reasons.get(name, "")
        words = explain_candidate(candidate, available, width, refusal=refusal, why=why, brief=brief)
        if self._across == 1:
            return words
        spread = explain_layout(candidate, self._across, self.choices.member_bytes, width)
        return spread if brief and self._possible(name) else lines((spread, Content(""), words))

    @on(Chips.Set)
    def _set_need(self, event: Chips.Set) -> None:
        self.wizard.choose(needs=toggled(self.choices.needs, event.key))
        self._redraw()

    @on(ChoiceList.Ticked, "#candidates")
    def _tick(self, event: ChoiceList.Ticked) -> None:
        if self._possible(event.key):
            self._proposed = False
            self.wizard.choose(candidates=toggled(self.choices.candidates, event.key))
        self._redraw()

    def _estimate(self) -> None:
        count = len(self.choices.candidates)
        if count == 0:
            self.say(keyed(_("Tick at least one: `space`.")))
            return
        if (draft := self.estimated()) is None:
            return
        lacking = count - len(draft.candidates)
        words = n_("{count} without what you must have", "{count} without what you must have", lacking)
        warning = f" · {words}" if lacking else ""
        self.say_estimate(count, draft, warning)
        if draft.target.kind == "image":
            backend = self.wizard.backend
            self.ask(lambda: backend.why_root(draft), partial(self._say_way, count, draft, warning), group="way")

    def _say_way(self, count: int, draft: Plan, warning: str, reason: str) -> None:
        """Add whether the run asks for a password, and because of what."""
        if reason:
            self.say_estimate(count, draft, f"{warning} · {_('needs administrator rights ({reason})', reason=reason)}")
        else:
            self.say_estimate(count, draft, warning, _("no password needed"))

    # Keys

    def _highlighted(self) -> Candidate | None:
        key = "" if self._chips.has_focus else self._list.key
        return parse_candidate(key) if key else None

    def action_options(self) -> None:
        if (candidate := self._highlighted()) is not None:
            self.wizard.push_screen(OptionsScreen(candidate, across=self._across), self._add)

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
            self.refuse(_("{candidate} isn't ticked yet: `space` ticks it.", candidate=candidate.name))
            return
        self.wizard.choose(baseline=candidate.name)
        self._redraw()

    def action_needs(self) -> None:
        self._chips.focus()

    def action_type(self) -> None:
        example = "md:raid5,chunk=64K+xfs" if self._across > 1 else "btrfs:noatime,compress=zstd:1"
        self.open_box(_("such as {example}", example=example))

    def handle_text(self, typed: str) -> None:
        if not typed:
            self.close_box()
            return
        try:
            candidate = parse_candidate(typed)
            require_members(candidate.name, candidate.array, self._across)
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
            self.say(_("Checking what is available …"))
        elif not self.choices.candidates:
            self.refuse(_("Tick at least one candidate: `space` ticks."))
        else:
            super().action_forward()
