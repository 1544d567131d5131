"""What every format does first: text becomes harmless, and who measured where stays at home."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from fswizard.language import Message, _
from fswizard.model import shareable
from fswizard.model.analysis import Findings
from fswizard.model.plan import Member, Target
from fswizard.model.result import Failure, Result
from fswizard.model.text import safe, safe_lines

T = TypeVar("T")

_WITHOUT_TEXT = frozenset({float, int, bool, type(None)})


def harmless(findings: Findings, *, identify: bool) -> Findings:
    """The same findings with every text in one harmless line.

    Unless `identify` asks for more, they are built from what may be said: see `model.shareable`.
    """
    if identify:
        return _each_text(findings, safe, safe_lines)
    names = _names(findings.result)
    findings = dataclasses.replace(findings, result=_checked(findings.result, names))
    return _each_text(
        findings,
        lambda text: _shared(text, names),
        lambda text: shareable.sentence(safe_lines(text), names),
    )


def _shared(text: str, names: Mapping[str, str]) -> str:
    """A sentence of this program with only those fields that may be said; of any other text its words."""
    if not isinstance(text, Message) or any(shareable.sentence(own) != own for own in (text.english, text.plural)):
        return shareable.sentence(safe(text), names)
    fields = {name: v if isinstance(v, int) else _shared(str(v), names) for name, v in text.fields.items()}
    return _(text, **fields)


def _names(result: Result) -> dict[str, str]:
    """Texts that people, disks or machines give, to what is said in place of each: the same where it was checked."""
    plan, environment = result.plan, result.environment
    names: dict[str, str] = {}
    for number, candidate in enumerate(plan.candidates, 1):
        stand_in = f"directory {number} ({candidate.filesystem.name})" if candidate.directory else f"candidate-{number}"
        names[safe(candidate.name)] = _if_sayable(safe(candidate.name), stand_in)
    for number, workload in enumerate(plan.recipe.workloads, 1):
        names[safe(workload.name)] = _if_sayable(safe(workload.name), f"workload-{number}")
    checked = [
        shareable.kernel_release(environment.kernel),
        shareable.distribution_name(environment.distribution),
        shareable.processor_name(environment.processor),
    ]
    if drive := plan.drive:
        secrets = (drive.serial, drive.stable_name)
        checked += [
            shareable.kernel_name(drive.name),
            shareable.usb_identifier(drive.bridge),
            shareable.model_name(drive.model, *secrets),
            shareable.firmware_name(drive.firmware, *secrets),
        ]
    return names | {text: text for text in checked if text}


def _if_sayable(name: str, stand_in: str) -> str:
    return name if shareable.sentence(name) == name else shareable.sentence(stand_in)


def _checked(result: Result, names: Mapping[str, str]) -> Result:
    """The same with the fields that name things of the machine as they may be said, or empty."""
    plan, environment = result.plan, result.environment

    def checked(text: str) -> str:
        return text if text in names else ""

    drive = plan.drive and dataclasses.replace(
        plan.drive,
        model="loop device" if plan.drive.bus == "loop" else checked(plan.drive.model),
        firmware=checked(plan.drive.firmware),
        serial="",
        stable_name="",
        bridge=shareable.usb_identifier(plan.drive.bridge),
        pending="",
        partitions=(),
        uses=(),
    )
    others = tuple(Member("", member.size_bytes, member.host_filesystem) for member in plan.target.others)
    plan = dataclasses.replace(
        plan,
        recipe=dataclasses.replace(plan.recipe, source=plan.recipe.source.rpartition("/")[2]),
        candidates=tuple(
            dataclasses.replace(candidate, directory=f"DIRECTORY-{number}" if candidate.directory else "")
            for number, candidate in enumerate(plan.candidates, 1)
        ),
        target=Target(plan.target.kind, "", plan.target.size_bytes, plan.target.host_filesystem, others=others),
        drive=drive,
        losses=(),
    )
    environment = dataclasses.replace(
        environment,
        host="",
        kernel=shareable.kernel_release(environment.kernel),
        distribution=checked(environment.distribution),
        processor=shareable.processor_name(environment.processor),
    )
    return dataclasses.replace(result, plan=plan, environment=environment)


def _each_text(value: T, change: Callable[[str], str], change_details: Callable[[str], str] | None = None) -> T:
    """The same value with `change` applied to every text in it; the details of failures may have their own."""
    known: dict[tuple[type, str], str] = {}

    def changed(item: Any) -> Any:
        kind = type(item)
        if issubclass(kind, str):
            if (kind, item) not in known:
                known[kind, item] = change(item)
            return known[kind, item]
        if kind in _WITHOUT_TEXT:
            return item
        if dataclasses.is_dataclass(kind):
            fields = {name: changed(getattr(item, name)) for name in _names_of_fields(kind)}
            if kind is Failure and change_details is not None:
                fields["details"] = change_details(item.details)
            return kind(**fields)
        if isinstance(item, Mapping):
            return {changed(key): changed(part) for key, part in item.items()}
        return tuple(map(changed, item)) if isinstance(item, (tuple, list)) else item

    result: T = changed(value)
    return result


@cache
def _names_of_fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
