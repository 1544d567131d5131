"""Results of several machines as one statement: what is pooled, what is kept apart, and how often it errs."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import fswizard as program
from fswizard import results
from fswizard.advice import conclude
from fswizard.advice.pooled import pooled_card
from fswizard.model.metrics import DIRECT_CACHED, IOPS
from fswizard.model.plan import Target
from fswizard.model.pool import Pool
from fswizard.model.result import Result, Sample
from fswizard.model.result_file import encoded, lines
from fswizard.report import render
from fswizard.report.pool import differences
from fswizard.report.pool import render as render_pool
from fswizard.stats.pooling import pool
from fswizard.stats.random_effects import random_effects
from fswizard.stats.student import quantile
from fswizard.stats.study import study_of
from tests.bench.pools import CASES, Case, errors
from tests.builders import make_drive, make_plan, make_recipe, make_result, make_samples, make_workload
from tests.fakes.command_line import fswizard
from tests.unit.test_stats_error_rates import likely, slow


def run_of(machine: str, gain: float = 1.2, **fields: Any) -> Result:
    """A run of four rounds in which XFS is so much faster than ext4; `fields` are those of the plan."""
    rng = random.Random(machine)
    figures = {
        name: [100 * level * math.exp(rng.gauss(0, 0.01)) for _ in range(4)]
        for name, level in (("ext4", 1.0), ("xfs", gain))
    }
    fields.setdefault("drive", make_drive())
    result = make_result(figures, plan=make_plan(("ext4", "xfs"), **fields))
    digest = hashlib.sha256(machine.encode()).hexdigest()[:16]
    return replace(result, environment=replace(result.environment, machine=digest))


def pooled(runs: Sequence[Result]) -> Pool:
    return pool({f"result {number}": study_of(run) for number, run in enumerate(runs)})


def fleet(gains: Sequence[float], **fields: Any) -> list[Result]:
    return [run_of(f"machine {number}", gain, **fields) for number, gain in enumerate(gains)]


SIX = (1.18, 1.22, 1.2, 1.25, 1.16, 0.7)


def text_of(runs: Sequence[Result]) -> str:
    found = pooled(runs)
    return render_pool(found, [pooled_card(group) for group in found.groups])


def test_the_mean_over_places_is_what_the_method_defines() -> None:
    places = [0.1, 0.3, 0.2, 0.5, -0.1]
    mean = random_effects([(place, 0.05) for place in places])
    assert mean.mean == pytest.approx(statistics.fmean(places))
    assert mean.between**2 == pytest.approx(statistics.variance(places) - 0.05**2)
    assert mean.half_width(0.05) == pytest.approx(quantile(0.05, 4) * statistics.stdev(places) / math.sqrt(5))
    places = [(0.1, 0.02), (0.3, 0.1), (0.2, 0.05), (-0.2, 0.2), (0.6, 0.01)]
    found = random_effects(places)
    weights = [1 / (error**2 + found.between**2) for _, error in places]
    assert sum(w * (place - found.mean) ** 2 for w, (place, _) in zip(weights, places)) == pytest.approx(4)
    found = random_effects([(0.1, 0.1), (0.1, 0.1)])
    assert found.between == 0
    assert found.error == pytest.approx(0.1 / math.sqrt(2))


@pytest.mark.parametrize(("machines", "pools", "of"), [(3, 100, 1000), (10, 60, 1000), *slow((5, 1000, 10_000))])
@pytest.mark.parametrize(
    "case", [*CASES[::4], *(pytest.param(each, marks=pytest.mark.slow) for each in CASES)], ids=str
)
def test_one_pool_in_twenty_errs_at_most(case: Case, machines: int, pools: int, of: int) -> None:
    missed, false = errors(case, machines, pools, of=of)
    assert missed <= likely(0.05, pools)
    assert false <= likely(0.05, pools)


def test_machines_that_agree_prove_a_winner_and_how_much_more_than_two_differ_is_told() -> None:
    (group,) = pooled(fleet(SIX[:5])).groups
    (ratio,) = (each for each in group.analysis.overall if each.candidate == "xfs")
    assert (group.machines, group.results, ratio.verdict) == (5, 5, "faster")
    assert pooled_card(group).verdict == "Use xfs: 20 % faster than ext4 on 5 machines"
    assert pooled_card(group).why == "xfs is ahead on all 5 machines."
    varied = "It varies: on two of three such machines between"
    assert any(line.startswith(varied) for line in pooled_card(pooled(fleet([1.1, 1.4, 1.8])).groups[0]).lines)
    assert not any(line.startswith(varied) for line in pooled_card(pooled(fleet([1.1, 1.8])).groups[0]).lines)


def test_nothing_is_said_over_several_kinds_of_disks() -> None:
    shingled = [run_of(name, 0.8, drive=make_drive("drive-managed")) for name in ("sixth", "seventh")]
    runs = [*fleet(SIX[:5]), *shingled, run_of("eighth", 0.7, drive=make_drive(kind="ssd"))]
    found = pooled(runs)
    assert [(g.setting.disk.title, g.machines, g.analysis.overall[0].candidate) for g in found.groups] == [
        ("hard disk", 5, "xfs"), ("SMR hard disk", 2, "ext4"), ("SSD", 1, "ext4"),
    ]  # fmt: skip
    assert "Another kind of disk: SMR hard disk." in text_of(runs)


def test_machines_that_disagree_are_counted() -> None:
    (group,) = pooled(fleet(SIX)).groups
    assert pooled_card(group).why == "xfs is ahead on 5 of 6 machines."


@pytest.mark.parametrize(("gains", "dots"), [((1.2,) * 2, 1), ((1.2,) * 3, 3), (SIX[:5], 4), (SIX, 1)])
def test_more_machines_that_agree_make_a_verdict_surer(gains: Sequence[float], dots: int) -> None:
    assert pooled_card(pooled(fleet(gains)).groups[0]).confidence == dots


def test_days_or_repeats_on_one_machine_and_results_without_one_are_not_several_machines() -> None:
    one = run_of("one").environment
    days = [replace(run_of(f"one, day {n}"), environment=replace(one, started=f"day {n}")) for n in range(9)]
    (group,) = pooled(days).groups
    assert (group.machines, group.results) == (1, 9)
    assert pooled_card(group).verdict.startswith("Pool two machines or more")
    (both,) = pooled([*days, run_of("two", 1.5)]).groups
    (alone,) = pooled([days[0], run_of("two", 1.5)]).groups
    assert both.analysis.overall[0].ratio == pytest.approx(alone.analysis.overall[0].ratio, rel=0.02)
    assert pooled([run_of("one"), run_of("one"), run_of("two")]).groups[0].results == 2
    nameless = [replace(run, environment=replace(run.environment, machine="", host="", started=str(n)))
                for n, run in enumerate(fleet([1.2] * 3))]  # fmt: skip
    (group,) = pooled(nameless).groups
    assert (group.machines, group.unnamed) == (1, 3)
    assert "3 results name no machine and count as one." in text_of(nameless)


def test_a_copy_under_another_name_is_left_out_and_said() -> None:
    runs = fleet([1.2] * 3)
    copy = replace(runs[0], environment=replace(runs[0].environment, machine="another", started="later"))
    found = pooled([*runs, copy, runs[1]])
    assert [(group.machines, group.results) for group in found.groups] == [(3, 3)]
    assert [item.name for item in found.left_out] == ["result 3"]
    assert "result 3: The figures are those of another result" in " ".join(text_of([*runs, copy]).split())


def not_direct(run: Result) -> Result:
    return replace(run, samples=(*run.samples, Sample(1, "ext4", "", DIRECT_CACHED.name, 1.0, "1", "lower")))


APART: Mapping[str, tuple[str, Callable[[list[Result]], list[Result]]]] = {
    "memory": ("Another memory limit: 1 GiB, not none.", lambda _: fleet([1.2] * 2, memory_limit_bytes=1 << 30)),
    "recipe": (
        "Another recipe: mail.",
        lambda _: fleet([1.2] * 2, recipe=make_recipe([make_workload(metric=IOPS)], name="mail")),
    ),
    "version": (
        "Another version of quick, or other weights.",
        lambda _: fleet([1.2] * 2, recipe=make_recipe([make_workload(weight=3.0)])),
    ),
    "baseline": ("Compared with xfs, not with ext4.", lambda _: fleet([1.2] * 2, baseline="xfs")),
    "size": (
        "Measured in scratch images of 4 GiB.",
        lambda _: fleet([1.2] * 2, target=Target("image", "/var/tmp", 4 << 30)),
    ),
    "direct": (
        "On these kernels, direct I/O (O_DIRECT) of ext4 goes through the machine's memory.",
        lambda runs: [not_direct(run) for run in runs],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", APART)
def test_what_does_not_belong_together_is_kept_apart_and_named(what: str) -> None:
    words, change = APART[what]
    others = change(fleet([1.2] * 2))
    found = pooled([*fleet([1.2] * 3), *(replace(run, environment=replace(run.environment, machine=f"other {n}"))
                                          for n, run in enumerate(others))])  # fmt: skip
    assert [group.machines for group in found.groups] == [3, 2]
    assert list(differences(found.groups[1].setting, found.groups[0].setting)) == [words]


UNFIT: Mapping[str, tuple[str, Result]] = {
    "imported": (
        "measured elsewhere",
        replace(run_of("a"), environment=replace(run_of("a").environment, source="fio: a.json")),
    ),
    "directory": (
        "directories as they were",
        replace(run_of("a"), plan=replace(run_of("a").plan, target=replace(run_of("a").plan.target, kind="directory"))),
    ),
    "fault": ("a fault ended the run", replace(run_of("a"), outcome="failed")),
    "rounds": (
        "fewer than two rounds",
        replace(run_of("a"), samples=tuple(sample for sample in run_of("a").samples if sample.round == 1)),
    ),
}


@pytest.mark.parametrize("what", UNFIT)
def test_what_cannot_be_pooled_is_left_out_with_the_reason(what: str) -> None:
    words, result = UNFIT[what]
    found = pooled([*fleet([1.2] * 2), result])
    assert [group.results for group in found.groups] == [2]
    assert [item.name for item in found.left_out] == ["result 2"]
    assert words in found.left_out[0].reason
    assert "Not pooled" in text_of([*fleet([1.2] * 2), result])


def test_a_candidate_that_failed_is_told_and_one_made_differently_is_one_of_its_own() -> None:
    failing = run_of("failing")
    *others, last = failing.samples
    samples = (*others, replace(last, status="failed"))
    (group,) = pooled([*fleet([1.2] * 3), replace(failing, samples=samples)]).groups
    assert group.heterogeneity[0].failed == 1
    assert "It failed on 1 machine, which no ratio shows." in pooled_card(group).lines
    odd = run_of("odd", 2.0)
    xfs = odd.plan.candidates[1]
    changed = replace(xfs, filesystem=replace(xfs.filesystem, mkfs_arguments=(("-i", "size=2048"),)))
    odd = replace(odd, plan=replace(odd.plan, candidates=(odd.plan.candidates[0], changed)))
    (group,) = pooled([*fleet([1.2] * 3), odd]).groups
    assert {ratio.candidate: ratio.rounds for ratio in group.analysis.overall} == {
        "ext4": 4, "xfs": 3, "xfs (formatted or mounted differently)": 1,
    }  # fmt: skip


def save(runs: Sequence[Result], directory: Path) -> list[Path]:
    directory.mkdir(exist_ok=True)
    paths = [directory / f"{number}.jsonl" for number in range(len(runs))]
    for path, run in zip(paths, runs):
        path.write_bytes(b"".join(map(encoded, lines(run))))
    return paths


@pytest.fixture
def cache() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"], "fswizard", "pool.json")


def test_files_and_directories_are_pooled_on_the_command_line(tmp_path: Path) -> None:
    save(fleet(SIX)[:5], tmp_path / "some")
    (sixth,) = save(fleet(SIX)[5:], tmp_path / "more")
    done = fswizard("pool", str(tmp_path / "some"), str(sixth), str(sixth))
    assert done.returncode == 0, done.stderr
    assert "xfs is ahead on 5 of 6 machines." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    told = json.loads(fswizard("pool", "--json", str(tmp_path)).stdout)
    assert [group["machines"] for group in told["groups"]] == [6]
    assert told["groups"][0]["card"]["verdict"] == done.stdout.partition("  confidence")[0].strip()


NEWER = {"type": "Header", "schema": 7, "started": "", "recipe": "", "target": "", "candidates": []}
HOSTILE: Mapping[str, tuple[bytes, str]] = {
    "empty": (b"", "ends before its plan"),
    "nonsense": (b"{" * 100, "line 1: not JSON"),
    "long": (b"\0" * 10_000_000, "line 1: not JSON"),
    "huge-number": (b'{"type": "Header", "schema": ' + b"9" * 400 + b"}\n", "line 1: the number 9999"),
    "deep": (b"[" * 100_000 + b"\n", "line 1: "),
    "newer": (json.dumps(NEWER).encode() + b"\n", "schema 7"),
    "control": (b'{"type": "\x1b]52;c;AAAA\x07"}\n', "line 1: not JSON"),
    "hidden": (b'{"type": "Header", "schema": 1, "\\u202e": "\\u001b[2J"}\n', "line 1: "),
}  # fmt: skip


def test_files_that_are_no_results_are_named_and_stop_nothing(tmp_path: Path) -> None:
    save(fleet(SIX[:5]), tmp_path)
    for name, (data, _) in HOSTILE.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "nowhere.jsonl").symlink_to("/nowhere/at/all")
    done = fswizard("pool", str(tmp_path))
    assert done.returncode == 5
    assert "Use xfs: 20 % faster than ext4 on 5 machines" in done.stdout
    names = [re.findall(r"([\w-]+)\.jsonl", line)[0] for line in done.stderr.splitlines()]
    told = dict(zip(names, done.stderr.splitlines()))
    assert told.keys() == {*HOSTILE, "pipe", "nowhere"}
    for name, (_, words) in HOSTILE.items():
        assert words in told[name]
    assert "\x1b" not in done.stderr and "\u202e" not in done.stderr


def test_where_nothing_can_be_read_it_is_an_error_and_another_recipe_of_the_name_is_left_out(tmp_path: Path) -> None:
    assert "There are no results." in fswizard("pool", str(tmp_path)).stderr
    (tmp_path / "a.jsonl").write_text("no")
    done = fswizard("pool", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "a.jsonl, line 1" in done.stderr
    paths = save(fleet([1.2] * 3), tmp_path)
    header, rest = paths[0].read_bytes().split(b"\n", 1)
    told = json.loads(header) | {"digest": "0123456789abcdef", "version": "9.9"}
    paths[0].write_bytes(json.dumps(told).encode() + b"\n" + rest)
    done = fswizard("pool", str(tmp_path))
    assert "2 results of 2 machines" in done.stdout
    assert "fswizard 9.9 measured its recipe in a way" in " ".join(done.stdout.split())


def asked(paths: Sequence[Path]) -> Iterator[Path]:
    """Files that the index has to read."""
    read: list[Path] = []

    def length(path: Path) -> int:
        read.append(path)
        return path.stat().st_size

    known = [size for _, size in results.read_once("pool", int, length, paths)]
    assert known == [path.stat().st_size for path in paths]
    yield from read


def test_only_what_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = save(fleet([1.2] * 3), tmp_path / "some")
    assert list(asked(paths)) == paths
    assert list(asked(paths)) == []
    paths[1].write_text("another")
    assert list(asked(paths)) == [paths[1]]
    paths = save(fleet([1.2] * 2), tmp_path / "some")
    list(asked(paths))
    monkeypatch.setattr(program, "__version__", "99")
    assert list(asked(paths)) == paths
    assert list(asked(paths)) == []


@pytest.mark.parametrize("kept", [slice(0), slice(-9)])
def test_a_damaged_index_is_made_again(tmp_path: Path, cache: Path, kept: slice) -> None:
    paths = save(fleet([1.2] * 3), tmp_path / "some")
    list(asked(paths))
    cache.write_bytes(cache.read_bytes()[kept] + b"\xff")
    assert list(asked(paths)) == paths
    assert list(asked(paths)) == []


def test_without_a_place_for_an_index_results_are_pooled_all_the_same(tmp_path: Path, cache: Path) -> None:
    cache.parent.parent.write_text("a file where a directory would be")
    paths = save(fleet([1.2] * 2), tmp_path / "some")
    assert list(asked(paths)) == paths


def test_a_shared_result_brings_the_same_and_tells_one_machine_from_another(tmp_path: Path) -> None:
    for number, run in enumerate([*fleet([1.2] * 2), run_of("machine 0", 1.3)]):
        dated = replace(run, environment=replace(run.environment, started=str(number)))
        (tmp_path / f"{number}.jsonl").write_text(render(conclude(dated), "result"))
    (group,) = json.loads(fswizard("pool", "--json", str(tmp_path)).stdout)["groups"]
    assert (group["machines"], group["results"]) == (2, 3)
    run = run_of("one", 1.3)
    (tmp_path / "shared.jsonl").write_text(render(conclude(run), "result"))
    assert study_of(results.load(tmp_path / "shared.jsonl")) == study_of(run)


def test_each_candidate_and_workload_has_its_place_in_the_text() -> None:
    workloads = [make_workload("write"), make_workload("delete")]
    levels = {"write": {"ext4": 1.0, "xfs": 1.2, "btrfs": 0.5}, "delete": {"ext4": 1.0, "xfs": 1.3, "btrfs": 1.0}}
    runs = []
    for number in range(4):
        rng = random.Random(number)
        samples = tuple(
            sample
            for name, each in levels.items()
            for candidate, level in each.items()
            for sample in make_samples({candidate: [level * math.exp(rng.gauss(0, 0.01)) for _ in range(3)]}, name)
        )
        run = make_result(plan=make_plan(("ext4", "xfs", "btrfs"), workloads), samples=samples)
        runs.append(replace(run, environment=replace(run.environment, machine=str(number))))
    (group,) = pooled(runs).groups
    assert group.analysis.leaders == ("xfs",)
    assert [ratio.candidate for ratio in group.analysis.overall] == ["xfs", "ext4", "btrfs"]
    text = text_of(runs)
    assert text.index("over all workloads") < text.index("xfs\nby workload") < text.index("btrfs\nby workload")
    assert "Write         0.50" in text
