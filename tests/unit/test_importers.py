"""Figures from elsewhere: what other programs print comes in as it went out, and nothing else does."""

from __future__ import annotations

import gzip
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fswizard import importers, results
from fswizard.advice import conclude
from fswizard.engines.fileserver import FileServerJob
from fswizard.errors import FswizardError, UsageError
from fswizard.importers import csv_table, filebench, fio_json
from fswizard.importers.assemble import by_disk, sources_of
from fswizard.model.result import Result
from fswizard.report import render

DATA = Path(__file__).with_name("data")
JOSHELL = DATA / "filebench"
EXT4 = (JOSHELL / "SMR.ext4.0.out").read_text()
FIO = shutil.which("fio")


def values(result: Result, candidate: str, metric: str, workload: str = "") -> list[float]:
    samples = (sample for sample in result.samples if workload in (sample.workload, ""))
    return [sample.value for sample in samples if (sample.candidate, sample.metric) == (candidate, metric)]


def only(*named: str | Path) -> Result:
    """The result that these make together."""
    (result,) = importers.read([str(name) for name in named]).values()
    return result


def refused(path: Path, words: str) -> UsageError:
    with pytest.raises(UsageError, match=words) as caught:
        importers.read([str(path)])
    return caught.value


def ratios(result: Result, workload: str) -> dict[str, float]:
    by_workload = conclude(result).analysis.by_workload
    return {r.candidate: r.ratio for r in by_workload if r.workload == workload and r.verdict != "failed"}


# filebench


@pytest.fixture(scope="module")
def published_runs() -> dict[str, Result]:
    return importers.read([str(JOSHELL)])


def test_raw_files_of_two_disks_become_two_results_with_every_operation(published_runs: dict[str, Result]) -> None:
    assert sorted(published_runs) == ["SMR", "Toshiba"]
    assert {c.name for c in published_runs["SMR"].plan.candidates} == {"ext4", "xfs", "btrfs", "nilfs2"}
    drive = published_runs["SMR"].plan.drive
    assert drive is not None
    assert (drive.model, drive.size_bytes) == ("ST8000AS0002-1NA17Z", 8_001_563_222_016)
    assert drive.smr.kind == "drive-managed"
    smr = published_runs["SMR"]
    assert values(smr, "ext4", "write_worst_latency") == [67.306]
    assert values(smr, "xfs", "write_latency") == [0.012]
    assert values(smr, "ext4", "create_count") == [172_709]
    assert values(smr, "btrfs", "preallocation_time") == [544]
    assert values(smr, "ext4", "open_count") == [172_668 + 172_679]
    mean_s = (172_668 * 0.0810 + 172_679 * 0.0479) / (172_668 + 172_679)
    assert values(smr, "ext4", "open_latency") == pytest.approx([mean_s])


@pytest.mark.parametrize(
    ("disk", "candidate", "operations", "appends"),
    [
        ("SMR", "btrfs", 1.2417, 0.7461),
        ("SMR", "xfs", 0.8643, 1.9833),
        ("Toshiba", "btrfs", 1.3620, 0.4147),
        ("Toshiba", "xfs", 0.7911, 1.3834),
    ],
)
def test_the_published_table_comes_out_as_its_author_made_it(
    published_runs: dict[str, Result], disk: str, candidate: str, operations: float, appends: float
) -> None:
    assert ratios(published_runs[disk], "operations")[candidate] == pytest.approx(operations, abs=5e-5)
    assert ratios(published_runs[disk], "random-append")[candidate] == pytest.approx(appends, abs=5e-5)


def test_a_run_that_filled_its_volume_is_a_failure_where_df_says_so(
    published_runs: dict[str, Result], tmp_path: Path
) -> None:
    (failure,) = published_runs["SMR"].failures
    assert (failure.candidate, failure.kind) == ("nilfs2", "ENOSPC")
    assert failure.text == "The volume was full: filebench stopped after 5,976 s without figures."
    shutil.copy(JOSHELL / "SMR.nilfs2.0.out", tmp_path)
    assert only(tmp_path / "SMR.nilfs2.0.out").failures[0].kind == "program"


