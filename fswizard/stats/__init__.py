"""Statistics: ratios, intervals, stopping rules and doubts. Pure functions; see README."""

from fswizard.stats.analyse import Decision, analyse, decide
from fswizard.stats.doubts import doubts
from fswizard.stats.more_time import more_time
from fswizard.stats.summary import summarise

__all__ = ["Decision", "analyse", "decide", "doubts", "more_time", "summarise"]
