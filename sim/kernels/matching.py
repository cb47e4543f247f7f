"""The arguments of a call by the parameters that they are for, as Python itself would match them."""

import difflib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ctm.sim.engines.choice import ENGINES
from ctm.sim.runtime import Device


def matched(
    name: str, pixel: str, parameters: Sequence[str], given: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    """The arguments of the kernel `name`, in the order of its parameters after the pixel.

    Raises
    ------
    TypeError
        There are too many or too few, or a name is wrong or given twice.
    """
    if len(given) > len(parameters):
        takes = f"{len(parameters)} argument{'' if len(parameters) == 1 else 's'}"
        named_ones = f" ({', '.join(parameters)})" if parameters else ""
        were = "was" if len(given) == 1 else "were"
        raise TypeError(f"{name}() takes {takes} after the pixel{named_ones} but {len(given)} {were} given")
    values = dict(zip(parameters, given, strict=False))
    for key, value in named.items():
        if key not in parameters:
            hint = _hint(key, value, pixel, parameters)
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'{hint}")
        if key in values:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        values[key] = value
    missing = [f"'{each}'" for each in parameters if each not in values]
    if missing:
        *others, last = missing
        listed = f"{', '.join(others)} and {last}" if others else last
        arguments = "argument" if not others else "arguments"
        raise TypeError(f"{name}() missing {len(missing)} required {arguments}: {listed}")
    return [values[each] for each in parameters]


def check_device(device: Any) -> None:
    """Raise TypeError for anything but a device; for the name of an engine the message says how to make one."""
    if device is None or isinstance(device, Device):
        return
    fix = ""
    if isinstance(device, str):
        fix = _written(device) if device in ENGINES else f"; one is made as Device(engine), of {', '.join(ENGINES)}"
    raise TypeError(f"device must be a Device, not {device!r}{fix}")


def _hint(key: str, value: Any, pixel: str, parameters: Sequence[str]) -> str:
    """What may be meant by a name that no parameter has."""
    if key == pixel:
        return ": the domain gives the pixel"
    if key == "engine" and isinstance(value, str) and value in ENGINES:
        return _written(value)
    if key in inspect.signature(Device).parameters:
        return f": it is one of a Device, write device=Device({key}=...)"
    close = difflib.get_close_matches(key, parameters, n=1)
    return f". Did you mean '{close[0]}'?" if close else ""


def _written(engine: str) -> str:
    return f': write device=Device("{engine}"), and keep that device for other calls'
