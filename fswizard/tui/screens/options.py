"""A window with the options of a filesystem: each one explained as it is highlighted."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import DataTable, Static

from fswizard.errors import FswizardError
from fswizard.filesystems import layouts, parse_candidate
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import CHUNK, DEGRADED, LUKS, MD
from fswizard.model.option import Option
from fswizard.tui.candidates import conflicts, layout_options, option_words, options_of, short_name
from fswizard.tui.drawing import Piece, lines, text
from fswizard.tui.screens.base import TextBox, Window, WithBox
from fswizard.tui.widgets.table import Column, Row, Table

COMMON = (
    "noatime", "lazytime", "compress", "compression", "compress_algorithm", "discard", "commit", "autodefrag",
    "nodatacow", "metadata", "packed_meta_blocks", "background_gc", "recordsize", "atime", "cluster",
    LUKS, MD, "zfs", "btrfs", DEGRADED, CHUNK,
)  # fmt: skip
"""Names of the options that people use; all others stand at the end."""


class OptionsScreen(Window[str | None], WithBox[str | None]):
    """Dismissed with the short name of the candidate that was put together."""

    CSS_PATH = "options.tcss"
    LOOK = "tall"
    MESSAGE = "#name"
    BOX, LIST = "#value", "#options"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", N_("compare this")),
        Binding("v", "value", N_("other value")),
        Binding("escape", "back", N_("back")),
    ]

    table = getters.query_one("#options", Table)
    meaning = getters.query_one("#meaning", Static)

    def __init__(self, candidate: Candidate, *, across: int = 1) -> None:
        """`across` is the number of devices."""
        super().__init__()
        filesystem, array = candidate.filesystem, candidate.array
        self.title = _("Options of {filesystem}", filesystem=filesystem.title)
        self._filesystem = filesystem
        layout = array.layout if array else None
        if across == 1 and not filesystem.pool:
            layout = layouts()[LUKS]  # an offer, as long as it isn't ticked
        self._below = layout_options(layout) if layout else {}
        """What the filesystem lies on, or may lie on, and what can be chosen about that."""
        replaced = layout.replaces if layout else ()
        options = [option for option in filesystem.options if option.name not in replaced]
        self._own: dict[str, Option] = {token: option for option in options for token in option.tokens}
        self._own |= options_of(candidate)
        self._ticked = {*options_of(candidate), *(array.name.split(",") if array else ())}

    def body(self) -> ComposeResult:
        yield TextBox(id="value")
        yield Static(id="name", markup=False)
        with Container(id="chooser"):
            yield Table(Column(), Column(flexible=True), Column(optional=True), ticks=True, id="options")
            yield Static(id="meaning", markup=False)

    def on_mount(self) -> None:
        self._show()
        self.table.focus()

    @property
    def _options(self) -> dict[str, Option]:
        return {**self._own, **self._below}

    @property
    def _short_name(self) -> str:
        below, own = ([token for token in options if token in self._ticked] for options in (self._below, self._own))
        return short_name(self._filesystem.name, below, own)

    def _show(self) -> None:
        common: list[Row] = []
        rare = [Row("more", ("", (_("Rarely needed"), "bold $muted"), ""))]
        for token, option in self._options.items():
            (common if option.name.partition("=")[0] in COMMON else rare).append(self._row(token, option))
        self.table.show([*common, *rare])
        self.say_usual()

    def _row(self, token: str, option: Option) -> Row:
        kind = "mkfs" if option.flag else "mount"
        if token in self._below:
            kind = _("below") if LUKS in self._below else _("array")
        elif self._filesystem.pool:
            kind = "zpool"
        unsafe = (f"⚠ {_('unsafe')}  " if option.unsafe else "", "bold $text-error")
        cells: tuple[Piece, ...] = ((token, "bold"), text(unsafe, (_(option.text), "$muted")), (kind, "$muted"))
        return Row(token, cells, token in self._ticked)

    def say_usual(self) -> None:
        self.say(f"{_('compare')}  ", (self._short_name, "bold $text-primary"))

    @on(DataTable.RowHighlighted)
    def _explain(self) -> None:
        self.meaning.update("")
        if option := self._options.get(self.table.key):
            source = _("Source: {source}", source=option.source) if option.source else ""
            self.meaning.update(lines([text((self.table.key, "bold")), option_words(option), text((source, "$muted"))]))
        self.refresh_bindings()

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        token = event.key
        layout = next(iter(self._below), "") if token in self._below else ""
        state = self.wizard.machine.available.get(layout)
        if state and not state.usable:
            self.refuse(f"{state.reason} {state.hint}")
            return
        if token not in self._ticked:
            self._add(token)
            self._ticked |= {layout} - {""}  # what is chosen about a volume asks for the volume
        elif token == layout:
            self._ticked.difference_update(self._below)
        else:
            self._ticked.discard(token)
        self._show()

    def _add(self, token: str) -> None:
        """Tick an option, and none that it excludes."""
        options = self._options
        excluded = {other for other in self._ticked if conflicts(options[token], options[other])}
        self._ticked = (self._ticked - excluded) | {token}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A value is asked for where the highlighted option takes one."""
        if action == "value":
            option = self._options.get(self.table.key) if self.is_mounted else None
            return bool(option and option.pattern)
        return super().check_action(action, parameters)

    def action_value(self) -> None:
        """Ask for a value that isn't in the list, and tick it."""
        self.open_box(_("such as {example}", example=", ".join(self._options[self.table.key].values)))

    def handle_text(self, typed: str) -> None:
        option = self._options.get(self.table.key)
        if not typed or option is None:
            self.close_box()
            return
        token = f"{option.name}={typed}"
        try:
            parse_candidate(f"{self._filesystem.name}:{token}")
        except FswizardError as error:
            self.show_error(error)
        else:
            self._own.setdefault(token, option)
            self._add(token)
            self._show()
            self.table.highlight(token)
            self.close_box()

    def action_accept(self) -> None:
        try:
            self.dismiss(parse_candidate(self._short_name).name)
        except FswizardError as error:
            self.show_error(error)
