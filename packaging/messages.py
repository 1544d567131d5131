"""`make messages`: collect every sentence that people read, merge them into the translations, and compile these.

`make messages ARGS=fr` begins a new one. Sentences come from the code where it calls `_` or its like, from what is
said of disks, which stands there in English without it, and from the TOML files. It prints how much of each
language is missing, and fails where a translation has other fields than its sentence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter

import tomli
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from share import subcommands
from translations import compile_all

from fswizard.cli import Fswizard
from fswizard.cli.command import paragraphs
from fswizard.demo import stories
from fswizard.engines import programs
from fswizard.model.recipe import Job

ROOT = Path(__file__).parent.parent
LOCALE = ROOT / "fswizard/locale"
TEMPLATE = LOCALE / "fswizard.pot"
PLACE = "LC_MESSAGES/fswizard.po"
WIDTH = 120
TABLES = ("fswizard/**/*.toml", "recipes/*.toml")
KEYS = frozenset({
    "title", "summary", "text", "risk", "why", "doubt", "failed", "hint", "needs", "value", "note", "by", "via", "disk",
})  # fmt: skip
"""Of the tables: what people read."""
DISK_WORDS = {"CASES", "MEMBERS", "VOLUMES", "SERIAL"}
"""Constants with what is said of disks."""

Found = tuple[str | tuple[str, ...], str | None, tuple[str, int]]
"""Sentence or its two forms, context, file and line."""


def extracted() -> Catalog:
    """Every sentence, by file and line."""
    catalog = Catalog(project="fswizard", charset="utf-8", fuzzy=False)
    for text, context, place in (*in_code(), *in_findings(), *in_help(), *in_metrics(), *in_recordings(), *in_tables()):
        catalog.add(text, locations=[place], context=context)
    return catalog


def in_code() -> Iterator[Found]:
    for path in sorted((ROOT / "fswizard").rglob("*.py")):
        name, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]  # those within f-strings, too
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            words = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
            match getattr(call.func, "id", getattr(call.func, "attr", "")), words:
                case "_" | "N_", [str(text), *_]:
                    yield text, None, (name, call.lineno)
                case "n_", [str(singular), str(plural), *_]:
                    yield (singular, plural), None, (name, call.lineno)
                case "p_" | "pgettext", [str(context), str(text), *_]:
                    yield text, context, (name, call.lineno)


def in_findings() -> Iterator[Found]:
    """What may stand against erasing a disk, and the words that confirm one."""
    for place in ("fswizard/drives/disk_facts.py", "fswizard/drives/may_erase.py"):
        for node in ast.parse((ROOT / place).read_text("utf-8")).body:
            match node:
                case ast.Assign(targets=[target], value=value) if DISK_WORDS & {*_names(target)}:
                    words = (each for each in ast.walk(value) if isinstance(each, ast.Constant))
                    for text in (str(each.value) for each in words if " " in str(each.value)):
                        yield text, None, (place, node.lineno)


def _names(node: ast.AST) -> Iterator[str]:
    return (getattr(each, "id", "") or getattr(each, "attr", "") for each in ast.walk(node))


def in_help() -> Iterator[Found]:
    """Of subcommands, whose docstrings are their help."""
    for command in (Fswizard, *subcommands().values()):
        place = f"{command.__module__.replace('.', '/')}.py"
        for text in paragraphs(command):
            yield text, None, (place, 1)


def in_metrics() -> Iterator[Found]:
    """What workloads measure."""
    programs()  # with which every engine is known
    for metric in sorted({metric.name for kind in Job.kinds.values() for metric in kind.metrics}):
        yield metric.replace("_", " "), None, ("fswizard/model/metrics.py", 1)


def in_recordings() -> Iterator[Found]:
    """What recipes and workloads of the demo's recordings were called."""
    for story in stories().values():
        recipe = story.events[0].plan.recipe
        for text in (recipe.title, recipe.why, *(workload.title for workload in recipe.workloads)):
            yield text, None, ("fswizard/demo/stories.toml", 1)


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
    forms, sentences = _forms(message), message.id if isinstance(message.id, tuple) else (message.id,)
    if not message.id or not any(forms):
        return ""
    known = {field for sentence in sentences for field in _fields(sentence)}
    for form in forms:
        if not form:
            return "a plural form is missing"
        if (own := set(_fields(form))) - known or (len(sentences) == 1 and own != known):
            return f"{form!r} has other fields"
    return ""


def _forms(message: Message) -> tuple[str, ...]:
    return tuple(message.string) if isinstance(message.string, list | tuple) else (message.string,)


def _fields(text: str) -> list[str]:
    return [name for __, name, *__ in Formatter().parse(text) if name is not None]


def main(new: Sequence[str]) -> int:
    """Merge into every translation, and into those of the languages whose codes are `new`."""
    template, wrong = extracted(), list[str]()
    LOCALE.mkdir(exist_ok=True)
    with TEMPLATE.open("wb") as file:
        write_po(file, template, width=WIDTH, omit_header=True, include_lineno=False)
    for code in sorted({*new, *(path.parts[-3] for path in LOCALE.glob(f"*/{PLACE}"))}):
        path = LOCALE / code / PLACE
        catalog = read(path) if path.exists() else Catalog(locale=code, project="fswizard", fuzzy=False)
        catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalog.header_comment = (
            "# Of fswizard, under its licence (MIT); fswizard/locale/README.md says how to translate."
        )
        catalog.version = catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalog, width=WIDTH, include_lineno=False, ignore_obsolete=True)
        print(f"{code}: {missing(catalog)} of {len(catalog)} sentences are not translated yet.")
        wrong += faults(catalog)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
    compile_all(ROOT)
    return bool(wrong)


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def missing(catalog: Catalog) -> int:
    """How many sentences are shown in English."""
    return sum(bool(message.id) and not all(_forms(message)) for message in catalog)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
