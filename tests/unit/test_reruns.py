"""Published experiments that are run again: files that fit, ratios side by side, verdicts on conclusions, the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import tomli

from fswizard import results
from fswizard.advice.reruns import Condition, in_their_terms, processor_bound, repeated
from fswizard.errors import UsageError
from fswizard.filesystems import parse_candidate
from fswizard.importers import reruns
from fswizard.importers.published import find, published
from fswizard.importers.reruns import directory, experiments, find_experiment, recipe_of, rerun
from fswizard.model.analysis import Ratio, Repeated, Verdict
from fswizard.model.codec import to_json
from fswizard.model.metrics import CPU, DURATION, OPERATION_RATE, RETURNED, Metric
from fswizard.model.plan import Plan
from fswizard.model.result import Failure, Result
from fswizard.report.reruns import rerun_texts
from fswizard.stats import analyse
from tests.builders import make_plan, make_result, make_samples, make_workload
from tests.fakes.command_line import fswizard
from tests.reproduce import page
from tests.reproduce.__main__ import keep
from tests.reproduce.by_hand import BY_HAND
from tests.reproduce.experiments import DOCUMENTS, PLACES

APPENDS = Metric("append_latency", "s", "lower")


@pytest.mark.parametrize("name", experiments())
def test_each_experiment_can_be_run_and_names_what_was_published(name: str) -> None:
    experiment = find_experiment(name)
    told = tomli.loads((directory() / f"{name}.toml").read_text())
    assert to_json(experiment) == told, "there is no key that nobody reads"
    theirs = find(experiment.published)
    named = {candidate.name for candidate in theirs.plan.candidates}
    workloads = {workload.name for workload in theirs.plan.recipe.workloads}
    if experiment.recipe:
        recipe = recipe_of(experiment)
        assert recipe.candidates == tuple(experiment.candidates.values())
        assert recipe.candidates == tuple(parse_candidate(ours).name for ours in recipe.candidates), (
            "as results name them"
        )
        own = {workload.name for workload in recipe.workloads}
    else:
        assert name in BY_HAND
        own = {"copying"}
    known = workloads | own
    assert not workloads or name == "smr-image" or named & set(experiment.candidates)
    for note in experiment.notes:
        assert note.candidate in ("", *experiment.candidates) and note.workload in ("", *known)
    for condition in (condition for conclusion in experiment.conclusions for condition in conclusion.holds):
        assert {condition.candidate, condition.than} <= {"", *experiment.candidates}
        assert condition.workload in known
        assert condition.rerun in ("", *experiments())
        assert condition.above or condition.below or condition.fails


def file_server(rates: Mapping[str, Sequence[float]], appends: Mapping[str, Sequence[float]]) -> Result:
    """A run of the file-server mix; latencies of appends are beside its main figure."""
    workload = make_workload("operations", OPERATION_RATE)
    latencies = (replace(s, primary=False) for s in make_samples(appends, "operations", APPENDS))
    samples = (*make_samples(rates, "operations", OPERATION_RATE), *latencies)
    return make_result(plan=make_plan(tuple(rates), [workload]), samples=samples)


RATES = {"ext4": (100.0, 101.0, 99.0), "xfs": (80.0, 81.0, 79.0), "btrfs": (130.0, 131.0, 129.0)}
LATENCIES = {"ext4": (2.0, 2.02, 1.98), "xfs": (1.0, 1.01, 0.99), "btrfs": (4.0, 4.04, 3.96)}


def test_figures_and_candidates_are_found_beside_what_was_published() -> None:
    theirs, ours = find("pmr-fileserver"), file_server(RATES, LATENCIES)
    told = in_their_terms(theirs, ours, {name: name for name in RATES})
    found = {(r.work, r.candidate): r for r in repeated(theirs, told, tuple(RATES), {})}
    appends = found["Latency of random appends", "xfs"]
    assert appends.here is not None and appends.there is not None
    assert appends.here.ratio == pytest.approx(2.0, rel=0.01)
    assert appends.there.ratio == pytest.approx(1.3834, rel=0.001)
    assert found["File server, all operations", "btrfs"].agreement == "agrees in direction, smaller here"
    assert set(found) == {
        (work, name)
        for work in ("File server, all operations", "Latency of random appends")
        for name in ("xfs", "btrfs")
    }
    theirs = find("trees-ssd")
    workload = make_workload("copy-large", DURATION)
    plan = make_plan(("ext4:noatime,discard", "xfs:noatime"), [workload])
    samples = make_samples({"ext4:noatime,discard": (2.0, 2.1), "xfs:noatime": (1.0, 1.05)}, "copy-large", DURATION)
    ours = make_result(plan=plan, samples=samples)
    told = in_their_terms(theirs, ours, {"ext4:noatime,discard": "ext4", "xfs:noatime": "xfs"})
    (one,) = repeated(theirs, told, ("ext4", "xfs"), {("xfs", "copy-large"): "A note."})
    assert (one.work, one.candidate, one.there, one.agreement, one.note) == ("Copy-large", "xfs", None, "", "A note.")


def test_where_their_clock_ended_as_programs_returned_ours_is_shown_until_the_disk_has_it_too() -> None:
    names = ("copy-portage", "delete-portage")
    samples = [
        replace(sample, primary=metric == DURATION)
        for metric, seconds in (
            (DURATION, {"ext4": (4.0,), "xfs": (2.0,)}),
            (RETURNED, {"ext4": (1.0,), "xfs": (2.0,)}),
        )
        for name in names
        for sample in make_samples(seconds, name, metric)
    ]
    plan = make_plan(("ext4", "xfs"), [make_workload(name, DURATION) for name in names])
    theirs = find("trees-ssd")
    told = in_their_terms(theirs, make_result(plan=plan, samples=samples), {"ext4": "ext4", "xfs": "xfs"})
    found = {one.work: one.here.ratio for one in repeated(theirs, told, ("xfs",), {}) if one.here}
    assert found == {
        "Copying a portage tree, 408 MB of tiny files": 0.5,
        "Deleting the portage tree": 0.5,
        "Copy-portage, until it is on the disk": 2.0,
        "Delete-portage, until it is on the disk": 2.0,
    }


def ratio(value: float, low: float | None = None, high: float | None = None, verdict: Verdict = "undecided") -> Ratio:
    return Ratio("xfs", "ext4", "w", value, low, high, 3, verdict)


FAILED = ratio(0.0, verdict="failed")


@pytest.mark.parametrize(
    ("there", "here", "words"),
    [
        (ratio(1.5), None, "not run yet"),
        (None, ratio(1.5, 1.4, 1.6, "faster"), ""),
        (FAILED, FAILED, "agrees: it fails"),
        (FAILED, ratio(1.0, 0.9, 1.1), "disagrees: it works here"),
        (ratio(1.5), FAILED, "failed here"),
        (ratio(1.5), ratio(1.5), "too few rounds to tell"),
        (ratio(1.5), ratio(1.5, 1.4, 1.6, "faster"), "agrees"),
        (ratio(1.0), ratio(1.0, 0.97, 1.03, "tie"), "agrees"),
        (ratio(1.5), ratio(1.2, 1.1, 1.3, "faster"), "agrees in direction, smaller here"),
        (ratio(0.8), ratio(0.5, 0.45, 0.55, "slower"), "agrees in direction, larger here"),
        (ratio(1.5), ratio(0.5, 0.45, 0.55, "slower"), "disagrees in direction"),
        (ratio(1.5), ratio(1.0, 0.97, 1.03, "tie"), "disagrees: no difference here"),
        (ratio(1.5), ratio(1.2, 0.8, 1.8), "undecided here, and compatible"),
        (ratio(2.5), ratio(1.2, 0.8, 1.8), "undecided here"),
    ],
)
def test_agreement_is_told_in_direction_and_in_size(there: Ratio | None, here: Ratio | None, words: str) -> None:
    assert Repeated("w", "xfs", there, here).agreement == words


def test_what_an_emulated_processor_held_back_is_not_decidable() -> None:
    figures = {"ext4": (2.0, 2.0), "xfs": (1.0, 1.0)}
    busy = (replace(s, primary=False) for s in make_samples({"ext4": (1.9, 1.9), "xfs": (0.1, 0.1)}, "copy", CPU))
    plan = make_plan(workloads=[make_workload("copy", DURATION)])
    native = make_result(plan=plan, samples=(*make_samples(figures, "copy", DURATION), *busy))
    emulated = replace(native, environment=replace(native.environment, processor="QEMU Virtual CPU version 2.5+"))
    assert not processor_bound(native, "ext4", "copy")
    assert processor_bound(emulated, "ext4", "copy")
    assert not processor_bound(emulated, "xfs", "copy")
    condition = Condition("xfs", "copy", above=1)
    assert condition.holds(condition.ratio(native), native) is True
    assert condition.holds(condition.ratio(emulated), emulated) is None
    assert condition.holds(condition.ratio(emulated), emulated, ("copy",)) is True, "as it held back the original"
    assert Condition("xfs", "copy", below=1).holds(condition.ratio(emulated), emulated) is None
    other = {"ext4": 0.1, "xfs": 0.9}
    samples = (replace(s, value=other[s.candidate]) if s.metric == CPU.name else s for s in emulated.samples)
    emulated = replace(emulated, samples=tuple(samples))
    assert condition.holds(condition.ratio(emulated), emulated) is True, "a faster one would lead by more"
    assert Condition("xfs", "copy", below=1).holds(condition.ratio(emulated), emulated) is False
    one = Repeated("w", "xfs", ratio(1.5), ratio(1.5, 1.4, 1.6, "faster"), processor_bound=True)
    assert one.agreement == "not decidable here: the emulated processor is the limit"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition("btrfs", "operations", above=1.2), True),
        (Condition("btrfs", "operations", above=1.3), None),
        (Condition("btrfs", "operations", above=1.5), False),
        (Condition("xfs", "operations", below=1), True),
        (Condition("xfs", "operations", than="btrfs", below=0.7), True),
        (Condition("ext4", "operations", than="btrfs", above=1), False),
        (Condition("xfs", "operations", fails=True), False),
        (Condition("zfs", "operations", above=1), None),
    ],
)
def test_a_condition_holds_where_the_whole_interval_is_beyond_its_limit(
    condition: Condition, holds: bool | None
) -> None:
    ours = file_server(RATES, LATENCIES)
    assert condition.holds(condition.ratio(ours), ours) is holds


def on_a_small_volume(text: str, ours: Result | None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The verdict on a conclusion about the shingled disk; nothing but this has been run."""
    monkeypatch.setattr(reruns, "shipped_result", lambda name: None)
    return next(claim.verdict for claim in rerun("smr-fileserver", ours).claims if text in claim.text)


