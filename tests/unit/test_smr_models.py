"""The shipped table of models: its form, its sources, and that it contradicts itself nowhere."""

from __future__ import annotations

import itertools
import re
from importlib import resources

import pytest

from fswizard.drives.models import ModelTable, bare, names_a_hard_disk, parse_table, shipped_table, stem
from fswizard.drives.smr import judge_smr
from fswizard.drives.smr_facts import SmrFacts

TEXT = resources.files("fswizard.drives").joinpath("smr_models.toml").read_text("utf-8")
ROW = '[[model]]\npattern = "{}"\nclass = "{}"\nsource = "{}"\nstrength = "{}"\n'


def row(pattern: str = "ST1", kind: str = "cmr", source: str = "https://example.org/x", strength: str = "press") -> str:
    return ROW.format(pattern, kind, source, strength)


def kind_of(model: str) -> str:
    return judge_smr(SmrFacts("name", model=model)).kind


def test_every_shipped_row_has_a_source_that_can_be_looked_up() -> None:
    rows = parse_table(TEXT)
    assert len(rows) > 120
    for item in rows:
        assert re.fullmatch(r"https?://[^\s/]+\.[^\s/]+(/\S*)?", item.source), item
    assert {item.kind for item in rows} >= {"host-managed", "drive-managed", "cmr", "unknown", "not-a-hard-disk"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (row(source="somebody said so"), "source"),
        (row(kind="pmr"), "class"),
        (row(strength="rumour"), "strength"),
        (row(pattern="ST(1"), "regular expression"),
        (row() + 'colour = "blue"\n', "unknown key colour"),
        (row() + row(kind="drive-managed"), "'ST1' is cmr in one row and drive-managed in another"),
        (row("ST1") + row("ST[0-9]", "drive-managed"), "'ST1'"),
    ],
)
def test_a_bad_or_contradictory_row_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
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


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("WDC WD40EFAX-68JH4N1", "drive-managed"),
        ("WDC WD80EFAX-68LHPN0", "cmr"),
        ("WD101EFAX", "cmr"),
        ("WDC WD40EFZX-68AWUN0", "cmr"),
        ("wd60efax", "drive-managed"),
        ("ST8000DM004-2CX188", "drive-managed"),
        ("ST8000DM0004-1ZC11G", "cmr"),
        ("ST8000AS0002", "drive-managed"),
        ("ST4000DM000-1F2168", "unknown"),
        ("ST5000DM000-1FK178", "unknown"),
        ("ST4000VX007-2DT166", "unknown"),
        ("TOSHIBA HDWD120", "cmr"),
        ("TOSHIBA HDWD240UZSVA", "drive-managed"),
        ("TOSHIBA MQ04ABF100", "drive-managed"),
        ("HGST HSH721414ALE6M0", "host-managed"),
        ("WDC  WSH722020ALE6L4", "host-managed"),
        ("WDC  WUH722020ALE6L4", "cmr"),
        ("Hitachi HDS721010CLA332", "cmr"),
        ("HGST HTS541010B7E610", "unknown"),
        ("HTS541010B7E610", "unknown"),
        ("HTS541010A9E680", "cmr"),
        ("Maxtor 6Y080L0", "cmr"),
        ("Maxtor M3 Portable", "unknown"),
        ("WDC WD80EFZX-68UW8N0", "cmr"),
        ("WD60EZZX", "unknown"),
        ("WDC WD40EZAZ-00SF3B0", "drive-managed"),
        ("WDC WD40EZRZ-00GXCB0", "cmr"),
        ("WD6004FZWX", "unknown"),
        ("WD6003FZBX", "cmr"),
        ("ST6000AS0012", "drive-managed"),
        ("ST8000DM005", "cmr"),
        ("ST2000DM006", "cmr"),
        ("ST2000DM008", "drive-managed"),
        ("TOSHIBA HDWD220UZSVA", "drive-managed"),
        ("SAMSUNG HD103SJ", "cmr"),
        ("ST1000LM024 HN-M101MBB", "cmr"),
        ("ST2000LM003 HN-M201RAD", "unknown"),
        ("ST500DM005 HD502HJ", "cmr"),
        ("ST4000NM0033-9ZM170", "cmr"),
        ("ST16000NM001G-2KK103", "cmr"),
        ("ST30000NM004K", "cmr"),
        ("ST32000NM003K", "host-managed"),
        ("HGST HUH728080ALE604", "cmr"),
        ("TOSHIBA MG08ACA16TE", "cmr"),
        ("TOSHIBA MQ01ABD100", "cmr"),
        ("TOSHIBA MQ01ABD100H", "unknown"),
        ("Samsung SSD 860 EVO 1TB", "not-a-hard-disk"),
        ("CT1000MX500SSD1", "not-a-hard-disk"),
        ("WDC WDS500G2B0A-00SM50", "not-a-hard-disk"),
        ("ST1000LM014-SSHD-8GB", "unknown"),
        ("ST1000LX001-1EM164", "unknown"),
        ("ST1000LX015-1U7172", "drive-managed"),
        ("ASMT109x- Safe", "unknown"),
        ("a disk that nobody knows", "unknown"),
        ("", "unknown"),
    ],
)
def test_well_known_models_and_their_twins(model: str, kind: str) -> None:
    assert kind_of(model) == kind


def test_names_are_stripped_to_what_rows_are_written_for() -> None:
    assert bare("WDC  WUH721816ALE6L4") == "WUH721816ALE6L4"
    assert bare("Hitachi HUA722010CLA330") == "HUA722010CLA330"
    assert bare("HGST HUS726T4TALE6L4").startswith("HGST ")
    assert stem("WD40EFAX-68JH4N1") == "WD40EFAX"


@pytest.mark.parametrize(
    "model", ["ST1000DM010-2EP102", "WDC WD10EZEX-08WN4A0", "HGST HTS541010A9E680", "SAMSUNG HD204UI"]
)
def test_makers_names_are_told(model: str) -> None:
    assert names_a_hard_disk(model)


@pytest.mark.parametrize(
    "model", ["ASMT109x- Safe", "WD Elements 25A2", "Generic-", "LOGICAL VOLUME", "WDC WDS500G2B0A SSD", ""]
)
def test_what_bridges_and_controllers_answer_is_told_apart(model: str) -> None:
    assert not names_a_hard_disk(model)


def test_the_shipped_table_is_read_once() -> None:
    assert shipped_table() is shipped_table()
