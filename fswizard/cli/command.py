"""What all subcommands share."""

from __future__ import annotations

import inspect
from typing import Any

from plumbum import cli
from plumbum.cli.application import ShowCompletion, ShowHelp, ShowHelpAll, ShowVersion
from plumbum.cli.switches import SwitchError

import fswizard
from fswizard.errors import UsageError


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
            raise UsageError(f"{str(error).rstrip('.')}.", f"`{self.PROGNAME} --help` lists the options.") from error


def parse_weights(text: str) -> dict[str, float]:
    """`NAME=2, NAME=0` as a mapping; UsageError otherwise."""
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"'{part}' isn't a weight.", 'Write --weights "NAME=2, NAME=0".') from error
    return weights
