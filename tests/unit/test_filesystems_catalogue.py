"""The catalogue holds together, and every line of it says where it comes from."""

from __future__ import annotations

import dataclasses
import re
from importlib import resources

import pytest
import tomli

from fswizard.filesystems import NEEDS, catalogue, mounted_as
from fswizard.filesystems.loader import ORDINARY
from fswizard.model.codec import from_json, to_json
from fswizard.model.filesystem import Driver, Feature, Filesystem, MkfsOption, MountOption, Zones

FILESYSTEMS = list(catalogue().values())
OPTIONS = [(fs, option) for fs in FILESYSTEMS for option in (*fs.mount_options, *fs.mkfs_options)]

every_filesystem = pytest.mark.parametrize("filesystem", FILESYSTEMS, ids=lambda fs: fs.name)
every_option = pytest.mark.parametrize(("filesystem", "option"), OPTIONS, ids=lambda value: value.name)


def test_the_usual_ones_come_first() -> None:
    assert tuple(catalogue())[:3] == ORDINARY == ("ext4", "xfs", "btrfs")


def test_tables_have_no_key_that_nobody_reads() -> None:
    known = {field.name for field in dataclasses.fields(Filesystem)} | {"generic"}
    inner = {"mount_options": MountOption, "mkfs_options": MkfsOption, "features": Feature}
    for entry in resources.files("fswizard.filesystems").joinpath("catalogue").iterdir():
        table = tomli.loads(entry.read_text("utf-8"))
        assert table.keys() <= known, entry.name
        for key, kind in inner.items():
            fields = {field.name for field in dataclasses.fields(kind)}
            for row in table.get(key, ()):
                assert row.keys() <= fields, (entry.name, row)
        assert table.get("driver", {}).keys() <= {field.name for field in dataclasses.fields(Driver)}, entry.name
        assert table.get("zones", {}).keys() <= {field.name for field in dataclasses.fields(Zones)}, entry.name


@every_filesystem
def test_a_filesystem_survives_the_result_file(filesystem: Filesystem) -> None:
    assert from_json(Filesystem, to_json(filesystem)) == filesystem


@every_filesystem
def test_a_filesystem_says_what_it_is_and_where_to_get_it(filesystem: Filesystem) -> None:
    assert filesystem.summary.endswith(".")
    assert 0 < filesystem.minimum_bytes < filesystem.maximum_bytes
    assert filesystem.mkfs_program and filesystem.mount_type
    assert set(filesystem.packages) >= {"debian", "ubuntu", "fedora", "arch", "opensuse"}


@every_filesystem
def test_a_command_to_be_copied_never_overwrites_without_asking(filesystem: Filesystem) -> None:
    flags = {flag for flag, _ in filesystem.mkfs_arguments}
    flags |= {option.flag for option in filesystem.mkfs_options}
    assert not flags & {"-f", "-F", "--force"}


@every_filesystem
def test_every_need_is_answered_with_a_source(filesystem: Filesystem) -> None:
    assert {feature.name for feature in filesystem.features} == {need.name for need in NEEDS} | {"max-file-size"}
    assert all(feature.value and feature.source for feature in filesystem.features)


@every_option
def test_an_option_says_what_it_does_and_who_says_so(filesystem: Filesystem, option: MountOption | MkfsOption) -> None:
    assert option.text.endswith("."), option.text
    assert option.source
    assert not option.unsafe or option.risk, "an unsafe option says what it risks"


@every_option
def test_what_an_option_replaces_exists(filesystem: Filesystem, option: MountOption | MkfsOption) -> None:
    names = {other.name for other in (*filesystem.mount_options, *filesystem.mkfs_options)}
    generic = {other.name for other in catalogue()["ext4"].mount_options[:5]}
    assert set(option.replaces) <= (names | generic) - {option.name}


@every_option
def test_values_worth_comparing_match_their_pattern(filesystem: Filesystem, option: MountOption | MkfsOption) -> None:
    if isinstance(option, MountOption):
        assert bool(option.values) <= bool(option.pattern)
        assert all(re.fullmatch(option.pattern, value) for value in option.values)
        assert not re.fullmatch(option.pattern, "x,dev") or not option.pattern


@pytest.mark.parametrize(
    ("kind", "name"), [("ext4", "ext4"), ("zfs", "zfs"), ("ntfs3", "ntfs"), ("fuse.zfs", None), ("", None)]
)
def test_what_is_mounted_is_known_by_the_kernels_name_for_it(kind: str, name: str | None) -> None:
    found = mounted_as(kind)
    assert (found and found.name) == name
