"""Lists as people write them on the command line."""

from __future__ import annotations

from fswizard.errors import UsageError


def parse_weights(text: str) -> dict[str, float]:
    """`NAME=2, NAME=0` as a mapping; UsageError otherwise."""
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"'{part}' is no weight.", 'Write --weights "NAME=2, NAME=0".') from error
    return weights