def test_further_runs_of_a_candidate_are_its_rounds(tmp_path: Path) -> None:
    for name in ("SMR.ext4", "SMR.xfs"):
        for run in (2, 0, 10):
            shutil.copy(JOSHELL / f"{name}.0.out", tmp_path / f"{name}.{run}.out")
    text = (tmp_path / "SMR.xfs.10.out").read_text()
    (tmp_path / "SMR.xfs.10.out").write_text(text.replace("45.599 ops/s", "50.000 ops/s"))
    result = only(tmp_path)
    assert values(result, "xfs", "operation_rate") == [45.599, 45.599, 50.0]
    assert conclude(result).analysis.rounds == 3


def test_filebench_1_5_is_read_too() -> None:
    (parsed_run,) = filebench.read_each(
        "Filebench Version 1.5-alpha3\n"
        "0.009: bigfileset populated: 32768 files, avg. dir. width = 20, avg. dir. depth = 0.8, 0 leafdirs, "
        "8192.000MB total size\n"
        "0.000: File-server Version 3.0 personality successfully loaded\n"
        "60.0: Per-Operation Breakdown\n"
        "appendfilerand1      120ops        2ops/s   0.0mb/s    3.532ms/op [0.004ms - 60.910ms]\n"
        "60.0: IO Summary:  1320 ops 22.000 ops/s 2/4 rd/wr   5.2mb/s 4.211ms/op\n",
        "x",
    )
    figures = {(figure.workload.split("\n")[0], figure.metric.name): figure.value for figure in parsed_run.figures}
    assert figures["operations", "operation_rate"] == 22.0
    assert figures["random-append", "append_latency"] == 0.003532
    assert figures["operations", "append_worst_latency"] == 0.06091
    job = parsed_run.workloads[0].job
    assert isinstance(job, FileServerJob)
    assert (job.files, job.mean_file_bytes, job.mean_append_bytes) == (32768, 256 << 10, 8 << 10)


def test_files_with_the_line_ends_of_windows_say_the_same(tmp_path: Path, published_runs: dict[str, Result]) -> None:
    for file in JOSHELL.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    read = importers.read([str(tmp_path)])
    for disk, result in published_runs.items():
        assert read[disk].samples == result.samples
        assert [failure.kind for failure in read[disk].failures] == [failure.kind for failure in result.failures]


def test_runs_and_summaries_that_stand_in_one_file_stay_apart(tmp_path: Path) -> None:
    ext4, nilfs2 = ((JOSHELL / f"SMR.{name}.0.out").read_text() for name in ("ext4", "nilfs2"))
    second = ext4.replace("52.756 ops/s", "60.000 ops/s").replace("1328.6ms/op", "1000.0ms/op")
    (tmp_path / "ext4.out").write_text(f"{ext4}=== iteration 0 done ===\n{second}{nilfs2}")
    shutil.copy(JOSHELL / "SMR.xfs.0.out", tmp_path / "xfs.out")
    result = only(tmp_path)
    assert values(result, "ext4", "operation_rate") == [52.756, 60.0]
    assert values(result, "ext4", "append_latency", "random-append") == [1.3286, 1.0]
    assert values(result, "xfs", "operation_rate") == [45.599]
    (failure,) = result.failures
    assert (failure.candidate, failure.round, failure.kind) == ("ext4", 3, "program")
    lines = EXT4.splitlines(keepends=True)
    snap = "".join(lines[14:27]).replace("52.756 ops/s", "40.000 ops/s")
    (tmp_path / "ext4.out").write_text("".join(lines[:27]) + snap + lines[27])
    assert values(only(tmp_path), "ext4", "operation_rate") == [52.756, 40.0]


def test_runs_without_appends_beside_runs_with_them(tmp_path: Path) -> None:
    for name in ("ext4", "xfs"):
        text = (JOSHELL / f"SMR.{name}.0.out").read_text()
        kept = [line for line in text.splitlines() if name == "ext4" or not line.startswith("appendfilerand1")]
        (tmp_path / f"{name}.out").write_text("\n".join(kept))
    result = only(tmp_path)
    assert ratios(result, "operations")["xfs"] == pytest.approx(0.8643, abs=5e-5)
    assert values(result, "xfs", "append_latency") == []
    assert "xfs" in render(conclude(result), "text")


def test_any_cut_of_a_file_gives_its_figures_a_failure_or_a_refusal(tmp_path: Path) -> None:
    file = tmp_path / "SMR.ext4.0.out"
    for end in range(1, len(EXT4), 7):
        file.write_text(EXT4[:end])
        try:
            result = only(file)
        except UsageError as error:
            assert re.search(r"line \d+: |can't be read: ", str(error))
            continue
        assert result.failures or values(result, "ext4", "operation_rate") == [52.756]


