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
    assert language.p_("name of this language", "English") != "English"


def test_a_broken_field_is_a_fault(messages: ModuleType) -> None:
    catalog = messages.Catalog(locale="de")
    catalog.add("{disk} is full.", "{platte} ist voll.")
    catalog.add(("{count} disk", "{count} disks"), ("eine Platte", "{count} Platten"))
    assert len(messages.faults(catalog)) == 1
    catalog.add(("{count} run", "{count} runs"), ("{count} Lauf", ""))
    assert len(messages.faults(catalog)) == 2


def test_a_new_language_is_merged_with_all_sentences(
    messages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    monkeypatch.setattr(messages, "TEMPLATE", tmp_path / "fswizard.pot")
    monkeypatch.setattr(messages, "compile_all", lambda root: None)
    assert messages.main(["pl"]) == 0
    catalog = messages.read(tmp_path / "pl" / messages.PLACE)
    assert catalog.num_plurals == 3
    assert len(catalog) == len(messages.extracted()) > 1000
    assert "pl: " in capsys.readouterr().out
    for sentence in ("The disk may be failing.", "{program} failed.", "there is no block device {number}"):
        assert catalog.get(sentence) is not None
