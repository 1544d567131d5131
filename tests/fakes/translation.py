"""A translation of a few sentences, compiled as those that ship are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from fswizard import language


def catalog_of(code: str, sentences: Mapping[str, str]) -> Catalog:
    catalog = Catalog(locale=code)
    for english, translated in sentences.items():
        catalog.add(english, translated)
    return catalog


def compiled(catalog: Catalog, directory: Path) -> Path:
    """`directory`, with the catalogue where the program looks for it."""
    path = directory / str(catalog.locale) / "LC_MESSAGES" / f"{language.DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalog)
    return directory


def known(catalog: Catalog, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the program know this language and English alone."""
    monkeypatch.setattr(language, "DIRECTORY", compiled(catalog, directory))