def test_a_filesystem_that_nobody_knows_is_told_from_its_neighbours(tmp_path: Path) -> None:
    for name in ("ext4", "reiserfs"):
        for run in (0, 1):
            shutil.copy(JOSHELL / "SMR.ext4.0.out", tmp_path / f"SMR.{name}.{run}.out")
    result = only(tmp_path)
    assert [candidate.name for candidate in result.plan.candidates] == ["ext4", "reiserfs"]
    assert values(result, "reiserfs", "operation_rate") == [52.756, 52.756]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("appendfilerand1  ", "append file", "22: this line"),
        ("IO Summary: 1899386 ops", "IO Summary: many ops", "27: no "),
        (EXT4[EXT4.index("createfile1") :], "", "25: it ends before filebench's summary"),
    ],
)
def test_a_damaged_filebench_file_is_refused_with_its_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in EXT4
    (tmp_path / "SMR.ext4.0.out").write_text(EXT4.replace(old, new))
    refused(tmp_path / "SMR.ext4.0.out", rf"SMR\.ext4\.0\.out, line {why}")


# fio


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_what_fio_prints_here_is_read(tmp_path: Path) -> None:
    jobs = ["--name=big", "--rw=write", "--bs=1M", "--name=small", "--stonewall", "--rw=randwrite", "--bs=4k"]
    fio = ["fio", f"--directory={tmp_path}", "--size=4M", "--output-format=json"]
    done = subprocess.run([*fio, *jobs], capture_output=True, text=True, check=True)
    (tmp_path / "run-xfs-1.txt").write_text(done.stdout)
    result = only(tmp_path / "run-xfs-1.txt")
    metrics = {w.name: (w.metric.name, w.title) for w in result.plan.recipe.workloads}
    assert metrics["big"] == ("throughput", "big: writing, 1 MiB")
    assert metrics["small"] == ("iops", "small: writing at random, 4 KiB")
    assert [c.name for c in result.plan.candidates] == ["xfs"]
    assert min(s.value for s in result.samples) > 0
    rate, (iops,) = values(result, "xfs", "throughput", "small"), values(result, "xfs", "iops", "small")
    assert rate == [pytest.approx(iops * 4096, rel=0.02)]


def fio_dump(*jobs: dict[str, object]) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": jobs})


def test_jobs_of_one_name_add_up_and_one_that_failed_is_a_failure() -> None:
    dump = fio_dump({"jobname": "w", "error": 28, "write": {"total_ios": 5, "iops": 9.0}})
    (parsed_run,) = fio_json.read_each(dump, "x")
    assert [(fault.workload, fault.kind) for fault in parsed_run.faults] == [("w\nwrite", "ENOSPC")]
    assert parsed_run.figures == ()
    side = {"total_ios": 5, "iops": 100.0, "bw_bytes": 409_600, "lat_ns": {"max": 2e9}}
    slow = {**side, "lat_ns": {"max": 5e9}}
    dump = fio_dump({"jobname": "w", "write": side}, {"jobname": "w", "write": slow})
    figures = {f.metric.name: f.value for f in next(fio_json.read_each(f"fio: note\n{dump}", "x")).figures}
    assert figures == {"throughput": 819_200, "iops": 200.0, "worst_latency": 5.0}


@pytest.mark.parametrize(
    ("file", "workload", "metric", "value"),
    [  # before 3.2 there were KiB per second only, and before 3.0 latencies in microseconds
        ("fio-2.2.10-xfs.json", "random-read", "throughput", 275 * 1024),
        ("fio-2.2.10-xfs.json", "random-read", "p99_latency", 506e-6),
        ("fio-2.2.10-xfs.json", "random-read", "worst_latency", 6330e-6),
        ("fio-3.1-xfs.json", "read", "throughput", 4096000 * 1024),
        ("fio-3.1-xfs.json", "read", "p99_latency", 3096576e-9),
        # fio --client prints each client's jobs and their sum
        ("fio-3.35-client.json", "job1", "iops", 102_400),
        # etcd asks for the 99th percentile of fdatasync, not of the write into the cache before it
        ("fio-3.28-etcd-ext4.json", "fsperf-sync", "p99_latency", 26e-3),
        ("fio-3.28-etcd-ext4.json", "fsperf-write", "iops", 1612.4),
    ],
)
def test_each_version_and_mode_of_fio_is_read_in_its_units(file: str, workload: str, metric: str, value: float) -> None:
    """As in fio's own examples, etcd's documentation on fio, and a public converter of fio 2.2.10's output."""
    result = only(DATA / "fio" / file)
    assert values(result, result.plan.candidates[0].name, metric, workload) == [pytest.approx(value)]


