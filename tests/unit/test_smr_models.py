"""The shipped table of models: its form, its sources, and that it contradicts itself nowhere."""

from __future__ import annotations

import itertools
import re
from importlib import resources

import pytest

from fswizard.drives.models import ModelTable, bare, names_a_hard_disk, parse_table, shipped_table, stem
from fswizard.drives.smr import SmrFacts, judge_smr
from fswizard.errors import UsageError

TEXT = resources.files("fswizard.drives").joinpath("smr_models.toml").read_text("utf-8")


def row(pattern: str = "ST1", kind: str = "cmr", source: str = "https://example.org/x", strength: str = "press") -> str:
    return f'[[model]]\npattern = "{pattern}"\nclass = "{kind}"\nsource = "{source}"\nstrength = "{strength}"\n'


def test_every_shipped_row_has_a_source_that_can_be_looked_up() -> None:
    rows = parse_table(TEXT)
    assert len(rows) > 120
    for item in rows:
        assert re.fullmatch(r"https?://[^\s/]+\.[^\s/]+(/\S*)?", item.source), item
    assert {item.kind for item in rows} >= {"host-managed", "drive-managed", "cmr", "unknown", "not-a-hard-disk"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (row(source="somebody said so"), "'source': an address that can be looked up was expected"),
        (row(kind="pmr"), "'class': one of host-managed"),
        (row(strength="rumour"), "'strength': one of vendor"),
        (row(pattern="ST(1"), "regular expression"),
        (row() + 'colour = "blue"\n', "'colour' is no known key"),
        (row() + row(kind="drive-managed"), "'ST1' is cmr in one row and drive-managed in another"),
        (row("ST1") + row("ST[0-9]", "drive-managed"), "'ST1'"),
    ],
)
def test_a_bad_or_contradictory_row_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        parse_table(text)


def test_no_model_that_the_patterns_spell_out_is_two_things_at_once() -> None:
    """Patterns may overlap without a row in between: try what they are made of."""
    table = ModelTable(parse_table(TEXT))
    heads = [f"ST{size}000" for size in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24)]
    tails = [f"{family}00{digit}" for family in ("DM", "VN", "VX", "NM", "AS", "LM", "DX", "NE") for digit in range(10)]
    sizes = ("10", "20", "30", "40", "60", "80", "101", "120", "140")
    suffixes = ("EFAX", "EFRX", "EFZX", "EFPX", "EZAZ", "EZAX", "EZRZ", "EDAZ", "EMAZ", "SPZX", "PURZ", "EZBX", "EAZZ")
    models = ["".join(pair) for pair in itertools.product(heads, tails)]
    models += [f"WD{size}{suffix}" for size, suffix in itertools.product(sizes, suffixes)]
    for model in models:
        kinds = {item.kind for item in table.find(model)}
        assert len(kinds) <= 1, (model, kinds)


WELL_KNOWN = {
    "drive-managed": """
        WDC WD40EFAX-68JH4N1; wd60efax; ST8000DM004-2CX188; ST8000AS0002; TOSHIBA HDWD240UZSVA;
        TOSHIBA MQ04ABF100; WDC WD40EZAZ-00SF3B0; ST6000AS0012; ST2000DM008; TOSHIBA HDWD220UZSVA;
        ST1000LX015-1U7172
    """,
    "cmr": """
        WDC WD80EFAX-68LHPN0; WD101EFAX; WDC WD40EFZX-68AWUN0; ST8000DM0004-1ZC11G; TOSHIBA HDWD120;
        WDC  WUH722020ALE6L4; Hitachi HDS721010CLA332; HTS541010A9E680; Maxtor 6Y080L0; WDC WD80EFZX-68UW8N0;
        WDC WD40EZRZ-00GXCB0; WD6003FZBX; ST8000DM005; ST2000DM006; SAMSUNG HD103SJ; ST1000LM024 HN-M101MBB;
        ST500DM005 HD502HJ; ST4000NM0033-9ZM170; ST16000NM001G-2KK103; ST30000NM004K; HGST HUH728080ALE604;
        TOSHIBA MG08ACA16TE; TOSHIBA MQ01ABD100
    """,
    "unknown": """
        ST4000DM000-1F2168; ST5000DM000-1FK178; ST4000VX007-2DT166; HGST HTS541010B7E610; HTS541010B7E610;
        Maxtor M3 Portable; WD60EZZX; WD6004FZWX; ST2000LM003 HN-M201RAD; TOSHIBA MQ01ABD100H;
        ST1000LM014-SSHD-8GB; ST1000LX001-1EM164; ASMT109x- Safe; a disk that nobody knows
    """,
    "host-managed": "HGST HSH721414ALE6M0; WDC  WSH722020ALE6L4; ST32000NM003K",
    "not-a-hard-disk": "Samsung SSD 860 EVO 1TB; CT1000MX500SSD1; WDC WDS500G2B0A-00SM50",
}


@pytest.mark.parametrize(
    ("model", "kind"),
    [("", "unknown"), *((model.strip(), kind) for kind, models in WELL_KNOWN.items() for model in models.split(";"))],
)
def test_well_known_models_and_their_twins(model: str, kind: str) -> None:
    assert judge_smr(SmrFacts("name", model=model)).kind == kind


def test_names_are_stripped_to_what_rows_are_written_for() -> None:
    assert bare("WDC  WUH721816ALE6L4") == "WUH721816ALE6L4"
    assert bare("Hitachi HUA722010CLA330") == "HUA722010CLA330"
    assert bare("HGST HUS726T4TALE6L4").startswith("HGST ")
    assert stem("WD40EFAX-68JH4N1") == "WD40EFAX"


@pytest.mark.parametrize(
    ("models", "makers"),
    [
        ("ST1000DM010-2EP102; WDC WD10EZEX-08WN4A0; HGST HTS541010A9E680; SAMSUNG HD204UI", True),
        ("ASMT109x- Safe; WD Elements 25A2; Generic-; LOGICAL VOLUME; WDC WDS500G2B0A SSD; ", False),
    ],
)
def test_makers_names_are_told_from_what_bridges_and_controllers_answer(models: str, makers: bool) -> None:
    for model in models.split("; "):
        assert names_a_hard_disk(model) == makers, model


def test_the_shipped_table_is_read_once() -> None:
    assert shipped_table() is shipped_table()
