"""Published experiments that are run again: their files fit one another."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli

from fswizard import recipes, results
from fswizard.filesystems import parse_candidate
from fswizard.model.codec import to_json
from fswizard.stats import analyse
from tests.builders import make_result
from tests.long.reproduce.__main__ import keep
from tests.long.reproduce.published import RERUNS, document, experiment

EXPERIMENTS = sorted(path.stem for path in RERUNS.glob("*.toml"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_can_be_run_and_names_what_was_published(name: str) -> None:
    this = experiment(name)
    assert to_json(this) == tomli.loads((RERUNS / f"{name}.toml").read_text()), "there is no key that nobody reads"
    own = {"copying"}
    if this.recipe:
        own = {workload.name for workload in recipes.load(RERUNS / this.recipe).workloads}
        assert all(parse_candidate(ours).name == ours for ours in this.candidates.values()), "as results name them"
    known = own | {work.name for work in document(this.published).workload}
    for conclusion in this.conclusions:
        for condition in conclusion.holds:
            assert {condition.candidate, condition.than} <= {"", *this.candidates} and condition.workload in known


def test_a_result_that_is_kept_names_no_machine(tmp_path: Path) -> None:
    measured = make_result()
    keep(measured, tmp_path / "kept.jsonl")
    text = (tmp_path / "kept.jsonl").read_text()
    assert measured.environment.host not in text and "/var/tmp" not in text
    assert analyse(results.load(tmp_path / "kept.jsonl")).by_workload == analyse(measured).by_workload
