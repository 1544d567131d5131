"""What stands against something that was asked for."""

from __future__ import annotations

from typing import Literal

Code = Literal["invalid", "refused", "busy", "missing", "failed"]


class Refusal(Exception):
    """Nothing was changed."""

    def __init__(self, code: Code, text: str, *, hint: str = "") -> None:
        """`hint` is what to do, if known."""
        super().__init__(text)
        self.code = code
        self.text = text
        self.hint = hint
