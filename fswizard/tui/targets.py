"""Selectable targets: a scratch image, partitions, the whole disk, or several disks. Each is a row of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.language import _, n_, p_
from fswizard.model.recipe import Recipe
from fswizard.model.units import binary_text, size_text
from fswizard.tui.drawing import Piece, failure, keyed, refusal, text
from fswizard.tui.drives import all_losses, image_room, losing, too_large

if TYPE_CHECKING:
    from fswizard.disks.choice import Offer
    from fswizard.disks.locations import Location
    from fswizard.drives.devices import DeviceTarget

IMAGE = "image"
"""Key of the scratch image's row."""
DEVICE = "device:"
"""Prefix of the keys of devices' rows, followed by the path."""


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
    location: Location | None = None
    """Where the scratch image goes."""
    device: DeviceTarget | None = None
    """The partition or whole disk."""


NOTHING = Target("", "", usable=False)


def image_target(location: Location | FswizardError | None, recipe: Recipe, disk: str) -> Target:
    """A scratch image at a location, for the highlighted disk with the kernel name `disk`."""
    name = _("a scratch image of {size}", size=binary_text(recipe.image_bytes))
    if location is None:
        looking = keyed(_("Looking for free space … `d` names a directory instead."))
        return Target(IMAGE, name, looking, looking, usable=False)
    if isinstance(location, FswizardError):
        return _refused(IMAGE, name, _(location.message), failure(location))
    nothing_lost = (_("nothing is lost"), "$text-success")
    summary = text(p_("scratch image", "in {directory}", directory=location.directory), ": ", nothing_lost)
    if short := too_large(recipe, image_room(recipe, location)):
        objection = refusal(f"{short} {_('Free some, or name another directory: `d`.')}")
        return Target(IMAGE, name, summary, objection, usable=False)
    meaning = text(
        _("A scratch image in {directory}, removed afterwards: nothing is lost.", directory=location.directory)
    )
    if disk and location.drive != disk:
        other = _(
            "{directory} is not on {disk}, or not on it alone. You test what is below that directory.",
            directory=location.directory,
            disk=disk,
        )
        meaning = text((f"! {other}", "$text-warning"))
    return Target(IMAGE, name, summary, meaning, location=location)


def device_target(offer: Offer, recipe: Recipe, ticked: Sequence[str]) -> Target:
    """A partition or a whole disk; if it is in `ticked` (stable names), it stands for an array of all of them."""
    target, refused = offer
    device = target.device
    key, size = DEVICE + target.path, size_text(device.size_bytes)
    name = _("the partition {name}, {size}", name=device.name, size=size)
    if target.whole:
        name = _("the whole disk {name}, {size}", name=device.name, size=size)
    if refused is not None:
        return _refused(key, name, _(refused.message), failure(refused))
    if short := too_large(recipe, device.size_bytes):
        return _refused(key, name, short, refusal(short))
    count = len(ticked)
    if target.path in ticked and count == 1:
        meaning = refusal(_("An array needs two disks: tick another, or untick this one."))
        return Target(key, name, losing(target), meaning, usable=False, device=target)
    then = _("It is formatted for the test and left empty; you confirm that in the review.")
    if target.path in ticked:
        disks = n_("{count} disk", "{count} disks", count)
        then = _("All are formatted for the test and left empty; you confirm each in the review.")
        meaning = text(("⚠ ", "bold $text-error"), (f"{disks}: ", "bold"), then)
    elif target.empty:
        nothing = (_("Nothing was found on {device}:", device=device.name) + " ", "bold $text-success")
        meaning = text(nothing, f"{_('nothing is lost.')} {then}")
    else:
        meaning = text((f"⚠ {_('You would lose:')} ", "bold $text-error"), f"{all_losses(target)}. {then}")
    return Target(key, name, losing(target), meaning, device=target)


def gone(key: str, *, known: bool) -> Target:
    """A chosen device that is no longer among those of its disk, or not yet `known` to be."""
    name = key.rpartition("/")[2]
    if not known:
        checking = (_("checking it …"), "$muted")
        return Target(key, (name, "$muted"), checking, text(checking), usable=False)
    problem = refusal(_("That partition or disk can't be used any more. Choose again, or rescan: `r`."))
    return _refused(key, name, _("It is gone."), problem)


def _refused(key: str, name: str, message: str, objection: Content) -> Target:
    return Target(key, (name, "$muted"), (f"✗ {message}", "$muted"), objection, usable=False)
