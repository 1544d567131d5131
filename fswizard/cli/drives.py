"""`fswizard drives`: attached disks, with the SMR verdict and its evidence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from plumbum import cli

from fswizard.cli.command import Command
from fswizard.cli.output import wrapped
from fswizard.cli.verdicts import verdict_document, verdict_lines
from fswizard.drives import inventory
from fswizard.drives.smartctl import details_each
from fswizard.language import _, n_, p_
from fswizard.model.drive import DRIVE_KINDS, Drive, Partition
from fswizard.model.units import size_text

_TIMEOUT_S = 10.0


class Drives(Command):
    """List the disks, what is on them, what uses them, and whether they are shingled."""

    PROGNAME = "fswizard drives"

    json = cli.Flag("--json", help=_("print JSON"))
    wake = cli.Flag("--wake", help=_("wake disks that are in standby"))

    def main(self) -> int:
        listed = inventory()
        if sys.stderr.isatty():
            count = len(listed)
            text = n_("Querying {count} disk with smartctl …", "Querying {count} disks with smartctl …", count)
            print(text, file=sys.stderr)
        known = {drive.name: drive for drive in details_each(listed, timeout_s=_TIMEOUT_S, wake=self.wake)}
        drives = [known[drive.name] for drive in listed]
        if self.json:
            documents = [{**asdict(drive), "smr": verdict_document(drive.smr)} for drive in drives]
            print(json.dumps(documents, indent=1, ensure_ascii=False))
        else:
            print("\n\n".join("\n".join(_paragraph(drive)) for drive in drives) or _("No disks found."))
        return 0


def _paragraph(drive: Drive) -> Iterator[str]:
    kind = _(DRIVE_KINDS.get(drive.kind, drive.kind))
    rpm = _("{count} rpm", count=drive.rpm) if drive.rpm else ""
    kind = f"{' '.join(filter(None, (kind, rpm)))} ({drive.bus})"
    parts = (drive.name, drive.model or drive.kind, size_text(drive.size_bytes), kind, *_condition(drive))
    yield from wrapped("  ".join(parts), "")
    names = (_("via {bridge}", bridge=drive.bridge) if drive.bridge else "", drive.stable_name)
    yield from (f"  {name}" for name in names if name)
    if drive.pending:
        yield from wrapped(_(drive.pending), "  ! ", "    ")
    if drive.kind in ("hdd", "unknown") or drive.smr.kind not in ("unknown", "not-a-hard-disk"):
        yield from verdict_lines(drive.smr, flash=drive.flash)
    for partition in drive.partitions:
        yield from _partition(partition)


def _condition(drive: Drive) -> Iterator[str]:
    if drive.health:
        yield p_("health of a disk", drive.health)
    if drive.temperature_c is not None:
        yield f"{drive.temperature_c} °C"
    if drive.power_on_hours is not None:
        yield f"{drive.power_on_hours} h"


def _partition(partition: Partition) -> Iterator[str]:
    label = f'"{partition.label}"' if partition.label else ""
    free = _("{size} free", size=size_text(partition.free_bytes)) if partition.free_bytes is not None else ""
    parts = (partition.name, partition.filesystem, label, size_text(partition.size_bytes), free)
    yield "  " + "  ".join(part for part in parts if part)
    for use in partition.uses:
        text = f"{_('{finding}.', finding=_(use.text))} {_(use.hint)}"
        yield from wrapped(text, "    ", "    ")
