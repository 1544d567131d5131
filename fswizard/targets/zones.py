"""Disks whose zones must be written in order (host-managed): which candidates can be made on them, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from fswizard.drives.machine import HERE
from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, parse_candidate
from fswizard.language import _
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.plan import Target
from fswizard.privileged import block_device


def must_keep_to_zones(target: Target) -> bool:
    """Whether candidates on `target` have to write its zones in order."""
    return target.kind == "device" and HERE.text(f"/sys/dev/block/{target.number}/queue/zoned") == "host-managed"


def worth_trying_on_zones(names: Sequence[str], target: Target) -> tuple[str, ...]:
    """Those of the candidates that can be made on `target`, then every other filesystem that can."""
    fitting = {name: parse_candidate(name).filesystem for name in (*names, *catalogue())}
    fitting = {name: filesystem for name, filesystem in fitting.items() if not _obstacle(filesystem, target)}
    named = {fitting[name].name for name in names if name in fitting}
    return tuple(name for name in fitting if name in names or name not in named)


def made_for_zones(candidate: Candidate, target: Target) -> Candidate:
    """The candidate as it is made on `target`. UsageError where it cannot be."""
    filesystem = candidate.filesystem
    if candidate.below:
        raise UsageError(
            _("{candidate} can't be made on a disk whose zones must be written in order.", candidate=candidate.name),
            _("Name {filesystem} alone.", filesystem=filesystem.name),
        )
    if (obstacle := _obstacle(filesystem, target)) or filesystem.zones is None:
        known = ", ".join(name for name, other in catalogue().items() if other.zones)
        raise UsageError(
            _(
                "{filesystem} cannot be made on {target}: {obstacle}",
                filesystem=filesystem.title,
                target=target.path,
                obstacle=obstacle,
            ),
            _("These support zones: {known}.", known=known),
        )
    return replace(candidate, filesystem=filesystem.on_zones(filesystem.zones))


def _obstacle(filesystem: Filesystem, target: Target) -> str:
    """Why it cannot be made on a host-managed disk, in a sentence; empty where it can."""
    if filesystem.zones is None:
        return _("its zones must be written in order, and this filesystem writes anywhere.")
    if filesystem.zones.conventional and not _starts_conventionally(target.path):
        return _("its metadata needs zones that can be written anywhere, at the start of the disk, and there are none.")
    return ""


def _starts_conventionally(path: str) -> bool:
    """Also where the disk cannot be asked: then mkfs finds out."""
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as disk:
        return block_device.is_conventional(disk.fileno(), 0)
    return True
