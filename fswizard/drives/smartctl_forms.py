"""The forms that smartctl's output is saved in: text, JSON, JSON as assignments (`--json=g`) and YAML (`--json=y`)."""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

INFORMATION = "=== START OF INFORMATION SECTION"
VERSION = re.compile(r"^smartctl (?:pre-)?(\d+)\.(\d+)", re.MULTILINE)
_JSON = re.compile(r"\s*(\[\s*)?\{")
_ASSIGNMENTS = re.compile(r"\s*json(?:\.\w+|\[\d+\])* = ")
_ASSIGNMENT = re.compile(r"(json(?:\.\w+|\[\d+\])*) = (.*?);? *$", re.MULTILINE)
_YAML = re.compile(r"\s*(?:---|json_format_version:)\s*$", re.MULTILINE)
_YAML_OF_SMARTCTL = re.compile(r"^(?:json_format_version|smartctl):$", re.MULTILINE)
_YAML_KEY = re.compile(r"([A-Za-z_]\w*):(?: +(.*))?$")
_YAML_CONSTANTS: dict[str, Any] = {"null": None, "true": True, "false": False, "[]": [], "{}": {}}
_NUMBER = re.compile(r"-?\d{1,40}")
_DEEPEST = 64
"""No document of smartctl's is nested nearly as deeply."""


def decoded(output: bytes) -> str:
    """Text with plain line ends. Windows' shells save UTF-16, and some editors a mark before UTF-8."""
    encoding = "utf-16" if output[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    text = output.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def holds_documents(text: str) -> bool:
    """Whether a text is for programs, in JSON or one of its two other spellings, and not for people."""
    if _JSON.match(text) or _ASSIGNMENTS.match(text):
        return True
    return _YAML.match(text) is not None and _YAML_OF_SMARTCTL.search(text) is not None


def documents(text: str) -> Iterator[Any]:
    """The documents in a text for programs, one after the other. ValueError where JSON is broken off."""
    if _JSON.match(text):
        yield from _json(text)
    elif _ASSIGNMENTS.match(text):
        yield from _assigned(text)
    else:
        for part in re.split(r"^---[ \t]*$", text, flags=re.MULTILINE):
            if part.strip():
                yield _Yaml(part).document()


def parts(text: str) -> Iterator[str]:
    """The outputs of several calls in a text for people; what was indented or quoted as a whole is laid bare."""
    if prefix := _prefix(text):
        text = re.sub(rf"^{re.escape(prefix)}", "", text, flags=re.MULTILINE)
    if text.startswith("smartctl ") + text.count("\nsmartctl ") < 2 and text.count(INFORMATION) < 2:
        yield text
        return
    starts = [match.start() for match in VERSION.finditer(text)]
    if len(starts) < 2:
        starts = [match.start() for match in re.finditer(re.escape(INFORMATION), text)]
    starts = [0, *starts[1:], len(text)]
    yield from (text[start:end] for start, end in itertools.pairwise(starts))


def _prefix(text: str) -> str:
    """What stands before the section's title on its line, where that is blanks and marks of a quotation."""
    at = text.find(INFORMATION)
    line = text[text.rfind("\n", 0, at) + 1 : at] if at >= 0 else ""
    return line if line and not line.strip(" \t>|#*") else ""


def _json(text: str) -> Iterator[Any]:
    """JSON documents one after the other; lists of them laid open."""
    decoder, text, at = json.JSONDecoder(), text.strip(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        yield from document if isinstance(document, list) else (document,)
        at += len(text[at:]) - len(text[at:].lstrip())


def _assigned(text: str) -> Iterator[dict[str, Any]]:
    """Documents of lines such as `json.device.name = "/dev/sda";`, each container named before what is in it."""
    places: dict[str, Any] = {"json": {}}
    for path, words in _ASSIGNMENT.findall(text):
        try:
            value = json.loads(words)
        except ValueError:
            continue  # the line that the file was cut off in
        if path == "json" and value == {}:
            if places["json"]:
                yield places["json"]
            places = {}
        else:
            cut = max(path.rfind("."), path.rfind("["))
            holder = places.get(path[:cut])
            if isinstance(holder, list):
                holder.append(value)
            elif isinstance(holder, dict):
                holder[path[cut + 1 :]] = value
        places[path] = value
    yield places["json"]


class _Yaml:
    """The YAML that smartctl prints: blocks by indentation, values on one line, no anchors, tags or flows."""

    def __init__(self, text: str) -> None:
        lines = (line.rstrip() for line in text.splitlines())
        self._lines = deque((len(line) - len(line.lstrip(" ")), line.lstrip(" ")) for line in lines if line)

    def document(self) -> Any:
        return self._block(0)

    def _block(self, deep: int) -> Any:
        """The mapping or list that begins in the next line, with all lines that are indented as far."""
        indent, first = self._lines[0]
        block: Any = [] if _is_item(first) else {}
        while self._lines and self._lines[0][0] == indent and _is_item(self._lines[0][1]) == isinstance(block, list):
            line = self._lines.popleft()[1]
            if isinstance(block, list):
                inner = line[1:].lstrip(" ")
                if _is_item(inner) or _YAML_KEY.match(inner):
                    self._lines.appendleft((indent + len(line) - len(inner), inner))
                    block.append(self._nested(indent, deep))
                else:
                    block.append(_scalar(inner))
            elif match := _YAML_KEY.match(line):
                block[match[1]] = _scalar(match[2]) if match[2] else self._nested(indent, deep, match[1])
            else:
                raise ValueError(f"smartctl prints no such line of YAML: {line[:60]!r}")
        return block

    def _nested(self, indent: int, deep: int, key: str = "") -> Any:
        """What belongs to the line before; a list may stand as far left as the key that it belongs to."""
        if deep > _DEEPEST:
            raise ValueError("nested too deeply")
        if not self._lines:
            return None
        further, line = self._lines[0]
        return self._block(deep + 1) if further > indent or (key and further == indent and _is_item(line)) else None


def _is_item(line: str) -> bool:
    return line == "-" or line.startswith("- ")


def _scalar(words: str) -> Any:
    if words in _YAML_CONSTANTS:
        return _YAML_CONSTANTS[words]
    if _NUMBER.fullmatch(words):
        return int(words)
    if len(words) > 1 and words[0] == words[-1] == "'":
        return words[1:-1].replace("''", "'")
    if len(words) > 1 and words[0] == words[-1] == '"':
        return json.loads(words)
    return words


def mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """What stands at `key` of a document, empty where that is no mapping."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> Iterator[Mapping[str, Any]]:
    """The mappings in what should be a list of them."""
    return (row for row in value if isinstance(row, Mapping)) if isinstance(value, list) else iter(())
