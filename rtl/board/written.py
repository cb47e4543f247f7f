"""Which blocks of memory the machine has written, so that a host reads no others."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from ctm.rtl.board.actions import Action
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS
from ctm.rtl.isa.link import BLOCK_BYTES, Request

_OFFSET_BITS = (BLOCK_BYTES - 1).bit_length()


class WrittenMap(wiring.Component):
    """A bit for each block: READ_WRITTEN and FORGET_WRITTEN.

    What is written while the map is forgotten may be forgotten too. The map begins as anything.

    Members
    -------
    action : ``In(Action())``
    write : ``In({valid, address})``
        A burst, which ends in the block in which it begins.
    """

    action: In(Action())
    write: In(data.StructLayout({"valid": 1, "address": ADDRESS_BITS}))

    def __init__(self, memory_bytes: int) -> None:
        self._blocks = memory_bytes // BLOCK_BYTES
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        blocks: Any = Memory(shape=1, depth=self._blocks, init=[])
        m.submodules.blocks = blocks
        writer, reader = blocks.write_port(), blocks.read_port()
        action = self.action
        index, left = Signal(range(self._blocks)), Signal(range(max(self._blocks, 1 << 16) + 1))
        byte, count, shown = Signal(BYTE_BITS), Signal(range(BYTE_BITS + 2)), Signal()
        invalidates = Signal()
        m.d.comb += [
            # What the machine writes comes first.
            writer.en.eq(self.write.valid | invalidates),
            writer.data.eq(self.write.valid),
            writer.addr.eq(Mux(self.write.valid, self.write.address >> _OFFSET_BITS, index)),
            reader.addr.eq(index),
            action.found.payload.eq(byte),
        ]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += action.done.eq(1)
                with m.If(action.start):
                    m.d.sync += [index.eq(0), left.eq(self._blocks - 1), count.eq(0), shown.eq(0)]
                    m.next = "forget"
                    with m.If(action.header.code == Request.READ_WRITTEN):
                        m.d.sync += [index.eq(action.header.address >> _OFFSET_BITS), left.eq(action.header.length - 1)]
                        m.next = "gather"
            with m.State("gather"):
                # A row is shown in the cycle behind its number.
                m.d.sync += [index.eq(index + 1), count.eq(count + 1), shown.eq(1)]
                with m.If(shown):
                    m.d.sync += byte.eq(Cat(byte[1:], reader.data))
                with m.If(count == BYTE_BITS):
                    m.d.sync += [index.eq(index), count.eq(0), shown.eq(0)]
                    m.next = "give"
            with m.State("give"):
                m.d.comb += action.found.valid.eq(1)
                with m.If(action.found.ready):
                    m.d.sync += left.eq(left - 1)
                    m.next = "gather"
                    with m.If(left == 0):
                        m.next = "idle"
            with m.State("forget"):
                m.d.comb += invalidates.eq(1)
                with m.If(~self.write.valid):
                    m.d.sync += [index.eq(index + 1), left.eq(left - 1)]
                    with m.If(left == 0):
                        m.next = "idle"
        return m
