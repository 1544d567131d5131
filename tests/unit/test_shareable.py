"""What leaves the machine: a secret is planted in every text of every source, and every output is searched for it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

import pytest

from fswizard import language, results
from fswizard.advice import conclude
from fswizard.demo.stories import stories
from fswizard.language import Message, _
from fswizard.model import shareable
from fswizard.model.drive import Drive, DriveUse, Evidence, Partition, SmrVerdict
from fswizard.model.plan import LeftOut, Member
from fswizard.model.result import Doubt, Failure, Result
from fswizard.report import FORMATS, render
from tests.fakes.command_line import fswizard
from tests.fakes.translation import catalog_of, known
from tests.unit.report_findings import make_findings

HERE = Path(__file__).parents[1] / "recorded"
TEXTS = [name for name, form in FORMATS.items() if not form.drawn]
FORMS = ("{secret}", "{text} {secret}", "/home/{secret}/{text}", "{text}_{secret}", "{text}-{secret}")
"""How a secret stands in a text: alone, beside it, as part of a path, and as part of a name."""


class Secrets:
    """Words that no program has: `Zorqa`, `Zorqb`, …, one for each text."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.planted: dict[str, str] = {}
        """Each with where it was planted."""

    def into(self, text: str, where: str) -> str:
        number, letters = len(self.planted), ""
        for _place in range(3):
            number, digit = divmod(number, 26)
            letters += "abcdefghijklmnopqrstuvwxyz"[digit]
        self.planted[f"Zorq{letters}x"] = where
        return self.form.format(secret=f"Zorq{letters}x", text=text)

    def assert_none_in(self, output: str) -> None:
        found = {word: self.planted[word] for word in set(re.findall("Zorq[a-z]{3}x", output))}
        assert found == {}, output[:2000]


def whole_result() -> Result:
    """A recorded run in which no field is empty that has text."""
    result = next(iter(stories().values())).result
    use = DriveUse("mounted", "a text", "a hint")
    partition = Partition("sdb1", 0, 1, "name", "ext4", "label", "uuid", "/mnt", uses=(use,))
    evidence = Evidence("model-table", "drive-managed", "strong", "a text")
    drive = Drive(
        "sdb", 8 << 40, "ST8000AS0002-1NA17Z", "Z84WXYZ1", "AR17", "/dev/disk/by-id/ata-ST8000", kind="hdd", bus="usb",
        bridge="a bridge (152d:0578)", partitions=(partition,), uses=(use,), pending="a text",
        smr=SmrVerdict("drive-managed", "strong", (evidence,), ("advice",)),
    )  # fmt: skip
    target = dataclasses.replace(
        result.plan.target, path="/mnt", number="8:1", identifier="Z84WXYZ1", others=(Member("/mnt", 1, "ext4", "8:2"),)
    )
    left_out = (LeftOut("zfs", "A reason.", "package"),)
    plan = dataclasses.replace(result.plan, drive=drive, target=target, losses=("a loss",), left_out=left_out)
    candidate = plan.candidates[-1].name
    environment = dataclasses.replace(result.environment, host="host")
    left = _("{left} `fswizard clean` removes what is left.", left="/mnt/x/fswizard-1 could not be removed.")
    return dataclasses.replace(
        result,
        plan=plan,
        environment=environment,
        failures=(*result.failures, Failure(1, candidate, "", "mkfs", "A text.", "details")),
        doubts=(*result.doubts, Doubt("busy-machine", "A text."), Doubt("not-removed", left)),
    )


def planted(value: Any, secrets: Secrets, names: dict[str, str], where: str = "") -> Any:
    """The same with a secret in every text but those of a closed list; `names` are changed alike wherever they are."""
    if isinstance(value, Message) and value.fields:
        fields = {name: planted(field, secrets, names, f"{where}, {name}") for name, field in value.fields.items()}
        return _(value, **fields)
    if isinstance(value, str):
        return names[value] if value in names else secrets.into(value, where)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        changed = {
            field.name: planted(getattr(value, field.name), secrets, names, f"{type(value).__name__}.{field.name}")
            for field in dataclasses.fields(value)
            if get_origin(hints[field.name]) is not Literal
        }
        return dataclasses.replace(value, **changed)
    if isinstance(value, dict):
        return {key: planted(part, secrets, names, f"{where}[{key}]") for key, part in value.items()}
    return tuple(planted(part, secrets, names, where) for part in value) if isinstance(value, tuple) else value


