"""Streams that stand still at random: no unit may rely on how soon its neighbour offers or takes something.

What some modules connect within `injected` gets a `Stall` in each stream between the two sides.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import Batch

_connect = wiring.connect
_BITS = 16
_TAPS = 0xB400
"""Of a register with the period 2^16 - 1."""
_APART = 40_503
"""Between the beginnings of two."""


WITHOUT = {Batch: ("primitive",)}
"""Streams of interfaces that say something by standing still: a batch has no more primitives when none is offered."""


class Stall(wiring.Component):
    """A stream that is open half of the time. An offered payload is held until it is taken.

    Latency 0 while it is open, throughput one payload in two cycles.

    Members
    -------
    input : ``In(stream.Signature(shape))``
    output : ``Out(stream.Signature(shape))``
    """

    def __init__(self, shape: Any, seed: int) -> None:
        self._seed = seed
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        noise, is_open = Signal(_BITS, init=self._seed % ((1 << _BITS) - 1) + 1), Signal(init=1)
        m.d.sync += noise.eq((noise >> 1) ^ noise[0].replicate(_BITS) & _TAPS)
        # The offered output must be held until it is taken.
        with m.If(~self.output.valid | self.output.ready):
            m.d.sync += is_open.eq(noise[0])
        m.d.comb += [
            self.output.payload.eq(self.input.payload),
            self.output.valid.eq(self.input.valid & is_open),
            self.input.ready.eq(self.output.ready & is_open),
        ]
        return m


@contextmanager
def injected(*modules: str) -> Iterator[list[str]]:
    """Within this, hardware that is built has stalls; the names of the streams are added to the list.

    `modules` are those whose connections get them, by their names below ``ctm.rtl``, such as ``mc.controller``.
    Streams that are always ready or always valid, and what is no stream, are connected as they are.
    """
    names: list[str] = []

    def connect(m: Module, one: Any, other: Any) -> None:
        _join(m, one, other, names)

    with ExitStack() as stack:
        for name in modules:
            user = import_module(f"ctm.rtl.{name}")
            if hasattr(user, "connect"):
                stack.enter_context(patch.object(user, "connect", connect))
            else:
                own = SimpleNamespace(**vars(wiring) | {"connect": connect})
                stack.enter_context(patch.object(user, "wiring", own))
        yield names


def _join(m: Module, one: Any, other: Any, names: list[str]) -> None:
    """Connect two interfaces, with a stall in each stream."""
    signature = one.signature
    if _is_stream(signature):
        if signature.always_ready or signature.always_valid:
            _connect(m, one, other)
            return
        source, sink = (one, other) if signature.members["valid"].flow is Out else (other, one)
        stall = Stall(signature.members["payload"].shape, len(names) * _APART)
        names.append(f"stall{len(names)}")
        m.submodules[names[-1]] = stall
        _connect(m, source, stall.input)
        _connect(m, stall.output, sink)
    elif any(member.is_signature for _, member in signature.members.items()):
        without = WITHOUT.get(type(signature), WITHOUT.get(type(signature.flip()), ()))
        for name, member in signature.members.items():
            if name in without:
                _connect(m, getattr(one, name), getattr(other, name))
                continue
            for own, its in zip(_all(getattr(one, name)), _all(getattr(other, name)), strict=True):
                if member.is_signature:
                    _join(m, own, its, names)
                else:
                    sink, source = (its, own) if member.flow is Out else (own, its)
                    m.d.comb += sink.eq(source)
    else:
        _connect(m, one, other)


def _is_stream(signature: Any) -> bool:
    """Of a signature that may be flipped."""
    return {name for name, _ in signature.members.items()} == {"payload", "valid", "ready"}


def _all(found: Any) -> list[Any]:
    """The interfaces of an array, or the one that is none."""
    return [each for item in found for each in _all(item)] if isinstance(found, list) else [found]
