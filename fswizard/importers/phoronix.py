"""Result files of the Phoronix Test Suite: XML with one entry for each system that was compared."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace

from fswizard.importers.parsed_run import Fault, Figure, ParsedRun, refuse, slug, workload
from fswizard.model.metrics import DURATION, FILE_RATE, IOPS, THROUGHPUT, Better, Metric
from fswizard.model.recipe import Workload
from fswizard.model.text import safe

_UNITS = {
    "seconds": (DURATION, 1.0),
    "ms": (DURATION, 1e-3),
    "milliseconds": (DURATION, 1e-3),
    "mb/s": (THROUGHPUT, 1e6),
    "gb/s": (THROUGHPUT, 1e9),
    "kb/s": (THROUGHPUT, 1e3),
    "iops": (IOPS, 1.0),
    "files/s": (FILE_RATE, 1.0),
}
"""Scale, in small letters, to metric and factor to its unit."""


def recognises(text: str) -> bool:
    """Whether a text looks like a result of the Phoronix Test Suite."""
    return "<PhoronixTestSuite" in text[:4000]


def read(text: str, where: str) -> ParsedRun:
    """Every result with its entries; each entry's identifier names a candidate.

    UsageError, with line and reason, for what is no XML, or has no figures.
    """
    if "<!" in re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL):
        raise refuse(where, 1, "it declares entities, which no result needs")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise refuse(where, error.position[0], f"this is not XML ({safe(str(error))})") from error
    workloads: dict[str, Workload] = {}
    figures: list[Figure] = []
    faults: list[Fault] = []
    for result in root.iter("Result"):
        made, factor = _workload(result)
        if made.name in workloads:
            continue
        workloads[made.name] = made
        for entry in result.iter("Entry"):
            candidate = safe(entry.findtext("Identifier", "").strip())
            if values := tuple(value * factor for value in _values(entry)):
                figures.append(Figure(made.name, made.metric, values, candidate))
            else:
                text_of = f"The Phoronix Test Suite has no value for {made.title}."
                faults.append(Fault(made.name, "program", text_of, candidate))
    if not figures:
        raise refuse(where, 1, "no result in it has a value")
    client = safe(root.findtext(".//Generated/TestClient", "Phoronix Test Suite").strip())
    kernel = re.search(r"Kernel: ([^,]+)", root.findtext(".//System/Software", ""))
    processor = re.search(r"Processor: ([^,]+)", root.findtext(".//System/Hardware", ""))
    return ParsedRun(
        client,
        tuple(workloads.values()),
        tuple(figures),
        tuple(faults),
        kernel=safe(kernel[1]) if kernel else "",
        processor=safe(processor[1]) if processor else "",
    )


def _workload(result: ET.Element) -> tuple[Workload, float]:
    """A result as a workload, and the factor that takes its values to the unit."""
    title = ": ".join(
        part.strip() for part in (result.findtext("Title", ""), result.findtext("Description", "")) if part
    )
    scale = result.findtext("Scale", "").strip()
    metric, factor = _UNITS.get(scale.lower(), (Metric("score", safe(scale) or "1", "higher"), 1.0))
    better: Better = "lower" if result.findtext("Proportion", "").strip() == "LIB" else "higher"
    metric = replace(metric, better=better)
    return workload(slug(title), title or "Phoronix Test Suite", metric), factor


def _values(entry: ET.Element) -> Iterator[float]:
    """Each run where they are told, else the mean."""
    runs = [part for part in entry.findtext("RawString", "").split(":") if part.strip()]
    for text in runs if len(runs) > 1 else [entry.findtext("Value", "")]:
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value) and value > 0:
            yield value
