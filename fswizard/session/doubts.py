"""Doubts that are known before anything is measured."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fswizard.disks.locations import filesystem_number
from fswizard.drives import persistent_cache_bytes, place_of
from fswizard.filesystems import availability
from fswizard.language import _, listing
from fswizard.model.estimates import room
from fswizard.model.layout import MD
from fswizard.model.plan import AGED_PERCENT, Plan
from fswizard.model.recipe import CUT, Workload
from fswizard.model.result import Doubt, Environment
from fswizard.model.units import binary_text, size_text
from fswizard.system import host, programs

CACHING = frozenset({"zfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs"})
"""Filesystems that may keep in memory what an image on them is given as direct I/O: their own, or a server's."""


def ended_early(workload: Workload, candidate: str) -> Doubt:
    """A candidate was far slower than the baseline."""
    return Doubt(
        "ended-early",
        _(
            "{candidate} took over {times} times as long as planned for {test}: it was ended, and its rate until then "
            "counts. The same may hold of other tests.",
            candidate=candidate,
            times=CUT,
            test=_(workload.title),
        ),
    )


def before(plan: Plan) -> Iterator[Doubt]:
    """What the plan and the machine make doubtful from the outset."""
    if plan.target.kind == "image":
        yield Doubt(
            f"image-on-{plan.target.host_filesystem or 'unknown'}",
            _(
                "Measured inside a scratch image on {filesystem}: ratios carry over to the bare disk, "
                "absolute figures less so.",
                filesystem=plan.target.host_filesystem or _("another filesystem"),
            ),
        )
    if plan.aged:
        yield Doubt(
            "aged",
            _(
                "Age here is {size} written to files that are made, changed and deleted at {percent} % "
                "full, and then cleared to make room for the tests: yours may age differently.",
                size=size_text(plan.churn_bytes),
                percent=AGED_PERCENT,
            ),
        )
    elif plan.target.kind != "directory":
        yield Doubt(
            "fresh-only",
            _(
                "Every filesystem was new and nearly empty, and old or full ones can rank differently (Conway et "
                "al., FAST'17): measure again with --aged, or with the recipe fill."
            ),
        )
    if plan.left_out:
        yield Doubt("not-compared", _("Not compared: {left_out}", left_out=left_out_text(plan)))
    yield from _small(plan)
    yield from _discarding(plan)
    yield from _of_different_disks(plan)
    yield from _of_one_filesystem(plan)
    yield from _in_memory(plan)
    yield from _over_several(plan)
    yield from _drivers(plan)
    yield from _shingled(plan)
    yield from _cached_by_host(plan)
    yield from _machine()


def since(earlier: Environment, now: Environment) -> Doubt | None:
    """What became different between the parts of a run that was interrupted."""
    tools = sorted(name for name in earlier.tools.keys() & now.tools.keys() if earlier.tools[name] != now.tools[name])
    changed = [*([_("the kernel")] if earlier.kernel != now.kernel else []), *tools]
    if not changed:
        return None
    return Doubt(
        "changed-meanwhile",
        _(
            "While the run was interrupted, {changed} changed, so the figures mix both states: run it again "
            "for those of today.",
            changed=", ".join(changed),
        ),
    )


def left_out_text(plan: Plan) -> str:
    """Which candidates of the recipe's are missing from the plan, why, and the one command that brings them."""
    names = "; ".join(f"{each.name} ({each.reason.rstrip('.')})" for each in plan.left_out)
    return f"{names}. {programs.install_hint(*(each.package for each in plan.left_out))}".rstrip()


def _small(plan: Plan) -> Iterator[Doubt]:
    """Of filesystems that are slow with files where they are small."""
    if plan.target.kind == "directory" or all(workload.job.direct for workload in plan.recipe.workloads):
        return
    for candidate in plan.candidates:
        filesystem, space_bytes = candidate.filesystem, plan.target.room_bytes(candidate.array)
        if space_bytes < filesystem.slow_below_bytes:
            yield Doubt(
                f"small-{candidate.name}",
                _(
                    "{candidate} had {space}: {filesystem} is slower with small files below {slow_below}, so measure "
                    "it on more.",
                    candidate=candidate.name,
                    space=binary_text(space_bytes),
                    filesystem=filesystem.title,
                    slow_below=binary_text(filesystem.slow_below_bytes),
                ),
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
            _(
                "{candidates}: a scratch image ignores the option discard, so measure its effect on a partition "
                "or a disk.",
                candidates=", ".join(asked),
            ),
        )


def _of_different_disks(plan: Plan) -> Iterator[Doubt]:
    if plan.target.kind != "directory":
        return
    on_disks = (candidate.directory for candidate in plan.candidates if not candidate.in_memory)
    disks = sorted({disk for directory in on_disks if (disk := _disk_under(directory))})
    if len(disks) > 1:
        yield Doubt(
            "different-disks",
            _(
                "The locations are on different disks ({disks}), so this compares the disks along with their "
                "filesystems.",
                disks=", ".join(disks),
            ),
        )


def _in_memory(plan: Plan) -> Iterator[Doubt]:
    if names := ", ".join(candidate.name for candidate in plan.candidates if candidate.in_memory):
        yield Doubt(
            "in-memory",
            _(
                "{names}: what is in a tmpfs is lost when the machine crashes or is switched off, and programs get "
                "less memory; there was no memory limit for it.",
                names=names,
            ),
        )


