"""Bars, curves, columns: what stands where."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import fswizard
from fswizard.cli.verdicts import verdict_lines
from fswizard.language import NOT_FIRST
from fswizard.tui.drawing import (
    bullet,
    columns,
    cut,
    cut_among,
    cut_left,
    facts,
    fit,
    side_by_side,
    smr_badge,
    text,
    wrap,
)
from fswizard.tui.terminal import for_console
from fswizard.tui.widgets.braille import area, nice_top
from tests.builders import make_drive

ANY_TEXT = st.text(max_size=60)
WIDTHS = st.integers(min_value=1, max_value=140)


@given(ANY_TEXT, WIDTHS)
def test_cut_text_is_never_wider_than_its_place_and_never_controls_the_terminal(words: str, width: int) -> None:
    assert fit(cut(words, width), width).cell_length == width
    for shown in (cut(words, width), cut_left(words, width)):
        assert cell_len(shown) <= max(width, 1)
        assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in shown)


@pytest.mark.parametrize(
    ("names", "width", "shown"),
    [
        (("Scattered small writes", "Scattered small reads"), 16, ("Scattered…writes", "Scattered…reads")),
        (("ext4:noatime", "ext4:noatime,commit=60"), 10, ("ext4:noat…", "ex…,commi…")),
        (("ext4", "xfs"), 10, ("ext4", "xfs")),
    ],
)
def test_names_are_not_cut_where_they_differ(names: tuple[str, ...], width: int, shown: tuple[str, ...]) -> None:
    assert tuple(cut_among(name, names, width) for name in names) == shown


@given(st.lists(st.text("ab:=é", min_size=1, max_size=30), min_size=2, max_size=5, unique=True), st.integers(6, 40))
def test_a_cut_name_finds_room_and_begins_to_differ_from_each_it_was_alike(names: list[str], width: int) -> None:
    shown = {name: cut_among(name, names, width) for name in names}
    assert all(cell_len(words) <= width for words in shown.values())
    if len(names) == 2:
        assert len(set(shown.values())) == 2


@given(st.lists(ANY_TEXT, min_size=1, max_size=5), st.data())
def test_columns_stay_in_line_whatever_stands_in_them(cells: list[str], data: st.DataObject) -> None:
    widths = [data.draw(st.integers(1, 30)) for _ in cells]
    row = columns([cut(cell, width) for cell, width in zip(cells, widths)], widths)
    assert row.cell_length == sum(widths) + 2 * (len(widths) - 1)


@given(st.lists(st.from_regex(r"[A-Za-z]{1,12} \d{1,3} ms", fullmatch=True), max_size=6), st.integers(20, 80))
def test_what_stands_side_by_side_is_whole_and_takes_few_lines(words: list[str], width: int) -> None:
    rows = side_by_side(words, width, " · ")
    assert [word for row in rows for word in row.split(" · ")] == words
    assert all(cell_len(row) <= width for row in rows)
    assert all(cell_len(f"{row} · {after.split(' · ')[0]}") > width for row, after in pairwise(rows))


@given(st.floats(1e-6, 1e12))
def test_the_top_of_an_axis_is_round_and_not_far_above_the_value(value: float) -> None:
    assert value * 0.999 <= nice_top(value) <= value * 2.01


def test_wrapped_words_hang_behind_their_mark_and_their_label_and_markup_stays_text() -> None:
    assert bullet("✓", "one two three", 7).plain == "✓ one\n  two\n  three"
    assert facts([("Time", "one two three four")], 20, label=6).plain == "Time  one two three\n      four"
    hostile = "[/b] [@click=app.quit]x[/]"
    assert text((hostile, "bold")).plain == hostile


def test_every_character_that_the_wizard_draws_has_one_that_the_linux_console_has() -> None:
    drawn = set("╭╮╰╯─│▁▂▃▄▅▆▇█")  # borders and scroll bars
    for room in ("tui", "report", "advice", "model"):
        for path in (Path(fswizard.__file__).parent / room).rglob("*.py"):
            drawn |= {character for character in path.read_text("utf-8") if not character.isascii()}
    shown = for_console("".join(drawn))
    assert cell_len(shown) == cell_len("".join(drawn))
    beyond = {c for c in shown if not c.encode("cp437", "ignore")} - set("←↑→↓◆")  # these it has in place of controls
    assert not beyond


def test_the_console_gets_letters_and_escapes_as_they_are_and_heights_and_textures_of_the_race() -> None:
    assert for_console("\x1b[1mGrüße, ѿ\x1b[0m") == "\x1b[1mGrüße, ѿ\x1b[0m"
    assert for_console("✓ ├──●──┤ 1.21 × ▲") == "+ ├──O──┤ 1.21 x ^"
    full, sparse = (area((1.0, 1.0, 0.4, 0.4), 2, 2, texture) for texture in (0, 1))
    assert [for_console(row) for row in full] == ["█ ", "██"]
    assert [for_console(row) for row in sparse] == ["▒ ", "▒▒"]
    assert for_console("".join(area((0.3,), 1, 2))) == " ▄"


def test_zones_of_flash_are_not_called_shingles() -> None:
    disk, namespace = make_drive("host-managed"), make_drive("host-managed", kind="nvme", bus="nvme", rpm=None)
    assert smr_badge(disk).plain == "◆ SMR, host-managed"
    assert smr_badge(namespace).plain == "◆ host-managed zones"
    assert verdict_lines(disk.smr)[0].startswith("  SMR, host-managed")
    assert verdict_lines(namespace.smr, flash=namespace.flash)[0].startswith("  host-managed zones")


@given(st.text("チェックサム、スナップ（必）。 Btrfs91%/\n", max_size=60), st.integers(4, 40))
def test_wide_signs_are_wrapped_without_loss_and_none_that_belongs_to_the_one_before_begins_a_line(
    words: str, width: int
) -> None:
    rows = wrap(words, width)
    kept = "".join(words.split())
    assert "".join("".join(row.plain.split()) for row in rows) == kept
    assert all(row.cell_length <= width or row.plain[-1] in NOT_FIRST for row in rows)
