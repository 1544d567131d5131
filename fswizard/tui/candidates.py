"""Texts about candidates: their filesystems, options and layouts."""

from __future__ import annotations

from textual.content import Content

from fswizard.language import _
from fswizard.model.filesystem import Candidate, Feature
from fswizard.model.needs import feature_noun
from fswizard.model.option import Option
from fswizard.tui.drawing import Pairs, Piece, text

SIGNS = {"~": "$text-warning", "✓": "$text-success", "–": "$muted"}
"""Styles of the signs for features that are present partly, fully, or not at all."""


def feature_sign(feature: Feature | None) -> str:
    if feature is None or feature.value == "no":
        return "–"
    return "✓" if feature.present or feature.value[:1].isdigit() else "~"


def about_candidate(candidate: Candidate, problem: str, why: str) -> Pairs:
    """Description of a candidate, the `problem` with it, `why` it suits the disk, and its options and features."""
    filesystem, array = candidate.filesystem, candidate.array
    pairs: Pairs = []
    if problem:
        pairs.append((("✗", "$text-error"), problem))
    pairs.append(("", text((filesystem.title, "bold"), f"\n{_(filesystem.summary)}")))
    if why:
        pairs.append((("★", "$text-accent"), text((_("Suits this disk:"), "bold"), f" {_(why)}")))
    if array:
        name, meaning, failed = array.layout.name, _(array.layout.text), _(array.layout.failed)
        pairs.append((("·", "$text-primary"), text((f"{name}: ", "bold"), f"{meaning} {failed}")))
    for token, option in options_of(candidate).items():
        pairs.append((("·", "$text-primary"), text((f"{token}: ", "bold"), option_text(option))))
    for sign, ink in SIGNS.items():
        features = []
        for feature in filesystem.features:
            if feature_sign(feature) == sign:
                message = _("max file size") if feature.name == "max-file-size" else feature_noun(feature.name)
                features.append(message if feature.value in ("yes", "no") else f"{message}: {_(feature.value)}")
        if features:
            pairs.append(((sign, ink), (" · ".join(features), "" if sign == "✓" else "$muted")))
    return pairs


# Options


def options_of(candidate: Candidate) -> dict[str, Option]:
    """The options of a candidate, by their token."""
    options = candidate.filesystem.options
    return {token: option for token in candidate.tokens for option in options if option.is_meant_by(token)}


def option_text(option: Option) -> Content:
    """What an option does, its risk, and its requirements."""
    pieces: list[Piece] = []
    if option.unsafe:
        pieces.append(("⚠ " + _("unsafe: a crash may lose data.") + "  ", "bold $text-error"))
    pieces.append(_(option.text))
    if option.risk:
        pieces.append(("  " + _("Risk: {risk}", risk=_(option.risk)), "$text-warning"))
    if option.needs:
        pieces.append(("  " + _("Needs {needs}.", needs=_(option.needs)), "$muted"))
    return text(*pieces)


# Layouts over several disks


def room_bytes(candidate: Candidate, members: int, member_bytes: int) -> int:
    """Space before the filesystem's structures."""
    if candidate.array is None:
        return member_bytes
    return candidate.array.layout.usable_bytes(members, member_bytes)
