"""A window with the options of a filesystem, explained when highlighted."""

from __future__ import annotations

from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import DataTable, Static

from fswizard.errors import FswizardError
from fswizard.filesystems import layouts, parse_candidate
from fswizard.language import _
from fswizard.model.filesystem import Candidate
from fswizard.model.layout import CHUNK, LUKS, MD
from fswizard.model.option import Option
from fswizard.tui.candidates import conflicts, layout_options, option_text, options_of, short_name
from fswizard.tui.drawing import Piece, lines, text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Row, Table

COMMON = (
    "noatime", "lazytime", "compress", "compression", "compress_algorithm", "discard", "commit", "autodefrag",
    "nodatacow", "metadata", "packed_meta_blocks", "background_gc", "recordsize", "atime", "cluster",
    LUKS, MD, "zfs", "btrfs", CHUNK,
)  # fmt: skip
"""Commonly used options; all others are at the end."""


class OptionsScreen(Window[str | None]):
    """Composes a candidate; dismissed with its short name."""

    CSS_PATH = "options.tcss"
    FRAME_CLASSES = "tall"
    MESSAGE = "#name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", _("compare this")),
        Binding("escape", "back", _("back")),
    ]

    table = getters.query_one("#options", Table)

    def __init__(self, candidate: Candidate, *, across: int = 1) -> None:
        """`across`: number of devices."""
        super().__init__()
        filesystem, array = candidate.filesystem, candidate.array
        self.title = _("Options of {filesystem}", filesystem=filesystem.title)
        self._filesystem = filesystem
        self._layout = array.layout if array else None
        if across == 1 and not filesystem.pool:
            self._layout = layouts()[LUKS]  # an offer, as long as it isn't ticked
        self._below = layout_options(self._layout) if self._layout else {}
        """The layout below the filesystem, or an available one, and its options."""
        replaced = self._layout.replaces if self._layout else ()
        self._options: dict[str, Option] = {}
        """Options by token."""
        for option in filesystem.options:
            if option.name not in replaced:
                self._options |= dict.fromkeys(option.tokens, option)
        self._options |= options_of(candidate)
        self._options |= self._below
        self._ticked = {*options_of(candidate), *(array.name.split(",") if array else ())}

    def body(self) -> ComposeResult:
        yield Static(id="name", markup=False)
        with Container(id="chooser"):
            yield Table(Column(), Column(flexible=True), Column(optional=True), ticks=True, id="options")
            yield Static(id="meaning", markup=False)

    def on_mount(self) -> None:
        self._show()
        self.table.focus()

    @property
    def _short_name(self) -> str:
        ticked = [token for token in self._options if token in self._ticked]
        below = [token for token in ticked if token in self._below]
        return short_name(self._filesystem.name, below, [token for token in ticked if token not in below])

    def _show(self) -> None:
        common: list[Row] = []
        rare = [Row("more", ("", (_("Rarely needed"), "bold $muted"), ""))]
        for token, option in self._options.items():
            kind = self._filesystem.mkfs_program if option.flag else "mount"
            if token in self._below and self._layout:
                kind = self._layout.maker
            unsafe = (f"⚠ {_('unsafe')}  " if option.unsafe else "", "bold $text-error")
            message = text(unsafe, (_(option.text), "$muted"))
            cells: tuple[Piece, ...] = ((token, "bold"), message, (kind, "$muted"))
            rows = common if option.name.partition("=")[0] in COMMON else rare
            rows.append(Row(token, cells, token in self._ticked))
        self.table.show([*common, *rare])
        self.say(f"{_('compare')}  ", (self._short_name, "bold $text-primary"))

    @on(DataTable.RowHighlighted)
    def _explain(self) -> None:
        message = [text((self.table.key, "bold"))]
        if option := self._options.get(self.table.key):
            source = _("Source: {source}", source=option.source) if option.source else ""
            message += [option_text(option), text((source, "$muted"))]
        self.query_one("#meaning", Static).update(lines(message) if option else "")

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        token, options = event.key, self._options
        layout = self._layout.name if self._layout and token in self._below else ""
        state = self.wizard.machine.available.get(layout)
        if state and not state.usable:
            self.refuse(f"{state.reason} {state.hint}")
            return
        if token not in self._ticked:
            excluded = {other for other in self._ticked if conflicts(options[token], options[other])}
            self._ticked = (self._ticked - excluded) | {token}
            self._ticked |= {layout} - {""}  # what is chosen about a volume asks for the volume
        elif token == layout:
            self._ticked.difference_update(self._below)
        else:
            self._ticked.discard(token)
        self._show()

    def action_accept(self) -> None:
        try:
            self.dismiss(parse_candidate(self._short_name).name)
        except FswizardError as error:
            self.show_error(error)
