"""The table of models: which ones are shingled, which are not, and who says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Annotated, Literal

from fswizard.errors import UsageError
from fswizard.model.drive import Confidence, Drive, SmrKind
from fswizard.model.keys import Expected, Keys

SourceStrength = Literal["vendor", "database", "paper", "press", "legal", "date", "community"]
"""Who says so: the maker, smartmontools' database, a published measurement, a review, a court paper,
the year (older than the first shingled disk), or people's lists."""

ASSUMED_CACHE_BYTES = 20_000_000_000
"""Persistent cache of a drive-managed disk where its size is not known: that of the Archive family, as measured."""
_MAKERS = r"ATA|WDC|WD|HITACHI|TOSHIBA|SEAGATE|SAMSUNG|MAXTOR|FUJITSU|IBM|QUANTUM|APPLE HDD|WESTERN DIGITAL"
_PREFIX = re.compile(rf"(?:(?:{_MAKERS})[ _]+)+", re.ASCII)
_HARD_DISK = re.compile(
    r"(?:HGST )?(?:ST\d{2,}|STM\d{3}|WD\d|WU[HS]\d{6}|[HW]SH\d{6}|H[UTDCM][A-Z]\d{5}|H[US]H\d{6}|HUS\d{3}T|"
    r"HDW[A-Z]\w{3}|M[QKGN]\d{2}|DT\d{2}|MD\d{2}|AL\d{2}S|H[DMNS]\d{3}|HN-M|SP\d{4}|M[HPA][A-Z]\d{4}|\d[A-Z]\d{3}[A-Z]\d|HM\d{3})",
    re.ASCII,
)
"""How the makers of hard disks name them; what a USB bridge or a RAID controller answers looks different."""

_PATTERN = Expected("a regular expression", lambda text: bool(re.compile(text, re.ASCII)))
_SOURCE = Expected("an address that can be looked up", lambda text: bool(re.match(r"https?://\S+\.\S+", text)))


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One statement about a model or a family of models."""

    pattern: Annotated[str, _PATTERN]
    """Regular expression that must match a model name whole: bare, without its variant, or as it is, in capitals."""
    kind: Annotated[SmrKind, Expected(key="class")]
    source: Annotated[str, _SOURCE]
    """Where it can be checked."""
    strength: SourceStrength
    note: str = ""
    hybrid: bool = False
    """It has flash beside its platters, so that TRIM says nothing about the platters."""
    cache_bytes: int = 0
    """Size of the persistent cache, as far as known; 0 where it is not."""

    @property
    def confidence(self) -> Confidence:
        return "weak" if self.strength == "community" else "strong"


def parse_table(text: str) -> tuple[ModelRow, ...]:
    """Rows of a table.

    UsageError names the row that has a wrong key, a bad pattern or no source, or that contradicts another one:
    the same pattern, or a pattern that covers a model which stands in a row of its own.
    """
    rows = tuple(row.read(ModelRow) for row in Keys.parse(text, "table of models").each("model", "pattern"))
    table = ModelTable(rows)
    for row in rows:
        same = [other for other in rows if other.pattern == row.pattern]
        for other in (*same, *(table.find(row.pattern) if row.pattern.isalnum() else ())):
            if other.kind != row.kind:
                raise UsageError(f"'{row.pattern}' is {row.kind} in one row and {other.kind} in another.")
    return rows


def bare(model: str) -> str:
    """A model name in capitals, without its maker: `WDC WD40EFAX-68JH4N1` becomes `WD40EFAX-68JH4N1`.

    `HGST` stays: from 2012 it tells the newer disks from those that Hitachi had named alike.
    """
    return _PREFIX.sub("", " ".join(model.upper().split()), count=1) if model else ""


def stem(model: str) -> str:
    """A bare model name up to the variant that follows a dash or blank: `WD40EFAX`."""
    return re.split(r"[- ]", model, maxsplit=1)[0]


def names_a_hard_disk(model: str) -> bool:
    """Whether a model name looks like one that a maker of hard disks gives."""
    name = bare(model)
    return _HARD_DISK.match(name) is not None and "SSD" not in name


class ModelTable:
    """Rows, ready to be asked for thousands of names."""

    def __init__(self, rows: Iterable[ModelRow]) -> None:
        self._exact: dict[str, list[ModelRow]] = {}
        self._patterns: list[tuple[re.Pattern[str], ModelRow]] = []
        for row in rows:
            if row.pattern.isalnum():
                self._exact.setdefault(row.pattern, []).append(row)
            else:
                self._patterns.append((re.compile(row.pattern, re.ASCII), row))
        self.find = lru_cache(maxsize=8192)(self._find)

    def _find(self, model: str) -> tuple[ModelRow, ...]:
        """Rows about a model: those that name it, then those whose pattern covers it."""
        name = bare(model)
        short = stem(name)
        written = tuple(dict.fromkeys((short, name, " ".join(model.upper().split()))))
        matching = (row for pattern, row in self._patterns if any(map(pattern.fullmatch, written)))
        return (*self._exact.get(short, ()), *matching)


@cache
def shipped_table() -> ModelTable:
    """The table that comes with the program."""
    return ModelTable(parse_table(resources.files(__package__).joinpath("smr_models.toml").read_text("utf-8")))


def persistent_cache_bytes(drive: Drive) -> int:
    """Size of the cache that takes a shingled disk's random writes, known or assumed; 0 for other disks."""
    if drive.smr.kind not in ("drive-managed", "host-aware"):
        return 0
    known = (row.cache_bytes for row in shipped_table().find(drive.model) if row.cache_bytes)
    return next(known, ASSUMED_CACHE_BYTES)
