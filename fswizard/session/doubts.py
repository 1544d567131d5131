"""Doubts that are known before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.drives import persistent_cache_bytes
from fswizard.filesystems import availability
from fswizard.language import _, joined
from fswizard.model.estimates import room
from fswizard.model.plan import AGED_PERCENT, Plan
from fswizard.model.recipe import CUT, Workload
from fswizard.model.result import Doubt
from fswizard.model.units import binary_text, size_text
from fswizard.system import host, programs

CACHING = frozenset({"zfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs"})
"""Filesystems that may cache direct writes to an image on them, in local memory or in that of a server."""


def before(plan: Plan) -> Iterator[Doubt]:
    """All doubts that follow from the plan and the machine."""
    below = plan.target.host_filesystem
    if plan.target.kind == "image":
        text = _(
            "Measured inside a scratch image on {filesystem}: ratios carry over to the bare disk, "
            "absolute figures less so.",
            filesystem=below or _("another filesystem"),
        )
        yield Doubt(f"image-on-{below or 'unknown'}", text)
    if plan.target.kind != "directory":
        yield from _of_new_filesystems(plan)
    if plan.left_out:
        yield Doubt("not-compared", _("Not compared: {left_out}", left_out=left_out_text(plan)))
    yield from _of_caches(plan)
    if host.this.on_battery():
        yield Doubt("on-battery", _("The machine ran on battery and may have saved power: plug it in and run again."))
    if host.this.is_slowed():
        text = _(
            "The processor was held at its lowest speed (governor `powersave`), which hides differences "
            "between fast filesystems: `cpupower frequency-set -g performance` changes that."
        )
        yield Doubt("governor", text)


def left_out_text(plan: Plan) -> str:
    """Candidates of the recipe that are missing from the plan, with reasons, and a command that installs what they
    need."""
    reasons = [joined((each.name, each.reason), " – ") for each in plan.left_out]
    return joined((*reasons, programs.install_hint(*(each.package for each in plan.left_out))))


def _of_new_filesystems(plan: Plan) -> Iterator[Doubt]:
    if plan.aged:
        text = _(
            "Age here is {size} written to files that are made, changed and deleted at {percent} % "
            "full, and then cleared to make room for the tests: yours may age differently.",
            size=size_text(plan.churn_bytes),
            percent=AGED_PERCENT,
        )
        yield Doubt("aged", text)
    else:
        text = _(
            "Every filesystem was new and nearly empty, and old or full ones can rank differently (Conway et "
            "al., FAST'17): measure again with --aged, or with the recipe fill."
        )
        yield Doubt("fresh-only", text)
    many_files = not all(workload.job.direct for workload in plan.recipe.workloads)
    for candidate in plan.candidates:
        filesystem, space_bytes = candidate.filesystem, plan.target.room_bytes(candidate.array)
        driver = availability(filesystem).driver
        if filesystem.doubt:
            yield Doubt(f"{filesystem.name}-limits", _(filesystem.doubt))
        if driver is not None and driver.doubt:
            yield Doubt(f"{filesystem.name}-through-{driver.name}".lower(), _(driver.doubt))
        if many_files and space_bytes < filesystem.slow_below_bytes:
            text = _(
                "{candidate} had {space}: {filesystem} is slower with small files below {slow_below}, so measure "
                "it on more.",
                candidate=candidate.name,
                space=binary_text(space_bytes),
                filesystem=filesystem.title,
                slow_below=binary_text(filesystem.slow_below_bytes),
            )
            yield Doubt(f"small-{candidate.name}", text)


def _of_caches(plan: Plan) -> Iterator[Doubt]:
    """Doubts about a shingled disk's cache that was never full, and about data that may be cached on another
    machine."""
    drive, below = plan.drive, plan.target.host_filesystem
    cache_bytes = persistent_cache_bytes(drive) if drive else 0
    if plan.writes_bytes_per_trial < cache_bytes:
        text = _(
            "Each test wrote {written} to this shingled disk, whose cache takes about {cache}, so this run did not see "
            "the slowdown once it is full: the recipe cache-overflow shows it.",
            written=size_text(plan.writes_bytes_per_trial),
            cache=size_text(cache_bytes),
        )
        yield Doubt("cache-not-exceeded", text)
    cached = (drive and drive.kind == "virtual") or below in CACHING or below.startswith("fuse")
    direct = [_(w.title) for w in plan.recipe.workloads if w.job.direct and not w.job.syncs_each_write]
    if cached and direct:
        text = _(
            "{workloads}: the host of this virtual disk, or what is below the image, may keep the data in memory in "
            "spite of direct I/O, so treat these figures as upper limits.",
            workloads=joined(direct, ", "),
        )
        yield Doubt("fits-in-host-memory", text)


def fits_in_memory(plan: Plan, *, limited: bool) -> Iterator[Doubt]:
    """Doubt about buffered workloads that can use the whole memory, unless they are `limited`."""
    buffered = [w for w in plan.recipe.workloads if not (w.job.direct or w.job.syncs_each_write)]
    memory_bytes = host.this.memory_bytes()
    fits = room(workload.job for workload in buffered) < 2 * memory_bytes
    if buffered and fits and not (limited and plan.memory_limit_bytes):
        text = _(
            "{workloads}: the data fit into this machine's memory ({memory}), so these figures are only partly "
            "the disk's: a longer recipe says more, or a memory limit, where `fswizard doctor` finds that it works.",
            workloads=joined([_(workload.title) for workload in buffered], ", "),
            memory=binary_text(memory_bytes),
        )
        yield Doubt("fits-in-memory", text)


def ended_early(workload: Workload, candidate: str) -> Doubt:
    """Doubt about a candidate that was far slower than the baseline."""
    text = _(
        "{candidate} took over {times} times as long as planned for {test}: it was ended, and its rate until then "
        "counts. The same may hold of other tests.",
        candidate=candidate,
        times=CUT,
        test=_(workload.title),
    )
    return Doubt("ended-early", text)
