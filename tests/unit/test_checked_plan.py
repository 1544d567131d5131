"""A plan from a result file passes the limits of the command line, and brings along nothing that this program knows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fswizard import recipes
from fswizard.disks.choice import TargetChoice
from fswizard.disks.locations import located_candidates
from fswizard.errors import FswizardError, Missing, Refused, UsageError
from fswizard.filesystems import parse_candidate
from fswizard.model.codec import from_json, to_json
from fswizard.model.events import RunStarted
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import Amount, PlannedCommand, Recipe
from fswizard.model.result_file import Header, encoded
from fswizard.results import event_in
from fswizard.session import Choices, make_plan, resuming, take_up
from fswizard.session.checked import checked
from tests.fakes.host import ModelHost, use
from tests.recording import RUNS

LINE = (RUNS / "six-rounds.jsonl").read_bytes().splitlines()[0]
STARTED = event_in(LINE)
assert isinstance(STARTED, RunStarted)
PLAN, ENVIRONMENT = STARTED.plan, STARTED.environment
IMAGE, VIDEO = ("target",), ("recipe", "workloads", 0)
CANDIDATE = ("candidates", 2)
HUGE = 10**18
Place = tuple[Any, ...]


def edited(*place: Any, to: Any) -> bytes:
    """The recorded run's first line, with another value at a place of its plan."""
    line = json.loads(LINE)
    table = line["plan"]
    for key in place[:-1]:
        table = table[key]
    table[place[-1]] = to
    return json.dumps(line).encode()


def plan_of(line: bytes) -> Plan:
    event = event_in(line)
    assert isinstance(event, RunStarted)
    return checked(event.plan)


@pytest.mark.parametrize("recipe", recipes.available(), ids=lambda recipe: recipe.name)
def test_every_recipe_passes_when_it_comes_from_a_file_and_no_amount_gives_it_more_work(recipe: Recipe) -> None:
    recipes.check(from_json(Recipe, json.loads(json.dumps(to_json(recipe)))))
    amounts = {workload.name: Amount(HUGE, 1.0) for workload in recipe.workloads}
    assert [each.task for each in recipe.with_amounts(amounts).workloads] == [each.job for each in recipe.workloads]


def test_a_candidate_is_made_as_the_catalogue_says_whatever_the_file_has() -> None:
    names = [candidate.name for candidate in PLAN.candidates]
    assert checked(PLAN).candidates == tuple(map(parse_candidate, names))
    for key in ("mkfs_program", "mount_type", "scratch_mount_options", "mkfs_arguments"):
        wrong: Any = {"scratch_mount_options": ["suid"], "mkfs_arguments": [["-d", "/etc"]]}
        line = edited(*CANDIDATE, "filesystem", key, to=wrong.get(key, "/tmp/evil"))
        assert plan_of(line).candidates[2] == parse_candidate(names[2])


def test_a_directory_is_measured_as_the_filesystem_that_it_lies_on_now(tmp_path: Path) -> None:
    (here,) = located_candidates([str(tmp_path)])
    then = replace(parse_candidate("xfs"), name="archive (xfs)", directory=str(tmp_path))
    plan = replace(PLAN, target=Target("directory", ""), candidates=(then,), baseline=then.name)
    assert checked(plan).candidates == (replace(here, name="archive (xfs)"),)
    full = replace(recipes.find("archive-disk"), workloads=())
    filling = next(work for recipe in recipes.available() for work in recipe.workloads if work.job.fill_percent)
    with pytest.raises(Refused, match="fills the filesystem"):
        checked(replace(plan, recipe=replace(full, workloads=(filling,))))


REFUSED: dict[str, tuple[Place, Any, str]] = {
    "files": ((*VIDEO, "job", "files"), HUGE, r"job: TreeJob.files: Expected `int` <= 10000000"),
    "more than the image": ((*VIDEO, "job", "total_bytes"), 1 << 40, "'image' must be at least"),
    "rounds": (("maximum_rounds",), HUGE, "isn't a range of rounds"),
    "memory": (("memory_limit_bytes",), 1, "too little for most programs"),
    "a small image": ((*IMAGE, "size_bytes"), 64 << 20, "isn't a valid target"),
    "name of a test": ((*VIDEO, "name"), "../../etc", "name: Expected `str` matching"),
    "a tree that is not described": ((*VIDEO, "job", "shape"), "own", "'own' only with a table"),
    "a metric's direction": ((*VIDEO, "metric", "better"), "higher", "'metric' must be one of"),
    "escapes": (("recipe", "name"), "x\x1b]52;c;ZXZpbA==\x07", "name: Expected `str` matching"),
    "mount point": (("recipe", "mount_point"), "/mnt/../etc x", "mount_point: Expected"),
    "no tests": (("recipe", "workloads"), [], "workloads: Expected `array` of length >= 1"),
    "an image of odd size": ((*IMAGE, "size_bytes"), HUGE + 1, "isn't a valid target"),
    "path": ((*IMAGE, "path"), "../../etc", "'../../etc' isn't a valid target"),
    "members": ((*IMAGE, "others"), [{"path": "/x"}] * 12, "isn't a valid target"),
    "candidate": ((*CANDIDATE, "name"), "../../etc", "no filesystem ../../etc"),
    "escapes in a candidate": ((*CANDIDATE, "name"), "ext4:x\x1b[2J", "no option"),
    "an empty option": ((*CANDIDATE, "name"), "ext4:,noatime", "has no option"),
    "another spelling": ((*CANDIDATE, "name"), "btrfs: noatime", "isn't the name of a candidate"),
    "an array on one disk": ((*CANDIDATE, "name"), "md:raid5+ext4", "devices"),
    "half a file": ((*VIDEO, "job", "files"), 1.5, "Expected"),
    "an unknown engine": ((*VIDEO, "engine"), "exec", "a workload of one of"),
    "no list": (("candidates",), {"ext4": 1}, "Expected"),
    "nothing to do": ((*VIDEO, "amount"), {"units": 0, "seconds": 1.0}, "amount"),
    "less than no time": ((*VIDEO, "amount"), {"units": 1, "seconds": -1.0}, "amount"),
    "not a number": (("time_limit_s",), float("nan"), "."),
}


