"""Work that only earlier versions did; their results can be read, and not be resumed."""

from __future__ import annotations

from fswizard.engines.shared.engine import Engine, Timed
from fswizard.model.frozen import frozen


@frozen
class FormerJob(Engine):
    """A job of a result, whatever it was. Recipes can't have it, as they choose one of its metrics."""

    engine = "former"
    metrics = ()

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        return Timed(())
