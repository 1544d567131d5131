"""The reader's language: what is translated, what falls back to English, and what comes from a result file."""

from __future__ import annotations

import ast
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fswizard import language
from fswizard.language import _, joined, listing, n_, number, p_
from fswizard.model.codec import from_json, to_json
from fswizard.model.units import binary_size_text, duration_text, size_text
from tests.fakes.translation import catalog_of, known

TRANSLATED = {
    "formatting": "Formatieren",
    "{what} failed: {why}": "{what} misslang: {why}",
    "no room": "kein Platz",
    "{words} and {last}": "{words} und {last}",
    "{number} GB": "{number} GB",
    "{percent} % faster": "{percent} % schneller",
    "{hours} h {minutes} min": "{hours} Std. {minutes} Min.",
}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A translation of few sentences."""
    catalog = catalog_of("de", TRANSLATED)
    catalog.add(("{count} disk", "{count} disks"), ("{count} Platte", "{count} Platten"))
    catalog.add(".", ",", context="decimal separator")
    catalog.add(",", ".", context="thousands separator")
    known(catalog, tmp_path, monkeypatch)
    language.choose("de")


def test_sentences_figures_and_numbers_are_those_of_the_language_or_english(german: None) -> None:
    assert [n_("{count} disk", "{count} disks", count) for count in (1, 12345)] == ["1 Platte", "12.345 Platten"]
    assert number("1,234.5") == "1.234,5"
    assert [size_text(2_147_483_648), duration_text(6000)] == ["2,15 GB", "1 Std. 40 Min."]
    assert binary_size_text(1536 << 20) == "1536M", "programs read that"
    assert _("It has {share} free.", share="3 %") == "It has 3 % free."
    assert n_("{count} round", "{count} rounds", 2) == "2 rounds"
    assert p_("of a door", "open") == "open"
    assert listing([_("no room"), "XFS", "no room"]) == "kein Platz, XFS und no room"


def test_a_sentence_of_a_result_file_is_made_in_the_readers_language(german: None) -> None:
    with language.in_english():
        message = _(
            "{what} failed: {why}",
            what=_("formatting"),
            why=joined([n_("{count} disk", "{count} disks", 12_345), size_text(1.5e9), "{what}"], "; "),
        )
    read = from_json(str, json.loads(json.dumps(to_json(message))))
    assert read == message == "formatting failed: 12,345 disks; 1.50 GB; {what}"
    assert _(read) == _(message) == "Formatieren misslang: 12.345 Platten; 1,50 GB; {what}"
    assert to_json(_("no room")) == {"message": "no room"}


@pytest.mark.parametrize(
    "hostile",
    [
        {"message": 3},
        {"message": "{a}", "fields": [1]},
        {"message": "{count} disk", "plural": "{count} disks", "fields": {"count": "1"}},
        {"message": "{a}" * 100, "fields": {"a": {"message": "{b}" * 100, "fields": {"b": "long"}}}},
        {"message": "x" * 20_001},
    ],
)
def test_a_message_that_nobody_would_write_is_refused(hostile: object) -> None:
    with pytest.raises(ValueError, match="message"):
        from_json(str, hostile)


def test_fields_of_a_message_are_not_formatted() -> None:
    template = "{a.__class__} {a!r} {0} {b} {a}"
    assert from_json(str, {"message": template, "fields": {"a": 1}}) == "{a.__class__} {a!r} {0} {b} 1"


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LANGUAGE": "fr:de"}, "de"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "de"}, "en"),
        ({"LC_ALL": "de_AT@euro"}, "de"),
    ],
)
def test_the_environment_names_the_language(
    german: None, variables: dict[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language.of_environment() == code


FIELD = re.compile(r"(?<!\{)\{(\w*)\}(?!\})")


def test_every_sentence_is_a_literal_and_has_its_fields() -> None:
    """Babel finds literals alone, and a field that is missing would only be noticed by who reads the sentence."""
    for path in Path(language.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id not in ("_", "N_", "n_", "p_"):
                continue
            place = f"{path}:{call.lineno}"
            assert not isinstance(call.args[0], (ast.JoinedStr, ast.BinOp)), place
            texts = [str(each.value) for each in call.args if isinstance(each, ast.Constant)]
            fields, keywords = set(FIELD.findall(" ".join(texts))), {each.arg for each in call.keywords}
            if call.func.id == "n_":
                fields.discard("count")
            if texts and keywords and None not in keywords:  # without fields, whoever styles it fills them in
                assert fields == keywords, place


def test_what_others_read_is_english_for_its_own_thread_alone(german: None) -> None:
    with language.in_english():
        assert (_("no room"), number("1,234.5"), language.chosen()) == ("no room", "1,234.5", "en")
        with ThreadPoolExecutor() as pool:
            assert pool.submit(_, "no room").result() == "kein Platz"
    assert _("no room") == "kein Platz"
