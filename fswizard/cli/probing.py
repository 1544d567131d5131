"""`fswizard smr --probe`: states what it will write, writes it, and shows the rate while it goes on."""

from __future__ import annotations

import json
import shutil
import sys

from fswizard.cli.verdicts import evidence_lines
from fswizard.drives.probe import ProbePlan, ProbeProgress, ProbeResult
from fswizard.drives.probe_target import find_target
from fswizard.errors import ExitCode, RunFailed, UsageError
from fswizard.model.text import safe
from fswizard.model.units import duration_text, parse_duration, size_text
from fswizard.targets import privilege
from fswizard.targets import run_probe as probe

_STAGES = {"fill": "filling", "listen": "listening for stalls", "press": "pressing for the cliff"}


def run_probe(path: str, time: str, serial: str, *, as_json: bool) -> int:
    """Probes and prints the result on stdout; the running commentary goes to stderr."""
    try:
        time_limit_s = parse_duration(time)
    except ValueError as error:
        raise UsageError(f"{error}.") from error
    target = find_target(path, serial=serial, time_limit_s=time_limit_s)
    print(statement(target.plan), file=sys.stderr)
    if target.device:
        privilege.authorise(privilege.PROBE)
    result: ProbeResult | None = None
    for told in probe(target):
        if isinstance(told, ProbeResult):
            result = told
        else:
            _show(told)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if result is None:
        raise RunFailed("The probe ended without a result.")
    print(_document(path, target.drive.model, result) if as_json else _paragraph(path, target.drive.model, result))
    return ExitCode.OK


def statement(plan: ProbePlan) -> str:
    """What the probe will do, in a sentence."""
    span_bytes = max(plan.listen_bytes, plan.press_bytes)
    where = f"a scratch file in {safe(plan.path)}" if plan.fill else f"{safe(plan.path)}, overwriting what lies there"
    return (
        f"Writes up to {size_text(plan.maximum_bytes)} to {where}, at random within {size_text(span_bytes)} of it, "
        f"for at most {duration_text(plan.time_limit_s)}."
    )


def _show(progress: ProbeProgress) -> None:
    if not sys.stderr.isatty():
        return
    line = (
        f"{duration_text(progress.elapsed_s):>7}  {size_text(progress.written_bytes):>8}  "
        f"{size_text(progress.rate_bytes_s):>8}/s  worst {duration_text(progress.worst_latency_s):>7}  "
        f"{_STAGES[progress.stage]}"
    )
    print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)


def _document(path: str, model: str, result: ProbeResult) -> str:
    piece = result.evidence
    document = {
        "source": safe(path),
        "model": model,
        "verdict": result.outcome,
        "evidence": [{"code": piece.code, "says": piece.says, "strength": piece.strength, "text": piece.text}],
        "seconds": round(result.elapsed_s, 1),
        "written_bytes": result.written_bytes,
    }
    return json.dumps([document], indent=1, ensure_ascii=False)


def _paragraph(path: str, model: str, result: ProbeResult) -> str:
    title = f"{safe(path)}: {model}" if model else safe(path)
    outcome = "shingled, drive-managed" if result.outcome == "drive-managed" else "inconclusive"
    agrees = result.outcome == "drive-managed"
    return "\n".join((title, f"  {outcome}", *evidence_lines(result.evidence, agrees=agrees)))
