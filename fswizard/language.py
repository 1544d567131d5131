"""The reader's language: the translation of every sentence that the program shows.

A sentence stands in the code in English, whole, with named fields: `_("{name} needs a value.", name=option.name)`. The
translations are in `locale/`; what none has yet is shown in English. A run and the helper always speak English, so that
result files are the same everywhere: `shown` gives a sentence of theirs in the reader's language.

CONTRIBUTING.md says how to translate.
"""

from __future__ import annotations

import functools
import gettext
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

DOMAIN = "fswizard"
ENGLISH = "en"
SETTING = "language"
"""Name of the setting that outlives the program; empty: as the environment says."""
DIRECTORY = Path(__file__).parent / "locale"
_FIELD = re.compile(r"\{(\w+)\}")


class _Catalogue(gettext.GNUTranslations):
    """A translation whose English sentences can be listed."""

    @property
    def sentences(self) -> tuple[str, ...]:
        catalog: Mapping[object, str] = self.__dict__["_catalog"]
        return tuple(key for key in catalog if isinstance(key, str) and key)


_translation: gettext.NullTranslations = gettext.NullTranslations()
_chosen = ENGLISH


def languages() -> tuple[str, ...]:
    """Codes of all languages that the program speaks: `en`, `de`, …"""
    translated = sorted(path.parts[-3] for path in DIRECTORY.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return (ENGLISH, *translated)


def of_environment() -> str:
    """The first language that LANGUAGE, LC_ALL, LC_MESSAGES or LANG asks for and the program speaks, or English."""
    names = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    asked = next((value for name in names if (value := os.environ.get(name))), "")
    if next((value for name in names[1:] if (value := os.environ.get(name))), "C").partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    known = languages()
    for locale in asked.split(":"):
        name = re.split("[.@]", locale)[0]
        for code in (name, name.partition("_")[0]):
            if code in known:
                return code
    return ENGLISH


def choose(code: str) -> None:
    """Speak this language from now on; English where there is no translation of it."""
    global _translation, _chosen
    _translation, _chosen = gettext.NullTranslations(), ENGLISH
    if code in languages() and code != ENGLISH:
        _translation, _chosen = gettext.translation(DOMAIN, DIRECTORY, [code], _Catalogue), code
    shown.cache_clear()


def chosen() -> str:
    """Code of the language that is spoken: `de`. HTML names it the same way."""
    return _chosen


def name_of(code: str) -> str:
    """What speakers of a language call it: `Deutsch`."""
    if code == _chosen:
        return p_("name of this language", "English")
    own = gettext.NullTranslations() if code == ENGLISH else gettext.translation(DOMAIN, DIRECTORY, [code])
    return own.pgettext("name of this language", "English")


def _(message: str, **fields: object) -> str:
    """A sentence in the reader's language, with its fields filled in."""
    text = _translation.gettext(message) if message else ""
    return text.format_map(fields) if fields else text


def n_(singular: str, plural: str, count: int, **fields: object) -> str:
    """The form that belongs to `count`, which is a field as well: `n_("{count} disk", "{count} disks", 3)`."""
    return _translation.ngettext(singular, plural, count).format_map({"count": number(f"{count:,}"), **fields})


def p_(context: str, message: str, **fields: object) -> str:
    """A word that other languages translate differently by its context."""
    text = _translation.pgettext(context, message)
    return text.format_map(fields) if fields else text


def N_(message: str) -> str:
    """The message as it is: marked where it is written, translated by `_` where it is shown."""
    return message


def number(text: str) -> str:
    """A number such as `1,234.5` as the reader's language writes it."""
    if _chosen == ENGLISH:
        return text
    signs = {".": p_("decimal separator", "."), ",": p_("thousands separator", ",")}
    return "".join(signs.get(character, character) for character in text)


def listing(words: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return _("{words} and {last}", words=p_("between the items of a list", ", ").join(words[:-1]), last=words[-1])


@functools.lru_cache(4096)
def shown(text: str) -> str:
    """A sentence that was said in English, such as one of a result file, in the reader's language.

    It is looked up as it is, then by the sentence with fields that it was made of, the longest of those that fit.
    """
    if not text or not isinstance(_translation, _Catalogue):
        return text
    translated = _translation.gettext(text)
    if translated != text:
        return translated
    for message, pieces in _with_fields(_chosen):
        if all(piece in text for piece in pieces) and (found := _pattern(message).fullmatch(text)):
            fields = {name: shown(value) for name, value in found.groupdict().items()}
            return _translation.gettext(message).format_map(fields)
    return text


@functools.cache
def _with_fields(code: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every English sentence with fields, and its words between them; the longest first. Of the language `code`."""
    assert code == _chosen and isinstance(_translation, _Catalogue)
    pieces = {text: tuple(_FIELD.split(text)[::2]) for text in _translation.sentences if _FIELD.search(text)}
    by_length = sorted(pieces.items(), key=lambda item: -sum(map(len, item[1])))
    return tuple((text, parts) for text, parts in by_length if re.search(r"\w{2}", "".join(parts)))


@functools.cache
def _pattern(message: str) -> re.Pattern[str]:
    """What fits a sentence whose fields are filled in."""
    known: set[str] = set()
    parts = []
    for place, part in enumerate(_FIELD.split(message)):
        if place % 2 == 0:
            parts.append(re.escape(part))
        elif part in known:
            parts.append(f"(?P={part})")
        else:
            known.add(part)
            parts.append(f"(?P<{part}>.+?)")
    return re.compile("".join(parts), re.DOTALL)