def test_conclusions_are_confirmed_or_not_or_left_open_also_that_something_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = file_server(RATES, LATENCIES)
    assert on_a_small_volume("XFS appends", ours, monkeypatch) == "confirmed"
    slow = file_server(RATES, {**LATENCIES, "xfs": (3.0, 3.03, 2.97)})
    assert on_a_small_volume("XFS appends", slow, monkeypatch) == "not confirmed"
    level = file_server(RATES, {**LATENCIES, "xfs": LATENCIES["ext4"]})
    assert on_a_small_volume("XFS appends", level, monkeypatch) == "not confirmed", "a difference was claimed"
    noisy = file_server(RATES, {**LATENCIES, "xfs": (0.5, 5.0, 2.0)})
    assert on_a_small_volume("XFS appends", noisy, monkeypatch) == "not decidable here"
    assert on_a_small_volume("XFS appends", None, monkeypatch) == "not run yet"
    assert on_a_small_volume("not specific", ours, monkeypatch) == "not run yet", "the plain disk has not been run"
    ours = file_server(RATES, LATENCIES)
    failing = replace(ours, failures=(Failure(1, "xfs", "operations", "ENOSPC", "volume full"),))
    condition = Condition("xfs", "operations", fails=True)
    assert condition.holds(condition.ratio(failing), failing) is True
    faster = Condition("xfs", "operations", above=1)
    assert faster.holds(faster.ratio(failing), failing) is False


