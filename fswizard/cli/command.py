"""Base class of all subcommands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from plumbum import cli
from plumbum.cli.application import ShowCompletion, ShowHelp, ShowHelpAll, ShowVersion
from plumbum.cli.switches import SwitchError

import fswizard
from fswizard.errors import UsageError
from fswizard.language import _


class SystemRefused(Exception):
    """Carries an OSError past plumbum, which turns some of them into a silent exit code."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


class Command(cli.Application):
    """A subcommand with ordinary errors for wrong usage: on stderr, with exit code 2."""

    VERSION = fswizard.__version__
    SUBCOMMAND_HELPMSG = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Translate the docstring; its first paragraph is shown in the list of subcommands."""
        super().__init_subclass__(**arguments)
        first, *more = map(_, paragraphs(cls))
        cls.DESCRIPTION = first
        cls.DESCRIPTION_MORE = "".join(f"{paragraph}\n\n" for paragraph in more) or None

    def _parse_args(self, argv: list[str]) -> Any:
        with self._usage_checked():
            return super()._parse_args(argv)

    def _validate_args(self, *arguments: Any) -> Any:
        with self._usage_checked():
            return super()._validate_args(*arguments)

    def _parse_and_dispatch(self, argv: list[str]) -> Any:
        try:
            return super()._parse_and_dispatch(argv)
        except OSError as error:
            raise SystemRefused(error) from error

    @contextmanager
    def _usage_checked(self) -> Iterator[None]:
        try:
            yield
        except (ShowHelp, ShowHelpAll, ShowVersion, ShowCompletion):
            raise
        except SwitchError as error:
            hint = _("`{command} --help` lists the options.", command=self.PROGNAME)
            raise UsageError(f"{error}.", hint) from error


def paragraphs(command: type) -> list[str]:
    """The paragraphs of its docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(command.__doc__ or "").split("\n\n")]
