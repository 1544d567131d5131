"""How candidates, filesystems and options are shown and explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from fswizard.model.filesystem import Candidate, Feature, Filesystem, MkfsOption, MountOption
from fswizard.tui.drawing import Piece, bullet, columns, cut, facts, fit, heading, lines, text, tick, wrap
from fswizard.tui.widgets.choice_list import Draw

if TYPE_CHECKING:
    from fswizard.filesystems import Availability

SHOWN = ("checksums", "snapshots", "compression", "shrink")
"""Features that stand in the list; the others stand beside it."""

Option = MountOption | MkfsOption
OPTION_NAME = 20
"""Cells for an option's name, where there is room for more beside it."""


def candidate_row(candidate: Candidate, *, ticked: bool, usable: bool, note: str, baseline: bool) -> Draw:
    """Tick, name, features, and a word on why it is in the list."""

    def draw(width: int, on: bool) -> Content:
        word = 10 if width >= 40 else 0
        room = width - 5 - (word + 2 if word else 0)
        shown = _fitting(room - 28)
        name = room - sum(len(feature) + 4 for feature in shown)
        mark = text(("▌" if on else " ", "$primary"), tick(ticked, enabled=usable), " ")
        remark = ("baseline", "$primary") if baseline else (note, "$muted")
        return text(
            mark,
            fit((cut(candidate.name, name - 1), "bold" if usable else "$faint"), name),
            _features(candidate.filesystem, shown, usable),
            ("  ", ""),
            fit(remark, word) if word else "",
        )

    return draw


def _fitting(room: int) -> tuple[str, ...]:
    """As many of the features as there is room for."""
    count = 0
    while count < len(SHOWN) and sum(len(name) + 4 for name in SHOWN[: count + 1]) <= room:
        count += 1
    return SHOWN[:count]


def _features(filesystem: Filesystem, shown: Sequence[str], usable: bool) -> Content:
    pieces = []
    for name in shown:
        feature = filesystem.feature(name)
        value = feature.value if feature else "no"
        glyph = "✓" if value == "yes" else "–" if value == "no" else "~"
        style = ("" if value == "yes" else "$faint") if usable else "$faint"
        pieces.append(text((f"{glyph} ", "$success" if value == "yes" and usable else "$faint"), (f"{name}  ", style)))
    return Content("").join(pieces)


def explain_candidate(
    candidate: Candidate, available: Availability | None, reason: str, width: int, *, brief: bool = False
) -> Content:
    """What it is, what its options do, what it can, and whether it can be made here."""
    filesystem = candidate.filesystem
    rows = [text((filesystem.title, "bold"), ("   " + _version(filesystem, available), "$muted"))]
    rows += wrap(filesystem.summary, width)
    if available is not None and not available.usable:
        rows += [Content(""), bullet(("✗", "$error"), text(available.reason, " ", (available.hint, "$muted")), width)]
    if reason:
        rows += [Content(""), bullet(("★", "$accent"), reason, width)]
    chosen = options_of(candidate)
    if chosen:
        rows += [Content("") if brief else text("\n", heading("Options", width))]
        for name, option in chosen:
            rows.append(bullet((name, "bold $primary"), option_words(option), width))
    if not brief:
        rows += [Content(""), heading("Features", width), _feature_table(filesystem, width)]
    return lines(rows)


def _version(filesystem: Filesystem, available: Availability | None) -> str:
    if available is None:
        return ""
    version = f"{filesystem.mkfs_program} {available.version}" if available.version else ""
    driver = f"through {available.driver.name}" if available.driver else ""
    return " ".join(part for part in (version, driver) if part)


def _feature_table(filesystem: Filesystem, width: int) -> Content:
    cells = []
    across = 2 if width >= 37 else 1
    half = (width - 1) // 2 if across == 2 else width
    for feature in filesystem.features:
        glyph, style = _mark(feature)
        value = "" if feature.value in ("yes", "no") else f": {feature.value}"
        words = text((feature.name, "" if feature.value != "no" else "$muted"), (value, "$muted"))
        cells.append(fit(text((f"{glyph} ", style), words), half))
    rows = [Content(" ").join(cells[i : i + across]) for i in range(0, len(cells), across)]
    return lines(rows)


def _mark(feature: Feature) -> tuple[str, str]:
    if feature.present:
        return "✓", "$success"
    if feature.value == "no":
        return "–", "$faint"
    return ("·", "$faint") if feature.value[:1].isdigit() else ("~", "$warning")


def options_of(candidate: Candidate) -> list[tuple[str, Option]]:
    """The options that a candidate carries, with what the catalogue knows of them."""
    found: list[tuple[str, Option]] = []
    for token in candidate.mount_options:
        meant = (option for option in candidate.filesystem.mount_options if option.is_meant_by(token))
        found += [(token, option) for option in meant]
    return found + [(option.name, option) for option in candidate.mkfs_options]


def option_words(option: Option) -> Content:
    """What an option does, its risk, what it needs."""
    pieces: list[Piece] = [("⚠ unsafe: a crash may lose data.  ", "bold $error")] if option.unsafe else []
    pieces.append(option.text)
    if option.risk:
        pieces.append((f"  Risk: {option.risk}", "$warning"))
    if option.needs:
        pieces.append((f"  Needs {option.needs}.", "$muted"))
    return text(*pieces)


def option_tokens(filesystem: Filesystem) -> list[tuple[str, Option]]:
    """Every choice that an options window offers: mount options with each value worth comparing, mkfs options."""
    tokens: list[tuple[str, Option]] = []
    for option in filesystem.mount_options:
        tokens += [(f"{option.name}={value}", option) for value in option.values] or (
            [] if option.pattern else [(option.name, option)]
        )
    return tokens + [(option.name, option) for option in filesystem.mkfs_options]


def option_row(token: str, option: Option, ticked: bool, *, of_layout: bool = False, of_pool: bool = False) -> Draw:
    """Tick, name as it is typed, what it does, when it acts, and a mark where it is unsafe."""

    def draw(width: int, on: bool) -> Content:
        kind = "array" if of_layout else "zpool" if of_pool else "mkfs" if isinstance(option, MkfsOption) else "mount"
        unsafe = text(("⚠ unsafe  ", "bold $error")) if option.unsafe else Content("")
        mark = text(("▌" if on else " ", "$primary"), tick(ticked))
        name = min(OPTION_NAME, max(8, width - 4 - 8 - 5 - 6))
        words = max(8, width - 4 - name - 5 - 7)
        meaning = text(unsafe, (cut(option.text, max(0, words - unsafe.cell_length)), "$muted"))
        return columns((mark, (cut(token, name), "bold"), meaning, (kind, "$muted")), (4, name, words, 5))

    return draw


def conflicts(option: Option, other: Option) -> bool:
    """Both cannot be ticked."""
    return option.name == other.name or other.name in option.replaces or option.name in other.replaces


def need_table(candidates: Sequence[Candidate], need: str, width: int) -> Content:
    """Which of the candidates have a feature."""
    rows = []
    for candidate in candidates:
        feature = candidate.filesystem.feature(need)
        value = feature.value if feature else "no"
        glyph, style = ("✓", "$success") if value == "yes" else ("✗", "$error")
        rows.append((candidate.name, text((f"{glyph} ", style), value)))
    longest = max((cell_len(name) for name, _ in rows), default=0)
    return facts(rows, width, label=min(longest + 2, width // 3), gap=False)
