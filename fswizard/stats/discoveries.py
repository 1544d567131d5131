"""How many of a table's marks may be wrong: its verdicts together, not each for itself.

In a table of many workloads some ratios clear 1 by chance. To keep the wrong marks of a table at 5 % or less on average
(the false discovery rate), intervals are as wide as the number of workloads with a difference asks for: Benjamini and
Hochberg (1995) over the workloads, with the intervals of Benjamini and Yekutieli (2005). Where nothing differs, one
table in twenty has a wrong mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

from fswizard.model.analysis import Ratio
from fswizard.stats.ratios import with_interval
from fswizard.stats.student import quantile

ERROR = 0.05
"""Expected share of wrong marks in a table."""
AT_THE_END = 0.02
"""Chance that a workload's interval misses when its run ends; over all looks of a run it is 5 %."""


def controlled(ratios: Sequence[Ratio], family: Callable[[Ratio], Hashable], each: float) -> tuple[Ratio, ...]:
    """The same ratios, with intervals that hold for the whole table and the verdicts that follow from them.

    Ratios of one `family` have intervals that hold together already, as those of one workload do: all of them do
    with a chance of 1 - `each`.
    """
    families = len({family(ratio) for ratio in ratios if ratio.low is not None})
    for different in range(families, 0, -1):
        table = tuple(_widened(ratio, each, ERROR * different / families) for ratio in ratios)
        if len({family(ratio) for ratio in table if ratio.verdict in ("faster", "slower")}) >= different:
            return table
    return tuple(_widened(ratio, each, ERROR / families) for ratio in ratios) if families else tuple(ratios)


def _widened(ratio: Ratio, each: float, error: float) -> Ratio:
    """The ratio with an interval that misses in `error` of cases instead of `each`, if that is less.

    Degrees of freedom are those of the pair's own rounds alone, which errs on the wide side.
    """
    if not ratio.low or not ratio.high or error >= each:
        return ratio
    freedom = ratio.rounds - 1
    wider = quantile(error, freedom) / quantile(each, freedom)
    middle, half = math.log(ratio.low * ratio.high) / 2, math.log(ratio.high / ratio.low) / 2 * wider
    return with_interval(ratio, middle, half)
