"""A map of the blocks of memory that the machine has written, so that a host reads only these."""

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
    """A bit for each block: READ_WRITTEN and CLEAR_WRITTEN.

    A write during CLEAR_WRITTEN may be lost from the map. The map has no reset.

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
        index, remaining = Signal(range(self._blocks)), Signal(range(max(self._blocks, 1 << 16) + 1))
        byte, count, is_valid = Signal(BYTE_BITS), Signal(range(BYTE_BITS + 2)), Signal()
        clears = Signal()
        m.d.comb += [
            # The machine's writes have priority.
            writer.en.eq(self.write.valid | clears),
            writer.data.eq(self.write.valid),
            writer.addr.eq(Mux(self.write.valid, self.write.address >> _OFFSET_BITS, index)),
            reader.addr.eq(index),
            action.found.payload.eq(byte),
        ]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += action.done.eq(1)
                with m.If(action.start):
                    m.d.sync += [index.eq(0), remaining.eq(self._blocks - 1), count.eq(0), is_valid.eq(0)]
                    m.next = "clear"
                    with m.If(action.header.code == Request.READ_WRITTEN):
                        m.d.sync += [
                            index.eq(action.header.address >> _OFFSET_BITS),
                            remaining.eq(action.header.length - 1),
                        ]
                        m.next = "gather"
            with m.State("gather"):
                # A row is valid in the cycle after its address.
                m.d.sync += [index.eq(index + 1), count.eq(count + 1), is_valid.eq(1)]
                with m.If(is_valid):
                    m.d.sync += byte.eq(Cat(byte[1:], reader.data))
                with m.If(count == BYTE_BITS):
                    m.d.sync += [index.eq(index), count.eq(0), is_valid.eq(0)]
                    m.next = "give"
            with m.State("give"):
                m.d.comb += action.found.valid.eq(1)
                with m.If(action.found.ready):
                    m.d.sync += remaining.eq(remaining - 1)
                    m.next = "gather"
                    with m.If(remaining == 0):
                        m.next = "idle"
            with m.State("clear"):
                m.d.comb += clears.eq(1)
                with m.If(~self.write.valid):
                    m.d.sync += [index.eq(index + 1), remaining.eq(remaining - 1)]
                    with m.If(remaining == 0):
                        m.next = "idle"
        return m
