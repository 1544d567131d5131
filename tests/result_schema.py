"""The schema of the JSON report, made of its types: `python -m tests.result_schema` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from fswizard.model.analysis import Findings
from fswizard.model.recipe import Job
from fswizard.report import json as report

PATH = Path(report.__file__).with_name("result.schema.json")
LIMITS = {"minimum", "maximum", "minLength", "maxLength", "pattern"}
NAME = {"description": "Its name in the catalogue.", "type": "string"}


def schema() -> str:
    found = msgspec.json.schema(Findings, schema_hook={Job: {"type": "object"}}.get)  # one for each engine
    found["$defs"] |= {"Filesystem": NAME, "Layout": NAME}
    for unused in ("Driver", "Feature", "Option", "Price"):
        found["$defs"].pop(unused, None)
    found["$defs"]["Answer"]["properties"]["commands"] = {"type": "array", "items": {"type": "string"}}
    del found["$defs"]["Candidate"]["properties"]["mkfs_options"]
    return json.dumps(_unlimited(found), indent=2, ensure_ascii=False) + "\n"


def _unlimited(schema: Any) -> Any:
    """The same without the limits of what people write into a recipe, to which an escaped name need not keep."""
    if isinstance(schema, dict):
        return {key: _unlimited(value) for key, value in schema.items() if key not in LIMITS}
    return schema


if __name__ == "__main__":
    PATH.write_text(schema(), "utf-8")
