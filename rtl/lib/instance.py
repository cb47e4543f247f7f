"""Modules that are written separately."""

from typing import Any

from amaranth import ClockSignal, Const, Instance, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow


def instance_of(component: wiring.Component, name: str, *, reset: Value) -> Instance:
    """An instance of the module `name`, which has the ports of a component, in the clock domain "sync".

    Ports of nested interfaces are ``interface__member``. `reset` is the module's reset, which has that of the domain
    and may have others.
    """
    ports: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": reset}
    for path, member, value in component.signature.flatten(component):
        if not isinstance(value, Const):
            direction = "i" if member.flow is Flow.In else "o"
            ports[f"{direction}_{'__'.join(map(str, path))}"] = Value.cast(value)
    return Instance(name, **ports)
