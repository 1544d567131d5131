"""Recipes are data from outside: usable, or refused with a clear error. Shipped ones are what they claim."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard import recipes
from fswizard.engines.backup import BackupJob
from fswizard.engines.fileserver import FileServerJob
from fswizard.engines.fio import FioJob
from fswizard.engines.overflow import OverflowJob
from fswizard.engines.rsync import RsyncJob
from fswizard.engines.shared import fileserver_worker
from fswizard.engines.sqlite import SqliteJob
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.model.codec import from_json, to_json
from fswizard.model.recipe import Recipe, Workload
from tests.fakes.command_line import fswizard

MIB = 1 << 20
SHIPPED = (
    "quick", "archive-disk", "backup", "build-tree", "cache-overflow", "container-layers", "databases",
    "desktop-programs", "desktop-ssd", "everyday", "fileserver", "fill", "four-jobs", "game-library", "kdiskmark",
    "mail-store", "photo-library", "randwrite-f2fs", "trees",
)  # fmt: skip

HEAD: dict[str, Any] = {"schema": 1, "name": "mine", "title": "Mine", "why": "A test.", "minutes": 3, "image": "2G"}
HEAD["candidates"] = ["ext4", "xfs:noatime"]
FIO: dict[str, Any] = {"name": "write", "title": "Write", "engine": "fio", "metric": "iops"}
FIO.update(rw="randwrite", block="4K", size="256M", seconds=1.5, jobs=16, io_engine="psync", direct=False, fdatasync=8)
TREE: dict[str, Any] = {"name": "copy", "title": "Copy", "engine": "tree", "metric": "duration"}
TREE.update(operation="copy", shape="mixed", files=100, total="10M")
SERVER: dict[str, Any] = {"name": "serve", "title": "Serve", "engine": "fileserver", "metric": "append_latency"}
SERVER.update(threads=4, files=100, mean_file="64K", mean_append="4K", seconds=2)
BACKUP: dict[str, Any] = {"name": "backup", "title": "Backup", "engine": "backup", "metric": "duration"}
BACKUP.update(archive="second", files=100, total="10M")
RSYNC: dict[str, Any] = {"name": "rsync", "title": "Rsync", "engine": "rsync", "metric": "duration"}
RSYNC.update(direction="from", shape="mixed", files=100, total="10M")
SQLITE: dict[str, Any] = {"name": "sqlite", "title": "Sqlite", "engine": "sqlite", "metric": "operation_rate"}
SQLITE.update(journal="delete", transactions=100)
OVERFLOW: dict[str, Any] = {"name": "over", "title": "Over", "engine": "overflow", "metric": "sustained_rate"}
OVERFLOW.update(working_set="256M", seconds=60, block="16K", depth=8)
ALL = (FIO, TREE, SERVER, BACKUP, RSYNC, SQLITE, OVERFLOW)


def toml(*workloads: dict[str, Any], **changes: Any) -> str:
    """A recipe's text; a change to None leaves the key out."""
    lines = _lines({**HEAD, **changes})
    for workload in workloads or (FIO,):
        lines += ["[[workload]]", *_lines(workload)]
    return "\n".join(lines)


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items() if value is not None]


def test_a_recipe_says_what_is_measured() -> None:
    recipe = recipes.parse(toml(*ALL), "mine.toml")
    assert (recipe.name, recipe.minutes, recipe.image_bytes) == ("mine", 3.0, 2048 * MIB)
    assert recipe.candidates == ("ext4", "xfs:noatime")
    assert [workload.job for workload in recipe.workloads] == [
        FioJob("randwrite", 4096, 256 * MIB, 1.5, jobs=16, io_engine="psync", direct=False, fdatasync=8),
        TreeJob("copy", "mixed", 100, 10 * MIB),
        FileServerJob(4, 100, 65536, 4096, 2.0),
        BackupJob("second", 100, 10 * MIB),
        RsyncJob("from", "mixed", 100, 10 * MIB),
        SqliteJob("delete", 100),
        OverflowJob(256 * MIB, 60.0, 16384, 8),
    ]
    for workload in recipe.workloads:
        assert from_json(Workload, json.loads(json.dumps(to_json(workload)))) == workload, "it survives a result file"


