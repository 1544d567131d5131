"""The two ways of comparing candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from fswizard.model.analysis import Ratio
from fswizard.model.result import Result
from fswizard.stats import ratios, unpaired
from fswizard.stats.table import Table


class Rule(Protocol):
    """How candidates are compared: within rounds (`ratios`), or figures that were not taken in rounds (`unpaired`)."""

    def ranking(self, table: Table, /) -> list[str]: ...

    def compare(
        self,
        table: Table,
        workload: str,
        started_with: int,
        pairs: Iterable[tuple[str, str]],
        parts: Collection[Table] = (),
        /,
    ) -> tuple[Ratio, ...]: ...


def rule_of(result: Result) -> Rule:
    """Within rounds, except for figures from elsewhere, of whose order nothing is known."""
    return unpaired if result.environment.source else ratios
