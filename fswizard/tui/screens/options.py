"""A window with the options of a filesystem: each one explained as it is highlighted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from fswizard.errors import FswizardError
from fswizard.model.filesystem import Candidate
from fswizard.tui.candidates import Option, conflicts, option_row, option_tokens, option_words, options_of
from fswizard.tui.drawing import lines, text, wrap
from fswizard.tui.layouts import chosen_tokens, layout_tokens, short_name
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow
from fswizard.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from fswizard.tui.app import FswizardApp


class OptionsScreen(ModalScreen[str | None]):
    """Dismissed with the short name of the candidate that was put together."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "compare this"),
        Binding("escape", "dismiss", "back"),
    ]

    def __init__(self, candidate: Candidate) -> None:
        super().__init__()
        self._filesystem = candidate.filesystem
        self._array = candidate.array
        self._of_layout = layout_tokens(candidate.array)
        replaced = candidate.array.layout.replaces if candidate.array else ()
        self._options: dict[str, Option] = dict(self._of_layout)
        self._options |= {t: option for t, option in option_tokens(candidate.filesystem) if option.name not in replaced}
        self._options |= dict(options_of(candidate))
        self._ticked = {name for name, _ in options_of(candidate)} | chosen_tokens(candidate.array)

    def compose(self) -> ComposeResult:
        with Vertical(classes="window tall") as window:
            window.border_title = f"Options of {self._filesystem.title}"
            yield Static(id="name", markup=False)
            yield ChoiceList(ticks=True, id="options")
            yield Canvas(id="words")
        yield KeyBar()

    def on_mount(self) -> None:
        self._fill()
        self.query_one(ChoiceList).focus()

    def _fill(self) -> None:
        self.query_one(ChoiceList).rows = tuple(
            ListRow(
                token,
                option_row(
                    token,
                    option,
                    token in self._ticked,
                    of_layout=token in self._of_layout,
                    of_pool=self._filesystem.pool,
                ),
            )
            for token, option in self._options.items()
        )
        self.query_one("#name", Static).update(text("compare  ", (self._short_name, "bold $primary")))

    @property
    def _short_name(self) -> str:
        chosen = [token for token in self._options if token in self._ticked]
        of_layout = [token for token in chosen if token in self._of_layout]
        options = [token for token in chosen if token not in self._of_layout]
        return short_name(self._filesystem.name, self._array, of_layout, options)

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        token, option = event.key, self._options[event.key]
        if token in self._ticked:
            self._ticked.discard(token)
        else:
            self._ticked = {other for other in self._ticked if not conflicts(option, self._options[other])} | {token}
        self._fill()

    @on(ChoiceList.Chosen)
    def _explain(self, event: ChoiceList.Chosen) -> None:
        option = self._options[event.key]

        def draw(width: int) -> Content:
            source = text((f"Source: {option.source}", "$faint")) if option.source else Content("")
            return lines([*wrap(option_words(option), width), *wrap(source, width)])

        self.query_one("#words", Canvas).show(draw)

    def action_accept(self) -> None:
        try:
            self.dismiss(cast("FswizardApp", self.app).backend.parse_candidate(self._short_name).name)
        except FswizardError as error:
            self.query_one("#name", Static).update(text(("✗ ", "bold $error"), error.message, " ", error.hint))
