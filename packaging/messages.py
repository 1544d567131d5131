"""`make messages`: collect every sentence that people read, merge them into the translations, and compile these.

Sentences come from the code where it calls one of `KEYWORDS`, from refusals of the helper, which is without
translations and speaks English, and from the TOML files. It prints how much of each language is missing, and fails
where a translation has other fields than its sentence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import tomli
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po
from translations import compile_all

ROOT = Path(__file__).parent.parent
LOCALE = ROOT / "fswizard/locale"
TEMPLATE = LOCALE / "fswizard.pot"
KEYWORDS = {"_": None, "N_": None, "n_": (1, 2), "p_": ((1, "c"), 2)}
TABLES = ("fswizard/**/*.toml", "recipes/**/*.toml")
KEYS = frozenset(
    {"title", "summary", "text", "risk", "why", "doubt", "failed", "hint", "needs", "value", "note", "by", "via"}
)
"""Of the tables: what people read."""

Found = tuple[str | tuple[str, ...], str | None, tuple[str, int]]
"""Sentence or its two forms, context, file and line."""


def extracted() -> Catalog:
    """Every sentence, by file and line."""
    catalog = Catalog(project="fswizard", charset="utf-8", fuzzy=False)
    for message, context, place in (*in_code(), *in_refusals(), *in_tables()):
        catalog.add(message, locations=[place], context=context)
    return catalog


def in_code() -> Iterator[Found]:
    for path in sorted((ROOT / "fswizard").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for line, message, _comments, context in extract_from_file("python", path, keywords=KEYWORDS):
            yield message, context, (name, line)


def in_refusals() -> Iterator[Found]:
    """Their sentences are f-strings; a field is called by the last name in it."""
    for path in sorted((ROOT / "fswizard/privileged").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Refusal"), args=[_, sentence, *_]):
                    if text := _text(sentence):
                        yield text, None, (path.relative_to(ROOT).as_posix(), node.lineno)


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else f"{{{_name(part)}}}" for part in parts)
    return ""


def _name(node: ast.AST) -> str:
    names = (getattr(each, "id", "") or getattr(each, "attr", "") for each in ast.walk(node))
    return next(filter(None, names), "value").lstrip("_")


def in_tables() -> Iterator[Found]:
    for pattern in TABLES:
        for path in sorted(ROOT.glob(pattern)):
            lines = path.read_text("utf-8")
            for text in _values(tomli.loads(lines)):
                line = lines.count("\n", 0, max(0, lines.find(text))) + 1
                yield text, None, (path.relative_to(ROOT).as_posix(), line)


def _values(table: object) -> Iterator[str]:
    if isinstance(table, list):
        for each in table:
            yield from _values(each)
    elif isinstance(table, dict):
        for key, value in table.items():
            if key in KEYS and isinstance(value, str) and any(map(str.isalpha, value)):
                yield value
            else:
                yield from _values(value)


def faults(catalog: Catalog) -> list[str]:
    """Translations whose fields are not those of their sentence."""
    return [f"{catalog.locale}: {message.id!r}: {wrong}" for message in catalog if (wrong := _fault(message))]


def _fault(message: Message) -> str:
    forms = message.string if isinstance(message.string, tuple) else (message.string,)
    sentences = message.id if isinstance(message.id, tuple) else (message.id,)
    if not message.id or not any(forms):
        return ""
    known = {field for sentence in sentences for field in _fields(sentence)}
    for form in forms:
        if not form:
            return "a plural form is missing"
        if (own := set(_fields(form))) - known or (len(sentences) == 1 and own != known):
            return f"{form!r} has other fields"
    return ""


def _fields(text: str) -> Iterator[str]:
    from string import Formatter

    for _, name, _, _ in Formatter().parse(text):
        if name is not None:
            yield name


def main() -> int:
    template = extracted()
    with TEMPLATE.open("wb") as file:
        write_po(file, template, width=120, omit_header=True, sort_output=False, include_lineno=False)
    wrong: list[str] = []
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/fswizard.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.parts[-3])
        catalog.update(template, no_fuzzy_matching=True)
        with path.open("wb") as file:
            write_po(file, catalog, width=120, include_lineno=False, ignore_obsolete=True)
        missing = sum(not all(m.string if isinstance(m.string, tuple) else (m.string,)) for m in catalog if m.id)
        print(f"{catalog.locale}: {missing} of {len(catalog)} sentences are not translated yet.")
        wrong += faults(catalog)
    print(*wrong, sep="\n", file=sys.stderr)
    compile_all(ROOT)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