def workloads_of(*tables: dict[str, Any]) -> tuple[Workload, ...]:
    return recipes.parse(toml(*tables), "mine.toml").workloads


def test_what_a_workload_before_made_is_not_made_again() -> None:
    reading = {**FIO, "name": "read", "rw": "randread"}
    first, second = workloads_of(reading, {**reading, "name": "again"})
    assert (first.writes_bytes, second.writes_bytes) == (256 * MIB, 0)
    assert first.seconds > second.seconds
    onto = {**TREE, "operation": "copy-onto"}
    fuller = ({**onto, "name": f"at-{percent}", "fill": percent} for percent in (80, 90))
    empty, most, more = workloads_of(onto, *fuller)
    assert most.writes_bytes - empty.writes_bytes == 2048 * MIB * 80 // 100
    assert more.writes_bytes - empty.writes_bytes == 2048 * MIB * 10 // 100
    first, second = workloads_of({**BACKUP, "name": "first", "archive": "first"}, BACKUP)
    (alone,) = workloads_of(BACKUP)
    assert alone.writes_bytes > first.writes_bytes > second.writes_bytes > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (toml({**FIO, "blok": "4K"}), ["workload 1 (write)", "'blok'", " block, "]),
        (toml({**FIO, "block": "4Q"}), ["workload 1 (write)", "'block'", "'4Q' is not a size"]),
        (toml({**SERVER, "seconds": None}), ["workload 1 (serve)", "missing required field `seconds`"]),
        (toml({**FIO, "metric": "append_latency"}), ["'metric'", "throughput"]),
        (toml({**FIO, "engine": "filesever"}), ["'engine'", "fileserver, "]),
        (toml({**FIO, "jobs": 100_000}), ["jobs: Expected `int` <= 256"]),
        (toml({**FIO, "name": "../x"}), [": name: Expected `str` matching"]),
        (toml(FIO, FIO), ["two workloads are called 'write'"]),
        (toml(schema=2), ["schema: Invalid enum value 2"]),
        (toml(image="256M"), ["'image'", "at least 336 MB", "leave 268 MB behind."]),
        ("tree = {sizes = [3], directories = 'x'}\n" + toml(TREE), [".toml: tree: "]),
        ("minutes = nan\n" + toml(minutes=None), [": minutes: Expected `float` >= 0.1"]),
        ("a = " + "[" * 100_000, ["not TOML"]),
        (toml({**FIO, "metric": "x" * 99_999}), ["'metric'"]),
        (toml({**FIO, "x" * 9999: "x"}), ["is not a known key"]),
        (toml({**FIO, "metric": "sync_p99", "fdatasync": 0}), ["write: 'metric' must be one of throughput, iops"]),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        recipes.parse(text, "mine.toml")
    said = f"{caught.value.message} {caught.value.hint}"
    assert said.startswith("mine.toml: ")
    assert [word for word in words if word not in said] == [] and len(said) < 500


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@given(st.sampled_from(ALL), st.data())
def test_any_value_of_any_key_is_a_recipe_or_a_complaint(workload: dict[str, Any], data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([HEAD, workload]))
    key = data.draw(st.sampled_from(sorted(table)) | st.text(max_size=10))
    value = data.draw(values)
    changed = {**table, key: value}
    try:
        text = toml(changed) if table is workload else toml(workload, **{**HEAD, key: value})
    except ValueError:
        return
    try:
        assert isinstance(recipes.parse(text, "x.toml"), Recipe)
    except UsageError as error:
        assert error.message.startswith("x.toml: ")


