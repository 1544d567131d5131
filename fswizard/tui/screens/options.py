"""A window with the options of a filesystem: each one explained as it is highlighted."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from fswizard.errors import FswizardError
from fswizard.filesystems import layouts, parse_candidate, value_error
from fswizard.language import N_, _
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import Array
from fswizard.tui.candidates import (
    Option,
    chosen_tokens,
    conflicts,
    kind_of,
    layout_tokens,
    option_row,
    option_tokens,
    option_words,
    options_of,
    short_name,
    volume_tokens,
)
from fswizard.tui.drawing import lines, text, wrap
from fswizard.tui.screens.base import TextBox, Window
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow


class OptionsScreen(Window[str | None]):
    """Dismissed with the short name of the candidate that was put together."""

    LOOK = "tall"
    MESSAGE = "#name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", N_("compare this")),
        Binding("v", "value", N_("other value")),
        Binding("escape", "dismiss", N_("back")),
    ]

    def __init__(self, candidate: Candidate, *, across: int = 1) -> None:
        """`across` is the number of devices."""
        super().__init__()
        self._highlighted: Option | None = None
        self.title = _("Options of {filesystem}", filesystem=candidate.filesystem.title)
        self._filesystem = candidate.filesystem
        self._array = candidate.array
        self._of_layout = layout_tokens(candidate.array)
        self._volumes = volume_tokens(candidate.filesystem) if across == 1 else {}
        replaced = candidate.array.layout.replaces if candidate.array else ()
        own = {t: option for t, option in option_tokens(candidate.filesystem) if option.name not in replaced}
        own |= dict(options_of(candidate))
        self._options: dict[str, Option] = {**self._of_layout, **own}
        if self._volumes:
            self._options = {**own, **self._volumes, **self._of_layout}
        self._ticked = {name for name, _ in options_of(candidate)} | chosen_tokens(candidate.array)

    def body(self) -> ComposeResult:
        yield Static(id="name", markup=False)
        with Container(id="choosing"):
            yield ChoiceList(ticks=True, id="options", keeps_highlight=True)
            yield Canvas(id="words")

    def on_mount(self) -> None:
        self._fill()
        self.query_one(ChoiceList).focus()

    def _fill(self) -> None:
        rows = []
        for token, option in self._options.items():
            below = _("below") if self._volumes else _("array")
            kind = below if token in (*self._volumes, *self._of_layout) else kind_of(option, self._filesystem)
            rows.append(ListRow(token, partial(option_row, token, option, kind, ticked=token in self._ticked)))
        self.query_one(ChoiceList).rows = tuple(rows)
        self.say(f"{_('compare')}  ", (self._short_name, "bold $text-primary"))

    @property
    def _short_name(self) -> str:
        chosen = [token for token in self._options if token in self._ticked]
        of_layout = [token for token in chosen if token in self._of_layout]
        options = [token for token in chosen if token not in (*self._volumes, *self._of_layout)]
        return short_name(self._filesystem.name, self._array, of_layout, options)

    @on(ChoiceList.Ticked)
    def _tick(self, event: ChoiceList.Ticked) -> None:
        token, option = event.key, self._options[event.key]
        state = self.wizard.machine.available.get(token)
        if token in self._volumes and state and not state.usable:
            self.refuse(f"{state.reason} {state.hint}")
        elif token in self._volumes:
            self._lay_on(None if token in self._ticked else token)
        elif token in self._ticked:
            self._ticked.discard(token)
            self._fill()
        else:
            self._add(option, token)

    def _lay_on(self, volume: str | None) -> None:
        """Have it lie on a volume, whose own options are then there to choose, or on the device directly."""
        own = {token: option for token, option in self._options.items() if token not in self._of_layout}
        self._ticked = self._ticked.intersection(own).difference(self._volumes) | ({volume} if volume else set())
        self._array = Array(layouts()[volume]) if volume else None
        self._of_layout = layout_tokens(self._array)
        self._options = {**own, **self._of_layout}
        self._fill()

    @on(ChoiceList.Chosen)
    def _explain(self, event: ChoiceList.Chosen) -> None:
        option = self._options[event.key]
        self._highlighted = option
        self.refresh_bindings()

        def draw(width: int) -> Content:
            source = text((_("Source: {source}", source=option.source), "$muted")) if option.source else Content("")
            beside = [text((event.key, "bold")), Content("")] if not self.has_class("-narrow") else []
            return lines([*beside, *wrap(option_words(option), width), *wrap(source, width)])

        self.query_one("#words", Canvas).show(draw)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A value is asked for where the highlighted option takes one."""
        if action == "value":
            return bool(self._highlighted and self._highlighted.pattern)
        return super().check_action(action, parameters)

    def action_value(self) -> None:
        """Ask for a value that isn't in the list, and tick it."""
        if option := self._highlighted:
            self.wizard.push_screen(ValueScreen(self._filesystem, option), partial(self._add, option))

    def _add(self, option: Option, token: str | None) -> None:
        if token is None:
            return
        if token not in self._options:
            tokens = list(self._options)
            after = max(index for index, other in enumerate(tokens) if self._options[other].name == option.name) + 1
            tokens.insert(after, token)
            self._options = {each: self._options.get(each, option) for each in tokens}
        self._ticked = {other for other in self._ticked if not conflicts(option, self._options[other])} | {token}
        self._fill()
        self.query_one(ChoiceList).highlight(token)

    def action_accept(self) -> None:
        try:
            self.dismiss(parse_candidate(self._short_name).name)
        except FswizardError as error:
            self.show_error(error)


class ValueScreen(Window[str | None]):
    """Dismissed with an option and its value, as they are typed: `agcount=24`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", N_("back"))]

    def __init__(self, filesystem: Filesystem, option: Option) -> None:
        super().__init__()
        self.title = _("Value of {option}", option=option.name)
        self._filesystem = filesystem
        self._option = option

    def body(self) -> ComposeResult:
        yield TextBox(placeholder=_("such as {example}", example=", ".join(self._option.values)))
        yield Static(id="message", markup=False)

    @on(TextBox.Submitted)
    def _submitted(self, event: TextBox.Submitted) -> None:
        token = f"{self._option.name}={event.value.strip()}"
        if self._option.is_meant_by(token):
            self.dismiss(token)
        elif wrong := value_error(self._filesystem, token):
            self.show_error(wrong)
