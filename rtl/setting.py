"""Checks of the settings of a configuration's sections."""

from collections.abc import Iterable


class SettingError(ValueError):
    """A value that a setting cannot have. A section does not know its name in a machine."""

    def __init__(self, section: str, name: str, problem: str) -> None:
        super().__init__(f"{section}.{name} {problem}")
        self.name = name
        self.problem = problem


def check(section: object, name: str, *, low: int, high: int, power_of_two: bool = False) -> None:
    """Reject a value of a section's setting that is no whole number in these bounds: `SettingError`."""
    value = getattr(section, name)
    problem = ""
    if not hasattr(value, "__index__"):
        problem = f"must be a whole number, not {value!r}"
    elif not low <= value <= high:
        problem = f"must be {low}..{high}, not {value}"
    elif power_of_two and value & (value - 1):
        problem = f"must be a power of two, not {value}"
    if problem:
        raise SettingError(type(section).__name__, name, problem)


def check_name(section: object, name: str, known: Iterable[str]) -> None:
    """Reject a value of a section's setting that is none of the known names: `SettingError`."""
    value = getattr(section, name)
    if value not in known:
        raise SettingError(type(section).__name__, name, f"must be one of {', '.join(known)}, not {value!r}")
