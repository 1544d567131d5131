"""Published experiments that this program runs again, and their results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import tomli

from fswizard import results
from fswizard.advice.reruns import Condition, in_their_terms, repeated
from fswizard.errors import UsageError
from fswizard.importers.published import find
from fswizard.importers.table import candidate_of
from fswizard.language import N_, _, p_, shown
from fswizard.model.analysis import Claim, ClaimVerdict, Findings, Ratio, Rerun
from fswizard.model.codec import from_json
from fswizard.model.recipe import Recipe
from fswizard.model.result import Result
from fswizard.model.text import safe
from fswizard.model.units import ratio_text
from fswizard.recipes import find as find_recipe
from fswizard.recipes import shipped_directory


@dataclass(frozen=True, slots=True)
class Note:
    """Why our ratio differs from the published one, and which one to believe."""

    text: str
    candidate: str = ""
    """Their name of a candidate, or empty for all."""
    workload: str = ""
    """Their name of a workload, or empty for all."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion of the author; all conditions must hold."""

    text: str
    holds: tuple[Condition, ...]
    why: str = ""
    """What decides it, and whom to believe where the two disagree."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """How a published experiment is run again."""

    published: str
    """Name of the published figures."""
    title: str
    scale: str
    """Sentences on what was scaled down, and what could not be."""
    candidates: Mapping[str, str]
    """Their names of candidates to ours."""
    recipe: str = ""
    """A shipped recipe, or a file in `directory()`; empty if no recipe has the commands."""
    by_processor: tuple[str, ...] = ()
    """Workloads whose original was limited by its processor, as ours may then be."""
    notes: tuple[Note, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()


def directory() -> Path:
    """The directory with a file for each experiment, its recipe and its result."""
    return shipped_directory() / "published" / "reruns"


@cache
def experiments() -> Mapping[str, Experiment]:
    """All experiments that can be run again, by name."""
    paths = sorted(directory().glob("*.toml"))
    return {path.stem: from_json(Experiment, tomli.loads(path.read_text("utf-8"))) for path in paths}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name, often the same as of the published figures; raises UsageError if there is none."""
    known = experiments()
    if name not in known:
        hint = _("These can be run again: {names}.", names=", ".join(known))
        raise UsageError(_("'{name}' can't be run again.", name=safe(name)), hint)
    return known[name]


def recipe_of(experiment: Experiment) -> Recipe:
    """The recipe of an experiment, with the published candidates; raises UsageError if it has none."""
    if not experiment.recipe:
        raise UsageError(
            _("{title}: no recipe does this.", title=_(experiment.title)),
            _("`make reproduce` does it in a virtual machine."),
        )
    own = experiment.recipe.endswith(".toml")
    recipe = find_recipe(str(directory() / experiment.recipe) if own else experiment.recipe)
    ours = tuple(experiment.candidates.values())
    return replace(recipe, candidates=ours, array_candidates=ours)


@cache
def shipped_result(name: str) -> Result | None:
    """The shipped result of an experiment, or None if there is none."""
    path = directory() / f"{name}.jsonl"
    return results.load(path) if path.exists() else None


def rerun(name: str, ours: Result | None = None) -> Rerun:
    """One experiment with its shipped result, or with `ours`."""
    experiment = find_experiment(name)
    theirs, ours = find(experiment.published), ours or shipped_result(name)
    in_terms = _in_their_terms(name, ours)
    notes = {(note.candidate, note.workload): note.text for note in experiment.notes}
    compared = tuple(repeated(theirs, in_terms, tuple(experiment.candidates), notes, experiment.by_processor))
    claims = tuple(_claim(it, in_terms, experiment.by_processor) for it in experiment.conclusions)
    again = f"fswizard published {name} --run" if experiment.recipe else ""
    return Rerun(experiment.title, experiment.scale, ours, compared, claims, again)


def with_reruns(findings: Findings, ours: Result | None = None) -> Findings:
    """The findings on published figures, with the shipped results of running them again, or with `ours`."""
    published = findings.result.plan.recipe.name
    names = [name for name, experiment in experiments().items() if experiment.published == published]
    return replace(findings, reruns=tuple(rerun(name, ours) for name in ([published] if ours else names)))


def _in_their_terms(name: str, ours: Result | None) -> Result | None:
    experiment = find_experiment(name)
    names = {candidate_of(here).name: there for there, here in experiment.candidates.items()}
    return ours and in_their_terms(find(experiment.published), ours, names)


def _claim(conclusion: Conclusion, ours: Result | None, by_processor: Collection[str]) -> Claim:
    held, figures = [], []
    for condition in conclusion.holds:
        other = condition.rerun
        result = _in_their_terms(other, shipped_result(other)) if other else ours
        if result is None:
            return Claim(conclusion.text, "not run yet", "")
        ratio = condition.ratio(result)
        held.append(condition.holds(ratio, result, by_processor))
        if ratio:
            words = ratio_words(ratio)
            figures.append(_("{ratio} on {experiment}", ratio=words, experiment=other) if other else words)
    verdict: ClaimVerdict = "not decidable here"
    if False in held:
        verdict = "not confirmed"
    elif all(held):
        verdict = "confirmed"
    return Claim(conclusion.text, verdict, "; ".join(figures), conclusion.why)


def ratio_words(ratio: Ratio) -> str:
    """`xfs 1.41 (1.20–1.66) against ext4`."""
    if ratio.verdict == "failed":
        why = shown(ratio.why).rstrip(".。")
        return p_("who failed, and why or when", "{candidate} {failed}", candidate=ratio.candidate, failed=why)
    message = N_("{candidate} {ratio} against {baseline}")
    if ratio.interval():
        message = N_("{candidate} {ratio} ({interval}) against {baseline}")
    return _(
        message,
        candidate=ratio.candidate, ratio=ratio_text(ratio.ratio), interval=ratio.interval(), baseline=ratio.baseline,
    )  # fmt: skip
