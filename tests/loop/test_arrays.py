"""Runs over several disks: loop devices stand for them, and btrfs spreads over them."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from fswizard import results
from fswizard.advice import conclude
from fswizard.report import FORMATS, render
from fswizard.sharing import shareable
from tests.fakes import command_line
from tests.loop import devices
from tests.loop.devices import Bench, Case, run, signatures
from tests.loop.tiny_run import fswizard
from tests.recipe_texts import writing

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.btrfs]
pytestmark += [pytest.mark.xdist_group("arrays")]

MEMBERS = 4
MEMBER_BYTES = 128 << 20
RECIPE = writing("80M", "16M", 0.1, rw="write", minutes=3, candidates=("ext4", "btrfs"))


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(RECIPE)
    return path


def attached(bench: Bench, count: int = MEMBERS, size_bytes: int = MEMBER_BYTES) -> list[Case]:
    files = [bench.file(f"disk-{number}", size_bytes) for number in range(1, count + 1)]
    return [Case(bench.attach(file), file) for file in files]


def given(recipe: Path, target: str, candidates: str, *arguments: str) -> list[str]:
    return [str(recipe), "--target", target, "--candidates", candidates, *arguments]


def named(cases: list[Case]) -> str:
    return "devices:" + ",".join(case.path for case in cases)


def serials(cases: list[Case]) -> str:
    return ",".join(str(case.file) for case in cases)


def test_layouts_are_measured_on_all_disks_which_are_left_wiped(recipe: Path, bench: Bench) -> None:
    cases, output = attached(bench), bench.directory / "result.jsonl"
    confirmed = ("--erase", serials(cases[:2]), "--erase", serials(cases[2:]))
    arguments = (*confirmed, "--rounds", "1..1", "--output", str(output))
    fswizard("run", *given(recipe, named(cases), "btrfs:raid1; ext4", *arguments), code=0)
    result = results.load(output)
    assert (result.outcome, result.failures) == ("finished", ())
    assert signatures(*cases) == ""
    figures = {(s.candidate, s.metric): s.value for s in result.samples if s.workload == "write"}
    assert {name for name, metric in figures if metric == "throughput"} == {"btrfs:raid1", "ext4"}
    asked, written = figures["btrfs:raid1", "bytes_written"], figures["btrfs:raid1", "device_written"]
    assert written >= 2 * asked, "what all members wrote is added up: both copies"
    assert figures["ext4", "device_written"] < 2 * figures["ext4", "bytes_written"]
    findings = conclude(shareable(result))
    for name in FORMATS:
        assert str(bench.directory) not in render(findings, name, full=True), "what was typed to confirm is left out"
    text = " ".join(render(findings, "text", full=True).split())
    assert "btrfs:raid1: 268 MB of 537 MB, any 1 disk may fail." in text


def planned(code: int, *arguments: str) -> CompletedProcess[str]:
    """`fswizard run` where nothing begins, with that exit code."""
    done = command_line.fswizard("run", *arguments)
    assert done.returncode == code, done.stderr
    return done


def test_each_disks_loss_is_listed_and_every_one_is_confirmed_or_nothing_begins(recipe: Path, bench: Bench) -> None:
    cases = attached(bench)
    run("mkfs.ext4", "-q", "-L", "first", cases[0].path)
    run("mkfs.ext4", "-q", "-L", "last", cases[3].path)
    done = planned(0, "--dry-run", *given(recipe, named(cases), "btrfs:raid1; ext4"))
    for words in ('ext4 "first"', 'ext4 "last"', f"--erase {serials(cases)}", "Nothing was found on"):
        assert words in done.stdout
    assert "# mkfs.btrfs -q -f -K -L LABEL -d raid1 -m raid1 DEVICE-1 DEVICE-2 DEVICE-3 DEVICE-4" in done.stdout
    before = [case.file.read_bytes() for case in cases]
    output = bench.directory / "result.jsonl"
    for erase in ("", serials(cases[:3]), f"{serials(cases)},WD-1234", f"{serials(cases[:3])},WD-1234"):
        confirmed = ("--erase", erase) if erase else ()
        planned(3, *given(recipe, named(cases), "btrfs:raid1", *confirmed, "--output", str(output)))
        assert not output.exists()
    assert [case.file.read_bytes() for case in cases] == before


def test_a_disk_in_use_is_refused_wherever_it_stands_in_the_list(recipe: Path, bench: Bench) -> None:
    cases = attached(bench)
    run("mkfs.ext4", "-q", cases[2].path)
    point = bench.mount(cases[2].path)
    for verb, order in (("--dry-run", cases), ("--detach", cases), ("--detach", [cases[2], *cases[:2], cases[3]])):
        done = planned(3, verb, *given(recipe, named(order), "btrfs:raid1", "--erase", serials(order)))
        assert f"is mounted on {point}" in done.stderr
    assert signatures(*cases[:2], cases[3]) == ""


def test_two_partitions_of_a_disk_are_no_two_disks(recipe: Path, bench: Bench) -> None:
    part, other = devices.partition(bench), attached(bench, 1)[0]
    whole = Case(part.path.removesuffix("p1"), part.file)
    done = planned(3, "--dry-run", *given(recipe, named([part, whole, other]), "btrfs:raid1"))
    assert "are on the same disk" in done.stderr
    twice = planned(3, "--dry-run", *given(recipe, named([other, other]), "btrfs:raid1"))
    assert "are on the same disk" in twice.stderr
