"""Dataclasses of the model to plain JSON values and back, driven by their type hints."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Plain JSON values for a model object; fields that stand at their default are left out."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != _default(field)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return value


def from_json(kind: type[T], data: Any) -> T:
    """The model object of type `kind` that `data` describes; ValueError where it describes none.

    Unknown keys are passed over, so that an older program reads a newer file.
    """
    return typing.cast(T, _read(kind, data, kind.__name__))


def tagged(value: Any) -> dict[str, Any]:
    """Like `to_json`, with the type's name beside the fields: for streams of different objects."""
    return {"type": type(value).__name__, **to_json(value)}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else dataclasses.MISSING


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(hint: Any, data: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _read_dataclass(hint, data, where)
    if origin in (typing.Union, types.UnionType):
        return _read_union(arguments, data, where)
    if origin is typing.Literal:
        if data not in arguments:
            raise ValueError(f"{where}: {data!r} is none of {', '.join(map(repr, arguments))}")
        return data
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise ValueError(f"{where}: a list was expected")
        inner = arguments if arguments[-1] is not Ellipsis else (arguments[0],) * len(data)
        if len(inner) != len(data):
            raise ValueError(f"{where}: {len(inner)} items were expected")
        return tuple(_read(item, part, f"{where}[{i}]") for i, (item, part) in enumerate(zip(inner, data)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(data, dict):
            raise ValueError(f"{where}: an object was expected")
        return {str(key): _read(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    return _read_plain(hint, data, where)


def _read_plain(hint: Any, data: Any, where: str) -> Any:
    if hint is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        return float(data)
    if hint is type(None) and data is None:
        return None
    if type(data) is not hint:
        raise ValueError(f"{where}: {getattr(hint, '__name__', hint)} was expected, not {data!r:.60}")
    return data


def _read_union(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    problems = []
    for kind in sorted(kinds, key=lambda kind: kind is type(None)):
        try:
            return _read(kind, data, where)
        except ValueError as error:
            problems.append(str(error))
    raise ValueError(problems[0])


def _read_dataclass(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{where}: an object was expected")
    hints, values = _hints(kind), {}
    for field in dataclasses.fields(kind):
        if field.name in data:
            values[field.name] = _read(hints[field.name], data[field.name], f"{where}.{field.name}")
        elif _default(field) is dataclasses.MISSING:
            raise ValueError(f"{where}: '{field.name}' is missing")
    return kind(**values)