@pytest.mark.parametrize(("place", "to", "words"), REFUSED.values(), ids=REFUSED)
def test_what_the_command_line_refuses_is_refused_and_named(place: Place, to: Any, words: str) -> None:
    with pytest.raises((UsageError, ValueError), match=words) as refused:
        plan_of(edited(*place, to=to))
    assert str(refused.value).isprintable()


def test_candidates_are_aged_where_they_can_be() -> None:
    plan = replace(PLAN, candidates=(parse_candidate("ext4:aged"),))
    assert checked(plan).aged
    with pytest.raises(UsageError, match="in a scratch image alone"):
        checked(replace(plan, target=replace(plan.target, kind="device")))


def test_a_device_keeps_its_path_from_the_root() -> None:
    for path in ("sdb", "../dev/sdb", ""):
        with pytest.raises(UsageError, match="isn't a valid target"):
            checked(replace(PLAN, target=Target("device", path, 1 << 40)))
        with pytest.raises(UsageError, match="isn't a valid target"):
            checked(replace(PLAN, target=Target("device", "/dev/sdb", 1 << 40, others=(Member(path, 1 << 40),))))


class There(ModelHost):
    """The machine that the recorded run was started on."""

    def name(self) -> str:
        return ENVIRONMENT.host

    def processor(self) -> str:
        return ENVIRONMENT.processor


def begun(plan: Plan, directory: Path) -> Path:
    """The result file of a run that was killed at its start."""
    path = directory / "result.jsonl"
    path.write_bytes(encoded(Header.of(plan, ENVIRONMENT)) + encoded(RunStarted(0.0, plan, ENVIRONMENT)))
    return path


@pytest.mark.parametrize(("rounds", "words"), [(2, "gone is not a directory"), (HUGE, "range of rounds")])
def test_a_run_is_not_resumed_before_its_plan_was_checked(rounds: int, words: str, tmp_path: Path) -> None:
    target = replace(PLAN.target, path=str(tmp_path / "gone"))
    plan = replace(PLAN, target=target, minimum_rounds=2, maximum_rounds=rounds)
    with use(There()), pytest.raises(FswizardError, match=words):
        take_up(begun(plan, tmp_path))


@pytest.mark.usefixtures("everything_is_installed")
def test_commands_of_a_file_are_neither_shown_nor_asked_for_and_udisks2_is_not_replaced_by_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = PlannedCommand(("no-such-program",), text="format", candidate="ext4")
    target = TargetChoice("image", str(tmp_path))
    plan = make_plan(Choices(recipes.find("quick"), (parse_candidate("ext4"),), target=target))
    with use(There()):
        shown = take_up(begun(replace(plan, commands=(named,)), tmp_path)).plan.commands
    assert shown == plan.commands
    monkeypatch.setattr(resuming, "why_root", lambda candidates: "no D-Bus")
    with use(There()), pytest.raises(Missing, match="no D-Bus"):
        take_up(begun(replace(plan, by_udisks=True), tmp_path))


@pytest.mark.parametrize(("name", "members", "options"), [
    ("luks+ext4", 1, {"key": "x"}), ("luks+ext4", 1, {"sector": "1e9"}), ("md:raid5+ext4", 3, {"chunk": "x"}),
])  # fmt: skip
def test_a_layout_that_nobody_can_make_is_not_how_a_candidate_is_made(
    name: str, members: int, options: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = parse_candidate(name).on(members).array
    assert array
    candidate = replace(PLAN.candidates[0], array=replace(array, options=options))
    candidates = (candidate, *PLAN.candidates[1:])
    plan = replace(PLAN, target=replace(PLAN.target, path=str(tmp_path)), candidates=candidates)
    monkeypatch.setattr(resuming, "require_still_there", lambda plan: None)
    with use(There()), pytest.raises(UsageError, match="differently than that run did"):
        take_up(begun(plan, tmp_path))
