"""First step: the purpose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from fswizard.language import N_, _, p_
from fswizard.model.drive import Drive
from fswizard.model.text import mid_sentence
from fswizard.model.units import binary_text, duration_text
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.drawing import Piece, text
from fswizard.tui.screens.base import StepScreen
from fswizard.tui.widgets.options import Options, heading
from fswizard.tui.widgets.table import Facts

if TYPE_CHECKING:
    from fswizard.disks.journal import Leftover

PURPOSES: dict[Purpose, tuple[str, str, str]] = {
    "quick": ("▸", N_("Quick look"), N_("Copying, searching, saving: an answer in minutes")),
    "archive-disk": ("▤", N_("Archive disk"), N_("A large disk that is filled and then rarely touched")),
    "desktop-ssd": ("◉", N_("Desktop SSD"), N_("System and home on one fast disk")),
}
EARLIER = {
    "ongoing": (N_("In progress"), N_("shows this run live. You can stop it there, or just watch.")),
    "left": (
        N_("Left behind by a run that was killed"),
        N_("removes what the run left on the disk. Its results so far stay in the history."),
    ),
    "resume": (N_("Resume an unfinished run"), N_("shows what is left to measure. The results so far are kept.")),
}
"""Heading and effect of Enter for unfinished runs, by the kind of row."""
LARGE_BYTES = 2e12
"""Size from which a hard disk is most likely an archive."""
OF_SYSTEM = ("/", "/boot", "/boot/efi", "/usr", "/home", "/var")
"""Mount points that make a disk a system disk."""
WORDMARK = """\
▄▀▀ ▄▀▀ █   █ █ ▀▀▀█ ▄▀▀▄ █▀▀▄ █▀▀▄
█▀  ▀▀▄ █ █ █ █  ▄▀  █▄▄█ █▄▄▀ █  █
█   ▄▄▀ ▀▄▀▄▀ █ █▄▄▄ █  █ █  █ █▄▄▀"""


def proposed(drives: Sequence[Drive]) -> Purpose:
    """The default purpose on a machine with these disks."""
    for drive in drives:
        shingled = not drive.flash and drive.smr.kind in ("host-managed", "host-aware", "drive-managed")
        large = drive.turns and drive.size_bytes >= LARGE_BYTES
        of_system = any(part.mount_point in OF_SYSTEM for part in drive.partitions)
        if (shingled or large) and not of_system:
            return "archive-disk"
    return "quick"


class PurposeScreen(StepScreen):
    """Purposes and unfinished runs."""

    CSS_PATH = "purpose.tcss"
    QUESTION = N_("What would you like to know?")
    HELP = _(
        "fswizard finds out which filesystem, with which mount options, suits a disk and what you do with it, "
        "by measuring on that disk. It also says whether a disk is shingled (SMR), and how it knows.\n\n"
        "Pick a purpose, then keep pressing Enter: the defaults lead to a recommendation. Each of them can be changed "
        "on the way, for any disk, filesystems, options and recipe.\n\n"
        "Nothing of yours is formatted or lost: the filesystems are made in a scratch image, a large file "
        "that is removed afterwards, unless you choose a partition or a whole disk and type its serial number. "
        "Some options and filesystems need root; the review says so."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("h", "app.history", _("history"))]

    purposes = getters.query_one("#purposes", Options)
    about = getters.query_one("#about", Facts)

    def body(self) -> ComposeResult:
        with Horizontal(id="parts"):
            yield Options(id="purposes")
            with VerticalScroll(classes="details", can_focus=False) as details:
                details.border_title = _("What this does")
                yield Facts(id="about")

    def on_mount(self) -> None:
        from fswizard import session
        from fswizard.disks import journal
        from fswizard.drives import inventory

        self._found: dict[str, Sequence[Any]] = dict.fromkeys((*EARLIER, "disks"), ())
        """Unfinished runs by the kind of row, and disks, as far as known."""
        self._moved = self.choices.recipe is not None
        """The highlight is where the user wants it."""
        self.mount(Static(text((WORDMARK, "bold $text-primary")), id="wordmark"), before="#heading")
        self.say(_("Measured on your own disk, in minutes. Nothing of yours is lost."))
        self._fill()
        self.purposes.highlight(self.choices.purpose)
        self._propose()
        self.purposes.focus()
        for kind, question in (
            ("ongoing", session.ongoing),
            ("left", journal.leftovers),
            ("resume", session.resumable),
            ("disks", inventory),
        ):
            self.ask(question, partial(self._add, kind), group=kind, exit_on_error=False)

    def on_key(self) -> None:
        self._moved = True

    def _propose(self) -> None:
        """Highlight the most likely row, unless the user has moved the highlight."""
        if not self._moved:
            self.purposes.highlight("ongoing-0" if self._found["ongoing"] else proposed(self._found["disks"]))

    def _add(self, kind: str, items: Sequence[Any]) -> None:
        self._found[kind] = items
        self._fill()
        self._propose()

    def _fill(self) -> None:
        options = self._earlier("ongoing")
        for name, (glyph, title, why) in PURPOSES.items():
            row = text((f" {glyph} ", "$text-primary"), (_(title), "bold"), (f"\n   {_(why)}", "$muted"))
            options.append(Option(row, id=name))
        self.purposes.show([*options, *self._earlier("left"), *self._earlier("resume")])

    def _earlier(self, kind: str) -> list[Option]:
        options = [Option(_run_text(kind, item), id=f"{kind}-{n}") for n, item in enumerate(self._found[kind])]
        return [heading(_(EARLIER[kind][0])), *options] if options else []

    @on(Options.OptionHighlighted, "#purposes")
    def _explain(self) -> None:
        self.ask(partial(self._about, self.purposes.key), self.about.show, group="about")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "back" and super().check_action(action, parameters)

    @on(Options.OptionSelected, "#purposes")
    def action_forward(self) -> None:
        from fswizard.session import FollowedRun, take_up

        key = self.purposes.key
        if key in PURPOSES:
            if key != self.choices.purpose or self.choices.recipe is None:
                self.wizard.choices = WizardChoices(purpose=key, recipe=self.wizard.machine.recipe(key))
            self.wizard.go_on()
            return
        kind, __, number = key.partition("-")
        item = self._found[kind][int(number)]
        if kind == "ongoing":
            self.ask(lambda: FollowedRun(item.path), self.wizard.show_run)
        elif kind == "left":
            self._clean(item)
        else:
            self.ask(lambda: take_up(item.path), self.wizard.take_up)

    def _clean(self, leftover: Leftover) -> None:
        from fswizard.disks.journal import clean

        def done(not_found: tuple[str, ...]) -> None:
            self._add("left", [item for item in self._found["left"] if item is not leftover])
            self.say(("✓ ", "bold $text-success"), " ".join((_("Cleaned up."), *map(_, not_found))))

        self.ask(lambda: clean(leftover), done)

    def _about(self, key: str) -> Sequence[tuple[Piece, Piece]]:
        """What a row leads to. In a thread, as the first answer reads all recipes."""
        if key not in PURPOSES:
            return [(p_("key", "Enter"), _(EARLIER[key.partition("-")[0]][1]))]
        recipe = self.wizard.machine.recipe(key)
        size, longest = binary_text(recipe.image_bytes), duration_text(recipe.minutes * 60)
        return (
            (p_("purpose", "For"), _(recipe.why)),
            (_("Measures"), ", ".join(mid_sentence(workload.title) for workload in recipe.workloads)),
            (_("Needs"), _("{size} free for a scratch image, and no administrator rights on a desktop", size=size)),
            (_("Time"), _("up to {duration}; stops early once the result is clear", duration=longest)),
        )


def _run_text(kind: str, item: Any) -> Content:
    """An unfinished run in one line, with the least important part at the end, which narrow screens truncate."""
    if kind == "ongoing":
        return text((" ▶ ", "$text-success"), _("Watch {run}", run=item.text))
    if kind == "left":
        return text((" ⌫ ", "$text-warning"), _("Clean up {what}", what=", ".join(item.directories)))
    answer = (_("↻ resume"), "$text-success")
    return text("   ", (item.when, "$muted"), f"  {item.header.recipe}  ", answer, f"  {item.header.drive}")