def test_the_command_sets_a_result_beside_what_was_published_and_one_that_is_kept_names_no_machine(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.jsonl"
    results.write_result(path, file_server(RATES, LATENCIES))
    said = " ".join(fswizard("published", "pmr-fileserver", str(path)).stdout.split())
    assert "Run again with fswizard" in said
    assert "Latency of random appends, xfs: published 1.38, here 2.00" in said
    assert "agrees in direction, larger here." in said
    assert "fswizard published pmr-fileserver --run" in said
    measured = make_result()
    keep(measured, tmp_path / "kept.jsonl")
    text = (tmp_path / "kept.jsonl").read_text()
    assert measured.environment.host not in text and "/var/tmp" not in text
    kept = results.load(tmp_path / "kept.jsonl")
    assert analyse(kept).by_workload == analyse(measured).by_workload
    assert kept.environment.kernel == measured.environment.kernel


def test_all_that_was_published_is_run_again_and_what_has_not_been_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reruns, "shipped_result", lambda name: None)
    (text,) = rerun_texts(rerun("smr-fileserver"))
    assert "not run yet" in text
    assert "fswizard published smr-fileserver --run" in text
    refused = fswizard("published", "fio-f2fs", "--rounds", "3")
    assert refused.returncode == 2
    assert "only with --run" in refused.stderr
    with pytest.raises(UsageError, match="'zfs' can't be run again") as caught:
        find_experiment("zfs")
    assert "fio-f2fs" in caught.value.hint
    planned = [name for names in DOCUMENTS.values() for name in names]
    assert sorted(planned) == sorted(experiments())
    assert {experiment.published for experiment in experiments().values()} == set(published())
    for name in planned:
        found = PLACES[name]
        assert found is None or "--target" in found.target


@pytest.mark.cc
def test_the_page_shows_what_is_shipped() -> None:
    # `python -m tests.reproduce --page` writes it again.
    assert page.PAGE.read_text("utf-8") == page.text()


def test_running_again_takes_the_published_candidates_and_the_options_of_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plans: list[Plan] = []

    def taken(plan: Plan, path: str | None) -> None:
        plans.append(plan)
        raise UsageError("enough")

    monkeypatch.setattr("fswizard.cli.published.new_session", taken)
    options = ("--target", f"image:2G@{tmp_path}", "--rounds", "3..5", "--candidates", "ext4; ext4:noatime")
    assert fswizard("published", "fio-f2fs", "--run", *options).returncode == 2
    (plan,) = plans
    assert plan.recipe.candidates == ("ext4", "f2fs")
    assert [candidate.name for candidate in plan.candidates] == ["ext4", "ext4:noatime"]
    assert (plan.minimum_rounds, plan.maximum_rounds) == (3, 5)
    assert fswizard("published", "smr-image", "--run").returncode == 2
    assert len(plans) == 1, "no recipe does that"
