"""The conditional test of a launch: what decided that a pixel runs, or that what it leaves is stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.debug.stopping.stores import Area, element_of
from ctm.sim.golden.dpp.batch import Integers
from ctm.sim.golden.dpp.launch import Launch

_VALUES = (0.0, 0.25, 0.5, 1.0, -1.0, 3.0e38, -3.0e38, float("nan"))
"""Conditional values, among which are some on each side of any other one."""
_ELEMENTS = (0x00, 0xFF, 0x3F, 0xBF, 0x7F)
"""Bytes of which other elements of the buffer are made: as floats these are a zero, a NaN, and numbers."""

Pair = tuple[Integers, Integers]


@dataclass(frozen=True)
class Condition:
    """The test of one pixel: whether it `passed`, its conditional value, and the element that it looked at.

    An element that is not known any more is None: the test itself wrote it. `by_value` and `by_element`: with another
    one it would have been decided otherwise.
    """

    launch: Launch[Any]
    coordinates: tuple[int, int]
    value: np.float32
    element: float | None
    passed: bool
    by_value: bool
    by_element: bool

    @property
    def is_after(self) -> bool:
        """Whether it is made after the program."""
        return self.launch.conditional.location is ConditionalLocation.DPP

    def rows(self) -> Iterator[str]:
        """What it was decided by, as a line, if it was."""
        if not (self.by_value or self.by_element):
            return
        what = "what the program leaves is stored" if self.is_after else "the pixel runs"
        name = "conditional" if self.is_after and self.launch.program.conditional_from_program else "the set value"
        element = "what the test wrote over" if self.element is None else f"{self.element:.9g}"
        causes = [f"{name} = {self.value:.9g}"] * self.by_value
        causes += [f"the conditional buffer's {self.coordinates} = {element}"] * self.by_element
        decided = "passes" if self.passed else "fails"
        test = self.launch.conditional.test.name
        yield f"{what} if the test {test} passes; it {decided} by {', '.join(causes)}"


def condition_of(launch: Launch[Any], coordinates: tuple[int, int], value: np.float32) -> Condition | None:
    """The test of a pixel with memory as it was before it; None where there is none."""
    unit = launch.conditional
    if unit.passes_all:
        return None
    x, y = np.array(coordinates[:1]), np.array(coordinates[1:])

    def passes(tried: Any) -> bool:
        return bool(unit.decide(launch.memory, x, y, np.array([tried], np.float32))[0][0])

    # A test at the PE is made before the launch is there.
    is_after = unit.location is ConditionalLocation.DPP
    is_kept = is_after or not unit.may_write_buffer
    passed = passes(value) if is_after else True
    area = element_of(unit.buffer, *coordinates) if unit.reads_buffer else None
    if area is None:
        return Condition(launch, coordinates, value, None, passed, by_value=False, by_element=False)
    element = _element(launch, area) if is_kept else None
    by_value = element is None or any(passes(tried) != passed for tried in (*_VALUES, element))
    by_element = element is None or any(passes(value) != passed for _ in _with_others(launch, area, (x, y), value))
    return Condition(launch, coordinates, value, element, passed, by_value=by_value, by_element=by_element)


def _with_others(launch: Launch[Any], area: Area, coordinates: Pair, value: np.float32) -> Iterator[None]:
    """For each of some other elements, among them one like the value, while it is there."""
    space = launch.memory.bytes[area.first : area.end]
    was = space.copy()
    try:
        for byte in _ELEMENTS:
            space[:] = byte
            yield
        launch.conditional.store(launch.memory, *coordinates, np.array([value]))
        yield
    finally:
        space[:] = was


def _element(launch: Launch[Any], area: Area) -> float:
    buffer, at = launch.conditional.buffer, launch.memory.bytes[area.first : area.end]
    if buffer.element.is_float:
        return float(at.view(np.float32)[0])
    # A fraction of the largest integer.
    return float(at.view(np.uint16)[0]) / np.iinfo(np.uint16).max
