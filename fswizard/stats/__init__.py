"""Ratios, intervals, when to stop, forecasts, doubts: from figures to what they prove. Pure; see README."""

from fswizard.stats.analyse import Decision, analyse, decide
from fswizard.stats.doubts import doubts
from fswizard.stats.forecast import forecast, provable
from fswizard.stats.hinges import hinges
from fswizard.stats.summary import summarise
from fswizard.stats.table import tables_of

__all__ = [
    "Decision", "analyse", "decide", "doubts", "forecast", "hinges", "provable", "summarise", "tables_of",
]  # fmt: skip