def side(iops: float, **more: object) -> dict[str, object]:
    return {"total_ios": 5, "iops": iops, "bw_bytes": iops * 4096, **more}


def rates(text: str) -> dict[str, list[float]]:
    """Operations per second by job and direction, one of each run."""
    found: dict[str, list[float]] = {}
    for parsed_run in fio_json.read_each(text, "x"):
        for figure in parsed_run.figures:
            if figure.metric.name == "iops":
                found.setdefault(" ".join(figure.workload.split("\n")[:2]), []).append(figure.value)
    return found


def test_parts_of_a_job_add_up_and_the_same_job_in_a_later_group_is_a_repeat() -> None:
    parts = [{"jobname": "w", "groupid": group, "write": side(rate)} for group, rate in ((0, 10), (0, 20), (1, 31))]
    assert rates(fio_dump(*parts)) == {"w write": [30, 31]}
    apart = [{**part, "job options": {"new_group": ""}} for part in parts]
    assert rates(fio_dump(*apart)) == {"w write": [61]}
    clients = {"client_stats": [{"jobname": name, "read": side(5)} for name in ("a", "a", "All clients")]}
    assert rates(json.dumps({"fio version": "fio-2.6", **clients})) == {"a read": [10]}


def test_every_direction_has_its_own_figures() -> None:
    both = {"jobname": "m", "read": side(3), "write": side(4), "mixed": side(7), "trim": side(2)}
    assert rates(fio_dump(both)) == {"m read": [3], "m write": [4], "m trim": [2]}
    assert rates(fio_dump({"jobname": "m", "mixed": side(7)})) == {"m mixed": [7]}


