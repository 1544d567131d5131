"""How candidates are shown and explained: filesystems, their options, and layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from fswizard.filesystems import layouts
from fswizard.language import N_, _, n_, p_, shown
from fswizard.model.filesystem import Candidate, Feature, Filesystem, MkfsOption, MountOption
from fswizard.model.layout import DEGRADED, Array
from fswizard.model.units import size_text
from fswizard.tui.drawing import (
    Piece,
    bullet,
    columns,
    cut,
    facts,
    heading,
    lines,
    text,
    tick,
    wrap,
)
from fswizard.tui.matrix import FEATURES, FURTHER, feature_sign, room_bytes

if TYPE_CHECKING:
    from fswizard.tui.backend import Availability

Option = MountOption | MkfsOption
OPTION_NAME = 20
"""Cells for an option's name, where there is room for more beside it."""
ALONE = N_("Everything on it is lost with it.")
DEGRADED_TEXT = N_("One disk is removed before measuring, to show how the layout performs until you replace it.")


def explain_candidate(
    candidate: Candidate,
    available: Availability | None,
    width: int,
    *,
    refusal: str = "",
    why: str = "",
    brief: bool = False,
) -> Content:
    """What it is, what its options do, what it can, whether it can be made here, and why it suits the disk."""
    filesystem = candidate.filesystem
    rows = [text((filesystem.title, "bold"))]
    if available is not None:
        version = f"  {filesystem.mkfs_program} {available.version}" if available.version else " "
        driver = (
            " " + p_("driver of a filesystem", "through {driver}", driver=available.driver.name)
            if available.driver
            else ""
        )
        rows[0] += text((f" {version}{driver}".rstrip(), "$muted"))
    rows += wrap(_(filesystem.summary), width)
    marked: list[Content] = []
    if available is not None and not available.usable:
        marked.append(
            bullet(("✗", "$text-error"), text(shown(available.reason), " ", (shown(available.hint), "$muted")), width)
        )
    if refusal:
        marked.append(bullet(("✗", "$text-error"), refusal, width))
    if why:
        marked.append(bullet(("★", "$text-accent"), text((f"{_('Suits this disk:')} ", "bold"), shown(why)), width))
    for each in marked:
        rows += [each] if brief else [Content(""), each]
    options = [
        bullet((name, "bold $text-primary"), option_words(option), width) for name, option in options_of(candidate)
    ]
    if candidate.array and candidate.array.layout.alone:
        options.insert(
            0, bullet((candidate.array.layout.name, "bold $text-primary"), candidate.array.layout.text, width)
        )
    if options and not brief:
        rows += [Content(""), heading(_("Options"), width)]
    rows += options
    if not brief:
        rows += [Content(""), heading(_("Features"), width), _feature_table(filesystem, width)]
    elif partly := [feature for feature in filesystem.features if feature_sign(feature)[0] == "~"]:
        words = "; ".join(f"{_shown(feature)}: {_(feature.value)}" for feature in partly)
        rows.append(bullet(("~", "$text-warning"), text((words, "$muted")), width))
    return lines(rows)


def reasons_list(reasons: Mapping[str, str], width: int) -> Content:
    """Candidates that suit a disk, each with why."""
    parts = (
        lines((text((cut(name, width), "bold")), *wrap((shown(why), "$muted"), width))) for name, why in reasons.items()
    )
    return Content("\n\n").join(parts)


def _shown(feature: Feature) -> str:
    return _((FEATURES | FURTHER).get(feature.name, feature.name))


def _feature_table(filesystem: Filesystem, width: int) -> Content:
    """In two columns, what fits into them; the others below, each on lines of its own."""
    half = (width - 1) // 2
    short: list[Content] = []
    long: list[Content] = []
    for feature in filesystem.features:
        glyph, style = feature_sign(feature)
        value = "" if feature.value in ("yes", "no") else f": {_(feature.value)}"
        words = text((_shown(feature), "" if feature.value != "no" else "$muted"), (value, "$muted"))
        cell = bullet((glyph, style), words, width)
        (short if cell.cell_length <= half else long).append(cell)
    rows = [columns(short[i : i + 2], (half, half), gap=1) for i in range(0, len(short), 2)]
    return lines([*rows, *long])


def options_of(candidate: Candidate) -> list[tuple[str, Option]]:
    """The options that a candidate carries, with what the catalogue knows of them."""
    carried: list[tuple[str, Option]] = []
    for token in candidate.mount_options:
        meant = (option for option in candidate.filesystem.mount_options if option.is_meant_by(token))
        carried += [(token, option) for option in meant]
    return carried + [(option.token, option) for option in candidate.mkfs_options]


def option_words(option: Option) -> Content:
    """What an option does, its risk, what it needs."""
    pieces: list[Piece] = (
        [("⚠ " + _("unsafe: a crash may lose data.") + "  ", "bold $text-error")] if option.unsafe else []
    )
    pieces.append(_(option.text))
    if option.risk:
        pieces.append(("  " + _("Risk: {risk}", risk=_(option.risk)), "$text-warning"))
    if option.needs:
        pieces.append(("  " + _("Needs {needs}.", needs=_(option.needs)), "$muted"))
    return text(*pieces)


def option_tokens(filesystem: Filesystem) -> list[tuple[str, Option]]:
    """Every choice that an options window offers: mount options with each value worth comparing, mkfs options."""
    return [(token, option) for option in filesystem.options for token in option.tokens]


