"""Dataclasses of the model to plain JSON values and back, driven by their type hints."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
_Reader = Callable[[Any], Any]


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
    hint: Any = kind
    try:
        return typing.cast(T, _reader(hint)(data))
    except ValueError as error:
        raise ValueError(f"{kind.__name__}{error}") from None


def tagged(value: Any) -> dict[str, Any]:
    """Like `to_json`, with the type's name beside the fields: for streams of different objects."""
    return {"type": type(value).__name__, **to_json(value)}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else dataclasses.MISSING


@cache
def _reader(hint: Any) -> _Reader:
    """What turns data into a value of that type. The message of its ValueError begins with the place in the object."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return functools.partial(_read_dataclass, hint)
    if origin in (typing.Union, types.UnionType):
        return functools.partial(_read_union, sorted(arguments, key=lambda kind: kind is type(None)))
    if origin is typing.Literal:
        return functools.partial(_read_literal, arguments)
    if origin is tuple:
        return functools.partial(_read_tuple, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return functools.partial(_read_mapping, _reader(arguments[1]))
    return _read_float if hint is float else functools.partial(_read_plain, hint)


@cache
def _fields(kind: type) -> tuple[tuple[str, _Reader, bool], ...]:
    """Name, reader, and whether it must be there."""
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, _reader(hints[field.name]), _default(field) is dataclasses.MISSING)
        for field in dataclasses.fields(kind)
    )


def _read_dataclass(kind: type, data: Any) -> Any:
    if not isinstance(data, dict):
        raise ValueError(": an object was expected")
    values = {}
    for name, read, required in _fields(kind):
        if name in data:
            try:
                values[name] = read(data[name])
            except ValueError as error:
                raise ValueError(f".{name}{error}") from None
        elif required:
            raise ValueError(f": '{name}' is missing")
    return kind(**values)


def _read_union(kinds: Sequence[Any], data: Any) -> Any:
    problems = []
    for kind in kinds:
        try:
            return _reader(kind)(data)
        except ValueError as error:
            problems.append(error)
    raise problems[0]


def _read_literal(known: tuple[Any, ...], data: Any) -> Any:
    if data not in known:
        raise ValueError(f": {data!r} is none of {', '.join(map(repr, known))}")
    return data


def _read_tuple(kinds: tuple[Any, ...], data: Any) -> Any:
    if not isinstance(data, (list, tuple)):
        raise ValueError(": a list was expected")
    inner = kinds if kinds[-1] is not Ellipsis else (kinds[0],) * len(data)
    if len(inner) != len(data):
        raise ValueError(f": {len(inner)} items were expected")
    items = []
    for number, (kind, item) in enumerate(zip(inner, data)):
        try:
            items.append(_reader(kind)(item))
        except ValueError as error:
            raise ValueError(f"[{number}]{error}") from None
    return tuple(items)


def _read_mapping(read: _Reader, data: Any) -> Any:
    if not isinstance(data, dict):
        raise ValueError(": an object was expected")
    values = {}
    for key, item in data.items():
        try:
            values[str(key)] = read(item)
        except ValueError as error:
            raise ValueError(f".{key}{error}") from None
    return values


def _read_float(data: Any) -> Any:
    return float(data) if type(data) is int else _read_plain(float, data)


def _read_plain(kind: Any, data: Any) -> Any:
    if type(data) is not kind:
        raise ValueError(f": {getattr(kind, '__name__', kind)} was expected, not {data!r:.60}")
    return data
