"""Checks of the settings of a configuration's parts."""

from collections.abc import Iterable


class SettingError(ValueError):
    """A value that a setting cannot have. A part does not know under which name a machine has it."""

    def __init__(self, part: str, name: str, problem: str) -> None:
        super().__init__(f"{part}.{name} {problem}")
        self.name = name
        self.problem = problem


def check(part: object, name: str, *, low: int, high: int, power_of_two: bool = False) -> None:
    """Refuse a value of a part's setting that is no whole number in these bounds: `SettingError`."""
    value = getattr(part, name)
    problem = ""
    if not hasattr(value, "__index__"):
        problem = f"must be a whole number, not {value!r}"
    elif not low <= value <= high:
        problem = f"must be {low}..{high}, not {value}"
    elif power_of_two and value & (value - 1):
        problem = f"must be a power of two, not {value}"
    if problem:
        raise SettingError(type(part).__name__, name, problem)


def check_name(part: object, name: str, known: Iterable[str]) -> None:
    """Refuse a value of a part's setting that is none of the known names: `SettingError`."""
    value = getattr(part, name)
    if value not in known:
        raise SettingError(type(part).__name__, name, f"must be one of {', '.join(known)}, not {value!r}")
