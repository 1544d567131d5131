"""The reader's language: the translation of every sentence that the program shows.

A sentence stands in the code in English, whole, with named fields: `_("{name} needs a value.", name=option.name)`. The
translations are in `locale/`; what none has yet is shown in English. The result is a `Message`, which can be written
to a result file as what it was made of, and translated again wherever it is read.

`locale/README.md` says how to translate.
"""

from __future__ import annotations

import contextlib
import gettext
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

DOMAIN = "fswizard"
ENGLISH = "en"
SETTING = "language"
"""Name of the setting that outlives the program; empty: as the environment says."""
DIRECTORY = Path(__file__).parent / "locale"
NUMBER = "number"
"""Context of a message that is a number rather than a sentence."""
LONGEST = 20_000
"""Characters of a message in a file; a longer one is refused, also if only its fields make it long."""
_FIELD = re.compile(r"\{([a-z]\w*)\}")


class Message(str):
    """A sentence in the language of the moment, and what makes it in any other."""

    english: str
    """With names of fields in braces."""
    fields: Mapping[str, object]
    plural: str
    """The English form for several; empty without a field `count` that chooses between both."""
    context: str

    def __str__(self) -> str:
        return self  # str(error) keeps what the error was made with


class _Reader:
    """The chosen language."""

    code = ENGLISH
    translation = gettext.NullTranslations()


_UNTRANSLATED = gettext.NullTranslations()
_in_english = ContextVar("in_english", default=False)


def languages() -> tuple[str, ...]:
    """Codes of all languages that the program speaks: `en`, `de`, …"""
    translated = sorted(path.parts[-3] for path in DIRECTORY.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return (ENGLISH, *translated)


def of_environment() -> str:
    """The first language that LANGUAGE, LC_ALL, LC_MESSAGES or LANG asks for and the program speaks, or English."""
    names = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "C")
    if not names.startswith(("C", "POSIX")):
        names = os.environ.get("LANGUAGE") or names
    codes = [re.split("[_.@]", name)[0] for name in names.split(":")]
    return next((code for code in codes if code in languages()), ENGLISH)


def choose(code: str) -> None:
    """Speak this language from now on; English where there is no translation of it."""
    _Reader.translation = gettext.translation(DOMAIN, DIRECTORY, [code], fallback=True)
    _Reader.code = code if code in languages() else ENGLISH


def chosen() -> str:
    """Code of the language that is spoken: `de`. HTML names it the same way."""
    return ENGLISH if _in_english.get() else _Reader.code


@contextlib.contextmanager
def in_english() -> Iterator[None]:
    """Speak English within, in this thread alone: for what programs and others read."""
    token = _in_english.set(True)
    try:
        yield
    finally:
        _in_english.reset(token)


def program_texts() -> frozenset[str]:
    """English sentences of the program, read from its compiled translations; empty if none is compiled."""
    return _texts_in(DIRECTORY)


@cache
def _texts_in(directory: Path) -> frozenset[str]:
    texts: set[str] = set()
    for path in directory.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"):
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file).__dict__["_catalog"]
        for key in catalog:
            singular = key[0] if isinstance(key, tuple) else key  # several forms have a key each
            texts.add(singular.rpartition("\x04")[2])  # what stands before it is the context
    return frozenset(texts - {""})


def _(message: str, **fields: object) -> str:
    """A sentence in the reader's language, with its fields filled in; a `Message` is made again in that language."""
    if isinstance(message, Message):
        return _made(message.english, {**message.fields, **fields}, message.plural, message.context)
    return _made(message, fields)


def n_(singular: str, plural: str, count: int, **fields: object) -> str:
    """The form that belongs to `count`, which is a field as well: `n_("{count} disk", "{count} disks", 3)`."""
    return _made(singular, {"count": count, **fields}, plural)


def p_(context: str, message: str, **fields: object) -> str:
    """A word that other languages translate differently by its context."""
    return _made(message, fields, context=context)


N_ = str
"""Marks a message where it is written; `_` translates it where it is shown."""


def number(text: str) -> str:
    """A number such as `1,234.5` as the reader's language writes it."""
    return _made(text, {}, context=NUMBER)


def joined(parts: Sequence[str], between: str = " ") -> str:
    """`between.join(parts)` that stays a message."""
    fields = {f"part{count}": part for count, part in enumerate(parts)}
    return _made("{between}".join(f"{{{name}}}" for name in fields), {**fields, "between": between})


def listing(words: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return _("{words} and {last}", words=joined(words[:-1], p_("between the items of a list", ", ")), last=words[-1])


def to_json(message: Message) -> dict[str, Any]:
    """What a file holds of a message: of what it was made."""
    fields = {
        name: to_json(value) if isinstance(value, Message) else value if type(value) is int else str(value)
        for name, value in message.fields.items()
    }
    parts = {"plural": message.plural, "context": message.context, "fields": fields}
    return {"message": message.english, **{name: part for name, part in parts.items() if part}}


def from_json(value: Any) -> Any:
    """JSON values with a Message, in English, for each that `to_json` wrote; ValueError where one cannot be read."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = {key: from_json(item) for key, item in value.items()}
    if "message" not in read:
        return read
    fields, texts = read.get("fields", {}), [read.get(part, "") for part in ("message", "plural", "context")]
    if not isinstance(fields, dict) or not all(isinstance(text, str) and len(text) <= LONGEST for text in texts):
        raise ValueError("a message was expected")
    english, plural, context = texts
    if plural and type(fields.get("count")) is not int:
        raise ValueError("a message with a count was expected")
    with in_english():
        message = _made(english, fields, plural, context)
    if len(message) > LONGEST:
        raise ValueError("a message is too long")
    return message


def _made(english: str, fields: Mapping[str, Any], plural: str = "", context: str = "") -> Message:
    """`english` in the reader's language, with its fields filled in, those that are messages in that language, too.

    What is filled in is not looked at again, and no field is formatted: messages come from files of others.
    """
    translation = _UNTRANSLATED if _in_english.get() else _Reader.translation
    values = {name: _(value) if isinstance(value, Message) else str(value) for name, value in fields.items()}
    if plural:
        text = translation.ngettext(english, plural, fields["count"])
        values["count"] = number(f"{fields['count']:,}")
    elif context == NUMBER:
        signs = {".": p_("decimal separator", "."), ",": p_("thousands separator", ",")}
        text = "".join(signs.get(character, character) for character in english)
    elif context:
        text = translation.pgettext(context, english)
    else:
        text = translation.gettext(english) if english else ""
    message = Message(_FIELD.sub(lambda match: values.get(match[1], match[0]), text) if values else text)
    message.english, message.fields, message.plural, message.context = english, fields, plural, context
    return message
