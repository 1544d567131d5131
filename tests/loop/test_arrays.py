"""Runs over several images and disks: loop devices stand for disks, and btrfs spreads over them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard import results
from fswizard.advice import conclude
from fswizard.disks import journal, stack
from fswizard.disks.root import RootDisk, RootDisks
from fswizard.errors import Refused
from fswizard.filesystems.commands import RUN_NAME
from fswizard.report import FORMATS, render
from fswizard.sharing import shareable
from fswizard.system.files import state_directory
from tests.loop import devices
from tests.loop.devices import Bench, Case, run, signatures
from tests.loop.machine_state import assert_nothing_lives
from tests.loop.root_disk import image, made_and_mounted, mount, said, umount
from tests.loop.tiny_run import fswizard, killed
from tests.recipe_texts import writing

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.btrfs]
pytestmark += [pytest.mark.xdist_group("arrays")]  # one after the other: half a gigabyte each

MEMBERS = 4
MEMBER_BYTES = 128 << 20
RECIPE = writing("80M", "16M", 0.1, rw="write", minutes=3, candidates=("ext4", "btrfs"))


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(RECIPE)
    return path


def disks(bench: Bench, count: int = MEMBERS, size_bytes: int = MEMBER_BYTES) -> list[Case]:
    files = [bench.file(f"disk-{number}", size_bytes) for number in range(1, count + 1)]
    return [Case(bench.attach(file), file) for file in files]


def given(recipe: Path, target: str, candidates: str, *arguments: str) -> list[str]:
    return [str(recipe), "--target", target, "--candidates", candidates, *arguments]


def named(cases: list[Case]) -> str:
    return "devices:" + ",".join(case.path for case in cases)


def serials(cases: list[Case]) -> str:
    return ",".join(str(case.file) for case in cases)


def test_layouts_on_scratch_images_are_measured_whole(recipe: Path, tmp_path: Path) -> None:
    """On two of them, since their room is really taken."""
    output = tmp_path / "result.jsonl"
    arguments = ("--rounds", "1..1", "--output", str(output))
    fswizard("run", *given(recipe, f"images:2x128M@{tmp_path}", "btrfs:raid1; ext4", *arguments), code=0)
    result = results.load(output)
    assert (result.outcome, result.failures) == ("finished", ())
    figures = {(s.candidate, s.metric): s.value for s in result.samples if s.workload == "write"}
    assert {name for name, metric in figures if metric == "throughput"} == {"btrfs:raid1", "ext4"}
    asked, written = figures["btrfs:raid1", "bytes_written"], figures["btrfs:raid1", "device_written"]
    assert written >= 2 * asked, "what all members wrote is added up: both copies"
    assert figures["ext4", "device_written"] < 2 * figures["ext4", "bytes_written"]
    assert {doubt.code for doubt in result.doubts} >= {"members-on-one-disk"}
    assert not list(tmp_path.glob("fswizard-*")), "the images are removed"
    findings = conclude(shareable(result))
    for name in FORMATS:
        assert str(tmp_path) not in render(findings, name, full=True)
    text = " ".join(render(findings, "text", full=True).split())
    assert "btrfs:raid1: 134 MB of 268 MB, any 1 disk may fail." in text


@pytest_asyncio.fixture
async def parts(disks: RootDisks, bench: Bench) -> list[RootDisk]:
    return [await image(disks, bench.directory, MEMBER_BYTES) for _ in range(MEMBERS)]


def signatures_on(disk: RootDisk) -> list[str]:
    return [run("wipefs", "--no-act", f"/dev/{name}") for name in disk.names]


@pytest.mark.usefixtures("parts")
async def test_a_btrfs_over_four_devices_is_made_mounted_and_wiped(disks: RootDisks) -> None:
    joined = disks.joined()
    candidate = await made_and_mounted(joined, "btrfs:raid10")
    assert ["btrfs" in text for text in signatures_on(joined)] == [True] * MEMBERS
    assert await said(joined, "sh", "-c", "head -c 8000000 /dev/zero > file") == ""
    await joined.sync()
    assert await joined.errors(candidate) == {}
    for _ in range(2):
        await umount(joined)
        await mount(joined, candidate)
    assert await said(joined, "stat", "--format=%s", "file") == "8000000"
    await umount(joined)
    await joined.wipe()
    assert signatures_on(joined) == [""] * MEMBERS


@pytest.mark.usefixtures("parts")
async def test_what_has_no_layout_lies_on_the_first_member_alone(disks: RootDisks) -> None:
    joined = disks.joined()
    await made_and_mounted(joined, "btrfs:raid1")
    await umount(joined)
    await made_and_mounted(joined)
    assert [" ext4 " in text for text in signatures_on(joined)] == [True, False, False, False]
    assert "btrfs" not in "".join(signatures_on(joined))
    await umount(joined)


@pytest.mark.parametrize("name", ["fswizard-0123456789abcdef", "tank", "../fswizard-0123456789abcdef", "fswizard-"])
def test_clean_has_root_look_for_what_a_killed_run_left_in_the_kernel(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack, "ZFS_MODULE", tmp_path)
    entry = state_directory() / "unfinished/run-x.json"
    entry.parent.mkdir(parents=True)
    entry.write_text(json.dumps({"directories": {}, "pools": [name], "images": [], "result": ""}))
    (leftover,) = journal.leftovers()
    refused = not RUN_NAME.fullmatch(name)
    with pytest.raises(Refused, match="not the name of a run") if refused else contextlib.nullcontext():
        journal.clean(leftover)
    assert entry.exists() == refused


def test_a_run_over_disks_measures_on_them_and_leaves_them_wiped(recipe: Path, bench: Bench) -> None:
    cases = disks(bench)
    output = bench.directory / "result.jsonl"
    confirmed = ("--erase", serials(cases[:2]), "--erase", serials(cases[2:]))
    arguments = (*confirmed, "--rounds", "1..1", "--output", str(output))
    fswizard("run", *given(recipe, named(cases), "btrfs:raid1; ext4", *arguments), code=0)
    result = results.load(output)
    assert result.failures == ()
    assert signatures(*cases) == ""
    for name in FORMATS:
        assert str(bench.directory) not in render(conclude(shareable(result)), name, full=True), (
            "what was typed to confirm is left out"
        )


def test_each_disks_loss_is_listed_and_every_one_is_confirmed_or_nothing_begins(recipe: Path, bench: Bench) -> None:
    cases = disks(bench)
    run("mkfs.ext4", "-q", "-L", "first", cases[0].path)
    run("mkfs.ext4", "-q", "-L", "last", cases[3].path)
    done = fswizard("run", "--dry-run", *given(recipe, named(cases), "btrfs:raid1; ext4"), code=0)
    for words in ('ext4 "first"', 'ext4 "last"', f"--erase {serials(cases)}", "Nothing was found on"):
        assert words in done.stdout
    assert "# mkfs.btrfs -q -f -K -L LABEL -d raid1 -m raid1 DEVICE-1 DEVICE-2 DEVICE-3 DEVICE-4" in done.stdout
    before = [case.file.read_bytes() for case in cases]
    output = bench.directory / "result.jsonl"
    for erase in ("", serials(cases[:3]), f"{serials(cases)},WD-1234", f"{serials(cases[:3])},WD-1234"):
        confirmed = ("--erase", erase) if erase else ()
        fswizard("run", *given(recipe, named(cases), "btrfs:raid1", *confirmed, "--output", str(output)), code=3)
        assert not output.exists()
    assert [case.file.read_bytes() for case in cases] == before


def test_a_disk_in_use_is_refused_wherever_it_stands_in_the_list(recipe: Path, bench: Bench) -> None:
    cases = disks(bench)
    run("mkfs.ext4", "-q", cases[2].path)
    point = bench.mount(cases[2].path)
    for verb, order in (("--dry-run", cases), ("--detach", cases), ("--detach", [cases[2], *cases[:2], cases[3]])):
        done = fswizard("run", verb, *given(recipe, named(order), "btrfs:raid1", "--erase", serials(order)), code=3)
        assert f"is mounted on {point}" in done.stderr
    assert signatures(*cases[:2], cases[3]) == ""


def test_two_partitions_of_a_disk_are_no_two_disks(recipe: Path, bench: Bench) -> None:
    part, other = devices.partition(bench), disks(bench, 1)[0]
    whole = Case(part.path.removesuffix("p1"), part.file)
    done = fswizard("run", "--dry-run", *given(recipe, named([part, whole, other]), "btrfs:raid1"), code=3)
    assert "are on the same disk" in done.stderr
    twice = fswizard("run", "--dry-run", *given(recipe, named([other, other]), "btrfs:raid1"), code=3)
    assert "are on the same disk" in twice.stderr


def test_after_sigkill_the_images_are_removed_by_clean_and_the_run_goes_on(recipe: Path, tmp_path: Path) -> None:
    output, places = tmp_path / "result.jsonl", [tmp_path / "one", tmp_path / "other"]
    for place in places:
        place.mkdir()
    target = f"images:128M@{places[0]},{places[1]}"
    below = killed(output, *given(recipe, target, "btrfs:raid1; ext4", "--rounds", "2..2"))
    for place in places:
        assert_nothing_lives(place, below)
    assert [list(place.glob("fswizard-*")) != [] for place in places] == [True, False], "images have no names"
    fswizard("clean", code=0)
    assert not [left for place in places for left in place.iterdir()]
    fswizard("run", "--resume", str(output), code=0)
    assert results.load(output).outcome == "finished"
