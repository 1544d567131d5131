"""The translations: their fields, their plurals, and `make messages`. What is missing is English, and no fault."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from fswizard import language

ROOT = Path(__file__).parents[2]
TRANSLATIONS = sorted((ROOT / "fswizard/locale").glob("*/LC_MESSAGES/*.po"))


@pytest.fixture(scope="module")
def messages() -> ModuleType:
    """The program behind `make messages`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "packaging"))
        return importlib.import_module("messages")


def code(path: Path) -> str:
    return path.parts[-3]


@pytest.mark.parametrize("path", TRANSLATIONS, ids=code)
def test_translations_have_the_fields_of_their_sentences(path: Path, messages: ModuleType) -> None:
    catalog = messages.read(path)
    assert messages.faults(catalog) == []
    catalog.update(messages.extracted(), no_fuzzy_matching=True)
    if lacking := messages.missing(catalog):
        warnings.warn(f"{code(path)}: {lacking} of {len(catalog)} sentences are in English.", stacklevel=1)


@pytest.mark.parametrize("path", TRANSLATIONS, ids=code)
def test_translations_are_compiled_and_spoken(path: Path) -> None:
    assert code(path) in language.languages(), "make messages"
    language.choose(code(path))
    assert language.chosen() == code(path)
    assert language._("Start over") != "Start over"


def test_a_broken_field_is_a_fault(messages: ModuleType) -> None:
    catalog = messages.Catalog(locale="de")
    catalog.add("{disk} is full.", "{platte} ist voll.")
    catalog.add(("{count} disk", "{count} disks"), ("eine Platte", "{count} Platten"))
    assert len(messages.faults(catalog)) == 1
    catalog.add(("{count} run", "{count} runs"), ("{count} Lauf", ""))
    assert len(messages.faults(catalog)) == 2
