"""What leaves the machine: a secret is planted in every text of every source, and every output is searched for it."""

from __future__ import annotations

import errno
import itertools
import os
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

import pytest

from fswizard import language, results
from fswizard.language import Message, _, listing, n_, number
from fswizard.model.drive import Drive, DriveUse, Partition
from fswizard.model.filesystem import Candidate
from fswizard.model.plan import LeftOut, Member
from fswizard.model.recipe import PlannedCommand
from fswizard.model.result import Doubt, Failure, Result
from fswizard.report import FORMATS
from fswizard.sharing import export, shareable
from tests.builders import make_drive, make_filesystem, make_plan, make_result
from tests.fakes.translation import catalog_of, known
from tests.recording import recorded_result
from tests.unit.report_findings import make_findings

HERE = Path(__file__).parents[1] / "recorded"
TEXTS = [name for name, form in FORMATS.items() if not form.drawn]
PHRASE = "mark rich will max grace"
"""Words that the program has, too."""
FORMS = ("{secret}", "{text} {secret}", "/home/{secret}/{text}", "{text}_{secret}", "{text}-{secret}", PHRASE)
"""How a secret stands in a text: alone, beside it, as part of a path, and as part of a name; or instead of it."""


class Secrets:
    """Words that no program has: `Zorqa`, `Zorqb`, …, one for each text."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.letters = itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=3)
        self.planted: dict[str, str] = {}
        """Each with where it was planted."""

    def into(self, text: str, where: str) -> str:
        letters = "".join(next(self.letters))
        self.planted[f"Zorq{letters}x"] = where
        return self.form.format(secret=f"Zorq{letters}x", text=text)

    def assert_none_in(self, output: str) -> None:
        found = {word: self.planted[word] for word in set(re.findall("Zorq[a-z]{3}x", output))}
        assert found == {}, output[:2000]
        assert PHRASE not in output


def whole_result() -> Result:
    """A recorded run in which no field is empty that has text."""
    result = recorded_result("xfs-searching")
    use = DriveUse("mounted", "a text", "a hint")
    partition = Partition("sdb1", 0, 1, "name", "ext4", "label", "uuid", "/mnt", uses=(use,))
    drive = make_drive("drive-managed", firmware="AR17", stable_name="/dev/disk/by-id/ata-ST8000", pending="a text")
    verdict = replace(drive.smr, advice=("advice",))
    drive = replace(drive, bridge="a bridge (152d:0578)", partitions=(partition,), uses=(use,), smr=verdict)
    target = replace(
        result.plan.target, path="/mnt", number="8:1", identifier="Z84WXYZ1", others=(Member("/mnt", 1, "ext4", "8:2"),)
    )
    left_out = (LeftOut("zfs", "A reason.", "package"),)
    plan = replace(result.plan, drive=drive, target=target, losses=("a loss",), left_out=left_out)
    left = _("{left} `fswizard clean` removes what is left.", left="/mnt/x/fswizard-1 could not be removed.")
    return replace(
        result,
        plan=plan,
        environment=replace(result.environment, host="host"),
        failures=(Failure(1, plan.candidates[-1].name, "", "mkfs", "A text.", "details"),),
        doubts=(*result.doubts, Doubt("busy-machine", "A text."), Doubt("not-removed", left)),
    )


NAMED = ("Metric.name", "Metric.unit", "Sample.metric", "Sample.unit", "ThroughputSeries.unit", "PlannedCommand.text")
"""Fields that hold one of a closed list."""


def planted(value: Any, secrets: Secrets, names: dict[str, str], where: str = "") -> Any:
    """The same with a secret in every text but those of a closed list; `names` are changed alike wherever they are."""
    if where in NAMED or value == "":
        return value
    if isinstance(value, Message) and value.fields:
        parts = {name: planted(field, secrets, names, f"{where}, {name}") for name, field in value.fields.items()}
        return _(value, **parts)
    if isinstance(value, str):
        return names[value] if value in names else secrets.into(value, where)
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        changed = {
            field.name: planted(getattr(value, field.name), secrets, names, f"{type(value).__name__}.{field.name}")
            for field in fields(value)
            if get_origin(hints[field.name]) is not Literal
        }
        return replace(value, **changed)
    if isinstance(value, dict):
        return {key: planted(part, secrets, names, f"{where}[{key}]") for key, part in value.items()}
    return tuple(planted(part, secrets, names, where) for part in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(("form", "compiled"), [*((form, False) for form in FORMS), ("{text} {secret}", True)])
def test_no_secret_of_a_result_is_in_any_report(
    form: str, compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, secrets = whole_result(), Secrets(form)
    names = {each.name: secrets.into(each.name, "a candidate") for each in result.plan.candidates}
    names |= {each.name: secrets.into(each.name, "a workload") for each in result.plan.recipe.workloads}
    if compiled:
        sentences = (doubt.text.english for doubt in result.doubts if isinstance(doubt.text, Message))
        known(catalog_of("de", dict.fromkeys(sentences, "x")), tmp_path, monkeypatch)
    secret = planted(result, secrets, names)
    assert len(secrets.planted) > 100
    for name in TEXTS:
        secrets.assert_none_in(str(export(secret, name, full=True)))
    identified = export(secret, "text", identify=True, full=True)
    assert "Zorq" in str(identified) or "grace" in str(identified)


def shared_text(text: str, **fields: Any) -> str:
    """What is shared of the sentence of a doubt."""
    result = replace(make_result(**fields), doubts=(Doubt("a-code", text),))
    return shareable(result).doubts[0].text


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        (_("On battery."), "On battery."),
        ("mark rich will max grace", "a-code"),
        (_("{what} of {size}, {percent}", what="ext4", size="4.2 MB/s", percent="12 %"), "ext4 of 4.2 MB/s, 12 %"),
        (_("{serial} is {name}", serial="0123456789012", name="max"), "… is …"),
        (_("{busy} meanwhile", busy=_("`{program}` writes {rate}/s", program="anne", rate="3 MB")), None),
        (_("{why}.", why=os.strerror(errno.ENOSPC)), "No space left on device."),
        (number("0123456789012"), "a-code"),
        (n_("{count} round", "{count} rounds", 3), "3 rounds"),
        (listing(["ext4", "anne", "xfs"]), "ext4, … and xfs"),
    ],
)
def test_of_a_sentence_only_numbers_and_known_names_are_left(
    text: str, shared: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "DIRECTORY", tmp_path)  # those that ship have none of these sentences
    assert shared_text(text) == (shared or "`…` writes 3 MB/s meanwhile")


def test_titles_of_own_recipes_and_sentences_of_others_are_none_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "DIRECTORY", tmp_path / "none")
    plan = make_plan()
    title = plan.recipe.workloads[0].title
    assert shared_text(_("{tests}: busy", tests=listing([_(title)])), plan=plan) == "workload-1: busy"
    known(catalog_of("de", {"Own {field}.": "Eigenes {field}."}), tmp_path, monkeypatch)
    assert shared_text(_("Own {field}.", field=_("anne"))) == "Own …."
    assert shared_text(_("mark rich {field}", field=3)) == "a-code"


def test_only_commands_that_the_catalogue_makes_are_offered() -> None:
    result = recorded_result("xfs-searching")
    foreign = PlannedCommand(("mkfs.ext4", "/dev/sda"), True, "format", "ext4")
    own = tuple(command for command in shareable(result).plan.commands if command.text == "format")
    changed = replace(result, plan=replace(result.plan, commands=(foreign, *own)))
    assert [c for c in own if c.candidate == "ext4"] and shareable(changed).plan.commands == own
    assert "/dev/sda" not in str(export(changed, "json"))


@pytest.mark.parametrize(
    ("directory", "name", "shared"),
    [
        ("", "btrfs:noatime,compress=zstd:1", "btrfs:noatime,compress=zstd:1"),
        ("", "ext4:anne", "candidate-1"),
        ("/home/anne", "anne (ext4)", "DIRECTORY-1 (ext4)"),
    ],
)
def test_a_candidate_is_a_choice_of_the_catalogue_or_a_number(directory: str, name: str, shared: str) -> None:
    plan = make_plan(("xfs",))
    candidate = Candidate(name, make_filesystem("ext4"), directory=directory)
    result = make_result(plan=replace(plan, candidates=(candidate,), baseline=name))
    assert [candidate.name for candidate in shareable(result).plan.candidates] == [shared]
    assert shareable(result).plan.baseline == shared


def test_nearly_every_model_that_was_recorded_is_shared() -> None:
    lines = (HERE / "silent_models.tsv").read_text("utf-8").splitlines()
    models = [line.split("\t")[1] for line in lines if not line.startswith("#")]
    assert sum(not shared_drive(model=model).model for model in models) < len(models) / 30


def shared_drive(**fields: Any) -> Drive:
    shared = shareable(make_result(plan=make_plan(drive=Drive("sdb", 8 << 40, **fields)))).plan.drive
    assert shared is not None
    return shared


@pytest.mark.parametrize("by_id", ["ata-ST8000AS0002-1NA17Z_Z84WXYZ1", "WDC_WD40EFRX-68N32N0_WD-WCC7K0123456", "/x/y"])
def test_a_name_with_a_serial_number_is_no_model(by_id: str) -> None:
    assert shared_drive(model=by_id).model == ""
    assert shared_drive(model="ST8000AS0002 Z84WXYZ1", serial="Z84WXYZ1").model == ""


@pytest.mark.parametrize(
    ("field", "name", "shared"),
    [
        ("kernel", "6.9.3-200.fc40.x86_64", "6.9.3-200.fc40.x86_64"),
        ("kernel", "6.1.0-annes-own", "6.1.0"),
        ("distribution", "Fedora Linux 40 of anne", "Fedora Linux 40"),
        ("processor", "Intel(R) Xeon(R) Processor", "Intel(R) Xeon(R) Processor"),
        ("processor", "AMD EPYC annes", "AMD EPYC"),
        ("started", "2026-11-27T13:12:34Z by anne", ""),
    ],
)
def test_a_system_is_named_as_far_as_its_words_are_known(field: str, name: str, shared: str) -> None:
    result = make_result()
    environment = replace(result.environment, **{field: name})
    assert getattr(shareable(replace(result, environment=environment)).environment, field) == shared


def test_a_shared_result_is_a_result_like_any_other(tmp_path: Path) -> None:
    result = make_findings().result
    (tmp_path / "shared.jsonl").write_text(str(export(result, "result")))
    back = results.load(tmp_path / "shared.jsonl")
    assert [sample.value for sample in back.samples] == [sample.value for sample in result.samples]
    assert shareable(back) == back == replace(shareable(result), throughput_series=())
