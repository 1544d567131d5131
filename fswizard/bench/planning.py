"""From what the person chose to a plan: complete, checked, and nothing has happened yet."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fswizard.bench import disk, limits, places, zones
from fswizard.bench.workloads import commands
from fswizard.drives import details, place_of
from fswizard.errors import Missing, Refused, UsageError
from fswizard.filesystems import availability
from fswizard.model.drive import Drive
from fswizard.model.estimates import filling_s, on_disk_s, trial_overhead_s
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import MAXIMUM_ROUNDS, MINIMUM_ROUNDS, Plan, PlannedCommand, Target
from fswizard.model.recipe import FileServerJob, FioJob, Recipe
from fswizard.model.units import binary_size_text, size_text
from fswizard.system.commands import find

DISK_ANSWERS_S = 5.0
DEFAULT_BASELINE = "ext4"
FASTEST_WRITING = {"hdd": 280e6, "ssd": 560e6, "flash-card": 300e6}
"""What the interface or the platters allow at most, in bytes per second: bounds what a timed workload can write."""
FASTEST_WRITING_ELSE = 2e9


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """Where to measure, as chosen; empty fields are filled in by the plan."""

    kind: str = "image"
    path: str = ""
    """Image: a directory. Directories: separated by commas. Device: its stable name."""
    size_bytes: int = 0
    serial: str | None = None
    """Device: its serial number, typed to confirm that everything on it may be lost."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that a person can choose about a run."""

    recipe: Recipe
    candidates: tuple[Candidate, ...] = ()
    """Empty: those of the recipe that this machine can make."""
    baseline: str = ""
    target: TargetChoice = TargetChoice()
    weights: Mapping[str, float] = field(default_factory=dict)
    """By workload; 0 leaves a workload out."""
    needs: tuple[str, ...] = ()
    time_limit_s: float | None = None
    rounds: tuple[int, int] = (MINIMUM_ROUNDS, MAXIMUM_ROUNDS)
    seed: int | None = None
    drive: Drive | None = None


def make_plan(choices: Choices) -> Plan:
    """The plan for `choices`; nothing on the machine is changed.

    Raises UsageError where choices do not fit together, Missing where a program or a right is absent,
    Refused where data could be lost.
    """
    recipe = _weighted(choices.recipe, choices.weights)
    _check_rounds(choices)
    target, losses = _target(choices, recipe)
    candidates = _candidates(choices, target)
    names = [candidate.name for candidate in candidates]
    drive = choices.drive or _asked(place_of(target.path or candidates[0].directory))
    kind = drive.kind if drive else "unknown"
    recipe = _on_disk(recipe, kind)
    trial_s = trial_overhead_s(kind) + sum(workload.seconds for workload in recipe.workloads)
    bare_s = sum(w.seconds for w in recipe.workloads if isinstance(w.job, FioJob)) if target.kind == "image" else 0.0
    filled_bytes = target.size_bytes if target.kind == "image" else 0
    plan = Plan(
        recipe=recipe,
        candidates=candidates,
        baseline=_baseline(choices.baseline, names),
        target=target,
        drive=drive,
        needs=choices.needs,
        time_limit_s=recipe.minutes * 60 if choices.time_limit_s is None else choices.time_limit_s,
        minimum_rounds=choices.rounds[0],
        maximum_rounds=choices.rounds[1],
        seed=random.randrange(1 << 31) if choices.seed is None else choices.seed,
        seconds_per_trial=trial_s,
        writes_bytes_per_trial=_writes_bytes(recipe, drive),
        preparation_s=1.0 + filling_s(filled_bytes, kind) + bare_s + limits.expected_s(recipe),
        losses=losses,
    )
    _check_programs(plan)
    return replace(plan, commands=_commands(plan))


def _asked(drive: Drive | None) -> Drive | None:
    """With what the disk says of itself, shingles above all, as far as it answers soon."""
    return details(drive, timeout_s=DISK_ANSWERS_S) if drive is not None else None


def _writes_bytes(recipe: Recipe, drive: Drive | None) -> int:
    """At most so much is written in a trial."""
    rate = FASTEST_WRITING.get(drive.kind, FASTEST_WRITING_ELSE) if drive else FASTEST_WRITING_ELSE
    return sum(min(w.writes_bytes, int(w.seconds * rate)) for w in recipe.workloads)


