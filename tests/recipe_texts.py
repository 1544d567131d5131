"""Recipes as people write them, small enough for a test."""

from __future__ import annotations

from collections.abc import Sequence

KINDS = {"randwrite": ("random-write", "Random writes", "iops", "4K"), "write": ("write", "Writes", "throughput", "1M")}


def writing(
    image: str, size: str, seconds: float, *, rw: str = "randwrite", minutes: float = 60, candidates: Sequence[str] = ()
) -> str:
    """A recipe called `short` that writes with fio: at random in blocks of 4 KiB, or in order in blocks of 1 MiB."""
    name, title, metric, block = KINDS[rw]
    names = ", ".join(f'"{candidate}"' for candidate in candidates)
    return f"""
schema = 1
name = "short"
title = "Short"
why = "For tests."
minutes = {minutes}
image = "{image}"
candidates = [{names}]

[[workload]]
name = "{name}"
title = "{title}"
engine = "fio"
metric = "{metric}"
rw = "{rw}"
block = "{block}"
size = "{size}"
seconds = {seconds}
"""
