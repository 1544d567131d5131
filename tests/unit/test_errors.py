"""What errors say to users of the wizard, who have no command line."""

from __future__ import annotations

import pytest

from fswizard.errors import FswizardError


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("Name a directory with more free space, or a smaller image: --target image:SIZE@DIRECTORY.",
         "Name a directory with more free space, or a smaller image."),
        ("A scratch image (--target image:SIZE@DIR) erases nothing.", "A scratch image erases nothing."),
        ("Confirm it with `--erase Z840`.", ""),
        ("Install it with `fswizard doctor --install`.", "Install it with `fswizard doctor --install`."),
        ("スクラッチイメージ（--target image:SIZE@DIR）は何も消しません。", "スクラッチイメージは何も消しません。"),
    ],
)  # fmt: skip
def test_the_wizard_gives_a_hint_without_the_switches_in_it(hint: str, shown: str) -> None:
    assert FswizardError("It failed.", hint).hint_without_switches == shown
