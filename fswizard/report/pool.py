"""Pooled results of several machines as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.language import N_, _, n_, p_, shown
from fswizard.model.analysis import SIGNS, Card, Ratio
from fswizard.model.pool import Group, LeftOut, Pool, Setting, Split
from fswizard.model.text import safe
from fswizard.model.units import binary_text, machines_text, ratio_text
from fswizard.report.document import Answer, Block, Bullets, Facts, Table, Words
from fswizard.report.text import paint

MOST_SPLITS = 12
MOST_NAMES = 3
LONGEST = 36
"""Largest width of a workload's or a disk's name."""


def render(pool: Pool, cards: Sequence[Card]) -> str:
    """In at most 80 columns; `cards` are those of the groups, in order."""
    return paint(tuple(_blocks(pool, cards)))


def _blocks(pool: Pool, cards: Sequence[Card]) -> Iterator[Block]:
    for number, (group, card) in enumerate(zip(pool.groups, cards)):
        if number == 1:
            yield Words((_("Kept apart"), _("These don't belong with the results above.")))
        yield Answer(card.verdict, card.certainty, card.lines)
        yield Facts(tuple(_about(group)))
        if number:
            yield Bullets("", tuple(map(safe, differences(group.setting, pool.groups[0].setting))))
        yield from _tables(group)
    if pool.groups:
        yield Words(tuple(notes(pool)))
    yield Bullets(_("Not pooled"), tuple(left_out_texts(pool.left_out)))


def _about(group: Group) -> Iterator[tuple[str, str]]:
    machines = machines_text(group.machines)
    yield (
        p_("label of results", "Pooled"),
        n_("{count} result of {machines}", "{count} results of {machines}", group.results, machines=machines),
    )
    yield _("Recipe"), safe(f"{_(group.title)} ({group.setting.recipe})")
    yield p_("where, in a list of facts", "Measured"), f"{_place(group.setting)}, {_limit(group.setting)}"
    yield _("Disks"), group.setting.disk.title
    if group.unnamed > 1:
        yield (
            _("Note"),
            n_(
                "{count} result names no machine and counts as one.",
                "{count} results name no machine and count as one.",
                group.unnamed,
            ),
        )


def _place(setting: Setting) -> str:
    match setting.target:
        case "image":
            text = _("in scratch images")
            if setting.size_bytes:
                text = _("in scratch images of {size}", size=binary_text(setting.size_bytes))
        case "device":
            text = _("in disks of their own")
        case "directory":
            text = _("in directories")
    if setting.members > 1:
        text = n_("{place}, {count} each", "{place}, {count} each", setting.members, place=text)
    return text


def _limit(setting: Setting) -> str:
    limit = setting.memory_limit_bytes
    return _("memory limit {size}", size=binary_text(limit)) if limit else _("no memory limit")


def _limit_size(setting: Setting) -> str:
    limit = setting.memory_limit_bytes
    return binary_text(limit) if limit else p_("limit", "none")


def differences(setting: Setting, first: Setting) -> Iterator[str]:
    """Why results are kept apart from those that come first."""
    if setting.digest != first.digest:
        if setting.recipe == first.recipe:
            yield _("Another version of {recipe}, or other weights.", recipe=setting.recipe)
        else:
            yield _("Another recipe: {recipe}.", recipe=setting.recipe)
    if (setting.target, setting.size_bytes, setting.members) != (first.target, first.size_bytes, first.members):
        yield p_("kept apart", "Measured {place}.", place=_place(setting))
    if setting.memory_limit_bytes != first.memory_limit_bytes:
        yield _("Another memory limit: {limit}, not {other}.", limit=_limit_size(setting), other=_limit_size(first))
    if setting.disk != first.disk:
        yield _("Another kind of disk: {disk}.", disk=setting.disk.title)
    one, other = setting.baseline, first.baseline
    if one.name != other.name:
        yield _("Compared with {candidate}, not with {other}.", candidate=one.title, other=other.title)
        return
    if one.made != other.made:
        yield _("{candidate} was formatted or mounted differently.", candidate=one.title)
    if one.direct != other.direct:
        text = N_("On these kernels, direct I/O (O_DIRECT) of {candidate} goes through the machine's memory.")
        if one.direct:
            text = N_("On these kernels, direct I/O (O_DIRECT) of {candidate} goes straight to the disk.")
        yield _(text, candidate=one.title)


def _tables(group: Group) -> Iterator[Table]:
    titles = group.titles
    ahead = {
        a.candidate: p_("machines", "{number} of {count}", number=a.ahead, count=a.machines)
        for a in group.heterogeneity
    }
    compared = [ratio for ratio in group.analysis.overall if ratio.candidate != ratio.baseline]
    overall = tuple((safe(titles[ratio.candidate]), *_cells(ratio), ahead[ratio.candidate]) for ratio in compared)
    title = _("Compared with {candidate}", candidate=safe(group.setting.baseline.title))
    yield Table((_("over all workloads"), *_ratio_header(), _("ahead on")), overall, title)
    for candidate in dict.fromkeys(ratio.candidate for ratio in compared if len(group.workloads) > 1):
        by_name = {ratio.workload: ratio for ratio in group.analysis.by_workload if ratio.candidate == candidate}
        rows = ((safe(_(title)), *_cells(by_name[name])) for name, title in group.workloads.items() if name in by_name)
        yield Table((_("by workload"), *_ratio_header()), tuple(rows), safe(titles[candidate]), longest=LONGEST)
    if splits := group.by_model:
        drawn = splits if len(splits) <= MOST_SPLITS else splits[: MOST_SPLITS - 1]
        hidden = len(splits) - len(drawn)
        more = n_("… and {count} more; --json lists all.", "… and {count} more; --json lists all.", hidden)
        notes = (more,) if hidden else ()
        header = (_("by model"), *_ratio_header(), _("machines"))
        title = safe(titles[compared[0].candidate])
        yield Table(header, tuple(map(_split_row, drawn)), title, notes, longest=LONGEST)


def _ratio_header() -> tuple[str, ...]:
    return _("ratio"), _("interval"), ""


def _split_row(split: Split) -> tuple[str, ...]:
    return (safe(split.model or _("model unknown")), *_cells(split.ratio), str(split.ratio.rounds))


def _cells(ratio: Ratio) -> tuple[str, str, str]:
    """The verdict only where there is an interval: one machine says nothing about others."""
    word = f"{SIGNS[ratio.verdict].glyph} {_(ratio.verdict)}" if ratio.low else ""
    return ratio_text(ratio.ratio), ratio.interval(), word


def notes(pool: Pool) -> Iterator[str]:
    """Explanations of ratios and intervals."""
    yield _(
        "Ratios above 1 are better. An interval covers the mean of all machines like these in 95 % of cases "
        "(random effects, Hartung-Knapp). All results of one machine count as one."
    )
    ratios = [ratio for group in pool.groups for ratio in group.analysis.overall]
    ratios += [split.ratio for group in pool.groups for split in group.by_model]
    if any(ratio.low is None for ratio in ratios):
        yield _("One machine has no interval: it says nothing about others.")


def left_out_texts(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Each reason once, with the results that it keeps out."""
    by_reason: dict[str, list[str]] = {}
    for item in left_out:
        by_reason.setdefault(item.reason, []).append(safe(item.name))
    for reason, names in by_reason.items():
        named = ", ".join(names[:MOST_NAMES])
        if hidden := len(names) - len(names[:MOST_NAMES]):
            named = n_("{names} and {count} more", "{names} and {count} more", hidden, names=named)
        yield f"{named}: {shown(reason)}"
