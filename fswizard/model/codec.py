"""Conversion of the model's dataclasses to plain JSON values and back, driven by their type hints."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from fswizard import language
from fswizard.model.recipe import Job

T = TypeVar("T")
_LOCK = threading.RLock()
"""Guards conversions: msgspec 0.22 crashes if a second thread uses a class while the first still inspects it."""


def to_json(value: Any) -> Any:
    """Convert a model object to plain JSON values; fields equal to their default are omitted."""
    if dataclasses.is_dataclass(value):
        table = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if item != field.default and (item or field.default_factory is dataclasses.MISSING):
                table[field.name] = to_json(item)
        return table
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return language.to_json(value) if isinstance(value, language.Message) else value


def from_json(kind: type[T], data: Any) -> T:
    """Convert JSON values to a model object of type `kind`; raises ValueError if they do not match it.

    Unknown keys are ignored, so that an older program can read a newer file.
    """
    import msgspec

    def of_engine(_: type, job: Any) -> Job:
        """Decode a job; the workload's engine selects its class."""
        engine = next(str(each.get("engine")) for each in _objects(data) if each.get("job") is job)
        if engine not in Job.kinds:
            raise ValueError(f"a workload of one of {', '.join(Job.kinds)} was expected")
        return from_json(Job.kinds[engine], job)

    data = language.from_json(data)
    try:
        with _LOCK:
            return msgspec.convert(data, kind, dec_hook=of_engine)
    except (ValueError, msgspec.ValidationError) as error:  # which is a ValueError only from msgspec 0.21
        reason, _, path = str(error).partition(" - at `$")
        raise ValueError(f"{kind.__name__}{path.rstrip('`')}: {reason}") from None


def _objects(data: Any) -> Iterator[dict[str, Any]]:
    """All objects nested in JSON values."""
    if isinstance(data, dict):
        yield data
        data = list(data.values())
    for item in data if isinstance(data, list) else ():
        yield from _objects(item)
