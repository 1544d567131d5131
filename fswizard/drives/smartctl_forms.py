"""Two of the forms of smartctl's output: JSON as assignments (`--json=g`) and YAML (`--json=y`)."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

ASSIGNMENTS = re.compile(r"^(json(?:\.\w+|\[\d+\])*) = (.*?);? *$", re.MULTILINE)
"""One line of `--json=g`."""
YAML = re.compile(
    r"^(?:---[ \t]*\n)?(?=json_format_version:|smartctl:)"
    r"(?:(?!---)(?:[ -].*|[a-z_]\w*:.*)?(?:\n(?!json_format_version:)|$))+",
    re.MULTILINE,
)
"""A document of `--json=y`, up to the first line that is none of its."""
_YAML_KEY = re.compile(r"([A-Za-z_]\w*):(?: +(.*))?$")
_YAML_CONSTANTS: dict[str, Any] = {"null": None, "true": True, "false": False, "[]": [], "{}": {}}
_NUMBER = re.compile(r"-?\d{1,40}")


def assigned(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Documents with their beginnings and ends, from lines such as `json.device.name = "/dev/sda";`, each container
    before its contents."""
    begin, end, places = 0, 0, dict[str, Any]()
    for match in ASSIGNMENTS.finditer(text):
        path, words = match.groups()
        try:
            value = json.loads(words)
        except ValueError:
            continue  # the file ends within this line
        if path == "json" and value == {}:
            if places:
                yield begin, end, places["json"]
            begin, places = match.start(), {}
        else:
            if not places:
                begin, places = match.start(), {"json": {}}
            cut = max(path.rfind("."), path.rfind("["))
            holder = places.get(path[:cut])
            if isinstance(holder, list):
                holder.append(value)
            elif isinstance(holder, dict):
                holder[path[cut + 1 :]] = value
        places[path] = value
        end = match.end()
    if places:
        yield begin, end, places["json"]


def read_yaml(text: str) -> Any:
    """A document of `--json=y`. Raises ValueError for a line that smartctl does not print."""
    return _Yaml(text.removeprefix("---").lstrip(" \t").removeprefix("\n")).document()


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