def _on_disk(recipe: Recipe, kind: str) -> Recipe:
    """With the durations to be expected on such a disk."""
    paced = (replace(w, seconds=on_disk_s(w.job, w.seconds, kind)) for w in recipe.workloads)
    return replace(recipe, workloads=tuple(paced))


def _weighted(recipe: Recipe, weights: Mapping[str, float]) -> Recipe:
    known = [workload.name for workload in recipe.workloads]
    for name, weight in weights.items():
        if name not in known:
            raise UsageError(f"The recipe {recipe.name} has no workload '{name}'.", f"It has: {', '.join(known)}.")
        if not 0 <= weight <= 100:
            raise UsageError(f"The weight of {name} is {weight:g}.", "Give a number from 0 to 100.")
    weighted = (replace(w, weight=weights.get(w.name, w.weight)) for w in recipe.workloads)
    kept = tuple(workload for workload in weighted if workload.weight > 0)
    if not kept:
        raise UsageError("Every workload has weight 0.", "Give at least one a weight above 0.")
    return replace(recipe, workloads=kept)


def _check_rounds(choices: Choices) -> None:
    lowest, highest = choices.rounds
    if not 1 <= lowest <= highest <= MAXIMUM_ROUNDS:
        raise UsageError(
            f"Rounds {lowest}..{highest} cannot be run.", f"Give MIN..MAX with 1 <= MIN <= MAX <= {MAXIMUM_ROUNDS}."
        )
    if choices.time_limit_s is not None and choices.time_limit_s <= 0:
        raise UsageError("A run of no time measures nothing.", "Give --time a duration such as 10m.")


def _target(choices: Choices, recipe: Recipe) -> tuple[Target, tuple[str, ...]]:
    """The target, and what would be lost on it."""
    chosen = choices.target
    if chosen.kind == "device":
        return disk.plan_device(chosen.path, chosen.serial, recipe.image_bytes)
    if chosen.kind == "directory":
        _refuse_filling(recipe)
        return Target("directory", ""), ()
    directory = places.checked_directory(chosen.path or places.default_directory(choices.drive))
    size_bytes = chosen.size_bytes or recipe.image_bytes
    if size_bytes < recipe.image_bytes:
        raise UsageError(
            f"An image of {binary_size_text(size_bytes)} is too small for the recipe {recipe.name}.",
            f"It needs {binary_size_text(recipe.image_bytes)} or more.",
        )
    places.check_room(directory, size_bytes)
    size_bytes -= size_bytes % (4 << 20)
    return Target("image", directory, size_bytes, places.filesystem_type(directory)), ()


def _refuse_filling(recipe: Recipe) -> None:
    if any(isinstance(workload.job, FileServerJob) and workload.job.fill_percent for workload in recipe.workloads):
        raise Refused(
            f"The recipe {recipe.name} fills the filesystem, and yours has files of yours.",
            "Measure it on a scratch image: --target image:SIZE@DIRECTORY.",
        )


def _candidates(choices: Choices, target: Target) -> tuple[Candidate, ...]:
    if target.kind == "directory":
        candidates = places.directory_candidates(choices.target.path)
    else:
        zoned = zones.must_be_kept_to(target)
        candidates = choices.candidates or _usable_defaults(choices.recipe, target if zoned else None)
        if zoned:
            candidates = tuple(zones.made_for(candidate, target) for candidate in candidates)
        for candidate in candidates:
            _check_candidate(candidate, target)
    short = [f"{c.name} has no {', no '.join(missing)}" for c in candidates if (missing := c.lacking(choices.needs))]
    fitting = tuple(candidate for candidate in candidates if not candidate.lacking(choices.needs))
    if not fitting:
        raise UsageError(
            f"No candidate has what is needed ({', '.join(choices.needs)}): {'; '.join(short)}.",
            "Add another filesystem to --candidates or drop a need.",
        )
    return fitting


def _usable_defaults(recipe: Recipe, zoned: Target | None = None) -> tuple[Candidate, ...]:
    """Those of the recipe that can be made here; on the disk `zoned`, those that can be made there."""
    from fswizard.filesystems import parse_candidates

    names = recipe.candidates or ("ext4", "xfs", "btrfs")
    try:
        candidates = parse_candidates("; ".join(zones.worth_trying(names, zoned) if zoned else names))
    except UsageError as error:
        raise UsageError(f"{recipe.source}: 'candidates': {error.message}", error.hint) from error
    usable = tuple(c for c in candidates if availability(c.filesystem).usable)
    if not usable:
        first = availability(candidates[0].filesystem)
        raise Missing(f"None of the recipe's filesystems can be made here: {first.reason}", first.hint)
    return usable


