"""Texts about disks: rows of lists, SMR verdict, contents, and suitability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from fswizard.language import _, n_, number, p_
from fswizard.model.drive import Drive, Evidence, Partition
from fswizard.model.estimates import room
from fswizard.model.recipe import Recipe
from fswizard.model.units import binary_text, size_text
from fswizard.tui.choices import Purpose, WizardChoices
from fswizard.tui.drawing import Pairs, Piece, smr_badge, text, verdict_badge
from fswizard.tui.widgets.table import Row

if TYPE_CHECKING:
    from fswizard.disks.locations import Location
    from fswizard.drives.devices import DeviceTarget

LONG_MODEL = 20
"""Maximum width of a model name in the header of a screen, in cells."""
SIGN_STYLES = {"✓": "$text-success", "·": "$muted", "✗": "$text-warning"}


def drive_row(drive: Drive) -> Row:
    """The row of a disk: name, model, size, kind and health."""
    names = {"good": p_("health of a disk", "good"), "failing": p_("health of a disk", "failing")}
    health = names.get(drive.health, "…" if drive.pending else "–")
    if drive.temperature_c is not None:
        health = _("{health}, {temperature} °C", health=health, temperature=drive.temperature_c)
    return Row(
        drive.name,
        (
            (drive.name, "bold"),
            drive.model or _("no model name"),
            size_text(drive.size_bytes),
            smr_badge(drive),
            (health, "$text-error bold" if drive.health == "failing" else "$muted"),
        ),
    )


def best_for(purpose: Purpose, drives: Sequence[Drive]) -> Drive | None:
    """The disk that is most likely meant by a purpose; None without disks."""
    kinds = ("hdd",) if purpose == "archive-disk" else ("ssd", "nvme")

    def suits(drive: Drive) -> tuple[bool, bool, bool, int]:
        best = drive.smr.kind == "drive-managed" or drive.kind == "nvme"
        return drive.bus != "loop", drive.kind in kinds, best, drive.size_bytes

    return max(drives, key=suits, default=None)


def about_drive(drive: Drive) -> Pairs:
    """SMR verdict, evidence, partitions, advice, and other figures."""
    verdict = drive.smr
    badge, note = verdict_badge(verdict, flash=drive.flash), verdict.certainty or _("shingling doesn't apply")
    if verdict.kind == "unknown" and drive.kind == "virtual":
        badge, note = smr_badge(drive), _("the real disk is hidden behind it")
    elif verdict.kind == "unknown":
        note = _("no verdict without evidence")
    sign, name = badge[:1], badge[2:]
    pairs: Pairs = [(sign, text(name, (f"   {note}", "$muted")))]
    pairs += [_evidence(drive, evidence) for evidence in verdict.evidence]
    if drive.pending:
        pairs.append((("…", "$muted"), (_(drive.pending), "$muted")))
    for partition in sorted(drive.partitions, key=lambda partition: partition.start_bytes):
        pairs.append((("■", "$text-primary"), _partition(partition)))
    if drive.size_bytes and not drive.partitions:
        pairs.append((("■", "$muted"), (_("empty: no partitions"), "$muted")))
    if verdict.advice:
        pairs.append(("", ""))
        pairs += [(("›", "$text-primary"), _(advice)) for advice in verdict.advice]
    if figures := " · ".join(_figures(drive)):
        pairs += [("", ""), ("", (figures, "$muted"))]
    return pairs


def _evidence(drive: Drive, evidence: Evidence) -> tuple[Piece, Piece]:
    """A sentence of evidence; a URL at its end is shown as a link with the host name."""
    sign = drive.smr.sign(evidence)
    mark = (sign, SIGN_STYLES[sign])
    sentence, __, address = _(evidence.text).rpartition(" ")
    if not address.startswith(("https://", "http://")):
        return mark, _(evidence.text)
    link = text(("→ " + address.split("/")[2], "$muted")).stylize(Style(link=address))
    return mark, text(sentence, " ", link)


def _figures(drive: Drive) -> list[str]:
    figures = []
    if drive.bridge:
        figures.append(p_("disk", "behind {bridge}", bridge=drive.bridge))
    if drive.rpm:
        figures.append(_("{speed} rpm", speed=drive.rpm))
    if drive.serial:
        figures.append(_("serial number {serial}", serial=drive.serial))
    if drive.power_on_hours:
        figures.append(_("{hours} h in use", hours=number(f"{drive.power_on_hours:,}")))
    if drive.written_bytes:
        figures.append(_("{size} written so far", size=size_text(drive.written_bytes)))
    if drive.life_used_percent is not None:
        figures.append(_("{percent} % of its life used", percent=drive.life_used_percent))
    return figures


def _partition(partition: Partition) -> Content:
    name, room = partition.name, size_text(partition.size_bytes)
    if partition.label:
        name = _("{partition} “{label}”", partition=name, label=partition.label)
    if partition.free_bytes is not None:
        room = p_("space on a partition", "{free} free of {size}", free=size_text(partition.free_bytes), size=room)
    where = partition.mount_point or (_(partition.uses[0].text) if partition.uses else _("not mounted"))
    return text(name, (f"  {partition.filesystem or '–'}  {room}  {where}", "$muted"))


def image_room(recipe: Recipe, location: Location) -> int:
    """Room for the scratch image in bytes, beside what the recipe's workloads put next to it."""
    return max(0, location.image_room_bytes - room((workload.job for workload in recipe.workloads), "SCRATCH"))


def too_large(recipe: Recipe, room_bytes: int) -> str:
    """Why the recipe does not fit into so much room, in a sentence; empty if it fits."""
    if recipe.image_bytes <= room_bytes:
        return ""
    needed, there = binary_text(recipe.image_bytes), binary_text(room_bytes)
    return _("It needs {size}, and there are {room}.", size=needed, room=there)


def losing(target: DeviceTarget) -> Content:
    """What would be lost on a device that can be erased."""
    if target.empty:
        return text((_("nothing was found on it"), "$text-success"))
    return text((f"⚠ {p_('writing over a disk', 'erases')} ", "bold $text-error"), (all_losses(target), "$text-error"))


def all_losses(target: DeviceTarget) -> str:
    """What would be lost, in one line."""
    from fswizard.drives.devices import losses

    return "; ".join(map(_, losses(target)))


def disk_title(choices: WizardChoices) -> Content:
    """What is measured on, for the header of a screen."""
    drive = choices.drive
    if choices.across > 1:
        return text((n_("{count} disk", "{count} disks", choices.across), "$muted"))
    if drive is None:
        return text((choices.directory, "bold"))
    part = next((part.name for part in drive.partitions if part.stable_name in choices.devices), "")
    model = text((drive.model, "$muted")).truncate(LONG_MODEL, ellipsis=True)
    return text((part or drive.name, "bold"), " ", model)