def kind_of(option: Option, filesystem: Filesystem) -> str:
    """Who takes an option of a filesystem."""
    if filesystem.pool:
        return "zpool"
    return "mkfs" if isinstance(option, MkfsOption) else "mount"


def option_row(token: str, option: Option, kind: str, width: int, on: bool, *, ticked: bool) -> Content:
    """Tick, name as it is typed, what it does, who takes it, and a mark where it is unsafe."""
    unsafe = text((f"⚠ {_('unsafe')}  ", "bold $text-error")) if option.unsafe else Content("")
    name = min(OPTION_NAME, max(8, width - 3 - 8 - 5 - 6))
    words = max(8, width - 3 - name - 5 - 7)
    meaning = text(unsafe, (cut(_(option.text), max(0, words - unsafe.cell_length)), "$muted"))
    return columns((tick(ticked), (cut(token, name), "bold"), meaning, (kind, "$muted")), (3, name, words, 5))


def conflicts(option: Option, other: Option) -> bool:
    """Both cannot be ticked."""
    return option.name == other.name or other.name in option.replaces or option.name in other.replaces


def need_table(candidates: Sequence[Candidate], need: str, width: int, *, brief: bool = False) -> Content:
    """Which of the candidates have a feature, and how far it goes."""
    rows = []
    for candidate in candidates:
        feature = candidate.filesystem.feature(need)
        value, words = (feature.value, "" if brief else _(feature.text)) if feature else ("no", "")
        glyph, style = ("✓", "$text-success") if value == "yes" else ("✗", "$text-error")
        rows.append((candidate.name, text((f"{glyph} ", style), _(value), (f"  {words}", "$muted"))))
    longest = max((cell_len(name) for name, __ in rows), default=0)
    return facts(rows, width, label=min(longest + 2, width // 3), gap=False)


# Layouts over several disks


def explain_layout(candidate: Candidate, members: int, member_bytes: int, width: int) -> Content:
    """What it is good for, its room, what it survives, and what a failed disk does."""
    array = candidate.on(members).array
    room = p_(
        "space on disks",
        "{room} of {size}",
        room=size_text(room_bytes(candidate, members, member_bytes)),
        size=size_text(members * member_bytes),
    )
    if array is None:
        pairs = [
            (p_("space on disks", "Room"), room),
            (_("May fail"), _("no disk")),
            (p_("after that", "Then"), _(ALONE)),
        ]
        return lines([text((_("On the first disk alone"), "bold")), facts(pairs, width, label=10, gap=False)])
    pairs = [(p_("space on disks", "Room"), room), (_("May fail"), _failing(array))]
    pairs.append((p_("after that", "Then"), _(array.layout.failed)))
    if array.degraded:
        pairs.append((p_("one disk of an array", "Missing"), _(DEGRADED_TEXT)))
    rows = [text((_(array.layout.title), "bold")), *wrap(_(array.layout.text), width)]
    return lines([*rows, facts(pairs, width, label=10, gap=False)])


def _failing(array: Array) -> str:
    """How many disks may fail."""
    if array.survives <= 0:
        return _("no more disk") if array.degraded else _("no disk")
    if array.degraded:
        return n_("any {count} more disk", "any {count} more disks", array.survives)
    return n_("any {count} disk", "any {count} disks", array.survives)


def layout_tokens(array: Array | None) -> dict[str, MkfsOption]:
    """What can be chosen about an array or volume, as it is typed, beside the filesystem's own options."""
    if array is None:
        return {}
    tokens = {
        f"{option.name}={value}": MkfsOption(option.name, option.flag, value, option.text, source=option.source)
        for option in array.layout.options
        for value in option.values[1:]
    }
    if array.layout.alone:
        return tokens
    tokens[DEGRADED] = MkfsOption(DEGRADED, "", "", DEGRADED_TEXT, unsafe=False, source=array.layout.source)
    return tokens


def volume_tokens(filesystem: Filesystem) -> dict[str, MkfsOption]:
    """What the filesystem can be laid on where there is one disk, as it is typed."""
    return {
        layout.name: MkfsOption(layout.name, "", "", layout.text, source=layout.source)
        for layout in layouts().values()
        if layout.alone and not filesystem.pool
    }


def chosen_tokens(array: Array | None) -> set[str]:
    """Those of `layout_tokens` and `volume_tokens` that an array or volume has."""
    if array is None:
        return set()
    chosen = {array.layout.name} if array.layout.alone else set()
    chosen |= {f"{name}={value}" for name, value in array.options.items()}
    return chosen | ({DEGRADED} if array.degraded else set())


def short_name(filesystem: str, array: Array | None, layout_words: Sequence[str], options: Sequence[str]) -> str:
    """What people type for a filesystem with options on an array or volume with words of its own."""
    on_it = filesystem + (":" + ",".join(options) if options else "")
    if array is None:
        return on_it
    if array.layout.program:
        return f"{','.join((array.layout.name, *layout_words))}+{on_it}"
    return f"{filesystem}:{','.join([array.layout.word, *layout_words, *options])}"


def best_first(candidates: Sequence[Candidate], members: int, member_bytes: int) -> list[str]:
    """What to tick to begin with: one disk alone, and of each maker what leaves most room and lets a disk fail."""
    chosen: dict[str, Candidate] = {}
    for candidate in candidates:
        maker = candidate.array.layout.maker if candidate.array else ""
        best = chosen.get(maker)
        room = room_bytes(candidate, members, member_bytes)
        if best is None or room > room_bytes(best, members, member_bytes):
            chosen[maker] = candidate
    return [candidate.name for candidate in chosen.values()]
