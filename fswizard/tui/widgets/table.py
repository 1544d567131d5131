"""Lists with columns, and tables of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich import table as rich_table
from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.style import Style
from textual.widget import Widget
from textual.widgets import DataTable, Static
from textual.widgets.data_table import RowKey

from fswizard.language import _
from fswizard.tui.drawing import Piece, text

MOVES = (
    Binding("up", "cursor_up", _("choose"), show=False),
    Binding("down", "cursor_down", _("choose"), show=False),
    Binding("pageup", "page_up", _("scroll"), show=False),
    Binding("pagedown", "page_down", _("scroll"), show=False),
)
"""Keys that move the highlight of every list."""
TICKS: dict[bool | None, Piece] = {True: ("[✓]", "bold $text-primary"), False: ("[ ]", "$muted"), None: ""}


def as_rich(widget: Widget, piece: Piece) -> Text:
    """`piece` as Rich text in the colours of the theme, for Textual widgets that require that."""
    parts = text(piece).render(Style(), end="", parse_style=widget.app.stylesheet.parse_style)
    return Text.assemble(*((message, style.rich_style) for message, style in parts))


@dataclass(frozen=True, slots=True)
class Column:
    """Layout of a column of a `Table`."""

    title: str = ""
    right: bool = False
    """Aligned to the right, as for figures."""
    optional: bool = False
    """Omitted if the terminal is too narrow."""
    flexible: bool = False
    """Takes the remaining width, and is truncated to it. One column at most."""
    least: int = 12
    """Minimum width in cells of a flexible column, for which optional columns are omitted."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a `Table`."""

    key: str
    cells: tuple[Piece, ...]
    ticked: bool | None = None
    """Whether its box is ticked; None for a row without a box."""


class Table(DataTable[Text], inherit_bindings=False):
    """Rows below named columns. The highlight stays on its row when the rows change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", _("tick"), key_display="space"),
        *MOVES,
        Binding("home", "scroll_top", _("first"), show=False),
        Binding("end", "scroll_bottom", _("last"), show=False),
    ]

    class Ticked(Message):
        """Space was pressed on a row with a box, or the box was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *columns: Column, ticks: bool = False, **arguments: Any) -> None:
        super().__init__(cursor_type="row", cell_padding=1, **arguments)
        self._shape: Sequence[Column] = columns
        self._ticks = ticks
        self._displayed_rows: tuple[Row, ...] = ()

    def show(self, rows: Iterable[Row], columns: Sequence[Column] = ()) -> None:
        """Replace the rows, and the columns unless `columns` is empty."""
        key = self.key
        self._shape = columns or self._shape
        self._displayed_rows = tuple(rows)
        self._fill(key)

    @property
    def keys(self) -> list[str]:
        """Keys of all rows, from top to bottom."""
        return [row.key for row in self._displayed_rows]

    @property
    def key(self) -> str:
        """Key of the highlighted row; empty without rows."""
        return self.keys[self.cursor_row] if self.cursor_row < len(self._displayed_rows) else ""

    def highlight(self, key: str) -> None:
        """Highlight the row with that key, if it exists."""
        if key in self.keys:
            self.move_cursor(row=self.keys.index(key))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to tick only where there is a row with a box."""
        return action != "tick" or any(row.ticked is not None for row in self._displayed_rows)

    def action_tick(self) -> None:
        if self._displayed_rows[self.cursor_row].ticked is not None:
            self.post_message(self.Ticked(self.key))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Handle a click on the highlighted row."""
        if self._ticks:
            event.stop()
            self.action_tick()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._fill(self.key))

    def on_resize(self) -> None:
        self._fill(self.key)

    def _fill(self, key: str) -> None:
        """Rebuild columns and rows; `key` is that of the row to highlight."""
        if not self.is_attached:
            return
        offset = self.scroll_offset
        cells = [[as_rich(self, cell) for cell in row.cells] for row in self._displayed_rows]
        widths = self._widths(cells)
        shown = [number for number, width in enumerate(widths) if width]
        self.show_header = any(column.title for column in self._shape)
        with self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            if self._ticks:
                self.add_column("", width=3)
            for number in shown:
                column = self._shape[number]
                title = Text(column.title, justify="right" if column.right else "left")
                self.add_column(title, width=widths[number])
            for row, line in zip(self._displayed_rows, cells):
                texts = [as_rich(self, TICKS[row.ticked])] if self._ticks else []
                for number in shown:
                    line[number].justify = "right" if self._shape[number].right else "left"
                    line[number].overflow = "ellipsis"
                    texts.append(line[number])
                self.add_row(*texts, key=row.key)
        self.highlight(key)
        self.scroll_to(y=offset.y, animate=False, immediate=True)
        if self.key:  # what is said of a row may have changed with it
            self.post_message(DataTable.RowHighlighted(self, self.cursor_row, RowKey(self.key)))
        self.refresh_bindings()

    def _widths(self, cells: Sequence[Sequence[Text]]) -> list[int]:
        """Width of each column in cells; 0 for omitted columns."""
        widths = []
        for number, column in enumerate(self._shape):
            width = max([cell_len(column.title), *(line[number].cell_len for line in cells)])
            widths.append(min(width, column.least) if column.flexible else width)
        spare = self.scrollable_content_region.width - (5 if self._ticks else 0)
        spare -= sum(width + 2 for width in widths if width)
        for number, column in reversed(list(enumerate(self._shape))):
            if spare < 0 and column.optional and widths[number]:
                spare += widths[number] + 2
                widths[number] = 0
        for number, column in enumerate(self._shape):
            if column.flexible:
                widths[number] = max(4, widths[number] + spare)
        return widths


class Facts(Static):
    """Labels or marks at the left, and wrapped text at their right."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(markup=False, **arguments)
        self.pairs: tuple[tuple[Piece, Piece], ...] = ()

    def show(self, pairs: Iterable[tuple[Piece, Piece]]) -> None:
        """Replace the pairs."""
        self.pairs = tuple(pairs)
        labelled = any(isinstance(name, str) and name for name, _ in self.pairs)
        grid = rich_table.Table.grid(padding=(0, 2 if labelled else 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        for name, message in self.pairs:
            label = (name, "bold $muted") if isinstance(name, str) else name
            grid.add_row(as_rich(self, label), as_rich(self, message))
        self.update(grid)

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.show(self.pairs))
