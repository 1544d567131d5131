"""A choice about how a filesystem, or a layer below it, is created or mounted."""

from __future__ import annotations

import re

from fswizard.model.frozen import frozen


@frozen
class Option:
    """An available option or, in a candidate, a chosen one."""

    name: str
    """As typed, without the value: `noatime`, `compress`, `packed_meta_blocks`, `chunk`."""
    text: str
    """What it does and when it helps, in a sentence."""
    flag: str = ""
    """Flag of the creating program, such as `-E`, with values joined by commas; empty for mount options."""
    value: str = ""
    """Argument of the flag. `{}` stands for the chosen value; several are filled with its parts, separated by `x`:
    `64kx3`."""
    pattern: str = ""
    """Regular expression that must match the whole value; empty if the option takes none."""
    values: tuple[str, ...] = ()
    """Values worth comparing, such as `16` or `zstd:1`; for an option of a layout all values, the default first."""
    chosen: str = ""
    """Chosen value of a flag in a candidate."""
    risk: str = ""
    unsafe: bool = False
    """Data may be lost in a crash: never suggested."""
    source: str = ""
    needs: str = ""
    """Required version of the kernel or a tool; empty if every supported one will do."""
    replaces: tuple[str, ...] = ()
    """Options that cannot be combined with this one."""

    def is_meant_by(self, token: str) -> bool:
        """Whether `token`, such as `commit=60`, is this option with a valid value."""
        if not self.pattern:
            return token == self.name
        name, equals, value = token.partition("=")
        return name == self.name and bool(equals) == bool(value) and re.fullmatch(self.pattern, value) is not None

    @property
    def token(self) -> str:
        """The option as typed in a candidate."""
        return f"{self.name}={self.chosen}" if self.chosen else self.name

    @property
    def tokens(self) -> tuple[str, ...]:
        """All values worth comparing, as typed."""
        return tuple(f"{self.name}={value}" for value in self.values) if self.pattern else (self.name,)

    @property
    def argument(self) -> str:
        """Argument of its flag in a candidate."""
        argument = self.value
        for part in self.chosen.split("x"):
            argument = argument.replace("{}", part, 1)
        return argument
