"""What can go wrong, in words for the user: what happened, and what to do about it."""

from __future__ import annotations

import re
from enum import IntEnum

from fswizard.language import _

_SWITCH_BESIDE = re.compile(r" ?[(（]--[^)）]*[)）]|(?:: |：)--\S+ [^\s。]+(?=[.。])")
_COMMAND = re.compile(r"`[^`-][^`]*`")
_SWITCH = re.compile(r"(?<![\w-])--[a-z]", re.ASCII)
_NEXT_SENTENCE = re.compile(r"(?<=\. )|(?<=。)")
"""In every language that there are translations for."""


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    REFUSED = 3
    MISSING = 4
    PARTIAL = 5
    CANCELLED = 130


class FswizardError(Exception):
    """Something went wrong that the user can understand and act upon."""

    exit_code = ExitCode.RUN_FAILED

    def __init__(self, message: str, hint: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        """What happened, in one sentence."""
        self.hint = hint
        """What the user can do, in one sentence; empty when there is nothing to do."""
        self.details = details
        """The whole output of a program that failed, never a chosen line of it."""

    @property
    def hint_without_switches(self) -> str:
        """The hint without the sentences that name switches, which the wizard does not have."""
        sentences = _NEXT_SENTENCE.split(_SWITCH_BESIDE.sub("", self.hint))
        return "".join(words for words in sentences if not _SWITCH.search(_COMMAND.sub("", words))).rstrip()


class UsageError(FswizardError):
    """The user asked for something that does not exist or does not fit together."""

    exit_code = ExitCode.USAGE


class Refused(FswizardError):
    """It could be done, but somebody might lose data by it."""

    exit_code = ExitCode.REFUSED


class Missing(FswizardError):
    """A program, a kernel feature or a right is missing; the hint says how to get it."""

    exit_code = ExitCode.MISSING


class RunFailed(FswizardError):
    """The run can't continue, through no fault of a candidate."""

    exit_code = ExitCode.RUN_FAILED


class OutOfMemory(RunFailed):
    """A measured program needed more memory than it was given."""

    def __init__(self, program: str, details: str = "") -> None:
        super().__init__(
            _("{program} ran out of memory; no candidate is to blame.", program=program),
            _("Give measured programs more, such as --memory-limit 2G, or no limit: --memory-limit none."),
            details,
        )
