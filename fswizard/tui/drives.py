"""How a disk is shown: a row in the list, everything that is known of it, and what on it can be measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

from fswizard.errors import FswizardError
from fswizard.filesystems import suggestions
from fswizard.language import _, n_, number, p_, shown
from fswizard.model.drive import SMR_KINDS, Drive, Evidence, Partition
from fswizard.model.estimates import brought
from fswizard.model.recipe import Recipe
from fswizard.model.text import safe
from fswizard.model.units import binary_text, size_text
from fswizard.tui.backend import Place
from fswizard.tui.candidates import reasons_list
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.drawing import (
    Piece,
    arrow,
    bullet,
    columns,
    cut,
    cut_among,
    cut_left,
    filled,
    heading,
    keyed,
    lines,
    radio,
    smr_badge,
    text,
    verdict_badge,
    wrap,
)
from fswizard.tui.widgets.choice_list import Draw, ListRow, headline

if TYPE_CHECKING:
    from fswizard.tui.backend import Offer

PARTITION_COLOURS = ("$text-primary", "$text-secondary", "$text-success", "$text-accent")
PARTITIONS = 6
"""Partitions that are listed by name."""
LONG_MODEL = 44
"""Cells for a model's name: no more, so that a row can be read across."""
Where = Place | FswizardError | None
"""Where a scratch image for a disk goes, or why nowhere; None as long as that is unknown."""
DEVICE = "device:"
"""In front of a device's path: the key of its row."""


def _widths(width: int) -> tuple[int, int, int, int, int]:
    """Name, model, size, kind, health; health is dropped first."""
    warmest = _("{health}, {temperature} °C", health=p_("health of a disk", "good"), temperature=99)
    health = max(11, cell_len(warmest)) if width >= 72 else 0
    kind = max([20, *(cell_len(_(words)) + 2 for words in SMR_KINDS.values())])
    name = 10
    size = 7
    model = width - name - size - kind - health - 2 * (4 if health else 3)
    if model < 8:
        return (name, max(6, width - name - 10), 8, 0, 0)
    return (name, min(model, LONG_MODEL), size, kind, health)


def drive_header(width: int, on: bool) -> Content:
    """Names of the columns."""
    names = (f"  {_('Disk')}", _("Model"), _("Size"), _("Kind"), _("Health"))
    return columns([text((name, "$muted")) for name in names], _widths(width), right=(2,))


def drive_row(drive: Drive, models: Sequence[str], width: int, on: bool) -> Content:
    """One line of the list of disks, whose `models` are given."""
    widths = _widths(width + 1)
    widths = (widths[0] - 1, *widths[1:])
    health = _health(drive)
    style = "$text-error bold" if drive.health == "failing" else "$muted"
    cells = (
        text(" ", (cut(drive.name or _("a model"), widths[0] - 1), "bold")),
        cut_left(drive.model, widths[1])
        if drive.bus == "loop"
        else cut_among(drive.model or _("no model name"), models, widths[1]),
        size_text(drive.size_bytes) if drive.size_bytes else "",
        smr_badge(drive),
        text((health, style)),
    )
    return columns(cells, widths, right=(2,))


def _health(drive: Drive) -> str:
    words = {"good": p_("health of a disk", "good"), "failing": p_("health of a disk", "failing")}
    health = words.get(drive.health, drive.health) or ("…" if drive.pending else "–")
    if drive.temperature_c is None:
        return health
    return _("{health}, {temperature} °C", health=health, temperature=drive.temperature_c)


def explain(drive: Drive, width: int) -> Content:
    """Verdict, evidence, advice."""
    verdict = drive.smr
    note = verdict.certainty or _("shingling doesn't apply")
    badge = verdict_badge(verdict, flash=drive.flash)
    if verdict.kind == "unknown":
        virtual = drive.kind == "virtual"
        badge = smr_badge(drive) if virtual else badge
        note = _("the real disk is hidden behind it") if virtual else _("no verdict without evidence")
    rows = [text(badge, (f"   {note}", "$muted"))]
    rows += [_evidence(evidence, drive, width) for evidence in verdict.evidence]
    if drive.pending:
        rows.append(bullet(("…", "$muted"), (shown(drive.pending), "$muted"), width))
    if verdict.advice:
        rows += [Content(""), heading(_("Good to know"), width)]
        rows += [bullet(("›", "$text-primary"), shown(advice), width) for advice in verdict.advice]
    facts = _facts(drive)
    if facts:
        rows += [Content(""), *wrap((facts, "$muted"), width)]
    return lines(rows)


