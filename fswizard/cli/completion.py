"""What bash, zsh and fish complete after `fswizard`: subcommands, options, names of recipes, and otherwise files."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from plumbum import cli

from fswizard import recipes

_HIDDEN = {"help", "help-all", "completions", "version"}
"""Switches that plumbum gives every subcommand."""


def script(shell: str, application: type[cli.Application]) -> str:
    """What `shell` reads to complete the command line of `application`."""
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(write(subcommands(application))) + "\n"


def subcommands(application: type[cli.Application]) -> Mapping[str, Any]:
    """Each subcommand by its name."""
    return {name: subcommand.get() for name, subcommand in application("")._subcommands.items()}


def switches(command: Any) -> list[Any]:
    """Those of one subcommand, as plumbum describes them, by their names."""
    known = command("")._switches_by_func.values()
    return sorted((each for each in known if not _HIDDEN & set(each.names)), key=lambda each: each.names[-1])


def flag(name: str) -> str:
    """The name of a switch as it is typed."""
    return f"-{name}" if len(name) == 1 else f"--{name}"


def arguments(command: Any) -> list[str]:
    """What may be completed besides switches and files."""
    takes_recipe = "recipe" in inspect.signature(command.main).parameters
    return [recipe.name for recipe in recipes.available() if recipe.source == recipes.SHIPPED] if takes_recipe else []


def _bash(commands: Mapping[str, Any]) -> Iterator[str]:
    yield "# bash completion for fswizard"
    yield "_fswizard() {"
    yield "    local words"
    yield '    [ "$COMP_CWORD" = 1 ] && set -- "" || set -- "${COMP_WORDS[1]}"'
    yield '    case "$1" in'
    for name, command in commands.items():
        words = [flag(each) for switch in switches(command) for each in switch.names] + arguments(command)
        yield f'    {name}) words="{" ".join(words)}" ;;'
    yield f'    *) words="{" ".join(commands)} --help --version" ;;'
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))'
    yield "}"
    yield "complete -o bashdefault -o default -F _fswizard fswizard"


def _zsh(commands: Mapping[str, Any]) -> Iterator[str]:
    yield "#compdef fswizard"
    yield "if (( CURRENT == 2 )); then"
    described = (shlex.quote(f"{name}:{command.DESCRIPTION}") for name, command in commands.items())
    yield f"    local -a commands=({' '.join(described)})"
    yield "    _describe command commands"
    yield "    return"
    yield "fi"
    yield "shift words"
    yield "(( CURRENT-- ))"
    yield 'case "$words[1]" in'
    for name, command in commands.items():
        specifications = [_zsh_switch(switch, each) for switch in switches(command) for each in switch.names]
        names = arguments(command)
        specifications.append(f"*:recipe:({' '.join(names)})" if names else "*:file:_files")
        yield f"{name}) _arguments {' '.join(map(shlex.quote, specifications))} ;;"
    yield "esac"


def _zsh_switch(switch: Any, name: str) -> str:
    text = (switch.help or "").replace("[", r"\[").replace("]", r"\]")
    value = f":{(switch.argname or 'value').lower()}:_files" if switch.argtype else ""
    return f"{'*' if switch.list else ''}{flag(name)}[{text}]{value}"


def _fish(commands: Mapping[str, Any]) -> Iterator[str]:
    yield "# fish completion for fswizard"
    for name, command in commands.items():
        described = f"-f -a {name} -d {_fish_quoted(command.DESCRIPTION)}"
        yield f"complete -c fswizard -n __fish_use_subcommand {described}"
        start = f"complete -c fswizard -n '__fish_seen_subcommand_from {name}'"
        for switch in switches(command):
            names = " ".join(f"-{'s' if len(each) == 1 else 'l'} {each}" for each in switch.names)
            yield f"{start} {names}{' -r' if switch.argtype else ''} -d {_fish_quoted(switch.help or '')}"
        if names := " ".join(arguments(command)):
            yield f"{start} -a '{names}'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
