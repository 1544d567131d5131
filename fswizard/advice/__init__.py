"""Recommendations, derived from what is proven, needed and safe. Pure functions."""

from fswizard.advice.conclude import conclude

__all__ = ["conclude"]