def names_of(result: Result, change: Callable[[str, str], str]) -> dict[str, str]:
    """Names that the parts of a result refer to each other by."""
    kept = {sample.metric for sample in result.samples} | {sample.unit for sample in result.samples}
    metrics = [workload.metric for workload in result.plan.recipe.workloads]
    kept |= {text for metric in metrics for text in (metric.name, metric.unit)} | {""}
    kept |= {option for c in result.plan.candidates for option in (c.filesystem.name, c.filesystem.mount_type)}
    kept |= {series.unit for series in result.throughput_series} | {command.text for command in result.plan.commands}
    given = [c.name for c in result.plan.candidates] + [w.name for w in result.plan.recipe.workloads]
    return {text: text for text in kept} | {name: change(name, "a name") for name in given}


@pytest.mark.parametrize("form", FORMS)
def test_no_secret_of_a_result_is_in_any_report(form: str) -> None:
    result, secrets = whole_result(), Secrets(form)
    names = names_of(result, secrets.into)
    findings = conclude(planted(result, secrets, names))
    assert len(secrets.planted) > 100
    for name in TEXTS:
        secrets.assert_none_in(render(findings, name, full=True))
    assert "Zorq" in render(findings, "text", identify=True, full=True)


def test_nearly_every_model_that_was_recorded_may_be_said() -> None:
    lines = (HERE / "silent_models.tsv").read_text("utf-8").splitlines()
    models = [line.split("\t")[1] for line in lines if not line.startswith("#")]
    assert sum(not shareable.model_name(model) for model in models) < len(models) / 30


@pytest.mark.parametrize("by_id", ["ata-ST8000AS0002-1NA17Z_Z84WXYZ1", "WDC_WD40EFRX-68N32N0_WD-WCC7K0123456", "/x/y"])
def test_a_name_with_a_serial_number_is_no_model(by_id: str) -> None:
    assert shareable.model_name(by_id) == ""
    assert shareable.model_name("ST8000AS0002 Z84WXYZ1", "Z84WXYZ1") == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("6.1.0-18-amd64", "6.1.0-18-amd64"),
        ("6.9.3-200.fc40.x86_64", "6.9.3-200.fc40.x86_64"),
        ("4.19.25-2-ARCH", "4.19.25-2-ARCH"),
        ("5.15.153.1-microsoft-standard-WSL2", "5.15.153.1-microsoft-standard-WSL2"),
        ("6.1.0-annes-own", "6.1.0"),
        ("annes", ""),
    ],
)
def test_a_kernel_is_named_as_far_as_distributions_do(given: str, said: str) -> None:
    assert shareable.kernel_release(given) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Measured on 2 disks in 1.5 s.", "Measured on 2 disks in 1.5 s."),
        ("Measured on /home/anne/disks.", "Measured on …."),
        ("It wrote 4 KiB to 0123456789012.", "It wrote 4 KiB to …."),
        ("xfs at Annebox (WCC7K0123456): 12 %", "xfs at … (…): 12 %"),
    ],
)
def test_words_that_the_program_does_not_have_are_left_out(given: str, said: str) -> None:
    assert shareable.sentence(given) == said


# A result to share


def test_a_shared_result_is_a_result_like_any_other(tmp_path: Path) -> None:
    findings = make_findings()
    (tmp_path / "shared.jsonl").write_text(render(findings, "result"))
    back = results.load(tmp_path / "shared.jsonl")
    assert conclude(back).analysis == conclude(findings.result).analysis
    assert back.samples == findings.result.samples
    assert back.failures == findings.result.failures
    assert fswizard("report", str(tmp_path / "shared.jsonl")).returncode == 0


def test_what_is_translated_is_said_and_nothing_else_in_that_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = {
        "{candidate} is {speed} here.": "ここでは{candidate}が{speed}。",
        "slower": "低速",
        "a filesystem": "Dateisystem",
    }
    known(catalog_of("ja", sentences), tmp_path, monkeypatch)
    language.choose("ja")
    names = {"ST8000AS0002": "ST8000AS0002"}
    assert shareable.sentence("ここではST8000AS0002が低速。", names) == "ここではST8000AS0002が低速。"
    assert shareable.sentence("Dateisystem von Müller, 山田") == "Dateisystem … …, …"
    with language.in_english():
        assert shareable.sentence("Dateisystem") == "…"
