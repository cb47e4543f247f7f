"""What a file of a sweep may contain. Paths are relative to the file."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.engines.choice import ENGINES, REMOVED
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.jobs.schema import FileName
from ctm.sim.jobs.takes import any_array, section, sections, shown
from ctm.sim.runtime.device import MOST_WATCHDOG, WATCHDOG
from ctm.sim.sweep.names import unknown

_MOST_VALUES = 10_000
"""Of one range: more is likely a slip."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Range(_Section):
    """Whole numbers from `first` to `last`, which is included if it is reached: each `step` more, or `factor` times."""

    first: StrictInt
    last: StrictInt
    step: Annotated[StrictInt, Field(ge=1)] | None = None
    factor: Annotated[StrictInt, Field(ge=2)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.step is None) == (self.factor is None):
            raise ValueError("a range has either step or factor")
        if self.last < self.first:
            raise ValueError(f"a range goes up: last {self.last} is less than first {self.first}")
        if self.factor is not None and self.first < 1:
            raise ValueError(f"a range with factor begins at 1 at least, not at {self.first}")
        if self.step is not None and (self.last - self.first) // self.step >= _MOST_VALUES:
            raise ValueError(f"a range has {_MOST_VALUES} values at most")
        return self

    @property
    def values(self) -> tuple[int, ...]:
        """All of them."""
        if self.step is not None:
            return tuple(range(self.first, self.last + 1, self.step))
        found, factor = [self.first], self.factor or 2
        while found[-1] * factor <= self.last:
            found.append(found[-1] * factor)
        return tuple(found)


def _is_value(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def values_of(value: object) -> tuple[int | str, ...]:
    """The values that a setting takes one after the other: one, an array, or a range; ValueError: they are none."""
    if isinstance(value, dict):
        return Range.model_validate(value).values
    values = value if isinstance(value, list) else [value]
    if not values or not all(map(_is_value, values)):
        what = "a whole number, a name, an array of these, or a range {first = 1, last = 8, factor = 2}"
        raise ValueError(f"takes {what}, not {shown(value)}")
    return tuple(values)


def _list(value: object) -> object:
    """One name is an array of one."""
    return [value] if isinstance(value, str) else value


def _presets(value: object) -> object:
    for name in value if isinstance(value, list) else [value]:
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(unknown("preset", name, PRESETS))
    return _list(value)


def _engines(value: object) -> object:
    known = [name for name in ENGINES if name != SerialEngine.name]
    for name in value if isinstance(value, list) else [value]:
        if name == SerialEngine.name:
            raise ValueError("engine 'serial' has one board, and a sweep many machines; write 'rtl'")
        if isinstance(name, str) and name in REMOVED:
            raise ValueError(f"engine '{name}' was removed: {REMOVED[name]}")
        if name not in known:
            raise ValueError(unknown("engine", name, known))
    return _list(value)


Names = Annotated[tuple[StrictStr, ...], BeforeValidator(_list), Field(min_length=1)]
Extent = Annotated[StrictInt, Field(ge=1, le=COORDINATE_LIMIT)]


def _size(value: object) -> object:
    """A number is the side of a square."""
    if isinstance(value, list) and len(value) != 2:
        raise ValueError(f"takes a number or two numbers [height, width], not {shown(value)}")
    return value if isinstance(value, list) else [value, value]


Size = Annotated[tuple[Extent, Extent], BeforeValidator(_size)]


class Configurations(_Section):
    """Machines: each preset, with each combination of the sets and of the values of settings."""

    preset: Annotated[tuple[StrictStr, ...], BeforeValidator(_presets), Field(min_length=1)]
    sets: Annotated[tuple[StrictStr, ...], BeforeValidator(_list)] = ()
    settings: Annotated[dict[str, Any], section("configurations.settings")] = {}
    """Values by dotted names, whose sections may be tables; checked where the settings are known."""


class SweptJob(_Section):
    """A job, under a name of its own, over each of the sizes of its domain; as it is if there are none."""

    file: FileName
    name: StrictStr | None = None
    sizes: Annotated[tuple[Size, ...] | None, any_array("numbers, or pairs [height, width]"), Field(min_length=1)] = (
        None
    )


class Sweep(_Section):
    """Configurations, jobs and engines whose combinations are the points.

    `leave_out` are conditions: a point is left out if all keys of one of them hold. `impossible` says what becomes of
    combinations that are no machine, or whose machine does not run the job's programs.
    """

    configurations: Annotated[tuple[Configurations, ...], sections("configurations"), Field(min_length=1)]
    jobs: Annotated[tuple[SweptJob, ...], sections("jobs"), Field(min_length=1)]
    engines: Annotated[Names, BeforeValidator(_engines)] = ("rtl",)
    sets: Annotated[dict[str, dict[str, dict[str, Any]]], section("sets")] = {}
    leave_out: Annotated[tuple[dict[str, Any], ...], sections("leave_out")] = ()
    impossible: Literal["error", "leave out"] = "error"
    area: StrictBool = False
    watchdog: Annotated[StrictInt, Field(ge=0, le=MOST_WATCHDOG)] = WATCHDOG
    max_cycles: Annotated[StrictInt, Field(ge=1)] | None = None


SECTIONS: dict[str, type[BaseModel]] = {"configurations": Configurations, "jobs": SweptJob}
"""Sections by their names."""