def test_the_shipped_recipes_can_all_be_used_and_a_misspelt_name_gets_the_nearest() -> None:
    assert recipes.available()[0].name == "quick"
    assert {recipe.name for recipe in recipes.available()} >= set(SHIPPED)
    assert recipes.broken() == ()
    with pytest.raises(UsageError) as caught:
        recipes.find("quikc")
    assert "archive-disk" in caught.value.hint


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_fits_into_its_own_time(name: str) -> None:
    recipe = recipes.find(name)
    trial_s = sum(workload.seconds for workload in recipe.workloads) + 1.6
    assert 3 * len(recipe.candidates) * trial_s <= recipe.minutes * 60
    assert all(workload.why for workload in recipe.workloads)


def test_a_file_is_named_by_its_path_and_not_parsed_where_it_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + toml().replace("\n", "\r\n").encode())
    assert recipes.find(str(path)).source == str(path)
    path.write_bytes(b"\xff" * 10_000_000)
    with pytest.raises(UsageError, match="over 1 MB"):
        recipes.load(path)
    for missing in ("/nowhere/x.toml", "/etc/", "x\0.toml"):
        with pytest.raises(UsageError):
            recipes.find(missing)


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    directory = tmp_path / "fswizard" / "recipes"
    directory.mkdir(parents=True)
    return directory


def test_recipes_of_ones_own_are_listed_after_the_shipped_ones_or_in_their_place(own_directory: Path) -> None:
    (own_directory / "mine.toml").write_text(toml(group="desktop"))
    (own_directory / "fast.toml").write_text(toml(name="quick", title="My quick look"))
    assert recipes.find("quick").title == "My quick look"
    assert {recipe.name for recipe in recipes.available() if recipe.group == "yours"} == {"mine", "quick"}
    listing = fswizard("recipes").stdout
    assert listing.index("mine: Mine") > listing.index("desktop-ssd: ")
    assert max(map(len, listing.splitlines())) <= 80


def test_a_broken_recipe_and_one_of_a_taken_name_hide_no_other_and_are_explained(own_directory: Path) -> None:
    (own_directory / "broken.toml").write_text(toml({**FIO, "block": "4Q"}))
    for name in ("mine", "theirs"):
        (own_directory / f"{name}.toml").write_text(toml())
    assert "broken.toml: workload 1 (write): 'block'" in fswizard("recipes").stderr
    assert {recipe.name for recipe in recipes.available()} >= {*SHIPPED, "mine"}
    assert recipes.find("mine").source.endswith("mine.toml")
    broken, taken = (error.message for error in recipes.broken())
    assert "'block'" in broken
    assert "theirs.toml: 'name': " in taken and "mine.toml is called 'mine' too" in taken
    with pytest.raises(UsageError, match=r"broken\.toml: workload 1 \(write\): 'block'"):
        recipes.find("broken")


def test_controls_in_a_recipe_are_escaped() -> None:
    assert recipes.parse(toml(title="a\u202eb\x1b]52;c"), "mine.toml").title == "a\\u202eb\\x1b]52;c"


def test_the_file_server_s_sizes_and_files_and_directories_are_distributed_as_filebench_s() -> None:
    options = fileserver_worker.Options("x", "50", "100000", "1310720", "16384", "60", "1")
    dice = Random(1)
    sizes = [options.size(dice) for _ in range(20_000)]
    assert statistics.mean(sizes) == pytest.approx(1_310_720, rel=0.03)
    assert statistics.pvariance(sizes) == pytest.approx(1_310_720**2 / 1.5, rel=0.1)
    assert sum(map(options.exists_at_first, range(100_000))) == 80_000


@pytest.mark.parametrize("name", sorted({*SHIPPED} - {"cache-overflow", "four-jobs", "kdiskmark", "randwrite-f2fs"}))
def test_nothing_goes_past_the_page_cache_but_what_a_program_of_that_name_sends_past_it(name: str) -> None:
    direct = [workload.title for workload in recipes.find(name).workloads if workload.job.direct]
    assert all("cache=none" in title for title in direct)
