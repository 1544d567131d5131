from __future__ import annotations

import pytest

from fswizard.drives import formatting_advice, persistent_cache_bytes, unsuitable
from fswizard.model.drive import SmrVerdict
from tests.builders import make_drive


def verdict(kind: str) -> SmrVerdict:
    return make_drive(kind).smr  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["cmr", "unknown", "not-a-hard-disk"])
def test_nothing_is_advised_where_nothing_is_shingled(kind: str) -> None:
    assert formatting_advice(verdict(kind)) == ()
    assert unsuitable(verdict(kind)) == {}


def test_ext4_on_a_drive_managed_disk_gets_its_metadata_together() -> None:
    (ext4,) = [advice for advice in formatting_advice(verdict("drive-managed")) if advice.filesystem == "ext4"]
    assert ext4.options == "-E packed_meta_blocks=1,lazy_itable_init=0"
    assert "mke2fs" in ext4.source


def test_every_piece_of_advice_has_a_reason_and_a_source() -> None:
    for kind in ("drive-managed", "host-aware", "host-managed"):
        for advice in formatting_advice(verdict(kind)):
            assert advice.reason
            assert advice.source


def test_zfs_is_advised_against_where_resilvering_times_out() -> None:
    assert [a.filesystem for a in formatting_advice(verdict("drive-managed")) if a.discourages] == ["zfs"]


def test_a_host_managed_disk_takes_none_but_zoned_filesystems() -> None:
    excluded = unsuitable(verdict("host-managed"))
    assert "ext4" in excluded
    assert not {advice.filesystem for advice in formatting_advice(verdict("host-managed"))} & set(excluded)


def test_the_cache_is_known_assumed_or_none() -> None:
    assert persistent_cache_bytes(make_drive("drive-managed")) == 20_000_000_000
    assert persistent_cache_bytes(make_drive("drive-managed", model="nobody knows")) > 0
    assert persistent_cache_bytes(make_drive("cmr")) == 0
