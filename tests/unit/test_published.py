"""Published figures: as they were published, leading to what their authors concluded, and beside a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import pytest

from fswizard.advice import conclude
from fswizard.advice.published import WORK
from fswizard.errors import UsageError
from fswizard.importers import table
from fswizard.importers.published import find, published, with_published
from fswizard.model.analysis import Findings
from fswizard.model.drive import Drive
from fswizard.model.result import Result
from fswizard.model.text import cells
from fswizard.recipes import available
from fswizard.recipes import find as find_recipe
from fswizard.report import FORMATS, render
from fswizard.report.layout import WIDTH
from tests.builders import make_drive, make_plan, make_result, make_samples
from tests.fakes.command_line import fswizard

TABLE = """
schema = 1
name = "mine"
title = "My own"
source = "a notebook"
[[workload]]
name = "write"
title = "Writing"
metric = "throughput"
unit = "B/s"
better = "higher"
figures = { ext4 = [100, 110, 105], "xfs:noatime" = [120, 130, 125] }
"""


def ratio(findings: Findings, candidate: str, workload: str = "") -> float:
    found = findings.analysis.of(candidate, workload)
    assert found is not None
    return found.ratio


def test_every_seed_has_its_figures_with_source_and_an_unknown_name_is_refused() -> None:
    assert {"smr-fileserver", "pmr-fileserver", "smr-nilfs2", "smr-attic", "smr-rsync"} <= set(published())
    assert {"fio-f2fs", "trees-ssd", "ssd-arrays"} <= set(published())
    for result in published().values():
        assert result.environment.source
        assert result.doubts
    with pytest.raises(UsageError, match="no published figures 'zfs'") as caught:
        find("zfs")
    assert "smr-fileserver" in caught.value.hint


@pytest.mark.parametrize("name", sorted(published()))
@pytest.mark.parametrize("format_name", FORMATS)
def test_they_are_reported_like_any_result_and_prove_nothing(name: str, format_name: str) -> None:
    """One of them tells two runs of both candidates, which is enough for an interval, if one that says nothing."""
    findings = conclude(find(name))
    ratios = (*findings.analysis.by_workload, *findings.analysis.overall)
    assert not {r.verdict for r in ratios} & {"faster", "slower"}
    repeated = name == "fio-f2fs"
    assert repeated or all(r.low is None for r in ratios)
    text = render(findings, format_name)
    assert "fswizard run quick" not in text
    if format_name == "text" and not repeated:
        assert "–1." not in text
        assert "No intervals" in text or not findings.result.samples


def test_the_file_server_leads_to_what_its_author_concluded() -> None:
    findings = conclude(find("smr-fileserver"))
    assert findings.analysis.overall[0].candidate == "btrfs"
    assert findings.advice.card.why == "With one figure each, Btrfs looks 24 % faster; that may be chance."
    assert ratio(findings, "xfs", "random-append") == pytest.approx(1.9833, abs=5e-5)
    with_room = conclude(find("smr-nilfs2"))
    assert with_room.analysis.overall[0].candidate == "nilfs2"
    small = conclude(find("smr-fileserver"))
    assert [(f.candidate, f.kind) for f in small.result.failures] == [("nilfs2", "ENOSPC")]
    assert any("NILFS2 failed" in reason.text for reason in small.advice.reasons)
    assert "nilfs2" not in small.advice.choice
    for findings in (conclude(find("smr-fileserver")), conclude(find("pmr-fileserver"))):
        ranked = [r.candidate for r in findings.analysis.overall if r.verdict != "failed"]
        assert ranked == ["btrfs", "ext4", "xfs"]
        assert ratio(findings, "xfs", "random-append") > 1 > ratio(findings, "btrfs", "random-append")


def test_the_others_lead_to_what_their_authors_concluded() -> None:
    findings = conclude(find("smr-attic"))
    assert ratio(findings, "nilfs2", "first-copy") == pytest.approx(91194.69 / 79946.89)
    assert ratio(findings, "nilfs2", "second-copy") == 1
    assert findings.analysis.leaders[0] == "nilfs2"
    findings = conclude(find("fio-f2fs"))
    assert findings.analysis.leaders[0] == "f2fs"
    assert ratio(findings, "f2fs") > 1.5
    assert any("vary threefold" in doubt.text for doubt in findings.doubts)
    findings = conclude(find("trees-ssd"))
    for candidate in ("btrfs", "zfs"):
        assert ratio(findings, candidate, "copy-portage") < 0.8
        assert ratio(findings, candidate, "delete-portage") < 0.5
        assert ratio(findings, candidate, "copy-dvd") > 1.4
        assert ratio(findings, candidate, "delete-dvd") > 1.3
    assert len(findings.advice.choice) == 4
    assert all(0.9 < r.ratio < 1.1 for r in findings.analysis.overall)
    assert any(reason.code == "feature" for reason in findings.advice.reasons)
    text = render(conclude(find("ssd-arrays")), "text")
    assert text.startswith("Commands alone: nobody published figures with them\n")
    assert "mdadm --create" in text
    assert "--rw=randwrite --bs=4k --size=10G" in text


# Their tables


def test_a_table_by_hand_becomes_a_result_with_rounds() -> None:
    findings = conclude(table.parse(TABLE, "mine.toml"))
    assert findings.analysis.rounds == 3
    assert ratio(findings, "xfs:noatime") == pytest.approx(1.19, abs=0.01)
    assert findings.analysis.overall[0].low is not None
    assert findings.result.plan.candidate("xfs:noatime").mount_options == ("noatime",)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("schema = 1", "schema = 2", "'schema' must be 1, not 2"),
        ("better", "worse", r"workload 1 .write.: 'better' is missing"),
        ('"higher"', '"more"', r"workload 1 .write.: 'better' must be one of higher, lower, not 'more'"),
        ("[100, 110, 105]", '"fast"', r"workload 1 .write.: figures: 'ext4' must be a number"),
        ("[100, 110, 105]", "nan", "figures: 'ext4' must be a number"),
        ("[100, 110, 105]", "-1", "figures: 'ext4' must be a number"),
        ("schema = 1", 'schema = 1\nbaseline = "ntfs"', "'baseline' must be one of ext4, xfs:noatime, not 'ntfs'"),
        ("schema = 1", 'schema = 1\ncommands = ["a \'b"]', "'commands' must be a list of commands"),
        ("schema = 1", "schema = 1\ndrive = { size_bytes = -1.5 }", "drive: 'size_bytes' must be a whole number"),
        ("[[workload]]", "workload = 3\n[x]", "'workload' must be a list of tables, not 3"),
        ("schema = 1", "schema = 1 =", "this is not TOML"),
    ],
)
def test_a_wrong_table_is_refused_with_its_key(old: str, new: str, reason: str) -> None:
    assert old in TABLE
    with pytest.raises(UsageError, match=rf"mine\.toml.*{reason}"):
        table.parse(TABLE.replace(old, new, 1), "mine.toml")


# The command


def test_the_command_lists_and_reports() -> None:
    listing = fswizard("published")
    assert [line for line in listing.stdout.splitlines() if line and line[0] != " "] == sorted(published())
    assert max(map(len, listing.stdout.splitlines())) <= 80
    assert {entry["name"] for entry in json.loads(fswizard("published", "--json").stdout)} == set(published())
    document = json.loads(fswizard("published", "smr-fileserver", "--format", "json").stdout)
    assert document["overall"][0]["candidate"] == "btrfs"
    assert fswizard("published", "nothing").returncode == 2


SHINGLED, CONVENTIONAL = make_drive("drive-managed"), make_drive("cmr")
SSD = make_drive("not-a-hard-disk", kind="ssd")
SPEED = {"ext4": 1.0, "xfs": 1.2, "btrfs": 0.9}


def run(recipe: str, drive: Drive | None, candidates: Sequence[str] = ("ext4", "xfs", "btrfs")) -> Result:
    """Three rounds of a shipped recipe on that disk."""
    found = next(known for known in available() if known.name == recipe)
    speeds = {name: SPEED[name.partition(":")[0]] for name in candidates}
    figures = {name: (100.0 * speed, 101.0 * speed, 99.0 * speed) for name, speed in speeds.items()}
    samples = chain(*(make_samples(figures, workload.name, workload.metric) for workload in found.workloads))
    return make_result(plan=make_plan(candidates, recipe=found, drive=drive), samples=tuple(samples))


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


def test_workloads_of_the_same_name_stand_beside_each_other_and_above_1_is_better() -> None:
    found = told(beside(run("trees", SSD)))
    assert found["Copying a project, 1.4 GB of mixed files", "btrfs"] == round(0.90 / 0.66, 4)
    assert found["Deleting the portage tree", "xfs"] == round(1.28 / 2.08, 4)
    (one,) = beside(run("trees", SSD)).published
    assert {(b.work, b.here.workload) for b in one.ratios} == {
        ("Copying a portage tree, 408 MB of tiny files", "copy-portage"),
        ("Copying a kernel tree, 606 MB", "copy-kernel"),
        ("Copying a project, 1.4 GB of mixed files", "copy-project"),
        ("Deleting the portage tree", "delete-portage"),
        ("Deleting the kernel tree", "delete-kernel"),
        ("Deleting the project", "delete-project"),
    }
    assert [workload.job.work for workload in find_recipe("fill").workloads] == [
        "copy-onto home",
        "copy-onto mail",
        *[""] * 6,
    ]
    assert all(beside(result).published == () for result in published().values())


def test_another_baseline_is_theirs_too_and_who_is_mounted_differently_does_not_stand_for_its_filesystem() -> None:
    found = told(beside(run("fileserver", SHINGLED, ("btrfs", "xfs"))))
    assert found == {("File server, all operations", "xfs"): round(45.599 / 65.508, 4)}
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


def test_reports_tell_them_with_source_and_that_there_is_one_run() -> None:
    findings = beside(run("fileserver", SHINGLED))
    text = render(findings, "text")
    section = " ".join(text.partition("Published for this kind of disk and work\n")[2].partition("\n\n")[0].split())
    assert "(ST8000AS0002-1NA17Z, 2015, one run each: no intervals)" in section
    assert "Source: Fastest Linux Filesystem on Shingled Disks" in section
    assert "xfs 0.86 against ext4, here 1.20" in section
    assert all(cells(line) <= WIDTH for line in text.splitlines())
    for name in ("markdown", "html", "bbcode"):
        report = render(findings, name)
        assert "Published for this kind of disk and work" in report
        assert "0.86 against ext4" in report
        assert "Published for" not in render(replace(findings, published=()), name)
