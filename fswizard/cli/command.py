"""What all subcommands share."""

from __future__ import annotations

import difflib
import inspect
import re
from typing import Any

from plumbum import cli
from plumbum.cli import application
from plumbum.cli.application import ShowCompletion, ShowHelp, ShowHelpAll, ShowVersion
from plumbum.cli.switches import SwitchError, UnknownSwitch

import fswizard
from fswizard.errors import UsageError
from fswizard.language import N_, _, shown

HELP_OF_SWITCHES = (
    (cli.Application.help, N_("Prints this help message and quits")),
    (cli.Application.helpall, N_("Prints help messages of all sub-commands and quits")),
    (cli.Application.version, N_("Prints the program's version and quits")),
    (cli.Application.completions, N_("Prints shell completion script and quits")),
)
HELP_WORDS = frozenset(
    (
        N_("Usage:"), N_("Switches"), N_("Meta-switches"), N_("Sub-commands:"),
        N_("; may be given multiple times"), N_("; required"), N_("; requires {0}"), N_("; excludes {0}"),
    )
)  # fmt: skip


def _plumbum_in_readers_language() -> None:
    """Instead of plumbum's own translations: what it prints in a help, and its errors in English, which `_explaining`
    needs."""
    for switch, words in HELP_OF_SWITCHES:
        vars(switch)["_switch_info"].help = _(words)
    for module in (application, cli.switches):
        vars(module)["T_"] = lambda text: _(text) if text in HELP_WORDS else text
        vars(module)["ngettext"] = lambda one, many, count: (one if count == 1 else many).replace("{0}", str(count))


_plumbum_in_readers_language()


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
        first, *more = map(_, paragraphs(cls))
        joined = "\n\n".join(more)
        cls.DESCRIPTION, cls.DESCRIPTION_MORE = first, f"{joined}\n" if more else None

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
            raise UsageError(shown(f"{_in_words(error)}."), self._advice(error)) from error

    def _advice(self, error: SwitchError) -> str:
        known = [f"--{name}" for name in self._switches_by_name if len(name) > 1]
        near = (
            difflib.get_close_matches(str(error).split()[-1], known, 1, 0.75)
            if isinstance(error, UnknownSwitch)
            else []
        )
        if near:
            return _("Did you mean {option}?", option=near[0])
        return _("`{command} --help` lists the options.", command=self.PROGNAME)


def paragraphs(command: type) -> list[str]:
    """The paragraphs of its docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(command.__doc__ or "").split("\n\n")]


_WORDS = (
    (r"Expected at most .*, got \[(.*)\]", r"Too many arguments: \1"),
    (r"Given (\S+), the following are missing \['(.*)'\]", r"\1 takes effect only with --\2"),
    (r"Given (\S+), the following are invalid \['(.*)'\]", r"\1 can't be combined with \2"),
    (r"\bswitch\b", "option"),
    (r"\bSwitch\b", "Option"),
)
"""What plumbum says, and how people say it."""
SAID = (
    N_("Unknown option {option}."),
    N_("Ambiguous partial option {option}."),
    N_("Option {option} requires an argument."),
    N_("Option {option} does not take an argument."),
    N_("Option {option} already given."),
    N_("Option {option} already given ({other} is equivalent)."),
    N_("Option {option} is mandatory."),
    N_("{option} takes effect only with --{other}."),
    N_("{option} can't be combined with {other}."),
    N_("Too many arguments: {arguments}."),
)
"""Which sentences that makes."""


def _in_words(error: SwitchError) -> str:
    text = str(error).rstrip(".")
    for said, words in _WORDS:
        text = re.sub(said, words, text)
    return text


def parse_weights(text: str) -> dict[str, float]:
    """`NAME=2, NAME=0` as a mapping; UsageError otherwise."""
    weights = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, __, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(_("'{text}' isn't a weight.", text=part), _('Write "NAME=2, NAME=0".')) from error
    return weights
