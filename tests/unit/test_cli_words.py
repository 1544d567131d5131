"""What the command line says of what was typed: sentences, suggestions, and examples that exist."""

from __future__ import annotations

import re

import pytest

from fswizard.cli.run import DEFAULT_RECIPE
from fswizard.recipes import find
from tests.fakes.command_line import fswizard


def test_the_list_of_recipes_names_what_weights_takes() -> None:
    shown = fswizard("recipes").stdout
    for workload in find(DEFAULT_RECIPE).workloads:
        assert f"    {workload.name} " in shown


def test_the_examples_for_weights_exist_in_the_default_recipe() -> None:
    names = {workload.name for workload in find(DEFAULT_RECIPE).workloads}
    for command in ("run", "report"):
        told = fswizard(command, "--help").stdout
        examples = set(re.findall(r"([a-z-]+)=\d", told))
        assert examples, told
        assert examples <= names


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("plan", "--seed", "x"), "The seed 'x' isn't a whole number."),
        (("plan", "quik"), "did you mean 'quick'?"),
        (("smr",), "Name something to check."),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    refused = fswizard(*arguments)
    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert "class" not in refused.stderr


def test_a_time_too_short_for_a_verdict_is_told_with_one_that_suffices() -> None:
    told = fswizard("plan", "quick", "--time", "1s").stdout
    assert "1.0 s is too short for a verdict, which takes 2 rounds: give --time" in told.replace("\n", " ")
