"""Forms of smartctl's output: text, JSON, JSON as assignments (`--json=g`) and YAML (`--json=y`)."""

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


def decoded(output: bytes) -> str:
    """Text with plain line ends, from UTF-8 with or without byte order mark, or from UTF-16, as Windows' shells
    save."""
    encoding = "utf-16" if output[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    text = output.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def holds_documents(text: str) -> bool:
    """Whether a text is JSON or one of its two other forms."""
    if _JSON.match(text) or _ASSIGNMENTS.match(text):
        return True
    return _YAML.match(text) is not None and _YAML_OF_SMARTCTL.search(text) is not None


def documents(text: str) -> Iterator[Any]:
    """The documents in a text in JSON or one of its other forms. Raises ValueError if JSON is incomplete."""
    if _JSON.match(text):
        yield from _json(text)
    elif _ASSIGNMENTS.match(text):
        yield from _assigned(text)
    else:
        for part in re.split(r"^---[ \t]*$", text, flags=re.MULTILINE):
            if part.strip():
                yield _Yaml(part).document()


def parts(text: str) -> Iterator[str]:
    """The outputs of several calls in plain text, without common indentation or quotation marks."""
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
    """Text before the section's title on its line, if it consists of blanks and quotation marks."""
    at = text.find(INFORMATION)
    line = text[text.rfind("\n", 0, at) + 1 : at] if at >= 0 else ""
    return line if line and not line.strip(" \t>|#*") else ""


def _json(text: str) -> Iterator[Any]:
    """JSON documents one after another, or in lists."""
    decoder, text, at = json.JSONDecoder(), text.strip(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        yield from document if isinstance(document, list) else (document,)
        at += len(text[at:]) - len(text[at:].lstrip())


def _assigned(text: str) -> Iterator[dict[str, Any]]:
    """Documents from lines such as `json.device.name = "/dev/sda";`, each container before its contents."""
    places: dict[str, Any] = {"json": {}}
    for path, words in _ASSIGNMENT.findall(text):
        try:
            value = json.loads(words)
        except ValueError:
            continue  # the file ends within this line
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
        """The mapping or list that begins in the next line, from all lines with the same indentation."""
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
        """The value of the line before; a list may have the same indentation as its key."""
        if deep > 64:  # smartctl's documents are much less deep
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
    """The mapping at `key` of a document, or an empty one."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> Iterator[Mapping[str, Any]]:
    """The mappings in a value that should be a list of them."""
    return (row for row in value if isinstance(row, Mapping)) if isinstance(value, list) else iter(())
