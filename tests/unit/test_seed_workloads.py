"""Workloads that stand for published ones are those, scaled as their recipes say."""

from __future__ import annotations

import statistics
from random import Random

import pytest

from fswizard import recipes
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.shared import fileserver_worker
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidate, require_members

KIB, MIB = 1 << 10, 1 << 20


def jobs(recipe: str) -> dict[str, object]:
    return {workload.name: workload.job for workload in recipes.find(recipe).workloads}


def test_the_file_server_is_filebench_s_with_fifty_threads_a_fiftieth_of_its_size() -> None:
    (job,) = jobs("fileserver").values()
    assert job == FileServerJob(50, 100_000 // 50, 1_310_720, 16 * KIB, 36_000 / 600)


def test_the_file_server_s_sizes_follow_filebench_s_gamma_distribution() -> None:
    options = fileserver_worker.Options(["x", "50", "100000", "1310720", "16384", "60", "1"])
    dice = Random(1)
    sizes = [options.size(dice) for _ in range(20_000)]
    assert statistics.mean(sizes) == pytest.approx(1_310_720, rel=0.03)
    assert statistics.pvariance(sizes) == pytest.approx(1_310_720**2 / 1.5, rel=0.1)


def test_four_of_five_files_exist_beforehand_and_directories_have_twenty_entries() -> None:
    options = fileserver_worker.Options(["x", "50", "100000", "1310720", "16384", "60", "1"])
    assert sum(map(options.exists_at_first, range(100_000))) == 80_000
    folders = {options.path(number).rpartition("/")[0] for number in range(100_000)}
    assert len(folders) == 100_000 / 20


def test_flash_is_written_to_by_sixteen_jobs_as_in_the_published_comparison() -> None:
    (job,) = jobs("randwrite-f2fs").values()
    assert job == FioJob("randwrite", 4 * KIB, 800 * MIB, 20, jobs=16, depth=1, io_engine="psync", direct=True)


def test_the_four_jobs_are_those_of_the_published_comparison() -> None:
    assert list(jobs("four-jobs").values()) == [
        FioJob(rw, 4 * KIB, 1024 * MIB, 10, jobs=1, depth=32, io_engine="libaio", direct=True)
        for rw in ("read", "randread", "write", "randwrite")
    ]


def test_kdiskmark_s_profile_is_exact_and_the_desktop_s_is_shorter() -> None:
    presets = [("read", "write", MIB, 8), ("read", "write", MIB, 1)]
    presets += [("randread", "randwrite", 4 * KIB, 32), ("randread", "randwrite", 4 * KIB, 1)]
    exact = [
        FioJob(rw, block, 1024 * MIB, 5.0, jobs=1, depth=depth, io_engine="libaio", direct=True)
        for read, write, block, depth in presets
        for rw in (read, write)
    ]
    assert list(jobs("kdiskmark").values()) == exact
    shorter = [job for job in jobs("desktop-ssd").values() if isinstance(job, FioJob)]
    assert {(j.rw, j.block_bytes, j.depth, j.size_bytes) for j in shorter} == {
        (j.rw, j.block_bytes, j.depth, j.size_bytes) for j in exact
    }
    assert {job.seconds for job in shorter} == {3.0}


def test_over_four_disks_the_four_jobs_compare_what_the_publication_compared() -> None:
    names = recipes.find("four-jobs").array_candidates
    candidates = [parse_candidate(name).on(4) for name in names]
    for candidate in candidates:
        require_members(candidate.name, candidate.array, 4)
    layouts = [
        candidate.array.layout.name if candidate.array else candidate.filesystem.name for candidate in candidates
    ]
    assert set(layouts) == {
        "ext4", "md:raid5", "md:raid6", "md:raid10", "zfs", "zfs:mirror", "zfs:raidz", "zfs:raidz2", "btrfs:raid1",
        "btrfs:raid10",
    }  # fmt: skip
    raid6 = candidates[layouts.index("md:raid6")]
    assert "stride=128,stripe_width=256" in raid6.mkfs_arguments(scratch=False)


@pytest.mark.parametrize(
    ("tree", "shape", "files", "total_bytes"),
    [
        ("portage", "small-files", 150_000, 408 * MIB),
        ("kernel", "source", 50_000, 606 * MIB),
        ("project", "mixed", 12_000, 1400 * MIB),
        ("video", "mixed", 4, 4400 * MIB),
    ],
)
def test_the_four_trees_are_a_quarter_of_the_published_ones(
    tree: str, shape: str, files: int, total_bytes: int
) -> None:
    for operation in ("copy", "delete"):
        job = jobs("trees")[f"{operation}-{tree}"]
        assert isinstance(job, TreeJob)
        assert (job.operation, job.shape, job.files) == (operation, shape, files // 4)
        assert job.total_bytes == pytest.approx(total_bytes / 4, rel=0.01)
    assert all(name.endswith(":noatime") for name in recipes.find("trees").candidates)