def test_documents_in_one_file_are_runs_unless_one_goes_on_with_the_other() -> None:
    def document(at_ms: int, elapsed: int, runtime: int, rate: float, operations: int) -> str:
        done = side(rate, runtime=runtime, total_ios=operations)
        job = {"jobname": "w", "elapsed": elapsed, "write": done}
        return json.dumps({"fio version": "fio-3.33", "timestamp_ms": at_ms, "jobs": [job]})

    dumps = [document(1_000, 2, 900, 1, 10), document(2_000, 3, 1_900, 2, 20), document(2_100, 3, 2_000, 3, 21)]
    assert rates("\n".join(dumps)) == {"w write": [3]}
    again = [document(1_000, 2, 900, 1, 10), document(2_050, 2, 900, 2, 10), document(13_000, 11, 10_000, 3, 50)]
    assert rates("fio: {x}\n" + "\n".join(again)) == {"w write": [1, 2, 3]}
    assert rates(again[0] + again[0]) == {"w write": [1]}, "the same document twice"
    with pytest.raises(UsageError, match="line 2: fio's JSON is cut off"):
        rates(f"{again[0]}\n{again[1][:-9]}")


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_all_that_fio_here_can_print_is_read(tmp_path: Path) -> None:
    def fio(*options: str) -> str:
        command = ["fio", f"--directory={tmp_path}", "--size=1M", "--name=w", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    twice = fio("--rw=write", "--output-format=normal,json+") + fio("--rw=write", "--output-format=normal,json+")
    assert [len(repeats) for repeats in rates(twice).values()] == [2]
    timed = fio(
        "--rw=write", "--rate_iops=50", "--time_based", "--runtime=2", "--status-interval=1", "--output-format=json"
    )
    assert timed.count('"fio version"') > 1
    assert rates(timed) == {"w write": [pytest.approx(50, rel=0.2)]}
    assert list(rates(fio("--rw=randrw", "--unified_rw_reporting=1", "--output-format=json"))) == ["w mixed"]
    runs = fio_json.read_each(fio("--rw=write", "--fdatasync=8", "--output-format=json"), "x")
    assert [(run.workloads[0].title, run.workloads[0].metric.name) for run in runs] == [
        ("w: writing, 4 KiB", "iops"),
        ("w: waiting for syncs", "p99_latency"),
    ]


def test_files_with_failures_alone_say_what_failed(tmp_path: Path) -> None:
    for name, error in (("ext4", 5), ("xfs", 28)):
        job = {"jobname": "w", "error": error, "job options": {"rw": "read"}}
        (tmp_path / f"{name}.json").write_text(f"fio: io_u error on file /mnt/x\n{fio_dump(job)}")
    result = only(tmp_path)
    assert [failure.kind for failure in result.failures] == ["EIO", "ENOSPC"]
    text = render(conclude(result), "text")
    assert text.startswith("Nothing to choose: every filesystem failed here\n  fio: Input or output error.")


def test_jobs_with_other_options_are_other_work_and_names_say_which(tmp_path: Path) -> None:
    jobs = [
        {"jobname": name, "job options": {"rw": "randread", "filename": f"/{place}", **options}, "read": side(rate)}
        for name, place, rate, options in (
            ("r", "a", 1, {"iodepth": "1"}),
            ("r", "b", 2, {"iodepth": "16", "bs": "8k"}),
            ("x" * 70 + "1", "c", 3, {}),
            ("x" * 70 + "2", "c", 4, {}),
            ("\u8bfb", "c", 5, {}),
            ("\u5199", "c", 6, {}),
        )
    ]
    for name, place in (("ext4", "a"), ("xfs", "b")):
        (tmp_path / f"{name}.json").write_text(fio_dump(*jobs).replace('"/c"', f'"/{place}"'))
    result = only(tmp_path)
    for name in ("ext4", "xfs"):
        assert values(result, name, "iops") == [1, 2, 3, 4, 5, 6]
    made = result.plan.recipe.workloads
    assert [workload.name for workload in made[:2]] == ["r-iodepth-1", "r-bs-8k-iodepth-16"]
    assert made[1].title == "r: reading at random, 8 KiB, bs=8k, iodepth=16"
    assert [workload.name for workload in made[4:]] == ["work", "work-2"]


def test_a_job_named_after_a_filesystem_is_of_that_candidate_and_its_work_has_the_rest_of_the_name(
    tmp_path: Path,
) -> None:
    both = tmp_path / "nas.json"
    jobs = (("ext4-randread", 1), ("randread_xfs", 2), ("ext4", 3), ("xfs", 4))
    both.write_text(fio_dump(*({"jobname": name, "read": side(rate)} for name, rate in jobs)))
    result = only(both)
    assert [candidate.name for candidate in result.plan.candidates] == ["ext4", "xfs"]
    for name, figures in (("ext4", [1, 3]), ("xfs", [2, 4])):
        assert [values(result, name, "iops", work.name) for work in result.plan.recipe.workloads] == [
            [figure] for figure in figures
        ]
    for name in ("ext4", "xfs"):
        (tmp_path / f"{name}.json").write_text(fio_dump({"jobname": f"{name}-randread", "read": side(5)}))
    assert len(only(tmp_path / "ext4.json", tmp_path / "xfs.json").plan.recipe.workloads) == 1
    other = only(f"btrfs:compress=zstd={tmp_path / 'xfs.json'}")
    assert values(other, "btrfs:compress=zstd", "iops") == [5], "who names a candidate is believed"
    (tmp_path / "hdd.json").write_text(both.read_text())
    with pytest.raises(UsageError, match="would all be ext4"):
        importers.read([str(both), str(tmp_path / "hdd.json")])


# Tables in CSV

TABLE = """candidate,workload,value,unit
ext4,Copying in,100,MB/s
ext4,Copying in,110,MB/s
xfs:noatime,Copying in,0.12,GB/s

ext4,"Unpacking, a kernel",41.2,s
xfs:noatime,"Unpacking, a kernel",,s
"""


def test_a_table_has_a_line_for_each_run_and_columns_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(f"\ufeff{TABLE}".replace("\n", "\r\n"), "utf-8")
    result = only(tmp_path / "mine.csv")
    assert [(w.name, w.title, w.metric.better) for w in result.plan.recipe.workloads] == [
        ("copying-in", "Copying in", "higher"),
        ("unpacking-a-kernel", "Unpacking, a kernel", "lower"),
    ]
    assert values(result, "ext4", "throughput") == [100e6, 110e6]
    assert values(result, "xfs:noatime", "throughput") == [120e6]
    assert values(result, "ext4", "duration") == [41.2]
    assert [s.round for s in result.samples if s.candidate == "ext4"] == [1, 2, 1]
    assert [(f.candidate, f.workload) for f in result.failures] == [("xfs:noatime", "unpacking-a-kernel")]
    assert result.plan.candidate("xfs:noatime").mount_options == ("noatime",)
    (parsed_run,) = csv_table.read_each("unit,value,workload,candidate\nms,5,Deleting,btrfs\n", "x")
    assert [(f.candidate, f.workload, f.value) for f in parsed_run.figures] == [("btrfs", "deleting", 0.005)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("value,unit", "value,unit,round", "line 1: the columns must be candidate,workload,value,unit"),
        ("value,unit", "value", "line 1: the columns must be candidate,workload,value,unit"),
        ("110", "110,5", "line 3: it has 5 columns instead of 4"),
        ("110", '"110', r"line 6: this isn't a line of a table \('"),
        ("110", "fast", "line 3: the value must be a number above 0 with a decimal point, not 'fast'"),
        ("110", "-1", "line 3: the value must be a number above 0"),
        ("110", "nan", "line 3: the value must be a number above 0"),
        ("0.12,GB/s", "120,MiB/s", "line 4: the unit must be one of B/s, kB/s, MB/s, .*, not 'MiB/s'"),
        ("0.12,GB/s", "3,s", "line 4: s cannot be compared with the workload's other values"),
        ("xfs:noatime,Copying in", ",Copying in", "line 4: candidate and workload must not be empty"),
        ("xfs:noatime,Copying in", "xfs,Copying-in", "line 4: the workload needs a name that differs more"),
        (TABLE[TABLE.index("ext4") :], "ext4,Copying in,,s\n", "line 1: the table has no values"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in TABLE
    (tmp_path / "mine.csv").write_text(TABLE.replace(old, new, 1))
    refused(tmp_path / "mine.csv", rf"mine\.csv, {reason}")


# Names, and what is refused


@pytest.mark.parametrize(
    ("path", "candidate", "group", "run"),
    [
        ("SMR.btrfs.0.out", "btrfs", "SMR", 0),
        ("SMR8TB.nilfs.12.out", "nilfs2", "SMR8TB", 12),
        ("/a/ext4/fio-XFS-3.json", "xfs", "fio", 3),
        ("something.json", "something", "", 0),
    ],
)
def test_a_files_name_tells_candidate_disk_and_run(path: str, candidate: str, group: str, run: int) -> None:
    (source,) = sources_of([("", path)])
    assert (source.candidate, source.group, source.run) == (candidate, group, run)


@pytest.mark.parametrize(
    ("path", "candidate", "group", "run"),
    [
        ("ext4/randread-16-8.json", "ext4", "", 0),
        ("xfs/fio/a.json", "xfs", "", 0),
        ("run2-HDD-btrfs.json", "btrfs", "HDD", 2),
        ("btrfs-zstd-3.json", "btrfs", "", 0),
        ("btrfs_run_4.json", "btrfs", "", 4),
    ],
)
def test_a_directory_can_name_the_candidate_and_only_a_runs_number_is_one(
    path: str, candidate: str, group: str, run: int
) -> None:
    (source,) = sources_of([("", path)])
    assert (source.candidate, source.group, source.run) == (candidate, group, run)


def test_files_that_would_fall_together_are_named_unless_the_user_names_their_candidate(tmp_path: Path) -> None:
    files = [tmp_path / f"btrfs-{option}.json" for option in ("zstd1", "zstd3")]
    for rate, file in enumerate(files, 1):
        file.write_text(fio_dump({"jobname": "w", "write": side(rate)}))
    refused(tmp_path, r"would all be btrfs, with figures for the same work: btrfs-zstd1\.json, btrfs-zstd3\.json\.")
    result = only(*(f"btrfs:compress=zstd:{level}={file}" for level, file in zip((1, 3), files)))
    assert ratios(result, "w") == {"btrfs:compress=zstd:3": pytest.approx(2)}
    assert values(only(*(f"btrfs={file}" for file in files)), "btrfs", "iops") == [1, 2]
    named = tmp_path / "a=b"
    (named / "deeper").mkdir(parents=True)
    files[0].rename(named / "deeper" / "c=d.json")
    assert values(only(f"xfs={named}"), "xfs", "iops") == [1]
    assert values(only(f"xfs={named}/deeper/c=d.json"), "xfs", "iops") == [1]
    refused(tmp_path / "xfs=none", "none cannot be read: No such file")


def test_personalities_of_filebench_are_other_work(tmp_path: Path) -> None:
    (tmp_path / "ext4-one.out").write_text(EXT4)
    (tmp_path / "ext4-two.out").write_text(
        EXT4.replace("File-server", "Varmail").replace("52.756 ops/s", "9.000 ops/s")
    )
    result = only(tmp_path)
    titles = {w.name: w.title for w in result.plan.recipe.workloads if w.weight}
    assert titles == {
        "operations-file-server": "File-server: all operations",
        "operations-varmail": "Varmail: all operations",
    }
    assert values(result, "ext4", "operation_rate", "operations-varmail") == [9.0]


def test_text_from_windows_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TABLE.replace(",", ";").replace("g; a", "g, a").encode("utf-16"))
    assert values(only(tmp_path / "a.csv"), "ext4", "duration") == [41.2]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"hello\n", "a.txt can't be read: import reads fio's JSON, filebench's output and CSV tables"),
        ("a.txt", b"x: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=5, BW=1KiB/s (1kB/s)\n",
         "import reads fio's JSON"),
        ("a.toml", b"schema = 1\nname = 'mine'\n", "import reads fio's JSON"),
        ("a.txt", b"fine\n\xff\xfe", "line 2: this is not text in UTF-8"),
        ("a.json.gz", gzip.compress(b"{}", mtime=0), r"a\.json\.gz is packed"),
        ("a.df", b"Filesystem 1K-blocks\n", "These files contain no figures"),
        ("a.json", b'{\n "fio version": "fio-3.33",\n "jobs": [\n  {"jobname": "x"',
         r"a\.json, line 4: fio's JSON is cut off or damaged"),
        ("a.json", fio_dump({"jobname": "a", "error": "E"}).replace('"E"', "9" * 5000).encode(),
         "a number in it is too long"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_with_the_reason(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    refused(tmp_path / name, reason)


def test_who_has_another_form_is_told_how_to_get_one_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"{}", mtime=0))
    assert f"gunzip {tmp_path}/a.json.gz" in refused(tmp_path / "a.json.gz", "packed").hint
    (tmp_path / "result.xml").write_text("<PhoronixTestSuite></PhoronixTestSuite>")
    for path in (tmp_path / "result.xml", tmp_path):
        error = refused(path, "import reads fio's JSON, filebench's output and CSV tables")
        assert "--output-format=json" in error.hint and "import --help" in error.hint


def test_what_else_lies_in_a_directory_is_passed_over_and_named(tmp_path: Path) -> None:
    shutil.copytree(JOSHELL, tmp_path, dirs_exist_ok=True)
    (tmp_path / "all.sh").write_text("#!/bin/sh\nfilebench -f my.f\n")
    (tmp_path / "chart.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    for result in importers.read([str(tmp_path)]).values():
        assert any("unknown output: all.sh, chart.png." in doubt.text for doubt in result.doubts)
        assert round(ratios(result, "operations")["btrfs"], 4) in (1.2417, 1.362)
    refused(tmp_path / "all.sh", r"all\.sh can't be read: import reads fio's JSON")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "These files contain no figures")


PARTS = (
    "Filebench Version 1.4\n", "Per-Operation Breakdown\n", "a 1ops 1ops/s 1mb/s 1ms/op\n",
    "1: IO Summary: 1 ops, 1.0 ops/s, (1/2 r/w), 1.0mb/s, 1us cpu/op, 1.0ms latency\n",
    '{"fio version": "fio-3", "jobs": [', '{"jobname": "a", "error": 28}]}\n',
    "candidate,workload,value,unit\n", "ext4,Copying in,5,s\n", ",", '"', "\x1b[0m\n",
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=20), max_size=8))
def test_no_text_gives_more_than_a_refusal(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_text("".join(parts), "utf-8", "replace")
    try:
        for result in importers.read([str(path)]).values():
            render(conclude(result), "text")
    except FswizardError as error:
        assert error.message


# The command


def test_the_command_reports_and_keeps_what_it_read(state: Path) -> None:
    command = [sys.executable, "-m", "fswizard", "import", *map(str, sorted(JOSHELL.glob("SMR*.out")))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "nilfs2: The volume was full" in done.stdout
    assert "1.98 ○" in done.stdout
    kept = results.load(results.latest())
    assert ratios(kept, "operations")["btrfs"] == pytest.approx(1.2417, abs=5e-5)
    assert "No intervals" in done.stdout


# Repeats that were not taken in rounds


def repeats(directory: Path, rates: dict[str, list[float]]) -> None:
    """Raw files of so many runs of each filesystem, with these operations per second."""
    for name, some in rates.items():
        for run, rate in enumerate(some):
            (directory / f"SMR.{name}.{run}.out").write_text(EXT4.replace("52.756 ops/s", f"{rate:.3f} ops/s"))


def test_repeats_are_all_used_and_compared_unpaired(tmp_path: Path) -> None:
    """Each factor 1.1 apart in logs, so that means, deviations and Welch's interval are known."""
    repeats(tmp_path, {"ext4": [100, 110, 121], "xfs": [200, 220, 242, 266.2, 292.82]})
    analysis = conclude(only(tmp_path)).analysis
    ratio = analysis.of("xfs")
    assert ratio is not None and ratio.low is not None and ratio.high is not None
    step = math.log(1.1)
    assert ratio.ratio == pytest.approx(2 * 1.1, rel=1e-5)
    errors = step**2 / 3, 2.5 * step**2 / 5
    # Welch and Satterthwaite: 5.88 degrees of freedom, of which Student's 97.5 % point is 2.4592
    assert sum(errors) ** 2 / (errors[0] ** 2 / 2 + errors[1] ** 2 / 4) == pytest.approx(5.8824, abs=1e-4)
    half = 2.459 * math.sqrt(sum(errors))
    assert math.log(ratio.high / ratio.low) / 2 == pytest.approx(half, rel=1e-3)
    assert analysis.pair("ext4", "xfs") is not None and analysis.leaders == ("xfs",)


def test_fewer_repeats_are_all_used_and_that_their_order_was_not_controlled_is_said(tmp_path: Path) -> None:
    repeats(tmp_path, {"ext4": [100, 121], "xfs": [90, 99, 108.9, 119.79]})
    ratio = conclude(only(tmp_path)).analysis.of("xfs")
    assert ratio is not None
    assert (ratio.ratio, ratio.low, ratio.rounds) == (pytest.approx(99 * math.sqrt(1.1) / 110, rel=1e-5), None, 2)
    repeats(tmp_path, {"ext4": [100, 80, 60, 40], "xfs": [101, 79, 62, 39]})
    doubts = {doubt.code: doubt.text for doubt in conclude(only(tmp_path)).doubts}
    assert "unknown order" in doubts["unknown-order"]
    assert "drift" not in doubts


@pytest.mark.parametrize("ending", [".bak", "~"])
def test_backup_copies_are_no_runs(tmp_path: Path, ending: str) -> None:
    repeats(tmp_path, {"ext4": [100], "xfs": [90]})
    copy = tmp_path / f"SMR.xfs.0.out{ending}"
    copy.write_text(EXT4)
    for named in ([tmp_path], sorted(tmp_path.iterdir())):
        result = only(*named)
        assert values(result, "xfs", "operation_rate") == [90.0]
        assert any(f"unknown output: {copy.name}." in doubt.text for doubt in result.doubts)
    refused(copy, "no figures")


def test_files_of_one_workload_each_are_the_same_run_and_a_candidate_can_be_named_beside_its_file(
    tmp_path: Path,
) -> None:
    for name in ("ext4", "xfs"):
        for job, side in (("big", "write"), ("small", "read")):
            rate = {"total_ios": 5, "iops": 100.0, "bw_bytes": 409_600}
            (tmp_path / f"{name}-{job}.json").write_text(fio_dump({"jobname": job, side: rate}))
    overall = conclude(only(tmp_path)).analysis.of("xfs")
    assert overall is not None and overall.ratio == 1.0
    for name, rate in (("a", 9.0), ("b", 18.0)):
        (tmp_path / name).write_text(fio_dump({"jobname": "w", "write": {"total_ios": 5, "iops": rate}}))
    result = only(f"ext4={tmp_path}/a", f"xfs:noatime={tmp_path}/b")
    assert ratios(result, "w") == {"xfs:noatime": pytest.approx(2.0)}
    assert result.plan.candidate("xfs:noatime").mount_options == ("noatime",)
    (parsed_run,) = fio_json.read_each('{"jobs": [{"jobname": "w", "write": {"total_ios": 5, "iops": 9.0}}]}', "x")
    files = [(source, parsed_run) for source in sources_of([("", "monday-ext4.json"), ("", "tuesday-xfs.json")])]
    assert list(by_disk(files)) == [""]
