"""From what is proven to what to do."""

from __future__ import annotations

from collections.abc import Sequence

from fswizard.advice.choice import choose
from fswizard.advice.commands import commands, how_to_use
from fswizard.advice.headline import after_fault, headline
from fswizard.advice.reasons import reasons
from fswizard.model.judgement import Advice, Judgement
from fswizard.model.result import Doubt, Result


def advise(result: Result, judgement: Judgement, doubts: Sequence[Doubt] = ()) -> Advice:
    """The recommendation. Where nothing is proven it says so; what may lose data is never recommended.

    `choice` holds one name for a proven winner, several for a tie (with `tie`) or an open race (without).
    """
    if result.outcome == "failed":
        return Advice((), tie=False, headline=after_fault(judgement))
    choice = choose(result, judgement)
    first = choice.names[0] if choice.names else ""
    return Advice(
        choice=choice.names,
        tie=choice.kind == "tie",
        headline=headline(result, judgement, choice, doubts),
        reasons=(*reasons(result, judgement, choice), *(how_to_use(result.plan, first) if first else ())),
        commands=commands(result.plan, first) if first else (),
    )