def _check_candidate(candidate: Candidate, target: Target) -> None:
    filesystem = candidate.filesystem
    available = availability(filesystem)
    if not available.usable:
        raise Missing(f"{filesystem.title} cannot be made here: {available.reason}", available.hint)
    if available.driver and (unknown := available.driver.unknown(candidate.mount_options)):
        raise UsageError(
            f"{candidate.name}: {available.driver.name}, through which {filesystem.title} is measured here, "
            f"does not know {', '.join(unknown)}.",
            "Leave it out.",
        )
    if target.size_bytes < filesystem.minimum_bytes:
        raise UsageError(
            f"{filesystem.title} needs at least {size_text(filesystem.minimum_bytes)}, "
            f"and the target has {size_text(target.size_bytes)}.",
            "Choose a larger target or leave it out.",
        )


def _baseline(chosen: str, names: Sequence[str]) -> str:
    if chosen and chosen not in names:
        raise UsageError(f"The baseline {chosen} is not among the candidates.", f"They are: {'; '.join(names)}.")
    return chosen or (DEFAULT_BASELINE if DEFAULT_BASELINE in names else names[0])


def _check_programs(plan: Plan) -> None:
    programs = dict.fromkeys(command.argv[0] for w in plan.recipe.workloads for command in commands(w.job))
    for program in programs:
        if not program.startswith("python") and find(program) is None:
            raise Missing(
                f"{program} is not installed, and the recipe {plan.recipe.name} needs it.",
                "`fswizard doctor` shows the command that installs it; `fswizard doctor --install` runs that.",
            )


def _commands(plan: Plan) -> tuple[PlannedCommand, ...]:
    work = list(dict.fromkeys(command for workload in plan.recipe.workloads for command in commands(workload.job)))
    if plan.target.kind == "directory":
        return tuple(work)
    made = tuple(command for candidate in plan.candidates for command in _making(candidate))
    if plan.target.kind == "device":
        return tuple(disk.device_commands(made, work, zoned=zones.must_be_kept_to(plan.target)))
    blocks = plan.target.size_bytes // (4 << 20)
    planned = [
        PlannedCommand(("fallocate", "--length", binary_size_text(plan.target.size_bytes), "IMAGE"), text="reserve"),
        PlannedCommand(("dd", "if=/dev/zero", "of=IMAGE", "bs=4M", f"count={blocks}", "oflag=direct"), text="fill"),
        PlannedCommand(("losetup", "--direct-io=on", "--find", "IMAGE"), as_root=True, text="attach"),
    ]
    planned += [*made, *work]
    planned += [
        PlannedCommand(("umount", "MOUNT"), as_root=True, text="unmount"),
        PlannedCommand(("losetup", "--detach", "DEVICE"), as_root=True, text="detach"),
        PlannedCommand(("rm", "IMAGE"), text="remove the image"),
    ]
    return tuple(planned)


def _making(candidate: Candidate) -> tuple[PlannedCommand, ...]:
    return (
        PlannedCommand(("wipefs", "--all", "DEVICE"), as_root=True, text="forget the candidate before"),
        PlannedCommand(candidate.mkfs_command("DEVICE", scratch=True), as_root=True, text="format"),
        PlannedCommand(candidate.mount_command("DEVICE", "MOUNT"), as_root=True, text="mount"),
    )


def parse_target(text: str) -> TargetChoice:
    """`image:SIZE@DIR`, `image:SIZE`, `image:@DIR`, `dir:PATH,PATH` or `device:PATH`; UsageError otherwise."""
    from fswizard.model.units import parse_size

    kind, _, rest = text.partition(":")
    if kind == "image":
        size, _, directory = rest.partition("@")
        try:
            return TargetChoice("image", directory, parse_size(size) if size else 0)
        except ValueError as error:
            raise UsageError(f"In the target '{text}': {error}.", "Write image:2G@/some/directory.") from error
    if kind == "dir" and rest:
        return TargetChoice("directory", rest)
    if kind == "device" and rest:
        return TargetChoice("device", rest)
    raise UsageError(
        f"'{text}' is no target.",
        "Write image:SIZE@DIRECTORY, dir:PATH,PATH or device:/dev/disk/by-id/NAME.",
    )
