"""Compiles the translations where the program is built or installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def compile_all(root: Path) -> None:
    """Write the .mo beside each .po below `root`."""
    for path in sorted((root / "fswizard/locale").glob("*/LC_MESSAGES/*.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.parts[-3])
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, catalog)


class CustomBuildHook(BuildHookInterface[BuilderConfig]):
    """Has packages and checkouts contain them compiled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        compile_all(Path(self.root))
