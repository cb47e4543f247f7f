"""Settings of a sweep's file: dotted names, their values, and machines that have them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from ctm.rtl.config import DEFAULT, PRESETS, TEXT_SETTINGS, MachineConfig, settings_of
from ctm.rtl.setting import SettingError
from ctm.sim.jobs.takes import shown
from ctm.sim.sweep.names import unknown

SETTINGS = tuple(settings_of(DEFAULT))
"""Dotted names of all settings."""
_SECTIONS = tuple(each.name for each in fields(DEFAULT))


def named(tables: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Settings in tables as TOML has them: dotted name, the keys that lead there, and what is there.

    Raises
    ------
    KeyError
        There is no such setting; its arguments are the keys that lead there and a message.
    """
    for section, values in tables.items():
        if "." in section:
            yield _checked(section, (section,)), tuple(section.split(".")), values
        elif section not in _SECTIONS:
            raise KeyError((section,), unknown("section", section, _SECTIONS))
        elif not isinstance(values, dict):
            raise KeyError(
                (section,), f"is a section of settings: write {section}.NAME = {values}, not {shown(values)}"
            )
        else:
            for name, value in values.items():
                yield _checked(f"{section}.{name}", (section, name)), (section, name), value


def _checked(name: str, keys: tuple[str, ...]) -> str:
    if name not in SETTINGS:
        raise KeyError(keys, unknown("setting", name, SETTINGS))
    return name


def check_kind(name: str, value: int | str) -> None:
    """Reject a number where a setting takes a name, and the reverse: ValueError."""
    is_text = name in TEXT_SETTINGS
    if isinstance(value, str) != is_text:
        raise ValueError(f"takes a {'name' if is_text else 'whole number'}, not {shown(value)}")


def machine(preset: str, settings: Mapping[str, int | str]) -> MachineConfig:
    """A preset with settings by their dotted names, which are of `SETTINGS`; all of them change at once.

    Raises
    ------
    ValueError
        Not even the golden model can be such a machine.
    """
    config = PRESETS[preset]
    by_section: dict[str, dict[str, int | str]] = {}
    for name, value in settings.items():
        section, _, key = name.partition(".")
        by_section.setdefault(section, {})[key] = value
    for section, values in by_section.items():
        try:
            config = replace(config, **{section: replace(getattr(config, section), **values)})
        except SettingError as error:
            raise ValueError(f"{section}.{error.name} {error.problem}") from None
    return config
