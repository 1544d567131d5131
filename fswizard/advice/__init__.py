"""From what is proven, what a user needs and what is safe to a recommendation. Pure."""

from fswizard.advice.conclude import conclude

__all__ = ["conclude"]