def suits(drive: Drive, width: int) -> Content:
    """What is worth a try on it, and what measuring adds; empty where nothing can be measured."""
    reasons = {item.candidate_name: item.reason for item in suggestions(drive)}
    if not reasons:
        return Content("")
    then = _("Measuring on it shows the fastest one for your work, and by how much.")
    if not drive.name:
        then = _("Measuring on it, once it is attached, shows the fastest one for your work, and by how much.")
    head = heading(f"★ {_('Suits it')}", width)
    return lines([head, reasons_list(reasons, width), Content(""), *wrap((then, "$muted"), width)])


def known(drive: Drive, width: int) -> Content:
    """The disk and what suits it, without measuring."""
    return lines([explain(drive, width), Content(""), suits(drive, width)])


def below(drive: Drive, width: int, *, evidence: bool) -> Content:
    """Its partitions as a bar and a list; where there is no room for a panel, all that stands there too."""
    if not evidence:
        return _contents(drive, width)
    return lines([explain(drive, width), Content(""), _contents(drive, width), Content(""), suits(drive, width)])


def _contents(drive: Drive, width: int) -> Content:
    if not drive.size_bytes:
        return Content("")
    rows = [heading(p_("contents of a disk", "On it"), width)]
    partitions = sorted(drive.partitions, key=lambda partition: partition.start_bytes)
    if not partitions:
        rows.append(text(("▕" + "·" * max(1, width - 2) + "▏", "$muted")))
        return lines([*rows, text((_("empty: no partitions"), "$muted"))])
    rows.append(_partition_bar(drive, partitions, width))
    rows += map(partial(_partition_line, width), partitions[:PARTITIONS], cycle(PARTITION_COLOURS))
    if len(partitions) > PARTITIONS:
        more = n_("and {count} more", "and {count} more", len(partitions) - PARTITIONS)
        rows.append(text((f"  {more}", "$muted")))
    return lines(rows)


def _partition_bar(drive: Drive, partitions: list[Partition], width: int) -> Content:
    """In proportion: what is free in a partition is lighter, hatched where nobody knows; the rest is dotted."""
    room = max(2, width - 2)
    total = max(drive.size_bytes, sum(partition.size_bytes for partition in partitions), 1)
    pieces, used = [text(("▕", "$muted"))], 0
    for partition, style in zip(partitions, cycle(PARTITION_COLOURS)):
        cells = min(max(1, round(partition.size_bytes / total * room)), room - used)
        if cells <= 0:
            break
        full, free = 0, "▒"
        if partition.free_bytes is not None and partition.size_bytes:
            full, free = round(cells * (1 - min(1.0, partition.free_bytes / partition.size_bytes))), "░"
        pieces.append(text(("█" * full + free * (cells - full), style)))
        used += cells
    pieces.append(text(("·" * (room - used), "$muted"), ("▏", "$muted")))
    return Content("").join(pieces)


