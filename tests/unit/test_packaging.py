"""Other files of the packages fit the program; `make test-all PART=packages` builds the packages themselves."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
SHARE = PACKAGING / "share"


def test_the_manual_page_is_that_of_the_commands() -> None:
    made = runpy.run_path(str(PACKAGING / "share.py"))["manual_page"]()
    page = (SHARE / "man/man1/fswizard.1").read_text("utf-8")
    assert page == made, "make it anew: .venv/bin/python packaging/share.py"
