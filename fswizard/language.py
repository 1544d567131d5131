"""The reader's language: the translation of every sentence that the program shows.

A sentence stands in the code in English, whole, with named fields: `_("{name} needs a value.", name=option.name)`. The
translations are in `locale/`; what none has yet is shown in English. A run always speaks English, so that result
files are the same everywhere: `shown` gives a sentence of theirs in the reader's language.

CONTRIBUTING.md says how to translate.
"""

from __future__ import annotations

import contextlib
import functools
import gettext
import io
import os
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

DOMAIN = "fswizard"
ENGLISH = "en"
SETTING = "language"
"""Name of the setting that outlives the program; empty: as the environment says."""
DIRECTORY = Path(__file__).parent / "locale"
NOT_FIRST = "、。，．：；？！）」』】"
"""Signs, two columns wide, that no line begins with (JIS X 4051)."""
NOT_LAST = "（「『【"
"""And those that no line ends with."""
_FIELD = re.compile(r"\{([a-z]\w*)\}")
_ANYTHING, _IN_ONE_SENTENCE = ".+?", r"(?:(?!\. ).)+?"
_AMOUNT, _ITEMS = r"[\d.,]+(?: \w{1,3})?", r"[^\s,]+(?:, [^\s,]+)*"
"""Expressions for what a field holds."""
_NUMBER = re.compile(r"[\d.,]+")
_COUNT = "count"
"""The field of `n_`."""


class _Catalogue(gettext.GNUTranslations):
    """A translation whose English sentences can be listed, each form of them."""

    def __init__(self, file: BinaryIO) -> None:
        data = file.read()
        super().__init__(io.BytesIO(data))
        order = "<" if data.startswith(b"\xde\x12\x04\x95") else ">"
        count, start = struct.unpack_from(f"{order}2I", data, 8)
        places = struct.iter_unpack(f"{order}2I", data[start : start + 8 * count])
        keys = (data[place : place + length].decode() for length, place in places)
        self.forms = {form: key.split("\0") for key in keys for form in key.split("\0") if form and "\4" not in form}

    @property
    def sentences(self) -> Iterable[str]:
        return self.forms

    def said(self, sentence: str, count: int) -> str:
        """Its translation, or that of the form which belongs to `count`."""
        one, *others = self.forms[sentence]
        return self.ngettext(one, others[0], count) if others else self.gettext(one)


@dataclass
class _Spoken:
    """What is spoken now."""

    code: str = ENGLISH
    translation: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)


_UNTRANSLATED = gettext.NullTranslations()
_now = _Spoken()
_in_english = ContextVar("in_english", default=False)


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
    _now.code, _now.translation = ENGLISH, _UNTRANSLATED
    with contextlib.suppress(FileNotFoundError):
        _now.translation = gettext.translation(DOMAIN, DIRECTORY, [code], _Catalogue)  # kept once it was read
        _now.code = code
    _in_readers_language.cache_clear()
    _with_fields.cache_clear()


def chosen() -> str:
    """Code of the language that is spoken: `de`. HTML names it the same way."""
    return ENGLISH if _in_english.get() else _now.code


@contextlib.contextmanager
def in_english() -> Iterator[None]:
    """Speak English within, in this thread alone: for what programs and others read."""
    token = _in_english.set(True)
    try:
        yield
    finally:
        _in_english.reset(token)


def _spoken() -> gettext.NullTranslations:
    return _UNTRANSLATED if _in_english.get() else _now.translation


def name_of(code: str) -> str:
    """What speakers of a language call it: `Deutsch`."""
    if code == _now.code:
        return p_("name of this language", "English")
    own = _UNTRANSLATED if code == ENGLISH else gettext.translation(DOMAIN, DIRECTORY, [code])
    return own.pgettext("name of this language", "English")


def _(message: str, **fields: object) -> str:
    """A sentence in the reader's language, with its fields filled in."""
    text = _spoken().gettext(message) if message else ""
    return text.format_map(fields) if fields else text


def n_(singular: str, plural: str, count: int, **fields: object) -> str:
    """The form that belongs to `count`, which is a field as well: `n_("{count} disk", "{count} disks", 3)`."""
    return _spoken().ngettext(singular, plural, count).format_map({"count": number(f"{count:,}"), **fields})


