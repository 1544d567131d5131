"""Work that only earlier versions did; their results can be read, and not be resumed."""

from __future__ import annotations

from dataclasses import dataclass

from fswizard.engines.shared.engine import Engine, Timed


@dataclass(frozen=True, slots=True)
class FormerJob(Engine):
    """A job of a result, whatever it was. Recipes can't have it, as they choose one of its metrics."""

    engine = "former"
    metrics = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return Timed(())
