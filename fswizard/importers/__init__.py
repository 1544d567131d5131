"""Figures that were measured elsewhere, read from output of other programs or from a CSV table."""

from __future__ import annotations

import codecs
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from fswizard.drives.smartctl_output import parse_text
from fswizard.drives.smr import KIND_OF, judge_smr
from fswizard.errors import UsageError
from fswizard.importers import csv_table, filebench, fio_json
from fswizard.importers.assemble import assemble, by_disk, named_by_job, sources_of
from fswizard.importers.parsed_run import ParsedRun, refuse
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.result import Doubt, Result
from fswizard.model.text import safe
from fswizard.system.files import read_file

LONGEST_FILE_BYTES = 200_000_000
"""fio's json+ lists every latency that it met."""
HEAD_BYTES = 1_000_000
"""Where a file has to show what it is."""
READABLE = N_("Import reads fio's JSON, filebench's output and CSV tables.")
HOW = N_("fio prints JSON with --output-format=json; `fswizard import --help` shows a CSV table for anything else.")
_UNPACKING = {
    b"\x1f\x8b": "gunzip",
    b"\xfd7zXZ": "unxz",
    b"BZh": "bunzip2",
    b"(\xb5/\xfd": "unzstd",
    b"PK\x03\x04": "unzip",
}
"""Programs for packed files by their first bytes."""
BACKUPS = (".bak", "~")
"""Endings of backup copies, which are earlier states of a file and no runs of their own."""


def read(words: Sequence[str], *, baseline: str = "") -> dict[str, Result]:
    """Results from files and directories, by disk; `CANDIDATE=FILE` names the candidate of a file.

    Files whose names contain several disks give a result for each; output of smartctl and df beside them is used too.
    Backup copies and other files of a directory are skipped, with a doubt. Raises UsageError with file, line and
    reason.
    """
    files, foreign = _sorted_out(words)
    read_files: list[tuple[str, str]] = []
    runs: list[list[ParsedRun]] = []
    drives: dict[str, Drive] = {}
    for candidate, path in files:
        text = _text(path)
        if text.startswith("smartctl "):
            drives |= _drive(text, path)
        elif not text.startswith("Filesystem "):  # df's output is read with the file that it belongs to
            read_files.append((candidate, str(path)))
            reader = _reader(text)
            if reader is None:
                text = _(
                    "{file} can't be read: import reads fio's JSON, filebench's output and CSV tables.",
                    file=safe(path.name),
                )
                raise UsageError(text, _(HOW))
            volume = path.with_name(f"{path.name}.df")
            if reader is filebench and volume.is_file():
                runs.append(list(filebench.read_each(text, path.name, _text(volume))))
            else:
                runs.append(list(reader.read_each(text, path.name)))
    of_files = zip(sources_of(read_files), runs)
    parsed_runs = [named_by_job(source, run) for source, several in of_files for run in several]
    if not parsed_runs:
        text = _(
            "These files contain no figures: import reads fio's JSON, filebench's output and CSV tables, but no backup "
            "copies (.bak and ~)."
        )
        raise UsageError(text, _(HOW))
    skipped = N_("Skipped as backup copies or unknown output: {files}.").format(files=", ".join(foreign))
    doubts = (Doubt("files-passed-over", skipped),)
    return {
        group: replace(result, doubts=(*result.doubts, *doubts)) if foreign else result
        for group, some in by_disk(parsed_runs).items()
        for result in [assemble(some, baseline=baseline, drive=_drive_of(group, drives))]
    }


def _sorted_out(words: Sequence[str]) -> tuple[list[tuple[str, Path]], list[str]]:
    """Candidates and files to read, and the names of backup copies and foreign files."""
    files: list[tuple[str, Path]] = []
    foreign: list[str] = []
    for word in words:
        candidate, path = _named(word)
        within = path.is_dir()
        for file in _inside(path) if within else [path]:
            if file.name.endswith(BACKUPS) or (within and not _is_known(file)):
                foreign.append(safe(file.name))
            else:
                files.append((candidate, file))
    return files, foreign


def _named(word: str) -> tuple[str, Path]:
    """Candidate and path of `CANDIDATE=FILE`; both may have a `=`, so the longest path that exists is the file's."""
    splits = [(word[: found.start()], word[found.end() :]) for found in re.finditer("=", word)]
    existing = (split for split in [("", word), *splits] if Path(split[1]).exists())
    candidate, path = next(existing, splits[-1] if splits else ("", word))
    return candidate, Path(path)


def _inside(directory: Path) -> list[Path]:
    """All files below a directory. Raises UsageError where one cannot be looked into."""

    def refuse_it(error: OSError) -> None:
        text = _("{path} cannot be read: {reason}.", path=safe(str(error.filename)), reason=error.strerror)
        raise UsageError(text) from error

    walk = os.walk(directory, onerror=refuse_it)
    found = sorted(Path(place, name) for place, __, names in walk for name in names)
    return [path for path in found if path.is_file()]


def _is_known(path: Path) -> bool:
    """Whether a file of a directory can be read: output of a known program, or a table."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return True  # reading it raises the reason
    text = head.decode(_encoding(head), "replace")
    return text.startswith(("smartctl ", "Filesystem ")) or _reader(text) is not None


def _reader(text: str) -> ModuleType | None:
    """The module that reads such a file; None if it is unknown."""
    return next((reader for reader in (filebench, fio_json, csv_table) if reader.recognises(text)), None)


def _text(path: Path) -> str:
    data = read_file(path, LONGEST_FILE_BYTES, hint=_(READABLE))
    if program := next((program for magic, program in _UNPACKING.items() if data.startswith(magic)), ""):
        raise UsageError(
            _("{file} is packed.", file=safe(path.name)),
            _("Unpack it first: `{command}`.", command=f"{program} {shlex.quote(safe(str(path)))}"),
        )
    try:
        return data.decode(_encoding(data)).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise refuse(safe(str(path)), data.count(b"\n", 0, error.start) + 1, _("this is not text in UTF-8")) from error


def _encoding(data: bytes) -> str:
    """UTF-8, unless the file begins as Windows writes UTF-16."""
    return "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _drive(text: str, path: Path) -> dict[str, Drive]:
    """The disk that smartctl describes, by each word of the file's name, such as `a_SMR_smartctl.txt`."""
    facts = parse_text(text)
    kind = KIND_OF.get(facts.medium, "unknown")
    line = next((line for line in text.splitlines() if line.startswith("User Capacity:")), "")
    digits = line.partition(":")[2].partition(" bytes")[0].strip().replace(",", "").replace(".", "")
    size_bytes = int(digits) if digits.isdigit() and len(digits) < 16 else 0
    drive = Drive("", size_bytes, facts.model, firmware=facts.firmware, kind=kind, smr=judge_smr(facts))
    return dict.fromkeys(path.stem.replace("_", "-").split("-"), drive)


def _drive_of(group: str, drives: dict[str, Drive]) -> Drive | None:
    if group in drives:
        return drives[group]
    distinct = list(dict.fromkeys(id(drive) for drive in drives.values()))
    return next(iter(drives.values())) if len(distinct) == 1 and not group else None
