"""Ratios, intervals, when to stop, doubts: from figures to what they prove. Pure, and the model's alone; see README."""

from fswizard.stats.doubts import doubts
from fswizard.stats.judge import Decision, decide, judge, likely_trials
from fswizard.stats.summary import summarise

__all__ = ["Decision", "decide", "doubts", "judge", "likely_trials", "summarise"]
