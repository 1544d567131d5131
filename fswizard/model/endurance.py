"""How much may be written to a disk in its lifetime, and by a run without an explicit write budget."""

from __future__ import annotations

import re

from fswizard.model.drive import Drive

_RATED_FULL_WRITES = (
    (r"Samsung SSD (8[67]0 EVO|970 EVO|980|990)|WD Blue SN5[578]0|WDC WDS\d+[GT]2B0C", 600),
    (r"Samsung SSD 8\d0 QVO|CT\d+MX500", 360),
    (r"KINGSTON SA400", 333),
    (r"CT\d+P[13]SSD|INTEL SSDPEKNW\d+[GT]8", 200),
)
"""By model: rated number of full writes. Data sheets of Samsung (870 EVO and 970 EVO Plus 1 TB: 600 TBW; 870 QVO 1 TB:
360), WD (SN550, SN570 1 TB: 600), Crucial (MX500 1 TB: 360; P3 1 TB: 220), Intel (660p 1 TB: 200) and Kingston (A400
480 GB: 160)."""
_LEAST_FULL_WRITES = 200
"""Rating of the weakest consumer SSDs of that table."""
_SSD_BUDGET_BYTES = 50 * 10**9
"""Under a ten-thousandth of the rated life of 1 TB at 600 full writes, and what a day of heavy use writes."""
_CARD_BUDGET_BYTES = 25 * 10**9
"""For memory sticks and cards, which few makers rate. At most half of a full write."""


def usual_budget_bytes(drive: Drive | None) -> int | None:
    """Default write budget of a run; None for no limit, as on hard disks, which do not wear."""
    if drive is None or drive.turns:
        return None
    if drive.kind == "flash-card":
        return min(_CARD_BUDGET_BYTES, drive.size_bytes // 2)
    return _SSD_BUDGET_BYTES


def rated_bytes(drive: Drive) -> int:
    """Rated lifetime writes of an SSD, by its model or, for unknown models, the lowest rating of any SSD."""
    full_writes = next((rated for model, rated in _RATED_FULL_WRITES if re.match(model, drive.model)), None)
    return drive.size_bytes * (full_writes or _LEAST_FULL_WRITES)
