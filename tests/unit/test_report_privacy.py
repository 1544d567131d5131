"""Who measured where stays at home unless it is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fswizard.model.drive import Partition
from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Findings
from fswizard.model.plan import Target
from fswizard.model.result import Doubt, Failure
from fswizard.report import FORMATS, render
from tests.builders import make_drive, make_filesystem
from tests.unit.report_findings import make_findings, renamed

SECRETS = ("Z8400000", "annes-box", "/home/anne", "anne", "ata-ST8000_Z84", "holiday-pictures", "1234-ABCD")


def telling() -> Findings:
    """Findings with something private wherever text can stand."""
    findings = make_findings()
    partition = Partition("sdb1", 0, 1, "x", "ext4", "holiday-pictures", "1234-ABCD", "/media/anne/backup")
    drive = make_drive(stable_name="/dev/disk/by-id/ata-ST8000_Z8400000", partitions=(partition,))
    failure = Failure(
        1,
        "nilfs2",
        "large-files",
        "mkfs",
        "mkfs.nilfs2 could not open /home/anne/.cache/fswizard/x.img on annes-box.",
        "open(/home/anne/.cache/fswizard/x.img)\n/dev/disk/by-id/ata-ST8000_Z8400000: busy",
    )
    doubt = Doubt("busy-machine", "Something wrote to /media/anne/backup on annes-box.")
    target = Target("image", "/home/anne/.cache", 2 << 30, "ext4")
    plan = replace(findings.result.plan, drive=drive, target=target)
    result = replace(findings.result, plan=plan, failures=(failure,), doubts=(doubt,))
    return replace(findings, result=result, doubts=(doubt,))


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_tells_who_or_where(name: str) -> None:
    text = render(telling(), name)
    assert [secret for secret in SECRETS if secret in text] == []


def test_what_is_asked_for_is_told() -> None:
    text = render(telling(), "text", identify=True)
    assert "Serial     Z8400000" in text
    assert "host annes-box" in " ".join(text.split())
    assert "image:2G@/home/anne/.cache" in text


def test_the_rest_of_a_sentence_stays() -> None:
    assert "mkfs.nilfs2 could not open PATH on HOST." in render(telling(), "csv")


def test_directories_are_told_apart_without_their_paths() -> None:
    findings = make_findings()
    names = {"xfs": "/home/anne/one", "btrfs:noatime": "/home/anne/one/two"}
    for name, directory in names.items():
        findings = renamed(findings, {name: f"xfs@{directory}"})
    candidates = tuple(
        Candidate(f"xfs@{directory}", make_filesystem("xfs"), directory=directory) for directory in names.values()
    )
    others = tuple(c for c in findings.result.plan.candidates if "@" not in c.name)
    plan = replace(findings.result.plan, candidates=(*others, *candidates), target=Target("directory", ""))
    text = render(replace(findings, result=replace(findings.result, plan=plan)), "text")
    assert "/home" not in text
    assert {"xfs@A", "xfs@B"} <= set(text.split())


def test_a_placeholder_in_the_advice_is_not_taken_for_a_secret() -> None:
    assert "/mnt/archive" in render(telling(), "text")
