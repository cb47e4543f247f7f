"""What register slices promise, as properties for a prover: every transfer once and in order, at the full rate."""

from itertools import pairwise
from typing import Any

from amaranth import Module, Signal
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ctm.rtl.lib.register_slice import RegisteredHandshake, RegisterSlice, SliceMode

_NUMBER_BITS = 3
"""Of the number of a transfer: more transfers than a slice holds have numbers of their own."""


class StreamProof(wiring.Component):
    """A unit between a free source and a free sink.

    The payload of a transfer is its number. The units do not look at payloads, so what holds for these numbers holds
    for all payloads.

    Members
    -------
    offers, takes : ``In(1)``
        Free in every cycle. An offer is held until it is taken.

    `came` and `left` are the numbers of the next transfer at the input and at the output.
    """

    offers: In(1)
    takes: In(1)

    def __init__(self, unit: Any) -> None:
        self.unit = unit
        self.came, self.left = Signal(_NUMBER_BITS), Signal(_NUMBER_BITS)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the unit with its surroundings."""
        m = Module()
        m.submodules.unit = unit = self.unit
        before = Signal()
        m.d.comb += [
            unit.input.valid.eq(self.offers),
            unit.input.payload.eq(self.came),
            unit.output.ready.eq(self.takes),
            Assume(~before | self.offers),
            Assert(~unit.output.valid | (unit.output.payload == self.left)),
        ]
        m.d.sync += [
            before.eq(unit.input.valid & ~unit.input.ready),
            self.came.eq(self.came + (unit.input.valid & unit.input.ready)),
            self.left.eq(self.left + (unit.output.valid & unit.output.ready)),
        ]
        self.follow(m)
        return m

    def follow(self, m: Module) -> None:
        """Say what has to hold of the unit's registers."""
        raise NotImplementedError


class SliceProof(StreamProof):
    """A register slice."""

    def __init__(self, mode: SliceMode) -> None:
        self._mode = mode
        super().__init__(RegisterSlice(_NUMBER_BITS, mode))

    def follow(self, m: Module) -> None:
        """What it holds are the transfers between input and output, oldest first."""
        unit = self.unit
        number = sum(valid for valid, _ in unit.held)
        taken = Signal()
        m.d.sync += taken.eq(self.takes)
        m.d.comb += [
            *(
                Assert(~valid | (payload == (self.left + age)[:_NUMBER_BITS]))
                for age, (valid, payload) in enumerate(unit.held)
            ),
            *(Assert(older[0] | ~newer[0]) for older, newer in pairwise(unit.held)),
            Assert((self.came - self.left)[:_NUMBER_BITS] == number),
            Assert(unit.empty == (number == 0)),
            # A transfer that is held is offered.
            Assert(unit.empty | unit.output.valid),
            Cover((number == len(unit.held)) & (self.left == 4)),
        ]
        rate = {
            "FORWARD": ~self.takes | unit.input.ready,
            # After a cycle in which the sink was ready the source may go on.
            "FULL": ~taken | unit.input.ready,
            "REVERSE": ~taken | unit.input.ready,
            "LIGHT": unit.input.ready | unit.output.valid,
        }
        m.d.comb += Assert(rate[self._mode.name])


class HandshakeProof(StreamProof):
    """A registered handshake: a transfer is complete at the input in the cycle after it is at the output."""

    def __init__(self) -> None:
        super().__init__(RegisteredHandshake(_NUMBER_BITS))

    def follow(self, m: Module) -> None:
        """A transfer at the output is the one that the input offers."""
        unit = self.unit
        complete = unit.input.ready
        m.d.comb += [
            Assert((self.left - self.came)[:_NUMBER_BITS] == complete),
            Assert(~complete | (self.offers & ~unit.output.valid)),
            Assert(~unit.output.valid | self.offers),
            Cover(self.left == 4),
        ]
