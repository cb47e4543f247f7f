"""Sentences on what costs a program most; docs/profile.md has the thresholds with their reasons."""

from collections.abc import Callable, Iterator

from ctm.rtl.dpp.watch import Wait
from ctm.sim.profile.figures import Figures
from ctm.sim.profile.lookups import waiting_lookups
from ctm.sim.profile.profile import ProgramProfile, Statement

IDLE_LANES = 1 / 3
"""Lanes without work, of those that are covered and valid."""
ONE_LINE = 1 / 2
"""Cycles that wavefronts wait for one cause in front of one line, of all their cycles."""
CONSTANTS, CODE, REQUESTS = 1 / 10, 1 / 10, 1 / 5
"""The same for a cause anywhere in the program."""
ONE_REGISTER = 1 / 10
"""The same for lookups that wait for another one to the same register."""
HIDDEN = 1 / 2
"""The same for results and lookups, where more wavefronts would fit if the program needed less."""


def advice(profile: ProgramProfile) -> list[str]:
    """What is worth a look, the most expensive first; nothing if the program does well."""
    return [text for _, text in sorted(_found(profile), key=lambda each: -each[0])]


def _found(profile: ProgramProfile) -> Iterator[tuple[float, str]]:
    figures = profile.figures
    idle = 1 - figures.efficiency
    if idle > IDLE_LANES:
        place, share = _most(profile, lambda each: each.lost)
        yield (
            idle,
            (
                f"{idle:.0%} of the lanes do nothing while others of their wavefront work, {share:.0%} of them at "
                f"{place}: neighbours that branch alike, or a select in place of a branch, keep lanes busy"
            ),
        )
    if not profile.has_cycles:
        return
    # The first says why wavefronts wait at a line.
    yield from list(_one_register(profile, figures)) or _one_line(profile, figures)
    yield from _causes(profile, figures)
    yield from _occupancy(profile, figures)


def _one_line(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    place, of_fetches = _most(profile, lambda each: each.waits_for(Wait.FETCH))
    at_one_line = of_fetches * figures.waits_for(Wait.FETCH) / figures.cost
    if at_one_line > ONE_LINE:
        yield (
            at_one_line,
            (
                f"wavefronts spend {at_one_line:.0%} of their cycles at {place}, where they wait for lookups: more "
                "wavefronts, earlier lookups, or lookups that meet the same lines hide it"
            ),
        )


def _causes(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    for wait, threshold, text in (
        (
            Wait.CONSTANT,
            CONSTANTS,
            "wait for constants: fewer of them stay loaded",
        ),
        (Wait.CODE, CODE, "wait for instructions: a shorter loop, or fewer jumps, stays in the instruction cache"),
        (Wait.REQUEST, REQUESTS, "wait for space towards memory: its bandwidth is what bounds the program"),
    ):
        share = figures.waits_for(wait) / figures.cost
        if share > threshold:
            place, _ = _most(profile, lambda each, wait=wait: each.waits_for(wait))  # type: ignore[misc]
            yield share, f"wavefronts spend {share:.0%} of their cycles, most at {place}, where they {text}"


def _one_register(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    found = list(waiting_lookups(profile.statements))
    share = sum(each.figures.waits_for(Wait.FETCH) for each, _ in found) / figures.cost
    if share > ONE_REGISTER:
        statement, register = max(found, key=lambda each: each[0].figures.waits_for(Wait.FETCH))
        yield (
            share,
            (
                f"wavefronts spend {share:.0%} of their cycles in front of lookups, most at {_place(statement)}, that "
                f"wait for the lookup before them, which writes other channels of r{register}: lookups into registers "
                "of their own run together"
            ),
        )


def _occupancy(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    occupancy = profile.occupancy
    if occupancy is None or occupancy.bound is None or profile.wavefronts <= occupancy.wave_slots:
        return
    bound = occupancy.bound
    share = (figures.waits_for(Wait.RESULT) + figures.waits_for(Wait.FETCH)) / figures.cost
    if share > HIDDEN:
        remedy = f"with {bound.at_most} or less there are more" if bound.at_most else "a core has no more"
        yield (
            share,
            (
                f"{bound.amount} {bound.what} leave {occupancy.wave_slots} of {occupancy.there_are} wave slots, and "
                f"wavefronts spend {share:.0%} of their cycles waiting for results and lookups, which others would "
                f"hide: {remedy}"
            ),
        )


def _place(statement: Statement) -> str:
    return str(statement.line) if statement.line else f"instruction {statement.unit} ({statement.text})"


def _most(profile: ProgramProfile, key: Callable[[Figures], int]) -> tuple[str, float]:
    """The line, or the instruction where lines are not known, with most of a figure; its part of the whole."""
    if profile.lines:
        parts = {str(line): key(figures) for line, figures in profile.lines.items()}
    else:
        parts = {_place(each): key(each.figures) for each in profile.statements}
    place = max(parts, key=lambda each: parts[each])
    whole = key(profile.figures)
    return place, parts[place] / whole if whole else 0.0
