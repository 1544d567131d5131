"""The report in every format: seen before it is copied or saved."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from fswizard import language
from fswizard.advice import again
from fswizard.errors import FswizardError
from fswizard.language import N_, _, n_
from fswizard.model.analysis import Findings
from fswizard.model.text import safe, safe_lines
from fswizard.report import FORMATS, Format
from fswizard.report.presentation import present
from fswizard.report.privacy import harmless
from fswizard.tui import outcome
from fswizard.tui.drawing import COLOURS, WIDEST, cut, fit, lines, text, wrap
from fswizard.tui.screens.base import SCROLL_PAGES, Window, WithBox
from fswizard.tui.widgets.canvas import Canvas
from fswizard.tui.widgets.choice_list import ChoiceList, ListRow

PREVIEW_LINES = 400
PICTURES = ("svg", "png", "png-dark")
PICTURE = N_("A picture of 1200×630 pixels with this on it. Press s to save it.")


class ExportScreen(Window[None], WithBox[None]):
    """Formats at the left, a live preview at the right."""

    TITLE = N_("Export")
    LOOK = "full"
    BOX, LIST = "#file", "#formats"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "copy", N_("copy")),
        Binding("c", "copy", N_("copy"), show=False),
        Binding("s", "save", N_("save to a file")),
        Binding("e", "english", N_("in English")),
        *SCROLL_PAGES,
        Binding("escape", "back", N_("back")),
    ]

    def __init__(self, findings: Findings, format_name: str = "") -> None:
        """It opens with that format, or with the first one."""
        super().__init__()
        self._opened_with = format_name
        self._findings = findings
        self._english = False
        self._rendered: dict[str, str | bytes] = {}
        self._shown: str | bytes | None = None
        """None where it is being made, or cannot be."""

    def body(self) -> ComposeResult:
        with Horizontal(id="export"):
            yield ChoiceList(id="formats", keeps_highlight=True)
            yield VerticalScroll(Canvas(id="preview"), id="previews", can_focus=False)
        yield Static(id="message", markup=False)
        yield Input(id="file")

    def on_mount(self) -> None:
        self.query_one(".window").border_subtitle = _("serial numbers, host and user names are left out")
        rows = (ListRow(name, partial(_row, name, kind)) for name, kind in FORMATS.items())
        self.query_one(ChoiceList).rows = tuple(rows)
        self.query_one(ChoiceList).highlight(self._opened_with)
        self.query_one(ChoiceList).focus()

    @property
    def _format(self) -> str:
        return self.query_one(ChoiceList).key

    @on(ChoiceList.Chosen)
    def _preview(self) -> None:
        name = self._format
        if not name:
            return
        self.query_one(".window").border_title = _("Export: {format}", format=_(FORMATS[name].title))
        if name in self._rendered:
            self._show(name)
        else:
            self._shown = None
            render = self.wizard.backend.render
            made = partial(render, self._findings, name, english=self._english)
            self.ask(made, partial(self._keep, name), fails=self._cannot_render)

    def _cannot_render(self, error: FswizardError) -> None:
        self._shown = None
        self.refresh_bindings()
        self.query_one("#preview", Canvas).show(lambda width: Content())
        self.show_error(error)

    def _keep(self, name: str, rendered: str | bytes) -> None:
        self._rendered[name] = rendered
        self._show(name)

    def _show(self, name: str) -> None:
        if name != self._format:
            return
        self._shown = self._rendered[name]
        self.say("")
        self.refresh_bindings()
        if name in PICTURES:
            self._show_card()
            return
        words = self._shown if isinstance(self._shown, str) else ""
        rows = safe_lines(words).expandtabs(4).splitlines()
        shown = rows[:PREVIEW_LINES]
        rest = len(rows) - len(shown)
        more = n_("… and {count} more line", "… and {count} more lines", rest)

        def draw(width: int) -> Content:
            drawn = [line for row in shown for line in _preview_lines(row, width)]
            return lines([*drawn, text((more, "$muted"))] if rest else drawn)

        self.query_one("#preview", Canvas).show(draw)
        self.query_one("#previews").scroll_home(animate=False)

    def _show_card(self) -> None:
        """What the picture will show, before it is written."""
        with self._language():
            view = present(harmless(self._findings, identify=False))
        drive, (how, tone) = view.findings.result.plan.drive, view.recording

        def draw(width: int) -> Content:
            badge = (f"  {how}" if how else "", f"bold {COLOURS[tone][0]}")
            model = [text((drive.model, "bold"), badge)] if drive and drive.model else []
            shown = min(width, WIDEST)
            return lines((
                text((_(PICTURE), "$muted")), Content(""), *model, text((view.subject, "$muted")), Content(""),
                outcome.headline(view, shown), *(wrap((view.fixed, "bold"), shown) if view.fixed else []), Content(""),
                outcome.figures(view, shown, PREVIEW_LINES), Content(""), *wrap((view.attempt, "$text-primary"), shown),
                text((" · ".join((view.length, view.when, "fswizard")), "$muted")),
            ))  # fmt: skip

        self.query_one("#preview", Canvas).show(draw)
        self.query_one("#previews").scroll_home(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        possible = {"copy": isinstance(self._shown, str), "save": self._shown is not None,
                    "english": language.chosen() != language.ENGLISH}  # fmt: skip
        return possible.get(action, True)

    def _language(self) -> AbstractContextManager[None]:
        return language.in_english() if self._english else nullcontext()

    def action_english(self) -> None:
        """In English, or in the reader's language again."""
        self._english = not self._english
        with self._language():
            self._findings = again(self._findings)
        self._rendered.clear()
        self._preview()

    def action_copy(self) -> None:
        if isinstance(self._shown, str):
            self.wizard.copy_to_clipboard(self._shown)
            self.say(("✓ ", "bold $text-success"), _("Copied, if your terminal allows it."))

    def action_save(self) -> None:
        started = self._findings.result.environment.started[:10] or "report"
        self.open_box("", str(Path.home() / f"fswizard-{started}{FORMATS[self._format].suffix}"))

    def handle_text(self, typed: str) -> None:
        if typed and self._shown is not None:
            content = self._shown if isinstance(self._shown, bytes) else self._shown.encode()
            self._write(Path(typed).expanduser(), content)

    @work(thread=True, exclusive=True)
    def _write(self, path: Path, content: bytes) -> None:
        try:
            self.wizard.backend.export(path, content)
        except FileExistsError:
            words = _("{path} exists already; choose another name.", path=safe(str(path)))
            self.call_in_app(self.say, ("✗ ", "bold $text-error"), words)
        except OSError as error:
            words = _("{path} cannot be written: {why}.", path=safe(str(path)), why=error.strerror)
            self.call_in_app(self.say, ("✗ ", "bold $text-error"), words)
        else:
            self.call_in_app(self.close_box)
            self.call_in_app(self.say, ("✓ ", "bold $text-success"), _("Saved as {path}.", path=safe(str(path))))

    def say_usual(self) -> None:
        self.say("")


def _preview_lines(row: str, width: int) -> list[Content]:
    """Prose wrapped; what stands in columns, or is indented, keeps its line and is cut."""
    return [text(cut(row, width))] if row.startswith(("|", " ")) or "  " in row else wrap(row, width) or [Content("")]


def _row(name: str, kind: Format, width: int, on: bool) -> Content:
    title = _(kind.title) if width >= 39 else ""
    return text(" ", fit((name, "bold"), 10), (title, "$muted"))
