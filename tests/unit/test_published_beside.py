"""Published figures beside a result: of the same kind of disk, work and filesystems, as they were published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fswizard.advice import conclude
from fswizard.advice.published import WORK
from fswizard.importers.published import find, published, with_published
from fswizard.model.drive import Drive
from fswizard.model.judgement import Findings
from fswizard.model.result import Result
from fswizard.recipes import available
from fswizard.report import render
from fswizard.report.layout import WIDTH, cells
from tests.builders import make_drive, make_plan, make_result, make_samples

SHINGLED, CONVENTIONAL = make_drive("drive-managed"), make_drive("cmr")
SSD = make_drive("not-a-hard-disk", kind="ssd")
SPEED = {"ext4": 1.0, "xfs": 1.2, "btrfs": 0.9}


def run(recipe: str, drive: Drive | None, candidates: Sequence[str] = ("ext4", "xfs", "btrfs")) -> Result:
    """Three rounds of a shipped recipe on that disk."""
    found = next(known for known in available() if known.name == recipe)
    samples = tuple(
        sample
        for workload in found.workloads
        for sample in make_samples(
            {
                name: [100.0 * random_writes * SPEED[name.partition(":")[0]] for random_writes in (1.0, 1.01, 0.99)]
                for name in candidates
            },
            workload.name,
            workload.metric,
        )
    )
    return make_result(plan=make_plan(candidates, recipe=found, drive=drive), samples=samples)


def beside(result: Result) -> Findings:
    return with_published(conclude(result))


def told(findings: Findings) -> dict[tuple[str, str], float]:
    """Work and candidate to the published ratio."""
    return {(b.work, b.candidate): round(b.there, 4) for one in findings.published for b in one.ratios}


def test_every_kind_of_work_is_of_figures_that_are_shipped() -> None:
    for name, workload in WORK:
        assert workload in [known.name for known in find(name).plan.recipe.workloads]


@pytest.mark.parametrize(
    ("drive", "name", "xfs", "btrfs"),
    [(SHINGLED, "smr-fileserver", 0.8643, 1.2417), (CONVENTIONAL, "pmr-fileserver", 0.7911, 1.3620)],
)
def test_the_file_server_stands_beside_that_on_the_same_kind_of_disk(
    drive: Drive, name: str, xfs: float, btrfs: float
) -> None:
    findings = beside(run("fileserver", drive))
    (one,) = findings.published
    assert one.name == name
    work = "File server, all operations"
    assert told(findings) == {(work, "xfs"): xfs, (work, "btrfs"): btrfs}
    assert [round(b.here.ratio, 2) for b in one.ratios if b.candidate == "xfs"] == [1.2]
    assert {b.runs for b in one.ratios} == {1}


def test_durations_are_turned_so_that_above_1_is_better() -> None:
    found = told(beside(run("trees", SSD)))
    assert found["Copying a project, 1.4 GB of mixed files", "btrfs"] == round(0.90 / 0.66, 4)
    assert found["Deleting the portage tree", "xfs"] == round(1.28 / 2.08, 4)


def test_workloads_of_the_same_name_stand_beside_each_other_and_beside_no_other() -> None:
    (one,) = beside(run("trees", SSD)).published
    assert {(b.work, b.here.workload) for b in one.ratios} == {
        ("Copying a portage tree, 408 MB of tiny files", "copy-portage"),
        ("Copying a kernel tree, 606 MB", "copy-kernel"),
        ("Copying a project, 1.4 GB of mixed files", "copy-project"),
        ("Deleting the portage tree", "delete-portage"),
        ("Deleting the kernel tree", "delete-kernel"),
        ("Deleting the project", "delete-project"),
    }


def test_another_baseline_is_the_baseline_of_the_published_figures_too() -> None:
    found = told(beside(run("fileserver", SHINGLED, ("btrfs", "xfs"))))
    assert found == {("File server, all operations", "xfs"): round(45.599 / 65.508, 4)}


def test_candidates_that_are_mounted_differently_do_not_stand_for_their_filesystem() -> None:
    found = told(beside(run("fileserver", SHINGLED, ("ext4", "xfs:noatime", "btrfs:compress=zstd:1", "ext4:noatime"))))
    assert [candidate for _, candidate in found] == ["xfs:noatime"]


@pytest.mark.parametrize(
    ("recipe", "drive"),
    [
        ("fileserver", None),
        ("fileserver", make_drive("unknown")),
        ("fileserver", make_drive("not-a-hard-disk", kind="virtual")),
        ("fileserver", SSD),
        ("trees", SHINGLED),
        ("four-jobs", SSD),
        ("fill", make_drive("unknown")),
    ],
)
def test_where_nothing_fits_there_is_nothing(recipe: str, drive: Drive | None) -> None:
    assert beside(run(recipe, drive)).published == ()


def test_a_filled_filesystem_is_not_the_published_empty_one() -> None:
    (one,) = beside(run("fill", SHINGLED)).published
    assert {b.here.workload for b in one.ratios} == {"empty"}


def test_published_figures_are_not_set_beside_each_other() -> None:
    assert all(beside(result).published == () for result in published().values())


def test_reports_tell_them_with_source_and_that_there_is_one_run() -> None:
    findings = beside(run("fileserver", SHINGLED))
    text = render(findings, "text")
    section = " ".join(text.partition("Published for this kind of disk and work\n")[2].partition("\n\n")[0].split())
    assert "(ST8000AS0002-1NA17Z, 2015, one run each: no intervals)" in section
    assert "Source: Fastest Linux Filesystem on Shingled Disks" in section
    assert "xfs 0.86 × ext4, here 1.20" in section
    assert all(cells(line) <= WIDTH for line in text.splitlines())
    for name in ("markdown", "html", "bbcode"):
        report = render(findings, name)
        assert "Published for this kind of disk and work" in report
        assert "0.86 × ext4" in report
        assert "Published for" not in render(replace(findings, published=()), name)
