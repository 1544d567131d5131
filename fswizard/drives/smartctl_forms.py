"""Forms of smartctl's output: text and JSON."""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

INFORMATION = "=== START OF INFORMATION SECTION"
VERSION = re.compile(r"^smartctl (?:pre-)?(\d+)\.(\d+)", re.MULTILINE)
JSON = re.compile(r"\s*(\[\s*)?\{")


def decoded(output: bytes) -> str:
    """Text with plain line ends, from UTF-8 with or without byte order mark, or from UTF-16, as Windows' shells
    save."""
    encoding = "utf-16" if output[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    text = output.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def documents(text: str) -> Iterator[Any]:
    """JSON documents one after another, or in lists. Raises ValueError if one is incomplete."""
    decoder, text, at = json.JSONDecoder(), text.strip(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        yield from document if isinstance(document, list) else (document,)
        at += len(text[at:]) - len(text[at:].lstrip())


def parts(text: str) -> Iterator[str]:
    """The outputs of several calls in plain text, without common indentation or quotation marks."""
    at = text.find(INFORMATION)
    before = text[text.rfind("\n", 0, at) + 1 : at] if at >= 0 else ""
    if before and not before.strip(" \t>|#*"):
        text = re.sub(rf"^{re.escape(before)}", "", text, flags=re.MULTILINE)
    if text.startswith("smartctl ") + text.count("\nsmartctl ") < 2 and text.count(INFORMATION) < 2:
        yield text
        return
    starts = [match.start() for match in VERSION.finditer(text)]
    if len(starts) < 2:
        starts = [match.start() for match in re.finditer(re.escape(INFORMATION), text)]
    starts = [0, *starts[1:], len(text)]
    yield from (text[start:end] for start, end in itertools.pairwise(starts))


def mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping at `key` of a document, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> Iterator[Mapping[str, Any]]:
    """The mappings in a value that should be a list of them."""
    return (row for row in value if isinstance(row, Mapping)) if isinstance(value, list) else iter(())
