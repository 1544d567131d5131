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
from fswizard.tui.candidates import option_text, options_of
from fswizard.tui.drawing import text
from fswizard.tui.screens.base import Window
from fswizard.tui.widgets.table import Column, Row, Table

COMMON = (
    "noatime", "lazytime", "compress", "compression", "compress_algorithm", "discard", "commit", "autodefrag",
    "nodatacow", "metadata", "packed_meta_blocks", "background_gc", "recordsize", "atime", "cluster",
    LUKS, MD, "zfs", "btrfs", CHUNK,
)  # fmt: skip
"""Commonly used options, which stand first; the others are muted."""


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
        self._below: dict[str, Option] = {}
        """The layout below the filesystem, or an available one, and its options, by their token."""
        replaced: tuple[str, ...] = ()
        if layout := self._layout:
            replaced = layout.replaces
            self._below[layout.name] = Option(layout.maker, layout.text, source=layout.source)
            for option in layout.options:
                for value in option.values[1:]:
                    name = f"{option.name}={value}"
                    self._below[name] = Option(option.name, option.text, source=option.source)
        options: dict[str, Option] = {}
        for option in filesystem.options:
            if option.name not in replaced:
                options |= dict.fromkeys(option.tokens, option)
        options |= options_of(candidate) | self._below
        self._options = dict(sorted(options.items(), key=lambda item: not _common(item[1])))
        """Options by token."""
        self._ticked = {*candidate.tokens, *(array.name.split(",") if array else ())}

    def body(self) -> ComposeResult:
        yield Static(id="name", markup=False)
        with Container(id="chooser"):
            yield Table(Column(), Column(flexible=True), ticks=True, id="options")
            yield Static(id="meaning", markup=False)

    def on_mount(self) -> None:
        self._show()
        self.table.focus()

    @property
    def composed(self) -> str:
        """Name of the composed candidate."""
        below = [token for token in self._below if token in self._ticked]
        options = [token for token in self._options if token in self._ticked and token not in self._below]
        if below and self._layout and not self._layout.program:  # a layout of the filesystem's own: btrfs:raid1
            return ",".join((*below, *options))
        name = self._filesystem.name
        if options:
            name += f":{','.join(options)}"
        return f"{','.join(below)}+{name}" if below else name

    def _show(self) -> None:
        rows = []
        for token, option in self._options.items():
            unsafe = (f"⚠ {_('unsafe')}  " if option.unsafe else "", "bold $text-error")
            name = (token, "bold" if _common(option) else "$muted")
            rows.append(Row(token, (name, text(unsafe, (_(option.text), "$muted"))), token in self._ticked))
        self.table.show(rows)
        self.say(f"{_('compare')}  ", (self.composed, "bold $text-primary"))

    @on(DataTable.RowHighlighted)
    def _explain(self) -> None:
        option = self._options[self.table.key]
        source = _("Source: {source}", source=option.source) if option.source else ""
        explained = text((f"{self.table.key}\n", "bold"), option_text(option), (f"\n{source}", "$muted"))
        self.query_one("#meaning", Static).update(explained)

    @on(Table.Ticked)
    def _tick(self, event: Table.Ticked) -> None:
        token, options = event.key, self._options
        layout = self._layout.name if self._layout and token in self._below else ""
        state = self.wizard.machine.available.get(layout)
        if state and not state.usable:
            self.refuse(f"{state.reason} {state.hint}")
            return
        if token not in self._ticked:
            option = options[token]
            excluded = set()
            for other in self._ticked:
                name = options[other].name
                if option.name in (name, *options[other].replaces) or name in option.replaces:
                    excluded.add(other)
            self._ticked = (self._ticked - excluded) | {token}
            self._ticked |= {layout} - {""}  # what is chosen about a volume asks for the volume
        elif token == layout:
            self._ticked.difference_update(self._below)
        else:
            self._ticked.discard(token)
        self._show()

    def action_accept(self) -> None:
        try:
            self.dismiss(parse_candidate(self.composed).name)
        except FswizardError as error:
            self.show_error(error)


def _common(option: Option) -> bool:
    return option.name.partition("=")[0] in COMMON
