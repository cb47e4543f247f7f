"""Sentences on what costs a program most; docs/profile.md has the thresholds with their reasons."""

from collections.abc import Callable, Iterator

from ctm.rtl.dpp.watch import Wait
from ctm.sim.profile.figures import Figures
from ctm.sim.profile.profile import ProgramProfile

IDLE_LANES = 1 / 3
"""Lanes without work, of those that are covered and valid."""
ONE_LINE = 1 / 2
"""Cycles that wavefronts wait for one cause in front of one line, of all their cycles."""
CONSTANTS, CODE, REQUESTS = 1 / 10, 1 / 10, 1 / 5
"""The same for a cause anywhere in the program."""


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
    yield from _waits(profile, figures)


def _waits(profile: ProgramProfile, figures: Figures) -> Iterator[tuple[float, str]]:
    def share(wait: Wait) -> float:
        return figures.waits_for(wait) / figures.cost

    place, of_fetches = _most(profile, lambda each: each.waits_for(Wait.FETCH))
    at_one_line = share(Wait.FETCH) * of_fetches
    if at_one_line > ONE_LINE:
        yield (
            at_one_line,
            (
                f"wavefronts spend {at_one_line:.0%} of their cycles at {place}, where they wait for lookups: more "
                "wavefronts, earlier lookups, or lookups that meet the same lines hide it"
            ),
        )
    for wait, threshold, text in (
        (
            Wait.CONSTANT,
            CONSTANTS,
            "wait for constants: fewer of them stay loaded",
        ),
        (Wait.CODE, CODE, "wait for instructions: a shorter loop, or fewer jumps, stays in the instruction cache"),
        (Wait.REQUEST, REQUESTS, "wait for space towards memory: its bandwidth is what bounds the program"),
    ):
        if share(wait) > threshold:
            place, _ = _most(profile, lambda each, wait=wait: each.waits_for(wait))  # type: ignore[misc]
            yield share(wait), f"wavefronts spend {share(wait):.0%} of their cycles, most at {place}, where they {text}"


def _most(profile: ProgramProfile, key: Callable[[Figures], int]) -> tuple[str, float]:
    """The line, or the instruction where lines are not known, with most of a figure; its part of the whole."""
    if profile.lines:
        parts = {str(line): key(figures) for line, figures in profile.lines.items()}
    else:
        parts = {f"instruction {each.unit} ({each.text})": key(each.figures) for each in profile.statements}
    place = max(parts, key=lambda each: parts[each])
    whole = key(profile.figures)
    return place, parts[place] / whole if whole else 0.0
