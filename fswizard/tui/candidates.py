"""What there is to say about candidates: their filesystems, options and layouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from fswizard.language import N_, _, p_
from fswizard.model.filesystem import Candidate, Feature
from fswizard.model.layout import DEGRADED, Layout
from fswizard.model.option import Option
from fswizard.tui.drawing import Piece, text

if TYPE_CHECKING:
    from fswizard.filesystems import Availability

Pairs = list[tuple[Piece, Piece]]
"""For `Facts`."""
FEATURES = {
    N_("snapshots"): N_("snapshots"),
    N_("checksums"): N_("checksums"),
    N_("compression"): N_("compression"),
    N_("shrink"): N_("shrink"),
    N_("windows"): N_("Windows"),
    N_("repair"): N_("repair"),
    N_("macos"): N_("macOS"),
    N_("reflink"): N_("instant copies"),
    N_("grow"): N_("grow"),
    N_("quotas"): N_("quotas"),
    N_("send-receive"): N_("send"),
    N_("case-insensitive"): N_("any case"),
    "max-file-size": N_("max file size"),
}
"""Words for the catalogue's features: those that decide most often first."""
SIGNS = {"~": "$text-warning", "✓": "$text-success", "–": "$muted"}
"""For a feature that is there in part, in full, or not at all."""
ALONE = N_("Everything on it is lost with it.")
DEGRADED_TEXT = N_("One disk is removed before measuring, to show how the layout performs until you replace it.")


def feature_sign(feature: Feature | None) -> str:
    if feature is None or feature.value == "no":
        return "–"
    return "✓" if feature.present or feature.value[:1].isdigit() else "~"


def about_candidate(candidate: Candidate, state: Availability | None, problem: str, why: str) -> Pairs:
    """What it is, the `problem` with it, `why` it suits the disk, and what its options and features are."""
    filesystem, array = candidate.filesystem, candidate.array
    made_by = ""
    if state and state.version:
        made_by = f"  {filesystem.mkfs_program} {state.version}"
    if state and state.driver:
        made_by += "  " + p_("driver of a filesystem", "through {driver}", driver=state.driver.name)
    pairs: Pairs = []
    if problem:
        pairs.append((("✗", "$text-error"), problem))
    pairs.append(("", text((filesystem.title, "bold"), (made_by, "$muted"), f"\n{_(filesystem.summary)}")))
    if why:
        pairs.append((("★", "$text-accent"), text((_("Suits this disk:"), "bold"), f" {_(why)}")))
    if array and array.layout.alone:
        pairs.append((("·", "$text-primary"), text((f"{array.layout.name}: ", "bold"), _(array.layout.text))))
    for token, option in options_of(candidate).items():
        pairs.append((("·", "$text-primary"), text((f"{token}: ", "bold"), option_words(option))))
    for sign, ink in SIGNS.items():
        features = []
        for feature in filesystem.features:
            if feature_sign(feature) == sign:
                words = _(FEATURES.get(feature.name, feature.name))
                features.append(words if feature.value in ("yes", "no") else f"{words}: {_(feature.value)}")
        if features:
            pairs.append(((sign, ink), (" · ".join(features), "" if sign == "✓" else "$muted")))
    return pairs


# Options


def options_of(candidate: Candidate) -> dict[str, Option]:
    """The options that a candidate has, as they are typed."""
    options = candidate.filesystem.options
    return {token: option for token in candidate.tokens for option in options if option.is_meant_by(token)}


def layout_options(layout: Layout) -> dict[str, Option]:
    """An array or volume, and what can be chosen about it, as it is typed."""
    options = {layout.name: Option(layout.maker, layout.text, source=layout.source)}
    for option in layout.options:
        for value in option.values[1:]:
            name = f"{option.name}={value}"
            options[name] = Option(option.name, option.text, source=option.source)
    if not layout.alone:
        options[DEGRADED] = Option(DEGRADED, DEGRADED_TEXT, source=layout.source)
    return options


def option_words(option: Option) -> Content:
    """What an option does, its risk, what it needs."""
    pieces: list[Piece] = []
    if option.unsafe:
        pieces.append(("⚠ " + _("unsafe: a crash may lose data.") + "  ", "bold $text-error"))
    pieces.append(_(option.text))
    if option.risk:
        pieces.append(("  " + _("Risk: {risk}", risk=_(option.risk)), "$text-warning"))
    if option.needs:
        pieces.append(("  " + _("Needs {needs}.", needs=_(option.needs)), "$muted"))
    return text(*pieces)


def conflicts(option: Option, other: Option) -> bool:
    """Both cannot be ticked."""
    return option.name == other.name or other.name in option.replaces or option.name in other.replaces


def short_name(filesystem: str, below: Sequence[str], options: Sequence[str]) -> str:
    """What people type for a filesystem with options, on an array or volume where `below` begins with one."""
    on_it = f"{filesystem}:{','.join(options)}" if options else filesystem
    if not below:
        return on_it
    if below[0].startswith(f"{filesystem}:"):
        return ",".join((*below, *options))
    return f"{','.join(below)}+{on_it}"


# Layouts over several disks


def room_bytes(candidate: Candidate, members: int, member_bytes: int) -> int:
    """The room it has, before its own structures."""
    if candidate.array is None:
        return member_bytes
    return candidate.array.layout.usable_bytes(members, member_bytes)


def about_layout(candidate: Candidate, members: int) -> Pairs:
    """What it is good for, and what a failed disk does."""
    array = candidate.on(members).array
    title, meaning, failed = _("On the first disk alone"), "", _(ALONE)
    if array:
        title, meaning, failed = _(array.layout.title), _(array.layout.text), _(array.layout.failed)
    pairs: Pairs = [
        ("", text((title, "bold"), f"\n{meaning}".rstrip())),
        (p_("after that", "Then"), failed),
    ]
    if array and array.degraded:
        pairs.append((p_("one disk of an array", "Missing"), _(DEGRADED_TEXT)))
    return pairs


def best_first(candidates: Iterable[Candidate], members: int, member_bytes: int) -> list[str]:
    """What to tick to begin with: one disk alone, and of each maker what leaves most room and lets a disk fail."""
    by_maker: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_maker.setdefault(candidate.array.layout.maker if candidate.array else "", []).append(candidate)
    best = [max(group, key=lambda each: room_bytes(each, members, member_bytes)) for group in by_maker.values()]
    return [candidate.name for candidate in best]