def _of_one_filesystem(plan: Plan) -> Iterator[Doubt]:
    """Directories that are compared although the same filesystem holds them."""
    by_filesystem: dict[str, list[str]] = {}
    for candidate in plan.candidates if plan.target.kind == "directory" else ():
        by_filesystem.setdefault(filesystem_number(candidate.directory), []).append(candidate.name)
    for names in by_filesystem.values():
        if len(names) > 1:
            yield Doubt(
                "one-filesystem",
                _(
                    "{names} lie on one filesystem, so a difference between them is chance or the directory's own.",
                    names=listing(names),
                ),
            )


def _over_several(plan: Plan) -> Iterator[Doubt]:
    """Doubts about several images, and about arrays."""
    members = plan.target.members
    if not plan.target.others:
        return
    if plan.target.kind == "image" and len({_disk_under(member.path) for member in members}) < len(members):
        yield Doubt(
            "members-on-one-disk",
            _(
                "The {count} scratch images share one disk, so this shows what layouts cost, not what several "
                "disks gain: for that, give each image a disk of its own.",
                count=len(members),
            ),
        )
    if any(candidate.array and candidate.array.layout.maker == MD for candidate in plan.candidates):
        yield Doubt(
            "not-synchronised",
            _(
                "Arrays were measured as they are after their initial sync, which takes hours on large disks: "
                "until it ends, yours will be slower."
            ),
        )


def _disk_under(directory: str) -> str:
    drive = place_of(directory)
    return drive.name if drive else str(os.stat(directory).st_dev)


def _drivers(plan: Plan) -> Iterator[Doubt]:
    """Doubts about what candidates are, and about programs or modules that mount them and are not the kernel's."""
    made = () if plan.target.kind == "directory" else plan.candidates
    for filesystem in {candidate.filesystem.name: candidate.filesystem for candidate in made}.values():
        driver = availability(filesystem).driver
        if filesystem.doubt:
            yield Doubt(f"{filesystem.name}-limits", filesystem.doubt)
        if driver is not None and driver.doubt:
            yield Doubt(f"{filesystem.name}-through-{driver.name}".lower(), driver.doubt)


def _shingled(plan: Plan) -> Iterator[Doubt]:
    if plan.drive is None or plan.drive.smr.kind not in ("drive-managed", "host-aware"):
        return
    cache_bytes = persistent_cache_bytes(plan.drive)
    if plan.writes_bytes_per_trial < cache_bytes:
        yield Doubt(
            "cache-not-exceeded",
            _(
                "Each test wrote {written} to this shingled disk, whose cache takes about "
                "{cache}, so this run did not see the slowdown once it is full: the recipe cache-overflow shows "
                "it.",
                written=size_text(plan.writes_bytes_per_trial),
                cache=size_text(cache_bytes),
            ),
        )


def fits_in_memory(plan: Plan, *, limited: bool) -> Iterator[Doubt]:
    """Of a plan whose buffered workloads have the whole memory for themselves, unless they are `limited`."""
    buffered = [w for w in plan.recipe.workloads if not (w.job.direct or w.job.syncs_each_write)]
    memory_bytes = host.this.memory_bytes()
    if (limited and plan.memory_limit_bytes) or room(w.job for w in buffered) >= 2 * memory_bytes:
        return
    if buffered:
        why = (
            _("a longer recipe says more, as this machine can't limit memory (see `fswizard doctor`)")
            if plan.memory_limit_bytes
            else _("a memory limit, or a longer recipe, says more")
        )
        yield Doubt(
            "fits-in-memory",
            _(
                "{workloads}: the data fit into this machine's memory ({memory}), so these figures are only partly "
                "the disk's; {why}.",
                workloads=", ".join(w.title for w in buffered),
                memory=binary_text(memory_bytes),
                why=why,
            ),
        )


def _cached_by_host(plan: Plan) -> Iterator[Doubt]:
    """What goes past this machine's memory may end in another one's."""
    direct = [w for w in plan.recipe.workloads if w.job.direct and not w.job.syncs_each_write]
    virtual = plan.drive is not None and plan.drive.kind == "virtual"
    caches = plan.target.host_filesystem in CACHING or plan.target.host_filesystem.startswith("fuse")
    if direct and (virtual or caches):
        where = (
            _("the host of this virtual disk")
            if virtual
            else _("{filesystem}, below the image,", filesystem=plan.target.host_filesystem)
        )
        yield Doubt(
            "fits-in-host-memory",
            _(
                "{workloads}: {where} may keep the data in memory in spite of direct I/O, so treat these figures as "
                "upper limits.",
                workloads=", ".join(w.title for w in direct),
                where=where,
            ),
        )


def _machine() -> Iterator[Doubt]:
    if host.this.on_battery():
        yield Doubt("on-battery", _("The machine ran on battery and may have saved power: plug it in and run again."))
    governor = host.this.governor()
    if governor == "powersave" and not host.this.governor_is_dynamic():
        yield Doubt(
            "governor",
            _(
                "The processor was held at its lowest speed (governor `powersave`), which hides differences "
                "between fast filesystems: `cpupower frequency-set -g performance` changes that."
            ),
        )
