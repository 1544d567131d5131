"""Ratios, intervals, when to stop, doubts: from figures to what they prove. Pure, and the model's alone."""

from fswizard.stats.decide import Decision, decide
from fswizard.stats.doubts import doubts
from fswizard.stats.judge import judge
from fswizard.stats.outlook import likely_trials
from fswizard.stats.summary import summarise

__all__ = ["Decision", "decide", "doubts", "judge", "likely_trials", "summarise"]
