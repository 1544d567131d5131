"""Doubts that are known before anything is measured."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fswizard.drives import persistent_cache_bytes, place_of
from fswizard.filesystems import availability
from fswizard.model.layout import MD
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt, Environment
from fswizard.model.units import size_text
from fswizard.system import host


def before(plan: Plan) -> Iterator[Doubt]:
    """What the plan and the machine make doubtful from the outset."""
    if plan.target.kind == "image":
        yield Doubt(
            f"image-on-{plan.target.host_filesystem or 'unknown'}",
            f"Measured inside a scratch image on {plan.target.host_filesystem or 'another filesystem'}: "
            "ratios carry over to the bare disk, absolute figures less so.",
        )
    if plan.target.kind != "directory":
        yield Doubt(
            "fresh-only",
            "Every filesystem was new and nearly empty. Old and full ones can rank otherwise "
            "(Conway et al., FAST'17); measure again in a year, or with a fill recipe.",
        )
    yield from _discarding(plan)
    yield from _over_several(plan)
    yield from _drivers(plan)
    yield from _shingled(plan)
    yield from _cached(plan)
    yield from _machine()


def since(earlier: Environment, now: Environment) -> Doubt | None:
    """What became different between the parts of a run that was interrupted."""
    tools = sorted(name for name in earlier.tools.keys() & now.tools.keys() if earlier.tools[name] != now.tools[name])
    changed = [*(["the kernel"] if earlier.kernel != now.kernel else []), *tools]
    if not changed:
        return None
    return Doubt(
        "changed-meanwhile",
        f"The run was interrupted, and {', '.join(changed)} changed before it went on. Candidates are compared within "
        "rounds, so ratios stay fair, but they are means over both. Run it anew for figures of this machine as it is.",
    )


def _discarding(plan: Plan) -> Iterator[Doubt]:
    asked = [
        candidate.name
        for candidate in plan.candidates
        if any(option.partition("=")[0] == "discard" for option in candidate.mount_options)
    ]
    if plan.target.kind == "image" and asked:
        yield Doubt(
            "discard-on-image",
            f"{', '.join(asked)}: a scratch image ignores the option discard, so what it costs or gains was not "
            "measured. Measure it on a partition or a disk.",
        )


def _over_several(plan: Plan) -> Iterator[Doubt]:
    """What is to be said of several images, and of arrays."""
    members = plan.target.members
    if not plan.target.others:
        return
    if plan.target.kind == "image" and len({_disk_under(member.path) for member in members}) < len(members):
        yield Doubt(
            "members-on-one-disk",
            f"The {len(members)} scratch images share a disk, which does the work of all: layouts are compared by what "
            "they cost, not by what several disks bring. Give each image a disk of its own: "
            "--target images:SIZE@DIRECTORY,DIRECTORY,…",
        )
    if any(candidate.array and candidate.array.layout.maker == MD for candidate in plan.candidates):
        yield Doubt(
            "not-synchronised",
            "Arrays were made without their first synchronisation (--assume-clean), to measure them as they are when "
            "that is over. It takes hours on large disks, in which an array is slower.",
        )


def _disk_under(directory: str) -> str:
    drive = place_of(directory)
    return drive.name if drive else str(os.stat(directory).st_dev)


def _drivers(plan: Plan) -> Iterator[Doubt]:
    """Doubts about candidates mounted by programs or modules that did not come with the kernel."""
    made = () if plan.target.kind == "directory" else plan.candidates
    for filesystem in {candidate.filesystem.name: candidate.filesystem for candidate in made}.values():
        driver = availability(filesystem).driver
        if driver is not None and driver.doubt:
            yield Doubt(f"{filesystem.name}-through-{driver.name}".lower(), driver.doubt)


def _shingled(plan: Plan) -> Iterator[Doubt]:
    if plan.drive is None or plan.drive.smr.kind not in ("drive-managed", "host-aware"):
        return
    cache_bytes = persistent_cache_bytes(plan.drive)
    if plan.writes_bytes_per_trial < cache_bytes:
        yield Doubt(
            "cache-not-exceeded",
            f"This shingled disk was given {size_text(plan.writes_bytes_per_trial)} at a time; its cache takes about "
            f"{size_text(cache_bytes)}: what happens beyond that was not seen. An overflow recipe shows it.",
        )


def _cached(plan: Plan) -> Iterator[Doubt]:
    buffered = [w for w in plan.recipe.workloads if not w.job.direct]
    memory = host.this.memory_bytes()
    spaces = [plan.target.room_bytes(candidate.array) for candidate in plan.candidates]
    space_bytes = plan.recipe.image_bytes if plan.target.kind == "device" else min(spaces)
    if buffered and space_bytes < 2 * memory:
        yield Doubt(
            "fits-in-memory",
            f"{', '.join(w.title for w in buffered)}: the data fit into this machine's memory ({size_text(memory)}), "
            "so part of the work was done there. A larger image, or a longer recipe, tells more about the disk.",
        )


def _machine() -> Iterator[Doubt]:
    if host.this.on_battery():
        yield Doubt("on-battery", "The machine ran on battery and may have saved power. Plug it in and run again.")
    governor = host.this.governor()
    if governor == "powersave" and not host.this.governor_is_dynamic():
        yield Doubt(
            "governor",
            "The processor was held at its lowest speed (governor `powersave`), which hides differences between fast "
            "filesystems. `cpupower frequency-set -g performance` changes that.",
        )
