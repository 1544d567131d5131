"""Published experiments that this program ran again, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from fswizard.language import N_, _, p_, shown
from fswizard.model.analysis import Claim, Ratio, Rerun
from fswizard.model.result import Result
from fswizard.model.units import ratio_text, rounds_text

TITLE = N_("Run again with fswizard")
SIMULATED = "UML"
"""What User-Mode Linux calls its processor; published experiments run there on a clock that only disks move."""


def rerun_texts(rerun: Rerun) -> Iterator[str]:
    """Scale and machine, each ratio, each conclusion."""
    again = [_("To run it on your disk: {command}", command=rerun.again)] if rerun.again else []
    if rerun.result is None:
        yield " ".join((_("{title}: not run yet.", title=_(rerun.title)), *again))
        return
    yield " ".join((f"{_(rerun.title)}: {shown(rerun.scale)}", machine_text(rerun.result), *again))
    for one in rerun.ratios:
        published = p_("a ratio", "published {ratio}", ratio=cell(one.there)) if one.there else ""
        here = p_("a ratio", "here {ratio}", ratio=cell(one.here)) if one.here else ""
        words = ", ".join(filter(None, (published, here)))
        agreement = f": {one.agreement}" if one.agreement else ""
        yield f"{shown(one.work)}, {one.candidate}: {words}{agreement}. {_(one.note)}".rstrip()
    for claim in rerun.claims:
        yield _claim_text(claim)


def _claim_text(claim: Claim) -> str:
    verdicts = {
        "confirmed": _("Confirmed"),
        "not confirmed": _("Not confirmed"),
        "not decidable here": _("Not decidable here"),
        "not run yet": _("Not run yet"),
    }
    figures = f" ({shown(claim.figures)})" if claim.figures else ""
    text = _("Published conclusion: {conclusion}", conclusion=_(claim.text))
    return f"{text} {verdicts[claim.verdict]}{figures}. {_(claim.why)}".rstrip()


def cell(ratio: Ratio | None) -> str:
    """`1.41 (1.20–1.66)`, or a dash."""
    if ratio is None:
        return "–"
    if ratio.verdict == "failed":
        return _("failed")
    return f"{ratio_text(ratio.ratio)} ({ratio.interval()})" if ratio.interval() else ratio_text(ratio.ratio)


def machine_text(result: Result) -> str:
    """When and on what it was measured, in a sentence."""
    environment = result.environment
    rounds = len({sample.round for sample in result.samples if sample.round and sample.primary})
    processor = _("in simulated time") if environment.processor == SIMULATED else environment.processor
    parts = (f"Linux {environment.kernel}", processor, rounds_text(rounds))
    text = _("Measured {day}: {facts}.", day=environment.started[:10], facts=", ".join(filter(None, parts)))
    if any(doubt.code == "busy-machine" for doubt in result.doubts):
        text += " " + _("Other programs kept the machine busy.")
    return text