def _partition_line(width: int, partition: Partition, style: str) -> Content:
    name = partition.name
    if partition.label:
        name = _("{partition} “{label}”", partition=name, label=partition.label)
    if partition.free_bytes is not None:
        free, size = size_text(partition.free_bytes), size_text(partition.size_bytes)
        room = p_("space on a partition", "{free} free of {size}", free=free, size=size)
    else:
        room = size_text(partition.size_bytes)
    where = partition.mount_point or (shown(partition.uses[0].text) if partition.uses else _("not mounted"))
    named = min(cell_len(name) + 2, 26, max(12, width // 2))
    widths = (24, 9, 25, max(8, width - 64)) if width >= 72 else (named, 0, 0, max(8, width - named - 2))
    if width < 72:
        where = f"{partition.filesystem or '–'}, {room}"
    cells = (
        text(("■ ", style), cut(name, widths[0] - 2)),
        text((cut(partition.filesystem or "–", 9), "$muted")),
        cut(room, 25),
        text((cut_left(where, widths[3]), "$muted")),
    )
    return columns(cells, widths)


def _evidence(evidence: Evidence, drive: Drive, width: int) -> Content:
    """A sentence; of the address at its end the host, which a click opens."""
    sign = drive.smr.sign(evidence)
    mark = (sign, {"✓": "$text-success", "·": "$muted", "✗": "$text-warning"}[sign])
    said = shown(evidence.text)
    sentence, __, address = said.rpartition(" ")
    if not address.startswith(("https://", "http://")):
        return bullet(mark, said, width)
    label = text(("→ " + address.split("/")[2], "$muted")).stylize(Style(link=address))
    return bullet(mark, text(sentence, " ", label), width)


def _facts(drive: Drive) -> str:
    words = (
        drive.bus.upper() if drive.bus not in ("other",) else "",
        p_("disk", "behind {bridge}", bridge=drive.bridge) if drive.bridge else "",
        _("{speed} rpm", speed=drive.rpm) if drive.rpm else "",
        _("serial number {serial}", serial=drive.serial) if drive.serial else "",
        _("firmware {version}", version=drive.firmware) if drive.firmware else "",
        _("{hours} h in use", hours=number(f"{drive.power_on_hours:,}")) if drive.power_on_hours else "",
        _("{size} written so far", size=size_text(drive.written_bytes)) if drive.written_bytes else "",
        _("{percent} % of its life used", percent=drive.life_used_percent)
        if drive.life_used_percent is not None
        else "",
    )
    return " · ".join(filter(None, words))


def model_named(model: str) -> Drive:
    """A disk of which the model name alone is known."""
    from fswizard.drives.smr import SmrFacts, judge_smr

    facts = SmrFacts("name", model=model)
    return Drive("", 0, model=safe(model), kind="hdd", rotational=True, smr=judge_smr(facts))


def best_for(purpose: Purpose, drives: Sequence[Drive]) -> Drive | None:
    """The disk that a purpose is most likely about."""
    if not drives:
        return None
    drives = [drive for drive in drives if drive.bus != "loop"] or drives
    if purpose in ("archive-disk", "smr"):
        return max(drives, key=lambda d: (d.kind == "hdd", d.smr.kind == "drive-managed", d.bus == "usb", d.size_bytes))
    return max(drives, key=lambda d: (d.kind in ("ssd", "nvme"), d.kind == "nvme", d.size_bytes))


def too_large(recipe: Recipe, place: Place, images: int = 1) -> str:
    """Why the scratch images do not fit into a place, in a sentence; empty where they do."""
    most = _most_bytes(recipe, place)
    if images * recipe.image_bytes <= most:
        return ""
    room = binary_text(max(0, most))
    return _("Too large: there is room for {size} in {directory}.", size=room, directory=place.directory)


def largest_that_fits(recipe: Recipe, place: Place, sizes: Sequence[int]) -> int:
    """The largest of `sizes` in bytes that fits into a place; 0 for none."""
    return max((size for size in sizes if size <= _most_bytes(recipe, place)), default=0)


def _most_bytes(recipe: Recipe, place: Place) -> int:
    return place.image_room_bytes - brought(workload.job for workload in recipe.workloads)


def disk_words(choices: WizardChoices, width: int) -> Content:
    """The disk that was chosen, in a few words for the header of a screen of that width."""
    drive = choices.drive
    if choices.comparing or (drive is None and choices.across == 1):
        return Content("")
    if choices.across > 1:
        return text((several_words(choices), "$muted"))
    assert drive is not None
    part = next((p.name for p in drive.partitions if choices.device and p.stable_name == choices.device), "")
    words = text((part or drive.name, "bold"), (f" {cut(drive.model, width // 4)}", "$muted"))
    if not choices.elsewhere:
        return words
    return words + text((" ! " + p_("scratch image", "image on {device}", device=choices.elsewhere), "$text-warning"))


def several_words(choices: WizardChoices) -> str:
    """What was chosen for arrays."""
    if choices.members:
        size = size_text(choices.member_bytes)
        return n_("{count} disk of {size} or more", "{count} disks of {size} or more", len(choices.members), size=size)
    size = binary_text(choices.member_bytes)
    return n_("{count} scratch image of {size}", "{count} scratch images of {size}", choices.images, size=size)


def losing(offer: Offer) -> Content:
    """What would be lost on a device that can be given up."""
    if offer.empty:
        return text((_("nothing was found on it"), "$text-success"))
    return text((f"⚠ {p_('writing over a disk', 'erases')} ", "bold $text-error"), (_losses(offer), "$text-error"))


def _losses(offer: Offer) -> str:
    return "; ".join(map(shown, offer.losses))


def first_sentences(words: str, width: int) -> str:
    """As many whole sentences as fit, and the first in any case."""
    end = p_("between two sentences", ". ")
    while cell_len(words) > width and (place := words.rfind(end, 0, len(words) - 1)) >= 0:
        words = words[: place + len(end.rstrip())]
    return words


@dataclass(frozen=True, slots=True)
class TargetMenu:
    """What can be measured on, for the disk that is highlighted; rows of a list by their keys."""

    choices: WizardChoices
    drive: Drive | None
    place: Where = None
    offers: tuple[Offer, ...] = ()
    named: Place | None = None
    """The directory that was named for the image."""

    def device(self, path: str) -> Offer | None:
        """The partition or disk of that name, where it can be had."""
        return next((offer for offer in self.offers if offer.path == path and offer.refused is None), None)

    @property
    def chosen(self) -> Offer | None:
        """The partition or disk that was chosen, where it belongs to the highlighted disk and can still be had."""
        return self.device(self.choices.device)

    @property
    def empty(self) -> Offer | None:
        """A device that can be had and seems empty."""
        return next((offer for offer in self.offers if offer.refused is None and offer.empty), None)

    @property
    def usable_place(self) -> Place | None:
        """Where a scratch image goes, be it on another disk."""
        return self.place if isinstance(self.place, Place) else None

    @property
    def image_place(self) -> Place | None:
        """Where the scratch image goes as chosen; None without one, or as long as that is unknown."""
        return {"default": self.usable_place, "named": self.named}.get(self.key)

    @property
    def elsewhere(self) -> str:
        """Kernel name of the disk that the image goes onto, where that is not the highlighted one."""
        place, drive = self.image_place, self.drive.name if self.drive else ""
        return place.drive or place.directory if place and (place.drive != drive or place.remark) else ""

    @property
    def key(self) -> str:
        """Key of the target that is chosen."""
        if self.choices.across > 1:
            return "several"
        if self.chosen is not None:
            return DEVICE + self.chosen.path
        return "named" if self.choices.directory else "default"

    def rows(self) -> tuple[ListRow, ...]:
        """The list of targets."""
        if self.drive is None or not self.drive.name:
            return ()
        elsewhere = _("a scratch image in another directory (d)")
        named: Draw | Content = text(radio(self.key == "named"), f" {elsewhere}")
        if self.named is not None:
            named = partial(self._image_row, self.named, self.key == "named")
        several = text(radio(self.key == "several"), f" {_('several disks or images, for arrays (a)')}")
        if self.choices.across > 1:
            erased = (f"  ⚠ {p_('disks', 'erased')}", "bold $text-error")
            if not self.choices.members:
                erased = (f"  {_('nothing is lost')}", "$text-success")
            several = text(radio(self.key == "several"), f" {several_words(self.choices)}", erased)
        return (
            headline("where", _("Measure on")),
            ListRow("default", partial(self._image_row, self.place, self.key == "default")),
            ListRow("named", named),
            ListRow("several", several),
            *(ListRow(DEVICE + offer.path, partial(self._device_row, offer)) for offer in self.offers),
        )

    def _image_row(self, place: Where, chosen: bool, width: int, on: bool) -> Content:
        """The scratch image with its size, and in amber where it goes onto another disk."""
        recipe, drive = self.choices.recipe, self.drive.name if self.drive else ""
        mark = text(radio(chosen), " ")
        if place is None:
            return text(mark, (_("looking for free space …"), "$muted"))
        if isinstance(place, FswizardError):
            return text(mark, ("✗ ", "$text-error"), place.message)
        size = binary_text(recipe.image_bytes) if recipe else ""
        resized = text(arrow(-1, active=on), (f" {size} ", "bold"), arrow(1, active=on))
        loss = (f": {_('nothing is lost')}", "$text-success")
        within = filled(
            _("a scratch image of {size} in {directory}"), size=resized, directory=(place.directory, "bold")
        )
        rows = [text(mark, within, loss)]
        if rows[0].cell_length > width:
            room = width - 4 - cell_len(p_("scratch image", "in {directory}", directory="")) - cell_len(loss[0])
            directory = filled(
                p_("scratch image", "in {directory}"), directory=(cut_left(place.directory, room), "bold")
            )
            rows = [text(mark, filled(_("a scratch image of {size}"), size=resized)), text("    ", directory, loss)]
        below = []
        if place.remark:
            words = _("It goes onto another disk: nothing on {disk} is mounted and writable", disk=drive)
            if place.drive:
                words = _(
                    "It goes onto {other}: nothing on {disk} is mounted and writable", other=place.drive, disk=drive
                )
            below.append((f"! {words}", "$text-warning"))
        elif place.drive and place.drive != drive:
            words = _("It goes onto {other}, so {other} is tested, not {disk}", other=place.drive, disk=drive)
            below.append((f"! {words}", "$text-warning"))
        if recipe and (short := too_large(recipe, place)):
            below.append((f"✗ {short}", "$text-error"))
        return lines((*rows, *(text("    ", line) for words in below for line in wrap(words, width - 4))))

    def _device_row(self, offer: Offer, width: int, on: bool) -> Content:
        """A partition or the whole disk: what would be lost, or why it cannot be given up."""
        refused = offer.refused
        size = size_text(offer.size_bytes)
        name = _("the partition {name}, {size}", name=offer.name, size=size)
        if offer.whole:
            name = _("the whole disk {name}, {size}", name=offer.name, size=size)
        words = (f" {name}", "$muted" if refused else "")
        head = text(radio(self.key == DEVICE + offer.path, enabled=refused is None), words)
        meaning = text((f"✗ {first_sentences(refused.message, width - 6)}", "$muted")) if refused else losing(offer)
        if head.cell_length + 2 + meaning.cell_length <= width:
            return text(head, "  ", meaning)
        return lines((head, *(text("    ", line) for line in wrap(meaning, width - 4))))

    def meaning(self, key: str) -> tuple[Piece, ...]:
        """What choosing a target means, or why it cannot be chosen."""
        if offer := next((offer for offer in self.offers if key == DEVICE + offer.path), None):
            return _device_meaning(offer)
        if key == "several":
            return self._several_meaning()
        if key == "named":
            words = _("A scratch image in a directory that you name, removed afterwards: nothing is lost.")
            if where := self.choices.directory:
                words = _("A scratch image in {directory}, removed afterwards: nothing is lost.", directory=where)
            return (words,)
        if (place := self.usable_place) is not None and place.remark:
            return _empty_meaning(self.empty) if self.empty is not None else (shown(place.remark),)
        if self.choices.purpose == "smr" or (self.drive is not None and not self.drive.name):
            return (_("Without evidence we say “unknown”, never “CMR”."),)
        return (_("A scratch image on this disk, removed afterwards: nothing is lost."),)

    def _several_meaning(self) -> tuple[Piece, ...]:
        several = several_words(self.choices)
        if self.choices.members:
            loss = _(
                "{disks} are formatted for the test and left empty; you confirm each in the review.", disks=several
            )
            return ("⚠ ", "bold $text-error"), loss
        if self.choices.images > 1:
            return (_("{images}, to try layouts: nothing is lost.", images=several),)
        return (_("Compare RAID, mirrors and raidz on several disks, or on scratch images without losing anything."),)


def _device_meaning(offer: Offer) -> tuple[Piece, ...]:
    if offer.refused is not None:
        return (
            ("✗ ", "bold $text-error"),
            (offer.refused.message, "$text-error"),
            f" {offer.refused.hint_without_switches}",
        )
    then = _("It is formatted for the test and left empty; you confirm that in the review.")
    if offer.empty:
        found = _("Nothing was found on {device}:", device=offer.name)
        return (f"{found} ", "bold $text-success"), f"{_('nothing is lost.')} {then}"
    return (f"⚠ {_('You would lose:')} ", "bold $text-error"), f"{_losses(offer)}. {then}"


def _empty_meaning(offer: Offer) -> tuple[Piece, ...]:
    """Of a disk on which nothing is mounted: what can be measured instead of an image on another disk."""
    words = _(
        "To measure on it, choose {device} below (`tab`); the scratch image would lie on another disk.",
        device=offer.name,
    )
    if offer.whole:
        words = _("To measure on it, choose the whole disk below (`tab`); the scratch image would lie on another disk.")
    found = _("Nothing was found on {device}.", device=offer.name)
    return (f"{found} ", "bold $text-success"), keyed(words)
