"""What the helper allows is what the catalogue offers, and nothing that is only nearly so."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.filesystems import catalogue
from fswizard.model.filesystem import Candidate, Filesystem, MkfsOption, MountOption
from fswizard.privileged.grammar import ALWAYS, MKFS, MOUNT_OPTIONS, ON_ERROR, mkfs_command, mount_options
from fswizard.privileged.protocol import Refusal

MADE = list(catalogue().values())
MKFS_OPTIONS = [(filesystem, option) for filesystem in MADE for option in filesystem.mkfs_options]
MOUNT_CHOICES = [(filesystem, option) for filesystem in MADE for option in filesystem.mount_options]


def name(value: object) -> str | None:
    return value.name if isinstance(value, (Filesystem, MkfsOption, MountOption)) else None


@pytest.mark.parametrize("filesystem", MADE, ids=name)
def test_every_filesystem_that_can_be_measured_can_be_made_and_mounted(filesystem: Filesystem) -> None:
    arguments = Candidate("x", filesystem).mkfs_arguments(scratch=True)
    assert mkfs_command(filesystem.name, arguments) == (filesystem.mkfs_program, *arguments)
    assert filesystem.pool or mount_options(filesystem.mount_type, (), 1000, 1000).endswith(",".join(ALWAYS))


@pytest.mark.parametrize(("filesystem", "option"), MKFS_OPTIONS, ids=name)
def test_every_choice_at_formatting_is_allowed(filesystem: Filesystem, option: MkfsOption) -> None:
    arguments = Candidate("x", filesystem, (option,)).mkfs_arguments(scratch=True)
    assert mkfs_command(filesystem.name, arguments)[1:] == arguments


@pytest.mark.parametrize(("filesystem", "option"), MOUNT_CHOICES, ids=name)
def test_every_choice_at_mounting_is_allowed(filesystem: Filesystem, option: MountOption) -> None:
    chosen = [f"{option.name}={value}" for value in option.values] or [option.name]
    for text in chosen:
        if filesystem.pool:
            assert mkfs_command(filesystem.name, ("-O", text)) == (filesystem.mkfs_program, "-O", text)
            continue
        assert mount_options(filesystem.mount_type, (text,), 0, 0).split(",")[0] == text


@given(st.sampled_from(sorted(MKFS)), st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=6))
def test_free_text_is_never_an_argument_of_mkfs(filesystem: str, arguments: list[str]) -> None:
    """Whatever gets through consists of known flags, and of values without a path, a blank or a leading dash."""
    try:
        command = mkfs_command(filesystem, arguments)
    except Refusal:
        return
    assert all(argument in MKFS[filesystem].flags or is_harmless(argument) for argument in command[1:])


@given(
    st.sampled_from([(name, flag) for name, mkfs in sorted(MKFS.items()) for flag in mkfs.flags]),
    st.from_regex(r"[\w,=/ :^.-]{1,40}", fullmatch=True),
)
def test_values_of_known_flags_hold_no_path_blank_or_leading_dash(flag: tuple[str, str], value: str) -> None:
    try:
        mkfs_command(flag[0], [flag[1], value])
    except Refusal:
        return
    assert is_harmless(value)


@given(st.sampled_from(sorted(MOUNT_OPTIONS)), st.from_regex(r"[\w,=/ :^.-]{1,40}", fullmatch=True))
def test_mount_options_hold_no_path_and_no_second_option(mount_type: str, option: str) -> None:
    try:
        value = mount_options(mount_type, [option], 0, 0)
    except Refusal:
        return
    assert is_harmless(option)
    assert "," not in option
    assert value.endswith("nosuid,nodev")


@pytest.mark.parametrize("name", sorted(MOUNT_OPTIONS))
def test_no_superblock_and_no_option_makes_an_error_end_the_machine(name: str) -> None:
    assert set(mount_options(name, (), 0, 0).split(",")) >= {*filter(None, [ON_ERROR.get(name)])}
    for option in ("errors=panic", "errors=continue", "fatal_errors=bug"):
        with pytest.raises(Refusal):
            mount_options(name, [option], 0, 0)


@pytest.mark.parametrize("name", sorted(MKFS))
def test_no_flag_of_mkfs_takes_a_path(name: str) -> None:
    for flag, pattern in MKFS[name].flags.items():
        for value in ("/dev/sda", "../x", "-d", "a b", "a\n", "a,", ",a", ""):
            if pattern:
                with pytest.raises(Refusal):
                    mkfs_command(name, [flag, value])


def is_harmless(value: str) -> bool:
    return not re.search(r"[/\s]|\A-", value)
