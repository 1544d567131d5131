"""Third step: filesystems and their options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import DataTable

from fswizard.filesystems import catalogue, layout_candidates, parse_candidate, suggestions
from fswizard.language import N_, _, p_
from fswizard.model.units import size_text
from fswizard.tui.candidates import SIGNS, about_candidate, feature_sign, room_bytes
from fswizard.tui.choices import toggled
from fswizard.tui.drawing import Piece, keyed, text
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.screens.options import OptionsScreen
from fswizard.tui.widgets.table import Column, Facts, Row, Table

USUAL = ("ext4", "xfs", "btrfs")
"""Proposed where nothing is known about the disk."""
MAIN_FEATURES = ("snapshots", "checksums", "compression", "shrink", "windows", "repair")
"""Columns."""


class FilesystemsScreen(StepScreen):
    """Candidates to tick, explained when highlighted."""

    CSS_PATH = "filesystems.tcss"
    QUESTION = N_("Choose filesystems to compare")
    HELP = _(
        "Tick what you would consider. Two to four is a good number: each one you add takes its share of the time.\n\n"
        "A candidate is a filesystem with options, so you can also compare ext4 with ext4:noatime. "
        "o shows the options of the highlighted filesystem and explains each; those marked unsafe may lose data in a "
        "crash and are never recommended. One of them lays it on an encrypted volume (luks).\n\n"
        "In the columns, ✓ is yes, ~ in part, and – no. What you must have is ticked at the result, which then ranks "
        "those that have it. ★ marks what suits this disk. What can't be measured here stands at the end, with the "
        "reason in its details."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "options", _("options"))]

    table = getters.query_one("#candidates", Table)
    _waiting = False
    """Enter was pressed before the availability was known."""

    def body(self) -> ComposeResult:
        with Container(id="split"):
            yield Table(ticks=True, id="candidates")
            with VerticalScroll(id="details", classes="details") as details:
                details.border_title = _("About this filesystem")
                yield Facts(id="about")

    def on_mount(self) -> None:
        machine, drive = self.wizard.machine, self.choices.drive
        self._across = self.choices.across
        self._reasons: Mapping[str, str] = {}
        """Why candidates suit the disk, by name."""
        if drive is not None and self._across == 1:
            self._reasons = suggestions(drive)
        self._offered = tuple(self._reasons) or USUAL
        """Candidates proposed for the disk or disks."""
        if self._across > 1:
            self._offered = layout_candidates((), self._across)
        self._names = list(dict.fromkeys((*self.choices.candidates, *self._offered, *self._reasons, *catalogue())))
        self._untouched = not self.choices.candidates
        """The user has not ticked anything yet."""
        self._propose()
        self.table.focus()
        if not machine.availability_known:
            self.ask(machine.find_availability, self._looked)

    def _looked(self, _: None) -> None:
        self._propose()
        if self._waiting:
            self.action_forward()

    def _propose(self) -> None:
        """Tick the default candidates unless the user has ticked some; impossible ones are always unticked.

        Over several disks that is a single disk, and the first layout of each maker.
        """
        names = self._offered if self._untouched else self.choices.candidates
        usable = [name for name in names if not self._problem(name)]
        if self._untouched and self._across > 1:
            by_maker: dict[str, str] = {}
            for name in usable:
                array = parse_candidate(name).array
                by_maker.setdefault(array.layout.maker if array else "", name)
            usable = list(by_maker.values())
        self._choose(tuple(usable))

    def _problem(self, name: str) -> str:
        """Why a candidate cannot be measured, in sentences; empty if it can."""
        return self.wizard.machine.problem(parse_candidate(name), self.choices)

    def _choose(self, candidates: tuple[str, ...]) -> None:
        """Tick exactly these candidates."""
        self.wizard.choose(candidates=candidates)
        self._show()

    def _show(self) -> None:
        columns = [Column(_("Filesystem") if self._across == 1 else _("Layout"), flexible=True, least=22)]
        if self._across > 1:
            columns += [Column(p_("space on disks", "Room"), right=True), Column(_("May fail"), right=True)]
        columns += [Column(_(feature), optional=True) for feature in MAIN_FEATURES]
        ordered = sorted(self._names, key=lambda name: bool(self._problem(name)))
        self.table.show([self._row(name) for name in ordered], columns)
        if not self.choices.candidates:
            self.say(keyed(_("Tick at least one: `space`.")))
        elif draft := self.estimated():
            self.say_estimate(draft)

    def _row(self, name: str) -> Row:
        candidate, possible = parse_candidate(name), not self._problem(name)
        ink = "" if possible else "$muted"
        star = "★ " if name in self._reasons else "  "
        absent = "" if possible else f"  {_('not here')}"
        cells: list[Piece] = [text((star, "$text-accent"), (name, ink or "bold"), (absent, "$muted"))]
        if self._across > 1:
            array = candidate.on(self._across).array
            failing = str(array.survives) if array else p_("disks that may fail", "none")
            room = size_text(room_bytes(candidate, self._across, self.choices.member_bytes))
            cells += [(room, ink), (failing, ink)]
        for feature in MAIN_FEATURES:
            sign = feature_sign(candidate.filesystem.feature(feature))
            cells.append((sign, ink or SIGNS[sign]))
        return Row(name, tuple(cells), name in self.choices.candidates if possible else None)

    @on(DataTable.RowHighlighted, "#candidates")
    def _explain(self) -> None:
        name = self.table.key
        about = about_candidate(parse_candidate(name), self._problem(name), self._reasons.get(name, ""))
        self.query_one("#about", Facts).show(about)

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        self._untouched = False
        self._choose(toggled(self.choices.candidates, event.key))

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

    def action_forward(self) -> None:
        if not self.wizard.machine.availability_known:
            self._waiting = True
            self.say(_("Checking what is available …"))
        elif not self.choices.candidates:
            self.refuse(_("Tick at least one candidate: `space` ticks."))
        else:
            super().action_forward()
