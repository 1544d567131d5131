"""Published experiments that this program ran again, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.model.analysis import Ratio, Rerun
from fswizard.model.result import Result
from fswizard.model.units import ratio_text, rounds_text

TITLE = "Run again with fswizard"
SIMULATED = "UML"
"""What User-Mode Linux calls its processor; published experiments run there on a clock that only disks move."""


def rerun_texts(rerun: Rerun) -> Iterator[str]:
    """Scale and machine, each ratio, each conclusion."""
    again = [f"To run it on your disk: {rerun.again}"] if rerun.again else []
    if rerun.result is None:
        yield " ".join((f"{rerun.title}: not run yet.", *again))
        return
    yield " ".join((f"{rerun.title}: {rerun.scale}", machine_text(rerun.result), *again))
    for one in rerun.ratios:
        ratios = (("published", one.there), ("here", one.here))
        words = ", ".join(f"{where} {cell(ratio)}" for where, ratio in ratios if ratio)
        agreement = f": {one.agreement}" if one.agreement else ""
        yield f"{one.work}, {one.candidate}: {words}{agreement}. {one.note}".rstrip()
    for claim in rerun.claims:
        figures = f" ({claim.figures})" if claim.figures else ""
        yield f"Published conclusion: {claim.text} {claim.verdict.capitalize()}{figures}. {claim.why}".rstrip()


def cell(ratio: Ratio | None) -> str:
    """`1.41 (1.20–1.66)`, or a dash."""
    if ratio is None:
        return "–"
    if ratio.verdict == "failed":
        return "failed"
    return f"{ratio_text(ratio.ratio)} ({ratio.interval()})" if ratio.interval() else ratio_text(ratio.ratio)


def machine_text(result: Result) -> str:
    """When and on what it was measured, in a sentence."""
    environment = result.environment
    rounds = len({sample.round for sample in result.samples if sample.round and sample.primary})
    processor = "in simulated time" if environment.processor == SIMULATED else environment.processor
    parts = (f"Linux {environment.kernel}", processor, rounds_text(rounds))
    text = f"Measured {environment.started[:10]}: {', '.join(filter(None, parts))}."
    if any(doubt.code == "busy-machine" for doubt in result.doubts):
        text += " Other programs kept the machine busy."
    return text
