"""What every format does first: text becomes harmless, and who measured where stays at home."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from fswizard.model.drive import Drive
from fswizard.model.judgement import Findings
from fswizard.model.places import formerly, short_names
from fswizard.model.result import Doubt, Failure, Sample
from fswizard.model.text import safe, safe_lines

T = TypeVar("T")

_WITHOUT_TEXT = frozenset({float, int, bool, type(None)})
_TEXTS_OF_SAMPLE = operator.attrgetter("candidate", "workload", "metric", "unit")

_PRIVATE_PATH = re.compile(
    r"(?<![\w./-])/(?:home|root|tmp|var|mnt|media|run|srv|opt|data|dev/disk|dev/mapper)(?:/[^\s'\"`,:;()<>]*)*"
)


def harmless(findings: Findings, *, identify: bool) -> Findings:
    """The same findings with every text in one harmless line.

    Serial numbers, host and user names and paths are left out unless `identify` asks for them.
    """
    if identify:
        return _each_text(findings, safe, safe_lines)
    findings, known = _anonymous(findings)
    return _each_text(findings, lambda text: safe(known(text)), lambda text: safe_lines(known(text)))


def with_short_names(value: T, names: Iterable[str]) -> T:
    """The same value, whose candidates have these `names`, with short ones for places that earlier versions named."""
    known = formerly(names)
    pattern = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))
    return _each_text(value, lambda text: pattern.sub(lambda match: known[match[0]], text)) if known else value


def _anonymous(findings: Findings) -> tuple[Findings, Callable[[str], str]]:
    """The same without what is private as a whole, and what takes the rest out of every text that is left."""
    result = findings.result
    plan, environment = result.plan, result.environment
    secrets = _secrets(findings)
    pattern = re.compile("|".join(map(re.escape, sorted(secrets, key=len, reverse=True))) or r"(?!)")
    host = re.compile(rf"(?<!\w){re.escape(environment.host)}(?!\w)" if len(environment.host) > 2 else r"(?!)")

    def known(text: str) -> str:
        return pattern.sub(lambda match: secrets[match[0]], text)

    def free(text: str) -> str:
        """For sentences and programs' output, where more than the known may stand."""
        return host.sub("HOST", known(_PRIVATE_PATH.sub("PATH", text)))

    plan = dataclasses.replace(
        plan,
        recipe=dataclasses.replace(plan.recipe, source=plan.recipe.source.rpartition("/")[2]),
        drive=plan.drive and _anonymous_drive(plan.drive),
        target=dataclasses.replace(
            plan.target,
            path="",
            identifier="",
            others=tuple(dataclasses.replace(member, path="", identifier="") for member in plan.target.others),
        ),
        losses=(),
        candidates=tuple(
            dataclasses.replace(candidate, directory=f"DIRECTORY-{number}" if candidate.directory else "")
            for number, candidate in enumerate(plan.candidates, 1)
        ),
    )
    result = dataclasses.replace(
        result,
        plan=plan,
        environment=dataclasses.replace(environment, host=""),
        failures=_each_text(result.failures, free),
        doubts=_each_text(result.doubts, free),
    )
    doubts: tuple[Doubt, ...] = _each_text(findings.doubts, free)
    return dataclasses.replace(findings, result=result, doubts=doubts), known


def _anonymous_drive(drive: Drive) -> Drive:
    model = "loop device" if drive.bus == "loop" else drive.model  # the kernel names a loop device by its file
    return dataclasses.replace(drive, model=model, serial="", stable_name="", partitions=(), uses=())


def _secrets(findings: Findings) -> dict[str, str]:
    """Texts that tell who or where, and what stands in their place."""
    plan = findings.result.plan
    located = [candidate for candidate in plan.candidates if candidate.directory]
    names = short_names([candidate.directory for candidate in located])
    secrets = {candidate.directory: name for candidate, name in zip(located, names)}
    secrets |= formerly(f"{candidate.filesystem.name}@{candidate.directory}" for candidate in located)
    drive = plan.drive
    if drive is not None:
        secrets |= dict.fromkeys((drive.serial, drive.stable_name), "SERIAL")
        secrets |= {partition.mount_point: "PATH" for partition in drive.partitions if partition.mount_point != "/"}
    secrets |= {member.path: "PATH" for member in plan.target.members if member.path != "/"}
    secrets |= {member.identifier: "SERIAL" for member in plan.target.members}
    return {text: stand_in for text, stand_in in secrets.items() if len(text) > 2}


def _each_text(value: T, change: Callable[[str], str], change_details: Callable[[str], str] | None = None) -> T:
    """The same value with `change` applied to every text in it; the details of failures may have their own."""
    known: dict[str, str] = {}
    as_they_are: set[tuple[str, ...]] = set()
    """The texts of samples in which nothing changed: a result has thousands."""

    def changed(item: Any) -> Any:
        kind = type(item)
        if kind is str:
            if item not in known:
                known[item] = change(item)
            return known[item]
        if kind in _WITHOUT_TEXT:
            return item
        if kind is Failure and change_details is not None:
            details = change_details(item.details)
            return dataclasses.replace(_of_fields(dataclasses.replace(item, details=""), changed), details=details)
        if dataclasses.is_dataclass(kind):
            texts = _TEXTS_OF_SAMPLE(item) if kind is Sample else ()
            after = item if texts in as_they_are else _of_fields(item, changed)
            if after is item and texts:
                as_they_are.add(texts)
            return after
        if isinstance(item, Mapping):
            return {changed(key): changed(part) for key, part in item.items()}
        return tuple(map(changed, item)) if isinstance(item, (tuple, list)) else item

    result: T = changed(value)
    return result


def _of_fields(value: Any, changed: Callable[[Any], Any]) -> Any:
    """The same object where nothing changes."""
    kind: type = type(value)
    names = _field_names(kind)
    before = [getattr(value, name) for name in names]
    after = [changed(part) for part in before]
    return value if after == before else kind(**dict(zip(names, after)))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