def p_(context: str, message: str, **fields: object) -> str:
    """A word that other languages translate differently by its context."""
    text = _spoken().pgettext(context, message)
    return text.format_map(fields) if fields else text


def N_(message: str) -> str:
    """The message as it is: marked where it is written, translated by `_` where it is shown."""
    return message


_LISTED = N_("{words} and {last}")


def number(text: str) -> str:
    """A number such as `1,234.5` as the reader's language writes it."""
    if chosen() == ENGLISH:
        return text
    signs = {".": p_("decimal separator", "."), ",": p_("thousands separator", ",")}
    return "".join(signs.get(character, character) for character in text)


def listing(words: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return _(_LISTED, words=p_("between the items of a list", ", ").join(words[:-1]), last=words[-1])


def shown(text: str) -> str:
    """A sentence that was said in English, such as one of a result file, in the reader's language.

    It is looked up as it is, then by the sentence with fields that it was made of, the longest of those that fit. Where
    it is several sentences, or items of a list, they are looked up one by one.
    """
    return text if chosen() == ENGLISH else _in_readers_language(text)


def translations() -> Iterator[str]:
    """All texts of the language that is spoken; none of English."""
    catalog: Mapping[object, str] = _spoken().__dict__.get("_catalog", {})
    yield from catalog.values()


@functools.lru_cache(4096)
def _in_readers_language(text: str) -> str:
    if not text or not isinstance(_now.translation, _Catalogue):
        return text
    translated = _now.translation.gettext(text)
    if translated != text:
        return translated
    filled = _filled(text, _IN_ONE_SENTENCE) or _one_by_one(text) or _filled(text, _ANYTHING)
    if not filled and text.endswith(".") and (finding := shown(text[:-1])) != text[:-1]:
        return _("{finding}.", finding=finding)
    return filled or text


def _filled(text: str, field: str) -> str:
    """The translation of a sentence with fields, each of which matches the expression `field`; empty without one."""
    for message, longest_piece, own_field in _with_fields():
        if longest_piece in text and (match := _pattern(message, own_field or field).fullmatch(text)):
            amount = own_field == _AMOUNT and _NUMBER.fullmatch(match[1])
            fields = {
                name: number(value) if amount or name == _COUNT else shown(value)
                for name, value in match.groupdict().items()
            }
            count = int(re.sub(r"\D", "", match.groupdict().get(_COUNT, "1")))
            assert isinstance(_now.translation, _Catalogue)
            return _now.translation.said(message, count).format_map(fields)
    return ""


def _one_by_one(text: str) -> str:
    for end, between in ((".", " "), ("", "; "), ("", ", ")):
        first, joint, rest = text.partition(end + between)
        parts = (first + end, rest)
        if joint and (translated := tuple(map(shown, parts))) != parts:
            return between.join(translated)
    return ""


@functools.cache
def _with_fields() -> tuple[tuple[str, str, str], ...]:
    """Every English sentence with fields, the longest of its words between them, and what its fields hold where that is
    not anything: of units such as `GB` amounts, of a list items of one word. The longest first.
    """
    assert isinstance(_now.translation, _Catalogue)
    pieces = {text: _FIELD.split(text)[::2] for text in _now.translation.sentences if _FIELD.search(text)}
    by_length = sorted(pieces.items(), key=lambda item: -sum(map(len, item[1])))
    return tuple((text, max(parts, key=len), _own_field(text, parts)) for text, parts in by_length)


def _own_field(message: str, pieces: Sequence[str]) -> str:
    if message == _LISTED:
        return _ITEMS
    return _AMOUNT if not pieces[0] and len(re.findall(r"\w", "".join(pieces))) < 4 else ""


@functools.cache
def _pattern(message: str, field: str) -> re.Pattern[str]:
    """What fits a sentence whose fields, each of which matches the expression `field`, are filled in."""
    known: set[str] = set()
    parts = []
    for place, part in enumerate(_FIELD.split(message)):
        if place % 2 == 0:
            parts.append(re.escape(part))
        elif part in known:
            parts.append(f"(?P={part})")
        else:
            known.add(part)
            parts.append(f"(?P<{part}>{_NUMBER.pattern if part == _COUNT else field})")
    return re.compile("".join(parts), re.DOTALL)
