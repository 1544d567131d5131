"""Lines that are kept while other widgets change."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.strip import Strip

from fswizard.tui.widgets.canvas import CachedStatic


class Two(App[None]):
    def compose(self) -> ComposeResult:
        yield CachedStatic("one", id="one")
        yield CachedStatic("two", id="two")


def drawn(widget: CachedStatic) -> list[Strip]:
    return widget.render_lines(widget.size.region)


async def test_lines_are_kept_until_something_about_them_changes() -> None:
    app = Two()
    async with app.run_test(size=(20, 4)) as pilot:
        one, two = app.query_one("#one", CachedStatic), app.query_one("#two", CachedStatic)
        before = drawn(one)
        two.update("other words")
        await pilot.pause()
        assert drawn(one) is before
        assert drawn(two)[0].text.startswith("other words")

        await pilot.resize_terminal(30, 4)
        await pilot.pause()
        assert drawn(one)[0].cell_length == one.size.width > 20

        for change in (
            lambda: setattr(app, "theme", "textual-light"),
            lambda: setattr(app.screen.styles, "background", "red"),
            lambda: setattr(one.styles, "color", "blue"),
        ):
            before = drawn(one)
            change()
            await pilot.pause()
            assert drawn(one)[0] != before[0]
