"""Conditions that leave points out: tables of which every key has to hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

from ctm.rtl.config import TEXT_SETTINGS
from ctm.sim.jobs.takes import shown
from ctm.sim.sweep.names import unknown
from ctm.sim.sweep.settings import SETTINGS, named

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"above": gt, "below": lt, "at_least": ge, "at_most": le}
_OWN = ("preset", "job", "engine", "height", "width", "sets")
"""Keys beside the settings."""
_NUMBERS = ("height", "width")
_COMPARED = (*(name for name in SETTINGS if name not in TEXT_SETTINGS), *_NUMBERS)
"""Numbers that others may be compared with."""

Facts = Mapping[str, int | str]
"""What a point is, by the names of settings, `_OWN` and ``sets.NAME``."""


@dataclass(frozen=True)
class Condition:
    """Holds for a point if what it says of each key does."""

    wanted: Mapping[str, Any]

    def holds(self, facts: Facts) -> bool:
        """Whether it does; of a key that the point does not have, no."""
        return all(name in facts and _agrees(facts[name], value, facts) for name, value in self.wanted.items())


class ConditionError(ValueError):
    """What is wrong at a key of a condition."""

    def __init__(self, keys: tuple[str, ...], problem: str) -> None:
        super().__init__(problem)
        self.keys = keys


def condition(table: Mapping[str, Any], sets: Mapping[str, Mapping[str, Any]]) -> Condition:
    """The condition of a table; `sets` are the named ones with their members.

    Raises
    ------
    ConditionError
        A key or a value is wrong.
    """
    if not table:
        raise ConditionError((), "is empty, and would leave out everything")
    wanted: dict[str, Any] = {}
    try:
        for name, keys, value in named({key: value for key, value in table.items() if key not in _OWN}):
            wanted[name] = _checked(keys, value, is_name=name in TEXT_SETTINGS)
    except KeyError as error:
        keys, problem = error.args
        # Of a key without a dot it may be either.
        near = unknown("key", keys[0], (*_OWN, *SETTINGS)) if len(keys) == 1 else problem
        raise ConditionError(keys, near) from None
    for name in (name for name in _OWN if name in table and name != "sets"):
        wanted[name] = _checked((name,), table[name], is_name=name not in _NUMBERS)
    members = table.get("sets", {})
    if not isinstance(members, dict):
        raise ConditionError(("sets",), f"takes a member of a set, as sets.NAME = MEMBER, not {shown(members)}")
    for name, value in members.items():
        if name not in sets:
            raise ConditionError(("sets", name), unknown("set", name, sets))
        for member in value if isinstance(value, list) else [value]:
            if not isinstance(member, str) or member not in sets[name]:
                raise ConditionError(("sets", name), unknown("member", member, sets[name]))
        wanted[f"sets.{name}"] = value
    return Condition(wanted)


def _checked(keys: tuple[str, ...], value: Any, *, is_name: bool) -> Any:
    """What a key of a condition has: names, or numbers, which may also be compared."""
    if isinstance(value, dict) and value and not is_name:
        for name, limit in value.items():
            if name not in _COMPARISONS:
                raise ConditionError((*keys, name), unknown("comparison", name, _COMPARISONS))
            if isinstance(limit, str) and limit not in _COMPARED:
                raise ConditionError((*keys, name), unknown("setting", limit, _COMPARED))
            if not isinstance(limit, int | str) or isinstance(limit, bool):
                raise ConditionError((*keys, name), f"takes a number or the name of a setting, not {shown(limit)}")
        return value
    listed = value if isinstance(value, list) else [value]
    kind = str if is_name else int
    if not listed or not all(isinstance(each, kind) and not isinstance(each, bool) for each in listed):
        what = "a name or several" if is_name else "a number, an array of numbers, or a comparison as {above = 4}"
        raise ConditionError(keys, f"takes {what}, not {shown(value)}")
    return value


def _agrees(found: int | str, wanted: Any, facts: Facts) -> bool:
    if isinstance(wanted, dict):
        return all(_compares(found, name, limit, facts) for name, limit in wanted.items())
    return found in (wanted if isinstance(wanted, list) else [wanted])


def _compares(found: int | str, name: str, limit: int | str, facts: Facts) -> bool:
    other = facts[limit] if isinstance(limit, str) else limit
    return isinstance(found, int) and isinstance(other, int) and _COMPARISONS[name](found, other)
