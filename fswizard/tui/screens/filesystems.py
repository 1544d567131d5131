"""Third step: filesystems, their options, and required features."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import DataTable

from fswizard.errors import FswizardError
from fswizard.filesystems import catalogue, layout_candidates, parse_candidate, require_members, suggestions
from fswizard.language import N_, _, n_, p_
from fswizard.model.plan import Plan
from fswizard.model.units import size_text
from fswizard.tui.candidates import (
    SIGNS,
    about_candidate,
    about_layout,
    best_first,
    feature_sign,
    room_bytes,
)
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, keyed, text
from fswizard.tui.screens.base import StepScreen, TextBox, WithBox
from fswizard.tui.screens.needs import NeedsScreen
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.widgets.table import Column, Facts, Row, Table

USUAL = ("ext4", "xfs", "btrfs")
"""Candidates of general recipes, which are replaced by those that suit the disk."""
MAIN_FEATURES = ("snapshots", "checksums", "compression", "shrink", "windows", "repair")
"""Columns while no feature is required."""


class FilesystemsScreen(WithBox[None], StepScreen):
    """Candidates to tick, explained when highlighted."""

    CSS_PATH = "filesystems.tcss"
    BOX, LIST = "#own", "#candidates"
    QUESTION = N_("Choose filesystems to compare")
    HELP = _(
        "Tick what you would consider. Two to four is a good number: each one you add takes its share of the time.\n\n"
        "A candidate is a filesystem with options, so you can also compare ext4 with ext4:noatime. "
        "o shows the options of the highlighted filesystem and explains each; those marked unsafe may lose data in a "
        "crash and are never recommended. One of them lays it on an encrypted volume (luks). "
        "a lets you type a candidate, such as btrfs:noatime,compress=zstd:1.\n\n"
        "Everything is compared with the baseline; b makes the highlighted candidate the baseline.\n\n"
        "m opens a list of features: tick what you must have. Candidates that lack it turn grey and are skipped. "
        "In the columns, ✓ is yes, ~ in part, – no, and ✗ something you must have. ★ marks what suits this disk. "
        "What can't be measured here stands at the end, with the reason in its details."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "options", _("options")),
        Binding("m", "needs", _("must have")),
        Binding("a", "type", _("add"), show=False),
        Binding("b", "baseline", _("baseline"), show=False),
    ]

    table = getters.query_one("#candidates", Table)

    def body(self) -> ComposeResult:
        yield TextBox(id="own")
        with Container(id="split"):
            yield Table(ticks=True, id="candidates")
            with VerticalScroll(id="details", classes="details") as details:
                details.border_title = _("About this filesystem")
                yield Facts(id="about")

    def on_mount(self) -> None:
        machine, recipe, drive = self.wizard.machine, self.choices.recipe, self.choices.drive
        self._across = self.choices.across
        self._reasons: Mapping[str, str] = {}
        """Why candidates suit the disk, by name."""
        if drive is not None and self._across == 1:
            self._reasons = suggestions(drive)
        named = (recipe.candidates if recipe else ()) or USUAL
        self._offered = named
        """Candidates proposed by the recipe or for the disk."""
        if self._across > 1:
            self._offered = layout_candidates(recipe.array_candidates if recipe else (), self._across)
        elif not {parse_candidate(name).filesystem.name for name in named} - set(USUAL):
            self._offered = tuple(self._reasons) or named
        self._names = list(dict.fromkeys((*self.choices.candidates, *self._offered, *self._reasons, *catalogue())))
        self._untouched = not self.choices.candidates
        """The user has not ticked anything yet."""
        self._waiting = False
        """Enter was pressed before the availability was known."""
        self._propose()
        self.table.focus()
        if not machine.availability_known:
            self.ask(machine.find_availability, lambda _: self._looked())

    def _looked(self) -> None:
        self._propose()
        if self._waiting and not self.box_is_open:
            self.action_forward()

    def on_screen_suspend(self) -> None:
        self._waiting = False

    def _propose(self) -> None:
        """Tick the default candidates unless the user has ticked some; impossible ones are always unticked."""
        names = self._offered if self._untouched else self.choices.candidates
        usable = [name for name in names if not self._problem(name)]
        if self._untouched and self._across > 1:
            usable = best_first(map(parse_candidate, usable), self._across, self.choices.member_bytes)
        self._choose(tuple(usable))

    def _problem(self, name: str) -> str:
        """Why a candidate cannot be measured, in sentences; empty if it can."""
        return self.wizard.machine.problem(parse_candidate(name), self.choices)

    def _choose(self, candidates: tuple[str, ...]) -> None:
        """Tick exactly these candidates."""
        self.wizard.choose(candidates=candidates)
        self._show()

    def _show(self) -> None:
        features = self.choices.needs or MAIN_FEATURES
        columns = [Column(_("Filesystem") if self._across == 1 else _("Layout"), flexible=True, least=22)]
        if self._across > 1:
            columns += [Column(p_("space on disks", "Room"), right=True), Column(_("May fail"), right=True)]
        columns += [Column(_(feature), optional=True) for feature in features]
        ordered = sorted(self._names, key=lambda name: bool(self._problem(name)))
        self.table.show([self._row(name, features) for name in ordered], [*columns, Column()])
        self.say_usual()

    def _row(self, name: str, features: tuple[str, ...]) -> Row:
        candidate, possible = parse_candidate(name), not self._problem(name)
        lacks = candidate.lacking(self.choices.needs)
        ink = "" if possible and not lacks else "$muted"
        star = "★ " if name in self._reasons else "  "
        cells: list[Piece] = [text((star, "$text-accent"), (name, ink or "bold"))]
        if self._across > 1:
            array = candidate.on(self._across).array
            failing = str(array.survives) if array else p_("disks that may fail", "none")
            room = size_text(room_bytes(candidate, self._across, self.choices.member_bytes))
            cells += [(room, ink), (failing, ink)]
        for feature in features:
            sign = feature_sign(candidate.filesystem.feature(feature))
            cells.append(("✗", "bold $text-error") if feature in lacks else (sign, ink or SIGNS[sign]))
        if not possible:
            cells.append((_("not here"), "$muted"))
        else:
            cells.append((_("baseline"), "$text-primary") if name == self.choices.against else "")
        return Row(name, tuple(cells), name in self.choices.candidates if possible else None)

    @on(DataTable.RowHighlighted, "#candidates")
    def _explain(self) -> None:
        candidate = parse_candidate(self.table.key)
        state = self.wizard.machine.available.get(candidate.filesystem.name)
        pairs = about_candidate(candidate, state, self._problem(candidate.name), self._reasons.get(candidate.name, ""))
        if self._across > 1:
            pairs = about_layout(candidate, self._across) + pairs
        self.query_one("#about", Facts).show(pairs)

    @on(Table.Ticked, "#candidates")
    def _tick(self, event: Table.Ticked) -> None:
        self._untouched = False
        self._choose(toggled(self.choices.candidates, event.key))

    def say_usual(self) -> None:
        """Show the cost of the run and, once known, whether a password is needed."""
        if not self.choices.candidates:
            self.say(keyed(_("Tick at least one: `space`.")))
            return
        draft = self.estimated()
        if draft is None:
            return
        self._say_draft(draft, None)
        if draft.target.kind == "image":
            from fswizard.disks.way import why_root

            self.ask(partial(why_root, draft.candidates), partial(self._say_draft, draft), group="way")

    def _say_draft(self, draft: Plan, reason: str | None) -> None:
        """`reason`: why the run needs root; empty if it does not, None if that is unknown."""
        count, warning = len(self.choices.candidates), ""
        if lacking := count - len(draft.candidates):
            message = n_("{count} without what you must have", "{count} without what you must have", lacking)
            warning = f" · {message}"
        if reason:
            warning += " · " + _("needs administrator rights ({reason})", reason=reason)
        self.say_estimate(count, draft, warning, _("no password needed") if reason == "" else "")

    # Keys

    def action_options(self) -> None:
        self.wizard.push_screen(OptionsScreen(parse_candidate(self.table.key), across=self._across), self._add)

    def _add(self, name: str | None) -> None:
        """Tick a candidate, in a new row below the highlighted one if it is not listed."""
        if not name:
            return
        if name not in self._names:
            self._names.insert(self._names.index(self.table.key) + 1, name)
        ticked = self.choices.candidates
        if not self._problem(name):
            self._untouched = False
            ticked = tuple(dict.fromkeys((*ticked, name)))
        self._choose(ticked)
        self.table.highlight(name)

    def action_needs(self) -> None:
        self.wizard.push_screen(NeedsScreen(), lambda _: self._show())

    def action_baseline(self) -> None:
        name = self.table.key
        if name in self.choices.candidates:
            self.wizard.choose(baseline=name)
            self._show()
        else:
            self.refuse(_("{candidate} isn't ticked yet: `space` ticks it.", candidate=name))

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

    def action_forward(self) -> None:
        if not self.wizard.machine.availability_known:
            self._waiting = True
            self.say(_("Checking what is available …"))
        elif not self.choices.candidates:
            self.refuse(_("Tick at least one candidate: `space` ticks."))
        else:
            super().action_forward()
