"""Selectable targets: a scratch image, partitions, whole disks, or several of them. Each is a row of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.filesystems import layouts
from fswizard.language import _, n_, p_
from fswizard.model.recipe import Recipe
from fswizard.model.units import binary_text, size_text
from fswizard.tui.drawing import Piece, filled, keyed, text
from fswizard.tui.drives import DEVICE, losing, losses, several_disks, too_large

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.locations import Location


@dataclass(frozen=True, slots=True)
class Target:
    """A selectable target."""

    key: str
    name: Piece
    summary: Piece = ""
    """What is lost, or why it cannot be used; truncated if necessary."""
    meaning: Piece = ""
    """The consequences of choosing it, or the objection to it, in sentences."""
    usable: bool = True
    known: bool = True
    """False while it is being searched for."""
    elsewhere: str = ""
    """Name of the disk that is tested instead of the highlighted one."""
    offer: Offer | None = None
    """The partition or whole disk."""


NOTHING = Target("", "", usable=False)
IMAGE = "image"
"""Key of the scratch image."""


def image_target(location: Location | FswizardError | None, recipe: Recipe, disk: str) -> Target:
    """A scratch image at a place, for the disk with the kernel name `disk`."""
    arrow, size = "bold $text-primary", (f" {binary_text(recipe.image_bytes)} ", "bold")
    name = filled(_("a scratch image of {size}"), size=text(("◂", arrow), size, ("▸", arrow)))
    if location is None:
        return Target(IMAGE, name, (_("looking for free space …"), "$muted"), known=False)
    if isinstance(location, FswizardError):
        summary = (f"✗ {_(location.message)}", "$muted")
        return Target(IMAGE, (name.plain, "$muted"), summary, failure(location), usable=False)
    lost = text(filled(p_("scratch image", "in {directory}"), directory=location.directory), ": ", _nothing_lost())
    message = _("A scratch image in {directory}, removed afterwards: nothing is lost.", directory=location.directory)
    target = Target(IMAGE, name, lost, text(message))
    if short := too_large(recipe, location):
        smaller = _("`←` makes the image smaller, `d` names another directory.")
        return replace(target, meaning=refusal(f"{short} {smaller}"), usable=False)
    if location.remark or (disk and location.drive != disk):
        other = location.drive or location.directory
        warning = _("It goes onto {other}, so {other} is tested, not {disk}", other=other, disk=disk)
        on_other = f"! {p_('scratch image', 'image on {device}', device=other)} "
        target = replace(
            target,
            summary=text((on_other, "$text-warning"), lost),
            meaning=text((f"! {_(location.remark) or warning}", "$text-warning")),
            elsewhere=other,
        )
    return target


def device_targets(
    offers: Sequence[Offer], needed_bytes: int, ticked: Sequence[str], ticked_bytes: int
) -> Iterator[Target]:
    """Partitions and the whole disk. A device in `ticked` (stable names) stands for an array of all ticked devices."""
    for offer in offers:
        key, size = DEVICE + offer.path, size_text(offer.size_bytes)
        name = _("the partition {name}, {size}", name=offer.name, size=size)
        if offer.whole:
            name = _("the whole disk {name}, {size}", name=offer.name, size=size)
        if offer.refused is not None:
            reason = (f"✗ {_(offer.refused.message)}", "$muted")
            yield Target(key, (name, "$muted"), reason, failure(offer.refused), usable=False)
        elif offer.size_bytes < needed_bytes:
            room = binary_text(offer.size_bytes)
            message = _("It needs {size}, and there are {room}.", size=binary_text(needed_bytes), room=room)
            yield Target(key, (name, "$muted"), (f"✗ {message}", "$muted"), refusal(message), usable=False)
        elif offer.path in ticked and len(ticked) == 1:
            message = _("An array needs two disks: tick another, or untick this one.")
            yield Target(key, name, losing(offer), refusal(message), usable=False, offer=offer)
        elif offer.path in ticked:
            disks = several_disks(len(ticked), ticked_bytes)
            loss = _("{disks} are formatted for the test and left empty; you confirm each in the review.", disks=disks)
            count = n_("{count} disk", "{count} disks", len(ticked))
            names = [_(layout.title) for layout in layouts().values() if layout.fits(len(ticked))]
            fitting = f"{', '.join(names) or _('no layout')}. "
            meaning = text(("⚠ ", "bold $text-error"), f"{loss} ", (f"{count}: ", "bold"), fitting)
            yield Target(key, name, losing(offer), meaning, offer=offer)
        else:
            then = _("It is formatted for the test and left empty; you confirm that in the review.")
            meaning = text((f"⚠ {_('You would lose:')} ", "bold $text-error"), f"{losses(offer)}. {then}")
            if offer.empty:
                nothing = (_("Nothing was found on {device}:", device=offer.name) + " ", "bold $text-success")
                meaning = text(nothing, f"{_('nothing is lost.')} {then}")
            yield Target(key, name, losing(offer), meaning, offer=offer)


def gone(key: str, *, known: bool) -> Target:
    """A chosen device that is no longer among those of its disk, or not yet `known` to be."""
    name = (key.rpartition("/")[2], "$muted")
    if not known:
        return Target(key, name, (_("checking it …"), "$muted"), known=False)
    problem = refusal(_("That partition or disk can't be used any more. Choose again, or rescan: `r`."))
    return Target(key, name, (f"✗ {_('It is gone.')}", "$muted"), problem, usable=False)


def refusal(message: str) -> Content:
    """An objection to a choice; keys are in backticks."""
    return text(("✗ ", "bold $text-error"), keyed(message))


def failure(error: FswizardError) -> Content:
    """An error with its hint."""
    hint = _(error.hint_without_switches)
    return text(("✗ ", "bold $text-error"), (_(error.message), "$text-error"), f" {hint}".rstrip())


def _nothing_lost() -> Content:
    return text((_("nothing is lost"), "$text-success"))
