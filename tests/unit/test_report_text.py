"""The text that people paste into forums: what it says, of whom, and that it never gets too wide."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fswizard.advice import conclude
from fswizard.model.analysis import Analysis, Answer, Findings, Ratio
from fswizard.model.filesystem import Candidate
from fswizard.model.metrics import UNPLUG_TIME
from fswizard.model.plan import Member, Target
from fswizard.model.result import Doubt, Sample
from fswizard.model.text import cells, plain
from fswizard.report import render
from fswizard.report.figures import Axis, bar
from fswizard.report.layout import WIDTH, command_lines
from fswizard.report.presentation import Row, attempt_command, present, repeat_command
from tests.builders import make_drive, make_filesystem, make_plan, make_result
from tests.unit.report_findings import FAILURE, WORKLOADS, make_findings, renamed, with_result


def lines_of(text: str, start: str, count: int = 20) -> list[str]:
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(start))
    return lines[first : first + count]


TEXT = render(make_findings(), "text")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_each_fact_and_command_is_there_and_the_recommendation_comes_first() -> None:
    view, whole = present(make_findings()), render(make_findings(), "text", identify=True)
    assert {"Disk", "Serial", "Recording", "Measured", "Rounds", "System", "Tools"} <= dict(view.facts).keys()
    assert all(flat(value) in flat(whole) for _, value in view.facts)
    assert "Serial" not in TEXT
    assert all(command in TEXT for command in view.answer.commands)
    assert "mkfs.xfs DEVICE" in TEXT and "noatime,nosuid,nodev DEVICE MOUNT" in TEXT
    assert TEXT.startswith(f"✓ {view.answer.verdict}, by at least 15 %")


def test_each_ratio_stands_with_bar_interval_and_verdict() -> None:
    lines = lines_of(TEXT, "Ratios to ext4", 6)
    assert [line.partition("1.")[2].split()[1:] for line in lines[2:5]] == [
        ["1.15–1.28", "▲", "faster"],
        ["0.96–1.06", "○", "not", "proven"],
        ["0.98–1.01", "═", "alike"],
    ]
    assert lines[5] == "nilfs2         failed: volume full, the cleaner could not keep up"
    middle = lines[2].index("│")
    assert lines[1][middle - 2 : middle + 2] == "ext4"
    assert lines[2].index("├") > middle
    assert lines[3][middle] == "┼"


SHARES = (None, Ratio("xfs", "", "write", 0.51), Ratio("xfs", "", "write", 1.08, 1.02, 1.1))


def test_workloads_stand_with_weight_figure_share_and_stall_and_failures_with_their_reason() -> None:
    rows = lines_of(TEXT, "also measured", 3)
    assert rows[2].split()[:6] == ["worst", "stall", "0.6", "s", "0.3", "s"]
    assert flat(FAILURE.text).rstrip(".") in flat(TEXT) and FAILURE.kind in TEXT
    rows = lines_of(TEXT, "by workload", 5)
    assert rows[2].split()[:6] == ["Large-files", "2", "180", "MB/s", "1.04", "(1.00–1.08)"]
    assert rows[4].split()[4:10] == ["0.71", "(0.68–0.74)", "▼", "0.93", "(0.89–0.97)", "▼"]
    shares = lines_of(TEXT, "by workload          ext4:noatime", 4)
    assert [line.split()[-1] for line in shares[2:]] == ["98%", "–"]
    rows = [Row("", "", 1.0, {}, {}, share) for share in SHARES]
    assert [row.share_text for row in rows] == ["", "51%", "100%"]
    several = Row("", "", 1.0, {}, {}, SHARES[-1], disks=2)
    assert several.share_text == "108%"


@pytest.mark.parametrize(
    ("kind", "disk", "rows"),
    [
        ("image", {"bus": "usb"}, 1),
        ("image", {"removable": True}, 1),
        ("directory", {"bus": "usb"}, 1),
        ("image", {"bus": "sata"}, 0),
    ],
)
def test_the_time_until_it_may_be_unplugged_is_a_row_of_removable_disks(
    kind: Literal["image", "directory"], disk: dict[str, Any], rows: int
) -> None:
    plan = make_plan(("ext4", "xfs"), drive=make_drive(**disk), target=Target(kind, "/mnt", 2 << 30))
    result, sample = make_result(), Sample(1, "ext4", "", UNPLUG_TIME.name, 2.5, "s", "lower")
    text = render(conclude(replace(result, plan=plan, samples=(*result.samples, sample))), "text")
    assert text.count("2.50 s") == rows
    assert ("(sync alone)" in text) == (kind == "directory")


def test_without_intervals_none_is_invented() -> None:
    text = render(make_findings(intervals=False), "text")
    assert "1.15" not in text.split("Ratios to ext4")[1]
    assert "95 %" not in text


def test_a_run_without_figures_has_a_report_and_a_memory_limit_that_could_not_be_set_is_not_told() -> None:
    result = with_result(samples=(), failures=(), outcome="killed").result
    text = render(Findings(result, Analysis(), (), Answer("nothing", "Nothing")), "text")
    assert text.startswith("✗ Nothing")
    assert "1 discarded" in render(with_result(discarded_rounds=(2,)), "text")
    drive = make_drive("not-a-hard-disk", kind="nvme", bus="nvme", rpm=None)
    assert "Recording" not in render(with_result(plan={"drive": drive}), "text")
    for codes, told in (((), True), (("fits-in-memory",), False)):
        doubts = tuple(Doubt(code, "It could not be had.") for code in codes)
        limited = with_result(plan={"memory_limit_bytes": 256 << 20}, doubts=doubts)
        assert ("256 MiB" in render(limited, "text")) is told


NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs",)), min_size=1)


@settings(deadline=None, max_examples=50)
@given(NAMES, NAMES, NAMES)
@example("x", "x", "x" * 8 + "\xa0")
def test_no_line_is_wider_than_80_columns_whatever_the_names(candidate: str, workload: str, model: str) -> None:
    findings = renamed(make_findings(), {"xfs": candidate * 9, "large-files": workload * 9})
    findings = with_result(findings, plan={"drive": make_drive(model=model * 9, serial="")})
    assert max(cells(line) for line in render(findings, "text").splitlines()) <= WIDTH


SHELL_WORDS = st.lists(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=120)
    | st.sampled_from(["ext4; xfs; btrfs:noatime,compress=zstd:1; " * 4, "a b", "it's", "$(id)", "`id`", "a\\ b"]),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=50)
@given(SHELL_WORDS)
def test_a_command_in_several_lines_means_the_same_to_the_shell(words: list[str]) -> None:
    lines = command_lines(shlex.join(["printf", "%s\\0", *words]))
    assert max(map(cells, lines)) <= WIDTH
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, check=True, env={"PATH": os.defpath})
    assert done.stdout.decode().split("\0")[:-1] == words


def test_the_command_to_repeat_a_run_names_all_and_that_for_others_nothing_of_this_machine() -> None:
    plan = make_plan(("ext4", "xfs:noatime"), WORKLOADS, seed=7, needs=("checksums",))
    assert shlex.split(repeat_command(replace(plan, target=Target("image", "/srv/a b", 3 << 30)))) == [
        *("fswizard", "run", "quick", "--candidates", "ext4; xfs:noatime", "--baseline", "ext4"),
        *("--target", "image:3G@/srv/a b", "--time", "180s", "--rounds", "2..40", "--seed", "7"),
        *("--need", "checksums"),
    ]
    plan = make_plan(("ext4", "xfs:noatime"), WORKLOADS, seed=7)
    words = ("fswizard", "run", "quick", "--candidates", "ext4; xfs:noatime")
    for target in (Target("image", "/srv/a b", 3 << 30), Target("device", "/dev/disk/by-id/x", 8 << 40)):
        assert tuple(shlex.split(attempt_command(replace(plan, target=target)))) == words
    disks = Target("device", "/dev/a", 8 << 40, others=(Member("/dev/b", 8 << 40),))
    recipe = replace(plan.recipe, image_bytes=2 << 30)
    command = attempt_command(replace(plan, recipe=recipe, target=disks))
    assert tuple(shlex.split(command)) == (*words, "--target", "images:2x2G")


@pytest.mark.parametrize(
    ("fields", "wiped"),
    [
        ({"outcome": "finished"}, True),
        ({"outcome": "failed"}, True),
        ({"outcome": "failed", "doubts": (Doubt("not-wiped", "sdb could not be wiped at the end."),)}, False),
        ({"outcome": "killed"}, False),
    ],
    ids=["finished", "failed", "a pulled disk", "a killed run"],
)
def test_a_device_is_called_wiped_only_where_it_was(fields: dict[str, Any], wiped: bool) -> None:
    target = Target("device", "/dev/disk/by-id/ata-ST8000AS0002", 8 << 40)
    text = render(conclude(make_result(plan=make_plan(target=target), **fields)), "text")
    assert "on the device itself" in text
    assert ("left wiped" in " ".join(text.split())) == wiped


def test_bars_stand_in_the_order_of_the_plan() -> None:
    names = tuple(f"ext4:commit={seconds}" for seconds in (90, 5, 60, 15, 30, 45, 10, 75))
    (row,) = present(conclude(make_result(dict.fromkeys(names, (100.0, 101.0, 99.0))))).rows
    assert tuple(bar.candidate for bar in row.bars) == names


def test_directories_are_called_by_short_names_and_their_paths_are_not_told() -> None:
    called = {"home (ext4)": "/home", "archive (xfs)": "/mnt/archive"}
    candidates = tuple(Candidate(n, make_filesystem(n.split("(")[1][:-1]), directory=p) for n, p in called.items())
    plan = replace(make_plan(tuple(called)), candidates=candidates, target=Target("directory", ""))
    result = make_result(dict.fromkeys(called, (100.0, 101.0, 99.0)), plan=plan)
    for name in ("text", "reddit"):
        text = render(conclude(result), name)
        assert all(name in text for name in called)
        assert "dir:DIRECTORY-1,DIRECTORY-2" in text
        assert "/mnt/archive" not in text.replace("fstab", "")


# Bars


POSITIVE = st.floats(1e-9, 1e9)


def test_a_bar_shows_estimate_interval_and_where_1_is() -> None:
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.1, 1.3, 5)
    axis = Axis(-math.log(1.5), math.log(1.5))
    assert bar(ratio, axis, 31) == "               │   ├──●──┤     "
    assert axis.line("ext4", 31) == "0.67  0.8    ext4    1.25   1.5"
    ratio = Ratio("xfs", "ext4", "", 1.2, 1.2 / 1.1, 1.2 * 1.1, 3)
    assert ratio.interval() == "1.09–1.32"
    ratio = Ratio("xfs", "ext4", "", 1.2)
    assert ratio.interval() == ""
    ratio = Ratio("xfs", "ext4", "", 1.0, 0.1, 10.0, 3)
    assert bar(ratio, Axis(-math.log(2), math.log(2)), 11) == "◂────●────▸"


@given(POSITIVE, POSITIVE, POSITIVE, st.integers(3, 60))
def test_a_bar_always_has_its_width_and_its_mark(ratio: float, low: float, high: float, width: int) -> None:
    low, ratio, high = sorted((low, ratio, high))
    judged = Ratio("xfs", "ext4", "", ratio, low, high, 3)
    drawn = bar(judged, Axis.around([judged]), width)
    assert (len(drawn), drawn.count("●")) == (width, 1)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_every_estimate_finds_room_on_the_axis(ratios: list[float]) -> None:
    axis = Axis.around(Ratio("xfs", "ext4", "", ratio, ratio / 50, ratio * 50, 3) for ratio in ratios)
    assert all(axis.holds(ratio) for ratio in (*ratios, 1.0))
    axis = Axis.around([Ratio("xfs", "ext4", "", 1.2, 0.001, 1000.0, 3)])
    assert not axis.holds(2.0)
    assert axis.place(1.2) - axis.place(1.0) > 0.1


@given(st.floats(1e-3, 1e3), st.text(min_size=1, max_size=40), st.integers(9, 120))
def test_labels_never_touch_each_other_nor_leave_their_row(ratio: float, baseline: str, width: int) -> None:
    axis = Axis.around([Ratio("xfs", "ext4", "", ratio)])
    labels = sorted((start, start + len(words)) for _, start, words in axis.labels(baseline, width))
    assert labels[0][0] >= 0 and labels[-1][1] <= width
    assert all(end < start for (_, end), (start, _) in pairwise(labels))
    assert len(axis.line(baseline, width)) == width


@given(st.text(st.sampled_from("│┼├┤●◂▸─×–±…µ▲▽é漢")))
def test_ascii_drawings_keep_their_width(text: str) -> None:
    assert plain(text).isascii()
    assert len(plain(text)) == len(text)
