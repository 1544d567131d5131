"""What the helper allows is what the catalogue offers, and nothing that is only nearly so."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.filesystem import Filesystem
from fswizard.privileged import commands, disk_errors
from fswizard.privileged.grammar import ALWAYS, MKFS, MOUNT_OPTIONS, ON_ERROR, require_mkfs, require_mount
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.volumes import Volume

WORDS = st.from_regex(r"[\w,=/ :^.-]{1,40}", fullmatch=True)
FLAGS = [(name, flag) for name, mkfs in sorted(MKFS.items()) for flag in mkfs.flags]
every_filesystem = pytest.mark.parametrize("filesystem", catalogue().values(), ids=lambda filesystem: filesystem.name)


def mounted(mount_type: str, *options: str) -> list[str]:
    """All options that it is mounted with."""
    names = commands.DeviceNames(("/dev/loop0",), "/dev/loop0", "", "", "/m")
    command = commands.mount(names, mount_type, options, 1000, 1000)[0]
    return command[command.index("-o") + 1].split(",")


def is_harmless(value: str) -> bool:
    return not re.search(r"[/\s]|\A-", value)


@every_filesystem
def test_every_filesystem_and_each_of_its_options_passes_the_helpers_grammar(filesystem: Filesystem) -> None:
    mount = [f"{o.name}={value}" if value else o.name for o in filesystem.mount_options for value in o.values or ("",)]
    tokens = ["", *(f":{token}" for token in (*mount, *(option.name for option in filesystem.mkfs_options)))]
    for candidate in (parse_candidate(f"{filesystem.name}{token}") for token in tokens):
        for scratch in (True, False):
            arguments = candidate.mkfs_arguments(scratch=scratch)
            assert require_mkfs(filesystem.name, arguments) == filesystem.mkfs_program
        if not filesystem.pool:
            require_mount(filesystem.mount_type, candidate.mount_options)
            given = mounted(filesystem.mount_type, *candidate.mount_options)
            assert {*commands.kernel_options(candidate.mount_options)} <= {*given} and tuple(given[-2:]) == ALWAYS


@every_filesystem
def test_every_error_counter_is_one_that_the_helper_reads(filesystem: Filesystem) -> None:
    assert set(filesystem.error_counters) <= {*disk_errors.KINDS, disk_errors.ZPOOL}


def test_counters_that_are_not_on_the_list_are_refused() -> None:
    with pytest.raises(Refusal, match="no such counters: '/etc/passwd'"):
        disk_errors.read_counters(cast(Volume, None), ["/etc/passwd"])


@given(st.sampled_from(sorted(MKFS)), st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=6))
def test_free_text_is_never_an_argument_of_mkfs(filesystem: str, arguments: list[str]) -> None:
    """Whatever gets through consists of known flags, and of values without a path, a blank or a leading dash."""
    with suppress(Refusal):
        require_mkfs(filesystem, arguments)
        assert all(argument in MKFS[filesystem].flags or is_harmless(argument) for argument in arguments)


@given(st.sampled_from(FLAGS), WORDS)
def test_values_of_known_flags_hold_no_path_blank_or_leading_dash(flag: tuple[str, str], value: str) -> None:
    with suppress(Refusal):
        require_mkfs(flag[0], [flag[1], value])
        assert is_harmless(value)


@given(st.sampled_from(sorted(MOUNT_OPTIONS)), WORDS)
def test_mount_options_hold_no_path_and_no_second_option(mount_type: str, option: str) -> None:
    with suppress(Refusal):
        require_mount(mount_type, [option])
        assert is_harmless(option)
        assert "," not in option


@pytest.mark.parametrize("name", sorted(MOUNT_OPTIONS))
def test_no_superblock_and_no_option_makes_an_error_end_the_machine(name: str) -> None:
    assert {*mounted(name)} >= {*ALWAYS, *filter(None, [ON_ERROR.get(name)])}
    for option in ("errors=panic", "errors=continue", "fatal_errors=bug"):
        with pytest.raises(Refusal):
            require_mount(name, [option])


@pytest.mark.parametrize(("name", "flag"), [(name, flag) for name, flag in FLAGS if MKFS[name].flags[flag]])
def test_no_flag_of_mkfs_takes_a_path(name: str, flag: str) -> None:
    for value in ("/dev/sda", "../x", "-d", "a b", "a\n", "a,", ",a", ""):
        with pytest.raises(Refusal):
            require_mkfs(name, [flag, value])
