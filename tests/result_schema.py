"""The schema of the JSON report, made of its types: `python -m tests.result_schema` writes it anew."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path

import msgspec

from fswizard.report import json as report

PATH = Path(report.__file__).with_name("result.schema.json")


def schema() -> str:
    """As a text; what stands below the fields of a class describes them here, too. The document always has all."""
    _, found = msgspec.json.schema_components((report.Report,), ref_template="#/$defs/{name}")
    for name, definition in found.items():
        properties = definition["properties"]
        for field, text in pairwise(ast.walk(ast.parse(inspect.getsource(getattr(report, name))))):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(words))):
                    properties[key]["description"] = " ".join(words.split())
        for its in properties.values():
            its.pop("default", None)
        definition |= {"required": list(properties), "additionalProperties": False}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps({"$schema": draft, "$ref": "#/$defs/Report", "$defs": found}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(schema(), "utf-8")
