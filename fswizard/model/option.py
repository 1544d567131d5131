"""A choice about how a filesystem, or what it lies on, is made or mounted."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """What can be chosen, and in a candidate what was."""

    name: str
    """What people type, without value: `noatime`, `compress`, `packed_meta_blocks`, `chunk`."""
    text: str
    """What it does and when it helps, in a sentence."""
    flag: str = ""
    """Flag of the program that makes it, such as `-E`, whose values are joined with commas; empty for mount options."""
    value: str = ""
    """What the flag gets. `{}` is the value that people chose; several are its parts, which `x` separates: `64kx3`."""
    pattern: str = ""
    """Regular expression that a value must match whole; empty when the option takes none."""
    values: tuple[str, ...] = ()
    """Values worth comparing, such as `16` or `zstd:1`; of a layout's option all values, the default first."""
    chosen: str = ""
    """The value of a flag in a candidate."""
    risk: str = ""
    unsafe: bool = False
    """Data may be lost in a crash: never suggested."""
    source: str = ""
    needs: str = ""
    """Kernel or tool version it needs, in words; empty when every supported one has it."""
    replaces: tuple[str, ...] = ()
    """Options that cannot stand beside this one."""

    def is_meant_by(self, token: str) -> bool:
        """Whether `token`, such as `commit=60`, is this option with a value that it takes."""
        if not self.pattern:
            return token == self.name
        name, equals, value = token.partition("=")
        return name == self.name and bool(equals) == bool(value) and re.fullmatch(self.pattern, value) is not None

    @property
    def token(self) -> str:
        """As it is typed in a candidate."""
        return f"{self.name}={self.chosen}" if self.chosen else self.name

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every way to type it that is worth comparing."""
        return tuple(f"{self.name}={value}" for value in self.values) if self.pattern else (self.name,)

    @property
    def argument(self) -> str:
        """What its flag gets in a candidate."""
        argument = self.value
        for part in self.chosen.split("x"):
            argument = argument.replace("{}", part, 1)
        return argument
