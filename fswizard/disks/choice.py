"""Where to measure, as chosen: one place or several, looked at before anything is planned on it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fswizard.disks import device_checks, locations
from fswizard.drives import composed, details, place_of
from fswizard.errors import Refused, UsageError
from fswizard.filesystems.commands import IMAGE_UNIT_BYTES
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.estimates import brought
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Recipe
from fswizard.model.text import safe
from fswizard.model.units import binary_size_text, parse_size

DISK_ANSWERS_S = 5.0
MOST_MEMBERS = 12
HOW_TO_WRITE = N_(
    "Write image:SIZE@DIRECTORY, dir:PATH,PATH or device:/dev/disk/by-id/NAME; for candidates that "
    "are spread over several disks images:4x2G@DIRECTORY, images:2G@DIRECTORY,DIRECTORY,… or "
    "devices:PATH,PATH,…"
)


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """Where to measure, as chosen; empty fields are filled in by the plan."""

    kind: str = "image"
    path: str = ""
    """Image: a directory. Directories: separated by commas. Device: its stable name."""
    size_bytes: int = 0
    """Of each image."""
    serial: str | None = None
    """Device: its serial number or the like, typed to confirm that all on it may be lost; of several, with commas."""
    others: tuple[str, ...] = ()
    """The paths of further devices, or the directories of further images."""


def parse_target(text: str) -> TargetChoice:
    """`image:SIZE@DIR`, `images:4xSIZE@DIR`, `dir:PATH,PATH`, `device:PATH` or the like; UsageError otherwise."""
    kind, __, rest = text.partition(":")
    if kind == "image":
        size, __, directory = rest.partition("@")
        return TargetChoice("image", directory, _size(text, size, "image:2G@/some/directory"))
    if kind == "images":
        return _several_images(text, rest)
    if kind == "dir" and rest:
        return TargetChoice("directory", rest)
    if kind == "device" and rest:
        return TargetChoice("device", rest)
    if kind == "devices":
        first, *others = _list(rest)
        _require_several(text, 1 + len(others), "devices:/dev/disk/by-id/A,/dev/disk/by-id/B")
        return TargetChoice("device", first, others=tuple(others))
    raise UsageError(_("'{text}' isn't a valid target.", text=text), _(HOW_TO_WRITE))


def _several_images(text: str, rest: str) -> TargetChoice:
    """`4x2G@DIR`, `4x2G`, or `2G@DIR,DIR,DIR` with one image in each."""
    number, times, size = rest.partition("@")[0].rpartition("x")
    directories = _list(rest.partition("@")[2])
    how = _("images:4x2G@/some/directory or images:2G@/one/directory,/another/directory")
    if times and not re.fullmatch(r"\d{1,3}", number, re.ASCII):
        raise UsageError(
            _("In the target '{text}': {number} isn't a number of images.", text=text, number=number or "nothing"),
            _("Write {how}.", how=how),
        )
    count = int(number) if times else len(directories)
    if len(directories) == 1:
        directories *= count
    _require_several(text, count, how)
    if len(directories) != count:
        raise UsageError(
            _(
                "The target '{text}' has {count} images and {directories} directories.",
                text=text,
                count=count,
                directories=len(directories),
            ),
            _("Name one directory for all images, or one for each."),
        )
    return TargetChoice("image", directories[0], _size(text, size, how), others=tuple(directories[1:]))


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _size(text: str, size: str, how: str) -> int:
    try:
        return parse_size(size) if size else 0
    except ValueError as error:
        raise UsageError(
            _("In the target '{text}': {error}.", text=text, error=error), _("Write {how}.", how=how)
        ) from error


def _require_several(text: str, count: int, how: str) -> None:
    if not 2 <= count <= MOST_MEMBERS:
        raise UsageError(
            _(
                "The target '{text}' names {count}, but takes 2 to {most_members}.",
                text=text,
                count=count,
                most_members=MOST_MEMBERS,
            ),
            _("Write {how}.", how=how),
        )


def plan_target(
    chosen: TargetChoice, recipe: Recipe, drive: Drive | None
) -> tuple[Target, tuple[str, ...], Drive | None]:
    """The target, what would be lost on it, and its disk, where that was asked about already.

    `drive` is where an image goes whose directory is not named.

    Raises UsageError where it cannot be, Refused where data could be lost.
    """
    brought_bytes = brought(workload.job for workload in recipe.workloads)
    if chosen.kind != "image":
        locations.require_scratch_space(brought_bytes)
    if chosen.kind == "device":
        paths = (chosen.path, *chosen.others)
        target, losses, drives = device_checks.plan_devices(paths, chosen.serial, recipe.image_bytes)
        return target, losses, _as_one(drives)
    if chosen.kind == "directory":
        _refuse_filling(recipe)
        return Target("directory", ""), (), None
    return _plan_images(chosen, recipe, drive, brought_bytes), (), None


def _refuse_filling(recipe: Recipe) -> None:
    """Refused where a recipe would fill the filesystems of directories."""
    if any(workload.job.fill_percent for workload in recipe.workloads):
        raise Refused(
            _("The recipe {recipe} fills the filesystem, and there are files of yours on it.", recipe=recipe.name),
            _("Measure it on a scratch image: --target image:SIZE@DIRECTORY."),
        )


def _plan_images(chosen: TargetChoice, recipe: Recipe, drive: Drive | None, brought_bytes: int) -> Target:
    default = "" if chosen.path and all(chosen.others) else locations.default_directory(drive)
    directories = [locations.checked_directory(path) if path else default for path in (chosen.path, *chosen.others)]
    size_bytes = chosen.size_bytes or recipe.image_bytes
    if size_bytes * len(directories) < recipe.image_bytes or (size_bytes < recipe.image_bytes and not chosen.others):
        raise UsageError(
            _(
                "An image of {size} is too small for the recipe {recipe}.",
                size=binary_size_text(size_bytes),
                recipe=recipe.name,
            ),
            _("It needs {image} or more.", image=binary_size_text(recipe.image_bytes)),
        )
    beside = Counter(os.stat(directory).st_dev for directory in directories)
    kinds = {
        directory: locations.require_space(directory, size_bytes * beside[os.stat(directory).st_dev], brought_bytes)
        for directory in dict.fromkeys(directories)
    }
    size_bytes -= size_bytes % IMAGE_UNIT_BYTES
    first, *others = (Member(directory, size_bytes, kinds[directory]) for directory in directories)
    return Target("image", first.path, first.size_bytes, first.host_filesystem, others=tuple(others))


def require_plausible(target: Target, recipe: Recipe) -> None:
    """UsageError or Refused where a target that comes from a file is none that `plan_target` makes."""
    members = target.members
    if target.kind == "directory":
        _refuse_filling(recipe)
        return
    if len(members) > MOST_MEMBERS or not all(os.path.isabs(member.path) for member in members):
        names = safe(", ".join(member.path for member in members))[:200]
        raise UsageError(_("'{text}' isn't a valid target.", text=names), _("Start a new run."))
    for member in members if target.kind == "image" else ():
        size_bytes = member.size_bytes
        too_small = size_bytes < max(1, recipe.image_bytes // len(members))
        if too_small or size_bytes % IMAGE_UNIT_BYTES or size_bytes != target.size_bytes:
            raise UsageError(
                _("An image of {size} does not fit this run.", size=binary_size_text(size_bytes)), _("Start a new run.")
            )


def require_still_there(plan: Plan) -> None:
    """UsageError where the target that `plan` was begun on has moved, or can't be resumed."""
    target = plan.target
    if target.kind == "device":
        raise UsageError(
            _("A run on a disk or partition can't be resumed: what is on it now is unknown."),
            _("Start a new run on it; everything is checked again."),
        )
    if target.kind == "directory":
        for candidate in plan.candidates:
            directory = locations.checked_directory(candidate.directory)
            now = locations.filesystem_name(directory)
            if now != candidate.filesystem.name:
                raise UsageError(
                    _(
                        "{directory} is on {now} now, not on {filesystem}.",
                        directory=safe(directory),
                        now=now or "something unknown",
                        filesystem=candidate.filesystem.name,
                    ),
                    _("Mount what was there, or start a new run."),
                )
        return
    moved = [member for member in target.members if _require_image_fits(member, plan) != member.host_filesystem]
    drive = drive_under(target)
    then, now = ((drive.serial or drive.model or drive.name) if drive else "" for drive in (plan.drive, drive))
    if then != now or moved:
        names = safe(", ".join(dict.fromkeys(member.path for member in target.members)))
        raise UsageError(
            _("{names} is no longer on the disk that this run started on.", names=names),
            _("Attach and mount that disk, or start a new run."),
        )


def _require_image_fits(member: Member, plan: Plan) -> str:
    """Type of the filesystem that the image goes onto again; UsageError where it is of no use to the plan."""
    directory, members = locations.checked_directory(member.path), plan.target.members
    beside = sum(os.path.samefile(directory, other.path) for other in members if os.path.isdir(other.path))
    return locations.require_space(directory, member.size_bytes * max(1, beside))


def drive_under(target: Target, otherwise: str = "", *, asking: bool = False) -> Drive | None:
    """The disk that a target lies on; several as one, None if unknown.

    `otherwise` is where to look for a target without a path of its own. With `asking` each disk is asked about itself,
    shingles above all, as far as it answers soon.
    """
    paths = dict.fromkeys(member.path or otherwise for member in target.members)
    by_name = {drive.name: drive for path in paths if (drive := place_of(path)) is not None}
    drives = [details(drive, timeout_s=DISK_ANSWERS_S) if asking else drive for drive in by_name.values()]
    return _as_one(drives)


def _as_one(drives: Sequence[Drive]) -> Drive | None:
    return composed(drives) if len(drives) > 1 else next(iter(drives), None)
