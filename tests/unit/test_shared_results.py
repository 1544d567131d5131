"""A result to share: read back like any other, and silent about who measured where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fswizard import results
from fswizard.advice import conclude
from fswizard.model.result_file import recipe_digest
from fswizard.report import render
from fswizard.system.host import Host
from tests.builders import make_drive, make_recipe, make_workload
from tests.fakes.command_line import fswizard
from tests.unit.report_findings import make_findings


def test_a_shared_result_is_a_result_like_any_other(tmp_path: Path) -> None:
    findings = make_findings()
    (tmp_path / "shared.jsonl").write_text(render(findings, "result"))
    back = results.load(tmp_path / "shared.jsonl")
    assert conclude(back).analysis == conclude(findings.result).analysis
    assert back.samples == findings.result.samples
    assert back.failures == findings.result.failures
    header = results.header(tmp_path / "shared.jsonl")
    assert (header.version, header.digest) == ("0.1.0", recipe_digest(findings.result.plan.recipe))
    assert fswizard("report", str(tmp_path / "shared.jsonl")).returncode == 0


def test_a_shared_result_tells_nobody_who_measured_where() -> None:
    drive = make_drive(serial="SERIAL-1234", stable_name="/dev/disk/by-id/ata-SERIAL-1234")
    findings = make_findings()
    plan = replace(
        findings.result.plan,
        drive=drive,
        target=replace(findings.result.plan.target, path="/home/anne/scratch", identifier="SERIAL-1234"),
        recipe=replace(findings.result.plan.recipe, source="/home/anne/recipes/mine.toml"),
    )
    result = replace(findings.result, plan=plan)
    text = render(replace(findings, result=result), "result")
    for secret in ("SERIAL-1234", "anne", "annes-box", "/home", "scratch"):
        assert secret not in text
    assert '"serial"' not in text and '"host"' not in text
    assert "SERIAL-1234" in render(replace(findings, result=result), "result", identify=True)


def test_the_digest_tells_what_is_measured_not_what_it_is_called() -> None:
    recipe = make_recipe([make_workload("a"), make_workload("b")])
    assert recipe_digest(replace(recipe, name="other", title="Other")) == recipe_digest(recipe)
    assert recipe_digest(replace(recipe, workloads=recipe.workloads[::-1])) == recipe_digest(recipe)
    assert recipe_digest(replace(recipe, workloads=(make_workload("a", weight=2.0), recipe.workloads[1]))) != (
        recipe_digest(recipe)
    )


def test_a_machine_is_told_from_others_by_a_hash_that_names_nobody(tmp_path: Path) -> None:
    names = []
    for number in range(2):
        root = tmp_path / str(number)
        (root / "etc").mkdir(parents=True)
        (root / "etc/machine-id").write_text(f"{number}0123456789abcdef0123456789abcde\n")
        names.append(Host(root).identity())
        assert Host(root).identity() == names[-1]
        assert "0123456789" not in names[-1]
    assert names[0] != names[1]
    assert Host(tmp_path / "nowhere").identity() == ""
