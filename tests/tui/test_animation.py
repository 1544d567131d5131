"""The picture that moves: what stays is there once, what changes is seen in its time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.tui.animation import animated

SVG = "{http://www.w3.org/2000/svg}"


class Words(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("stays")
        yield Static("", id="changes")


async def test_each_picture_is_seen_in_its_time_and_the_last_one_where_nothing_moves() -> None:
    pictures = []
    app = Words()
    async with app.run_test(size=(40, 5)) as pilot:
        for words in ("first", "second", "first"):
            app.query_one("#changes", Static).update(words)
            await pilot.pause()
            pictures.append(app.export_screenshot())
    picture = animated(pictures, [1.0, 2.0, 5.0])
    root = ET.fromstring(picture)
    assert [text.text for text in root.iter(f"{SVG}text")].count("stays") == 1
    when = {text.text: group.get("class") for group in root.iter(f"{SVG}g") for text in group.findall(f"{SVG}text")}
    rules = dict(re.findall(r"@keyframes (\w+) \{ (.*) \}", picture))
    assert rules[when["first"]] == (
        "0.00% { visibility: visible } 12.50% { visibility: hidden } 37.50% { visibility: visible }"
    )
    assert f".{when['second']} {{ visibility: hidden; animation: {when['second']} 8s step-end infinite }}" in picture
    assert f".{when['first']} {{ visibility: visible;" in picture
    assert "prefers-reduced-motion" in picture
