"""Documents for programs: the findings as JSON, described by result.schema.json in this directory, and a result file.

Durations are in seconds, sizes in bytes.
"""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec

from fswizard.model.analysis import Findings
from fswizard.model.result_file import encoded, lines
from fswizard.report.content import set_up


def render(findings: Findings) -> str:
    found = msgspec.to_builtins(findings, enc_hook=str.__str__)  # a translated sentence is a subclass
    found["answer"]["commands"] = set_up(findings).commands
    document = {"answer": found["answer"], **found}
    plan = document["result"]["plan"]
    for candidate in plan["candidates"]:
        # of the catalogue names are enough, and a candidate's name has all that was chosen
        candidate["filesystem"] = candidate["filesystem"]["name"]
        del candidate["mkfs_options"]
        if array := candidate["array"]:
            array["layout"] = array["layout"]["name"]
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def render_result(findings: Findings) -> str:
    """A result file, without the rates of each second, which are most of one."""
    result = replace(findings.result, throughput_series=())
    return b"".join(map(encoded, lines(result, findings.analysis, findings.answer))).decode()
