"""The list of candidates as a matrix: a row for each, and a column for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from fswizard.language import N_, _, p_
from fswizard.model.filesystem import Candidate, Feature
from fswizard.model.units import size_text
from fswizard.tui.drawing import cut_among, fit, text, tick

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
}
"""Features by their name in the catalogue, with the word above their column: those that decide most often first."""
FURTHER = {"max-file-size": N_("max file size")}
"""Features without a column."""
NAME = 15
GAP = 2
HEAD = 7
CELLS = 8
"""Cells at least for a column with the room, with how many disks may fail, or with the word beside a row."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a row says besides."""

    ticked: bool = False
    usable: bool = True
    """It can be measured here."""
    suggested: bool = False
    """It suits the disk."""
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """What its columns show; how many there are is a matter of width."""

    among: Sequence[str]
    """Names of the candidates."""
    needs: Sequence[str] = ()
    """Features that a candidate must have: their columns are always shown, and who lacks one is greyed out."""
    members: int = 1
    member_bytes: int = 0
    """Size of the smallest of the disks or images that a candidate may be spread over."""

    def header(self, width: int) -> Content:
        """The names of the columns."""
        name, features, __ = self._widths(width)
        cells = [fit((_("Filesystem") if self.members == 1 else _("Layout"), "$muted"), name)]
        if self.members > 1:
            cells += [
                fit((words, "$muted"), self._number, "right") for words in (p_("space on disks", "Room"), _("May fail"))
            ]
        cells += [text((_(FEATURES[f]), "bold $text-primary" if f in self.needs else "$muted")) for f in features]
        return fit(text(" " * HEAD, Content(" " * GAP).join(cells)), width)

    def row(self, candidate: Candidate, mark: Mark, width: int, on: bool) -> Content:
        """Tick, name, on several disks room and how many may fail, a sign for each feature, and a word beside them."""
        name, features, note = self._widths(width + 1)
        lacks = candidate.lacking(self.needs)
        dim = not mark.usable or bool(lacks)
        cells = [fit((cut_among(candidate.name, self.among, name), "$muted" if dim else "bold"), name)]
        if self.members > 1:
            array = candidate.on(self.members).array
            room = size_text(room_bytes(candidate, self.members, self.member_bytes))
            fail = str(array.survives) if array else p_("disks that may fail", "none")
            cells += [fit((words, "$muted" if dim else ""), self._number, "right") for words in (room, fail)]
        for feature in features:
            glyph, style = feature_sign(candidate.filesystem.feature(feature))
            sign = ("✗", "bold $text-error") if feature in lacks else (glyph, "$muted" if dim else style)
            wide = cell_len(_(FEATURES[feature]))
            cells.append(fit(text(" " * ((wide - 1) // 2), sign), wide))
        word = (_("baseline"), "$text-primary") if mark.baseline else ("" if mark.usable else _("not here"), "$muted")
        star = ("★ " if mark.suggested else "  ", "$text-accent")
        head = text(tick(mark.ticked, enabled=not dim), " ", star)
        return text(head, Content(" " * GAP).join([*cells, fit(word, note)]))

    @property
    def _number(self) -> int:
        return _cells(p_("space on disks", "Room"), _("May fail"))

    def _widths(self, width: int) -> tuple[int, tuple[str, ...], int]:
        """Cells for the name, the features that there is room for, and cells for the word beside them."""
        note = _cells(_("baseline"), _("not here")) if width >= 56 else 0
        name = width // 4 if width >= 100 else NAME
        room = width - HEAD - name - (GAP + note if note else 0) - (2 * (GAP + self._number) if self.members > 1 else 0)
        shown = set()
        for feature in sorted(FEATURES, key=lambda feature: feature not in self.needs):
            room -= GAP + cell_len(_(FEATURES[feature]))
            if room < 0:
                break
            shown.add(feature)
        return name, tuple(feature for feature in FEATURES if feature in shown), note


def _cells(*words: str) -> int:
    return max([CELLS, *map(cell_len, words)])


def feature_sign(feature: Feature | None) -> tuple[str, str]:
    """Glyph and style: offered, offered in part, a figure, or not offered."""
    if feature is None or feature.value == "no":
        return "–", "$muted"
    if feature.present:
        return "✓", "$text-success"
    return ("·", "$muted") if feature.value[:1].isdigit() else ("~", "$text-warning")


def room_bytes(candidate: Candidate, members: int, member_bytes: int) -> int:
    """The room it has, before its own structures."""
    if candidate.array is None:
        return member_bytes
    return candidate.array.layout.usable_bytes(members, member_bytes)
