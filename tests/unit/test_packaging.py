"""What packages install beside the program fits it; the packages themselves are built by `make test-packages`."""

from __future__ import annotations

import re
import runpy
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
SHARE = PACKAGING / "share"


def test_the_manual_page_is_that_of_the_commands() -> None:
    made = runpy.run_path(str(PACKAGING / "share.py"))["manual_page"]()
    page = (SHARE / "man/man1/fswizard.1").read_text("utf-8")
    assert page == made, "make it anew: .venv/bin/python packaging/share.py"


def packages_inside() -> set[str]:
    """fswizard and all Python packages that it needs, as they call themselves."""
    names: set[str] = set()
    waiting = [Requirement("fswizard")]
    while waiting:
        wanted = waiting.pop()
        distribution = metadata.distribution(wanted.name)
        names.add(distribution.metadata["Name"])
        for needed in map(Requirement, distribution.requires or ()):
            extras = wanted.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return names


def test_the_copyright_names_all_packages_inside() -> None:
    text = (PACKAGING / "debian/copyright").read_text("utf-8")
    assert packages_inside() <= set(re.findall(r"[\w-]+", text))
