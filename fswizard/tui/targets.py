"""Where on a disk to measure: a scratch image, or a partition or the whole disk, which would be erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from fswizard.errors import FswizardError
from fswizard.model.recipe import Recipe
from fswizard.model.units import size_text
from fswizard.tui.backend import Place
from fswizard.tui.choices import WizardChoices
from fswizard.tui.drawing import Piece, cut_left, fit, lines, radio, text, wrap
from fswizard.tui.widgets.choice_list import Draw

if TYPE_CHECKING:
    from fswizard.targets.device_checks import Offer

DEVICE = "device:"
"""In front of a device's path: the key of its row."""


def image_row(recipe: Recipe | None, place: Place | FswizardError | None, chosen: bool) -> Draw:
    """The scratch image on the disk itself, or where it would go instead."""
    size = size_text(recipe.image_bytes) if recipe else ""

    def draw(width: int, on: bool) -> Content:
        mark = text(("▌" if on else " ", "$primary"), radio(chosen), " ")
        if place is None:
            return fit(text(mark, ("looking for room …", "$muted")), width)
        if isinstance(place, FswizardError):
            return fit(text(mark, ("✗ ", "$error"), place.message), width)
        words = f"a scratch image of {size} in "
        room = width - 5 - len(words) - 19
        rows = [text(mark, words, (cut_left(place.directory, max(8, room)), "bold"))]
        if room >= len(place.directory):
            rows[0] += text(("  nothing is lost", "$success"))
        else:
            rows = [text(mark, words.removesuffix(" in "), ("  nothing is lost", "$success"))]
            rows.append(text("     in ", (cut_left(place.directory, width - 8), "bold")))
        if place.remark:
            rows += _below(("! on another disk: nothing on this one is mounted and writable", "$warning"), width)
        if recipe and place.free_bytes < recipe.image_bytes:
            words = f"✗ too large: {size_text(place.free_bytes)} are free there. Name another directory: d"
            rows += _below((words, "$error"), width)
        return lines(fit(row, width) for row in rows)

    return draw


def directory_row(directory: str, chosen: bool) -> Draw:
    """Another directory for the image."""

    def draw(width: int, on: bool) -> Content:
        words = f"in {cut_left(directory, width - 12)}" if directory else "in another directory, which you name (d)"
        return fit(text(("▌" if on else " ", "$primary"), radio(chosen), " ", words), width)

    return draw


def _below(words: Piece, width: int) -> list[Content]:
    """What is said about a row, in lines of their own."""
    return [fit(text("     ", line), width) for line in wrap(words, width - 5)]


def several_row(choices: WizardChoices, chosen: bool) -> Draw:
    """Several disks or scratch images, for candidates that are spread over them."""

    def draw(width: int, on: bool) -> Content:
        mark = text(("▌" if on else " ", "$primary"), radio(chosen), " ")
        if choices.members:
            words, meaning = several_words(choices), ("  ▲ erased", "bold $error")
        elif choices.images > 1:
            words, meaning = several_words(choices), ("  nothing is lost", "$success")
        else:
            words, meaning = "several disks or images, for arrays (a)", ("", "")
        return fit(text(mark, words, meaning), width)

    return draw


def several_meaning(choices: WizardChoices) -> tuple[Piece, ...]:
    """What choosing it means."""
    if choices.members:
        loss = f"{several_words(choices)} are formatted for the measurement and left wiped; "
        return ("▲ ", "bold $error"), loss + "you confirm each on the review."
    if choices.images > 1:
        return (f"{several_words(choices)}, so that layouts can be tried: nothing is lost.",)
    return ("RAID, mirrors and raidz are compared over several disks, or over scratch images without losing anything.",)


def several_words(choices: WizardChoices) -> str:
    """What was chosen for arrays."""
    if choices.members:
        return f"{len(choices.members)} disks of {size_text(choices.member_bytes)} or more"
    return f"{choices.images} scratch images of {size_text(choices.member_bytes)}"


def device_row(offer: Offer, chosen: bool) -> Draw:
    """A partition or the whole disk: what would be lost, or why it cannot be."""

    def draw(width: int, on: bool) -> Content:
        refused = offer.refused is not None
        name = f"the whole disk {offer.name}" if offer.whole else f"the partition {offer.name}"
        mark = text(("▌" if on else " ", "$primary"), radio(chosen, enabled=not refused), " ")
        head = text(mark, (f"{name}, {size_text(offer.size_bytes)}", "$faint" if refused else ""))
        meaning = text(*_meaning(offer, width - 7))
        if head.cell_length + 2 + meaning.cell_length <= width:
            return fit(text(head, "  ", meaning), width)
        return lines((fit(head, width), *_below(meaning, width)))

    return draw


def _meaning(offer: Offer, width: int) -> tuple[Piece, ...]:
    if offer.refused is not None:
        return ((f"✗ {first_sentences(offer.refused.message, width)}", "$faint"),)
    return losing(offer)


def losing(offer: Offer) -> tuple[Piece, ...]:
    """What would be lost on a device that can be given up."""
    if offer.empty:
        return (("nothing was found on it", "$success"),)
    return (("▲ erases ", "bold $error"), ("; ".join(offer.losses), "$error"))


def first_sentences(words: str, width: int) -> str:
    """As many whole sentences as fit, and the first in any case."""
    while cell_len(words) > width and ". " in words:
        words = words[: words.rindex(". ") + 1]
    return words


def device_words(offer: Offer) -> tuple[Piece, ...]:
    """What choosing it means, or why it cannot be chosen."""
    if offer.refused is not None:
        return ("✗ ", "bold $error"), (offer.refused.message, "$error"), f" {offer.refused.hint}"
    then = "It is formatted for the measurement and left wiped; you confirm that on the review."
    if offer.empty:
        return (f"Nothing was found on {offer.name}: ", "bold $success"), f"nothing is lost. {then}"
    return ("▲ Would be lost: ", "bold $error"), "; ".join(offer.losses) + f". {then}"


def empty_words(offer: Offer) -> tuple[Piece, ...]:
    """For a disk on which nothing is mounted: what can be measured instead of an image on another disk."""
    what = "the whole disk" if offer.whole else offer.name
    return (
        (f"Nothing was found on {offer.name}. ", "bold $success"), f"To measure on it, choose {what} below (",
        ("tab", "bold $primary"), "); the scratch image would lie on another disk.",
    )  # fmt: skip


def chosen_of(offers: Sequence[Offer], path: str) -> Offer | None:
    """The device that was chosen, where it can still be had."""
    return next((offer for offer in offers if offer.path == path and offer.refused is None), None)
