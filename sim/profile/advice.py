"""Sentences on what costs a program most; docs/profile.md has the thresholds with their reasons."""

from collections.abc import Callable, Iterator

from ctm.rtl.dpp.watch import Wait
from ctm.sim.profile.fetches import serialized_fetches
from ctm.sim.profile.figures import Figures
from ctm.sim.profile.occupancy import CODE_BYTES
from ctm.sim.profile.profile import ProgramProfile, Statement

IDLE_LANES = 1 / 3
"""Lanes without work, of those that are covered and valid."""
FETCHES, CONSTANTS, CODE, REQUESTS = 1 / 2, 1 / 10, 1 / 10, 1 / 5
"""Cycles that wavefronts wait for a cause, of all their cycles."""
ONE_REGISTER = 1 / 10
"""The same for fetches that wait for the one before them, which writes the same register."""
EXPOSED = 1 / 4
"""Cycles in which all wavefronts of a core wait for results and fetches."""
IN_USE = 3 / 4
"""Wave slots in use, of those that a program may use, from which on it has enough wavefronts."""
BANDWIDTH = 4 / 5
"""Bytes that fetches get from memory, of those that it can give."""
MISSED = 1 / 4
"""Lines that fetches did not find in the first level, from which on fewer of them would make a difference."""
CONCENTRATED = 1 / 4
"""Lost lanes of one line, of all of them, from which on it is named alone."""
_TEXT = 60
"""Characters of an instruction."""


def advice(profile: ProgramProfile) -> list[str]:
    """What is worth a look, the most expensive first; nothing if the program does well."""
    return [text for _, text in sorted(_found(profile), key=lambda each: -each[0])]


def _found(profile: ProgramProfile) -> Iterator[tuple[float, str]]:
    figures = profile.figures
    yield from _idle(profile, figures)
    if not profile.has_cycles:
        return
    # The first says why wavefronts wait at a line.
    yield from list(_one_register(profile, figures)) or _fetches(profile, figures)
    yield from _causes(profile, figures)
    yield from _occupancy(profile, figures)


def _idle(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    idle = 1 - figures.efficiency
    if idle <= IDLE_LANES:
        return
    site, share = _most(profile, lambda each: each.lost)
    where = f"{share:.0%} of them at {site}"
    if share < CONCENTRATED:
        sites = [name for name, each in _sites(profile) if each.lost]
        where = f"from {sites[0]} to {sites[-1]}"
    yield (
        idle,
        (
            f"{idle:.0%} of the lanes do nothing while others of their wavefront work, {where}: neighbours that branch "
            "alike, or a select instead of a branch, keep lanes busy"
        ),
    )


def _fetches(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    share, residency = figures.waits_for(Wait.FETCH) / figures.cost, profile.residency
    if share <= FETCHES or residency is None:
        return
    site, of_site = _most(profile, lambda each: each.waits_for(Wait.FETCH))
    waits = f"wavefronts spend {share:.0%} of their cycles waiting for fetches, {of_site:.0%} of that at {site}"
    bandwidth = figures.from_memory / residency.most_from_memory
    if bandwidth > BANDWIDTH:
        yield (
            share,
            (
                f"{waits}, and memory gives {bandwidth:.0%} of the bytes that it can: that bounds the program, and "
                "only fewer or smaller elements help"
            ),
        )
    elif _is_exposed(profile):
        more = "" if _is_in_use(profile) else "more wavefronts in a launch, "
        missed = figures.misses / max(1, figures.hits + figures.misses)
        fewer = ", or fewer lines," if missed > MISSED else ""
        yield (
            share,
            (
                f"{waits}, and too few others work meanwhile; {missed:.0%} of their lines were not in the first level: "
                f"{more}fetches further in front of their use{fewer} would hide it"
            ),
        )


def _causes(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    code = (
        "wait for instructions, which are loaded once: a launch that has more to do hides it"
        if profile.code_fits
        else f"wait for instructions: its code does not stay in {CODE_BYTES >> 10} KiB of instruction cache"
    )
    for wait, threshold, text in (
        (
            Wait.CONSTANT,
            CONSTANTS,
            "wait for constants, of which each line is loaded once: fewer lines, or a launch that has more to do, "
            "hide it",
        ),
        (Wait.CODE, CODE, code),
        (Wait.REQUEST, REQUESTS, "wait for space towards memory: its bandwidth is what bounds the program"),
    ):
        share = figures.waits_for(wait) / figures.cost
        if share > threshold:
            site, _ = _most(profile, lambda each, wait=wait: each.waits_for(wait))  # type: ignore[misc]
            yield share, f"wavefronts spend {share:.0%} of their cycles, most at {site}, where they {text}"


def _one_register(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    found = list(serialized_fetches(profile.statements))
    share = sum(each.figures.waits_for(Wait.FETCH) for each, _ in found) / figures.cost
    if share > ONE_REGISTER:
        statement, register = max(found, key=lambda each: each[0].figures.waits_for(Wait.FETCH))
        yield (
            share,
            (
                f"wavefronts spend {share:.0%} of their cycles in front of fetches, most at {_site(statement)}, that "
                f"wait for the fetch before them, which writes other channels of r{register}: fetches into registers "
                "of their own run together"
            ),
        )


def _occupancy(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    occupancy, residency = profile.occupancy, profile.residency
    if occupancy is None or occupancy.bound is None or residency is None:
        return
    bound = occupancy.bound
    if _is_in_use(profile) and _is_exposed(profile):
        remedy = f"with {bound.at_most} or less there are more" if bound.at_most else "a core has no more"
        yield (
            # It comes before what it is the reason of.
            (figures.waits_for(Wait.RESULT) + figures.waits_for(Wait.FETCH)) / figures.cost,
            (
                f"{bound.amount} {bound.what} leave {occupancy.wave_slots} of {occupancy.there_are} wave slots, and in "
                f"{residency.share_exposed:.0%} of the cycles all wavefronts wait for results and fetches, which "
                f"others would hide: {remedy}"
            ),
        )


def _is_exposed(profile: ProgramProfile) -> bool:
    """Whether cores have nothing to issue for long because all of their wavefronts wait."""
    return profile.residency is not None and profile.residency.share_exposed > EXPOSED


def _is_in_use(profile: ProgramProfile) -> bool:
    """Whether most of the wave slots that the program may use have wavefronts."""
    occupancy, residency = profile.occupancy, profile.residency
    return occupancy is not None and residency is not None and residency.wave_slots > IN_USE * occupancy.wave_slots


def _site(statement: Statement) -> str:
    if statement.line:
        return str(statement.line)
    text = " ".join(statement.text.split())
    return f"instruction {statement.unit} ({text if len(text) <= _TEXT else f'{text[:_TEXT]}...'})"


def _sites(profile: ProgramProfile) -> list[tuple[str, Figures]]:
    """Each line, or each instruction where lines are not known."""
    if profile.lines:
        return [(str(line), each) for line, each in profile.lines.items()]
    return [(_site(each), each.figures) for each in profile.statements]


def _most(profile: ProgramProfile, key: Callable[[Figures], int]) -> tuple[str, float]:
    """The line, or the instruction where lines are not known, with most of a figure; its share of the whole."""
    site, most = max(_sites(profile), key=lambda each: key(each[1]))
    whole = key(profile.figures)
    return site, key(most) / whole if whole else 0.0
