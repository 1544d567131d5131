"""What can be measured on: scratch images, several disks, partitions, a whole disk. Each is a line of a list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from fswizard.errors import FswizardError
from fswizard.language import _, p_
from fswizard.model.units import binary_text, size_text
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drawing import Piece, filled, keyed, text
from fswizard.tui.drives import DEVICE, largest_that_fits, losing, losses, several_words, too_large

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.tui.backend import Place
    from fswizard.tui.machine import MachineCache


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can be measured on."""

    key: str
    name: Piece
    summary: Piece = ""
    """What is lost, or why it cannot be used; cut where there is no room for more."""
    meaning: Piece = ""
    """What choosing it means, in sentences."""
    problem: Content | None = None
    """What stands against it, and what can be done."""
    proposed: bool = False
    """A disk on which nothing is."""
    elsewhere: str = ""
    """Name of the disk that is tested in place of the highlighted one."""
    fitting_bytes: int = 0
    """To this size the image must shrink to fit."""
    known: bool = True
    """False while it is still looked for."""


def targets(choices: WizardChoices, machine: MachineCache, disk: str) -> Iterator[Target]:
    """What can be measured on, for the disk of that kernel name."""
    place, named = machine.places.get(disk), machine.named.get(choices.directory)
    yield _image("default", place, choices, machine, disk)
    if named is None:
        meaning = _("A scratch image in a directory that you name, removed afterwards: nothing is lost.")
        yield Target("named", _("another directory (d)"), nothing_lost(), text(meaning))
    else:
        yield _image("named", named, choices, machine, disk)
    if choices.images > 1:
        images = several_words(choices)
        target = _image("several", named or place, choices, machine, disk)
        meaning = _("{images}, to try layouts: nothing is lost.", images=images)
        yield replace(target, name=images, meaning=target.meaning if target.elsewhere else text(meaning))
    else:
        yield _several_disks(choices)
    yield from map(device_target, machine.offers.get(disk, ()))


def _image(
    key: str, place: Place | FswizardError | None, choices: WizardChoices, machine: MachineCache, disk: str
) -> Target:
    recipe = choices.recipe
    size = changeable(binary_text(recipe.image_bytes) if recipe else "", "screen.resize")
    name = filled(_("a scratch image of {size}"), size=size)
    if place is None:
        return Target(key, name, (_("looking for free space …"), "$muted"), known=False)
    if isinstance(place, FswizardError):
        return Target(key, (name.plain, "$muted"), (f"✗ {_(place.message)}", "$muted"), problem=failure(place))
    summary = in_directory(place)
    meaning = text(_("A scratch image in {directory}, removed afterwards: nothing is lost.", directory=place.directory))
    elsewhere = ""
    if place.remark or place.drive != disk:
        elsewhere = place.drive or place.directory
        warning = _("It goes onto {other}, so {other} is tested, not {disk}", other=elsewhere, disk=disk)
        meaning = text((f"! {_(place.remark) or warning}", "$text-warning"))
        summary = text((f"! {p_('scratch image', 'image on {device}', device=elsewhere)} ", "$text-warning"), summary)
    target = Target(key, name, summary, meaning, elsewhere=elsewhere)
    images = choices.images if key == "several" else 1
    if recipe is None or not (short := too_large(recipe, place, images)):
        return target
    mend = _("`d` names another directory.")
    fitting_bytes = largest_that_fits(recipe, place, machine.image_sizes(recipe)) if images == 1 else 0
    if fitting_bytes:
        size_words = binary_text(fitting_bytes)
        mend = _("`s` shrinks the image to {size}, `d` names another directory.", size=size_words)
    return replace(target, problem=refusal(f"{short} {mend}"), fitting_bytes=fitting_bytes)


def _several_disks(choices: WizardChoices) -> Target:
    if not choices.members:
        meaning = _("Compare RAID, mirrors and raidz on several disks, or on scratch images without losing anything.")
        return Target("several", _("several disks or images (a)"), meaning=text(meaning))
    disks = several_words(choices)
    loss = _("{disks} are formatted for the test and left empty; you confirm each in the review.", disks=disks)
    erased = (f"⚠ {p_('disks', 'erased')}", "bold $text-error")
    return Target("several", disks, erased, text(("⚠ ", "bold $text-error"), loss))


def device_target(offer: Offer) -> Target:
    """A partition or the whole disk."""
    key, size = DEVICE + offer.path, size_text(offer.size_bytes)
    name = _("the partition {name}, {size}", name=offer.name, size=size)
    if offer.whole:
        name = _("the whole disk {name}, {size}", name=offer.name, size=size)
    if offer.refused is not None:
        reason = (f"✗ {_(offer.refused.message)}", "$muted")
        return Target(key, (name, "$muted"), reason, problem=failure(offer.refused))
    then = _("It is formatted for the test and left empty; you confirm that in the review.")
    head: Piece = (f"⚠ {_('You would lose:')} ", "bold $text-error")
    loss = f"{losses(offer)}."
    if offer.empty:
        head = (_("Nothing was found on {device}:", device=offer.name) + " ", "bold $text-success")
        loss = _("nothing is lost.")
    return Target(key, name, losing(offer), text(head, f"{loss} {then}"), proposed=offer.whole and offer.empty)


def gone(key: str, *, looking: bool) -> Target:
    """A device that was chosen and can't be used any more, or while it is looked for."""
    name = (key.rpartition("/")[2], "$muted")
    if looking:
        return Target(key, name, (_("checking it …"), "$muted"), known=False)
    problem = refusal(_("That partition or disk can't be used any more. Choose again, or rescan: `r`."))
    return Target(key, name, (f"✗ {_('It is gone.')}", "$muted"), problem=problem)


def nothing_lost() -> Content:
    return text((_("nothing is lost"), "$text-success"))


def in_directory(place: Place) -> Content:
    """Where a scratch image goes."""
    return text(filled(p_("scratch image", "in {directory}"), directory=place.directory), ": ", nothing_lost())


def changeable(words: str, action: str) -> Content:
    """A value that left and right change; so does a click on the arrows, by `action(-1)` and `action(1)`."""
    less, more = (Style.from_meta({"@click": f"{action}({direction})"}) for direction in (-1, 1))
    arrow = "bold $text-primary"
    return text(text(("◂", arrow)).stylize(less), (f" {words} ", "bold"), text(("▸", arrow)).stylize(more))


def refusal(words: str) -> Content:
    """What stands against a choice; keys stand between backticks."""
    return text(("✗ ", "bold $text-error"), keyed(words))


def failure(error: FswizardError) -> Content:
    """What went wrong, and what can be done."""
    hint = _(error.hint_without_switches)
    return text(("✗ ", "bold $text-error"), (_(error.message), "$text-error"), f" {hint}".rstrip())
