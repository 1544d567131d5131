"""The schema of the JSON report, made of its types: `python -m tests.result_schema` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from fswizard.model.analysis import Findings
from fswizard.model.recipe import Job
from fswizard.report import json as report

PATH = Path(report.__file__).with_name("result.schema.json")
NAME = {"description": "Its name in the catalogue.", "type": "string"}


def schema() -> str:
    found = msgspec.json.schema(Findings, schema_hook={Job: {"type": "object"}}.get)  # one for each engine
    found["$defs"] |= {"Filesystem": NAME, "Layout": NAME}
    for unused in ("Driver", "Feature", "Option", "Price"):
        found["$defs"].pop(unused, None)
    del found["$defs"]["Candidate"]["properties"]["mkfs_options"]
    for limited in ("hard_disk_minutes", "hard_disk_image_bytes"):
        del found["$defs"]["Recipe"]["properties"][limited]["minimum"]  # 0 is none of its own
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(schema(), "utf-8")
