"""What all subcommands share."""

from __future__ import annotations

import difflib
import inspect
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from plumbum import cli
from plumbum.cli.application import ShowCompletion, ShowHelp, ShowHelpAll, ShowVersion
from plumbum.cli.switches import SwitchError, UnknownSwitch

import fswizard
from fswizard.errors import UsageError

if TYPE_CHECKING:
    from fswizard.remote import Host


class SystemRefused(Exception):
    """Carries an OSError past plumbum, which makes a silent exit code of some."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


class Command(cli.Application):
    """A subcommand whose wrong usage is an error like any other: on stderr, with exit code 2."""

    VERSION = fswizard.__version__
    SUBCOMMAND_HELPMSG = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        """The first paragraph of the docstring says it in the list of subcommands, all of it in the help."""
        super().__init_subclass__(**arguments)
        first, _, more = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")
        cls.DESCRIPTION, cls.DESCRIPTION_MORE = first, f"{more}\n" if more else None

    def __init__(self, *arguments: Any) -> None:
        """Without the options of plumbum's that others took the names of: help would list them without any."""
        super().__init__(*arguments)
        kept = {id(info) for info in self._switches_by_name.values()}
        self._switches_by_func = {by: info for by, info in self._switches_by_func.items() if id(info) in kept}

    def _parse_args(self, argv: list[str]) -> Any:
        return self._explaining(super()._parse_args, argv)

    def _validate_args(self, *arguments: Any) -> Any:
        return self._explaining(super()._validate_args, *arguments)

    def _parse_and_dispatch(self, argv: list[str]) -> Any:
        try:
            return super()._parse_and_dispatch(argv)
        except OSError as error:
            raise SystemRefused(error) from error

    def _explaining(self, parse: Any, *arguments: Any) -> Any:
        try:
            return parse(*arguments)
        except (ShowHelp, ShowHelpAll, ShowVersion, ShowCompletion):
            raise
        except SwitchError as error:
            raise UsageError(f"{_in_words(error)}.", self._advice(error)) from error

    def _advice(self, error: SwitchError) -> str:
        known = [f"--{name}" for name in self._switches_by_name if len(name) > 1]
        near = (
            difflib.get_close_matches(str(error).split()[-1], known, 1, 0.75)
            if isinstance(error, UnknownSwitch)
            else []
        )
        return f"Did you mean {near[0]}?" if near else f"`{self.PROGNAME} --help` lists the options."


_WORDS = (
    (r"Expected at most .*, got \[(.*)\]", r"Too many arguments: \1"),
    (r"Given (\S+), the following are missing \['(.*)'\]", r"\1 takes effect only with --\2"),
    (r"Given (\S+), the following are invalid \['(.*)'\]", r"\1 can't be combined with \2"),
    (r"\bswitch\b", "option"),
    (r"\bSwitch\b", "Option"),
)
"""What plumbum says, and how people say it."""


def _in_words(error: SwitchError) -> str:
    text = str(error).rstrip(".")
    for said, words in _WORDS:
        text = re.sub(said, words, text)
    return text


class OnMachine(Command):
    """A subcommand that another machine can carry out, too."""

    on = cli.SwitchAttr("--on", str, argname="HOST", help="do it on another machine, by ssh: HOST or USER@HOST")

    def _parse_args(self, argv: list[str]) -> Any:
        self._words = list(argv)
        return super()._parse_args(argv)

    def _validate_args(self, *arguments: Any) -> Any:
        """Once the words are known to be right, another `main` takes the place of this one's."""
        switches, words = super()._validate_args(*arguments)
        given = self._switches_by_name["on"].func
        for function, values in switches:
            if function is given:
                self.main = partial(self._elsewhere, values[0])
        return switches, words

    def _elsewhere(self, host: str, *_: str) -> int:
        from fswizard.remote import Host

        machine = Host(host)
        machine.prepare()
        return self.there(machine, [str(self.PROGNAME).split()[-1], *_without_host(self._words)])

    def there(self, host: Host, words: list[str]) -> int:
        """Carry it out on another machine, on this terminal; the exit code."""
        return host.attend(*words)


def _without_host(words: list[str]) -> list[str]:
    """All but --on and its value."""
    kept, rest = [], iter(words)
    for word in rest:
        if word == "--on":
            next(rest)
        elif not word.startswith("--on="):
            kept.append(word)
    return kept


def parse_weights(text: str) -> dict[str, float]:
    """`NAME=2, NAME=0` as a mapping; UsageError otherwise."""
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"'{part}' isn't a weight.", 'Write "NAME=2, NAME=0".') from error
    return weights
