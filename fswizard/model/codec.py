"""Dataclasses of the model to plain JSON values and back, driven by their type hints."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from fswizard.model.recipe import Job, Workload

T = TypeVar("T")
_Reader = Callable[[Any], Any]

LARGEST = float(2**63)
"""No number of the model reaches it; a larger one, as a damaged file may have, is refused."""


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
        value: T = _reader(hint)(data)
        return value
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
        read = _read_workload if hint is Workload else functools.partial(_read_dataclass, hint)
        return _flat_reader(hint) or read
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


def _read_workload(data: Any) -> Any:
    """Its job is one of its engine."""
    kind: Any = Job.kinds.get(str(data.get("engine"))) if isinstance(data, dict) else None
    if kind is None:
        raise ValueError(f": a workload of one of {', '.join(Job.kinds)} was expected")
    return _read_dataclass(Workload, data, job=_reader(kind))


def _read_dataclass(kind: type, data: Any, **readers: _Reader) -> Any:
    if not isinstance(data, dict):
        raise ValueError(": an object was expected")
    values = {}
    for name, read, required in _fields(kind):
        if name in data:
            try:
                values[name] = readers.get(name, read)(data[name])
            except ValueError as error:
                raise ValueError(f".{name}{error}") from None
        elif required:
            raise ValueError(f": '{name}' is missing")
    return kind(**values)


def _flat_reader(kind: type) -> _Reader | None:
    """For a dataclass of texts and numbers alone, of which files have thousands: all fields are looked at together.

    What does not fit at once is read field by field, which says what is wrong with it.
    """
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    literals = [number for number, field in enumerate(fields) if typing.get_origin(hints[field.name]) is typing.Literal]
    kinds = tuple(str if number in literals else hints[field.name] for number, field in enumerate(fields))
    if not kinds or not set(kinds) <= {str, int, float, bool}:
        return None
    names = [field.name for field in fields]
    absent = [_default(field) for field in fields]
    allowed = [(number, frozenset(typing.get_args(hints[names[number]]))) for number in literals]
    numbers = [number for number, its_kind in enumerate(kinds) if its_kind in (int, float)]

    def fits(values: Sequence[Any]) -> bool:
        if tuple(map(type, values)) != kinds:
            return False
        for number, texts in allowed:
            if values[number] not in texts:
                return False
        for number in numbers:  # noqa: SIM110 - a generator for each of two figures takes longer than all the rest
            if not -LARGEST < values[number] < LARGEST:
                return False
        return True

    def read(data: Any) -> Any:
        values = list(map(data.get, names, absent)) if type(data) is dict else ()
        return kind(*values) if fits(values) else _read_dataclass(kind, data)

    return read


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
    if kinds == (float, ...) and set(map(type, data)) == {float} and min(data) > -LARGEST and max(data) < LARGEST:
        return tuple(data)
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
    return float(_read_plain(int, data)) if type(data) is int else _read_plain(float, data)


def _read_plain(kind: Any, data: Any) -> Any:
    if type(data) is not kind:
        raise ValueError(f": {getattr(kind, '__name__', kind)} was expected, not {data!r:.60}")
    if kind in (int, float) and not -LARGEST < data < LARGEST:
        raise ValueError(f": the number {data!r:.20} is too large")
    return data
