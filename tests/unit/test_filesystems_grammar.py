"""Whatever the catalogue offers, the helper that runs as root allows."""

from __future__ import annotations

from typing import cast

import pytest

from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.privileged import disk_errors, grammar
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.volumes import Volume


def candidates(filesystem: Filesystem) -> list[Candidate]:
    """The plain one, and one for each option with each value."""
    mount = [f"{o.name}={value}" if value else o.name for o in filesystem.mount_options for value in o.values or ("",)]
    tokens = [*mount, *(option.name for option in filesystem.mkfs_options)]
    names = [filesystem.name, *(f"{filesystem.name}:{token}" for token in tokens)]
    return [parse_candidate(name) for name in names]


@pytest.mark.parametrize("filesystem", catalogue().values(), ids=lambda filesystem: filesystem.name)
def test_every_option_passes_the_helpers_grammar(filesystem: Filesystem) -> None:
    for candidate in candidates(filesystem):
        for scratch in (True, False):
            arguments = candidate.mkfs_arguments(scratch=scratch)
            assert grammar.mkfs_command(filesystem.name, arguments) == (filesystem.mkfs_program, *arguments)
        if filesystem.pool:
            continue
        given = grammar.mount_options(filesystem.mount_type, candidate.mount_options, 1000, 1000).split(",")
        assert set(candidate.mount_options) <= set(given)


@pytest.mark.parametrize("filesystem", catalogue().values(), ids=lambda filesystem: filesystem.name)
def test_every_error_counter_is_one_that_the_helper_reads(filesystem: Filesystem) -> None:
    assert set(filesystem.error_counters) <= {*disk_errors.KINDS, disk_errors.ZPOOL}


def test_counters_that_are_not_on_the_list_are_refused() -> None:
    with pytest.raises(Refusal, match="no such counters: '/etc/passwd'"):
        disk_errors.read_counters(cast(Volume, None), ["/etc/passwd"])
