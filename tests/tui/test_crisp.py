"""Screenshots as they are published: bars are shapes, and each word stands where it stood."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.tui.crisp import CELL, LINE, crisp

SVG = "{http://www.w3.org/2000/svg}"


class Words(App[None]):
    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        yield Static(self._words, markup=False)


async def picture(words: str) -> ET.Element:
    app = Words(words)
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        return ET.fromstring(crisp(app.export_screenshot()))


async def test_words_keep_their_place_without_the_spaces_before_them() -> None:
    texts = [text for text in (await picture("   one two     <&>")).iter(f"{SVG}text") if text.get("textLength")]
    placed = {(text.text or "").replace("\xa0", " "): float(text.get("x", "")) / CELL for text in texts}
    assert placed == {"one two": pytest.approx(3), "<&>": pytest.approx(15)}


@pytest.mark.parametrize(
    ("block", "cells"),
    [
        ("██", (1, 0, 2, 1)), ("▄", (1, 0.5, 1, 0.5)), ("▀▀▀", (1, 0, 3, 0.5)), ("▌", (1, 0, 0.5, 1)),
        ("▂", (1, 0.75, 1, 0.25)),
    ],
)  # fmt: skip
async def test_blocks_are_shapes_of_their_size(block: str, cells: tuple[float, ...]) -> None:
    drawn = await picture(f"a{block}")
    (shape,) = (shape for shape in drawn.iter(f"{SVG}rect") if "-r" in (shape.get("class") or ""))
    ground = next(float(r.get("y", "")) for r in drawn.iter(f"{SVG}rect") if r.get("shape-rendering"))
    left, width = (float(shape.get(key, "")) / CELL for key in ("x", "width"))
    top, height = (float(shape.get("y", "")) - ground) / LINE, float(shape.get("height", "")) / LINE
    assert (left, top, width, height) == pytest.approx(cells, abs=0.02)
    assert block[0] not in "".join(text.text or "" for text in drawn.iter(f"{SVG}text"))
