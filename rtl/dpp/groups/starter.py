"""Gives a new group its registers: r0 is its place, all others are 0.

Source: docs/architecture.md, a program's start.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.programs import group_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import slot_bits
from ctm.rtl.fp.conversion import from_integer
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import QUAD, REGISTER_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.lib.written_rows import PLACE_BITS, ROWS_TOGETHER


def clear_layout(config: ArrayConfig) -> data.StructLayout:
    """A temporary of all lanes; those above it, up to the next multiple of `ROWS_TOGETHER`, are 0."""
    return data.StructLayout(
        {"slot": slot_bits(config), "register": REGISTER_BITS, "words": words_layout(config.lanes)}
    )


class Starter(wiring.Component):
    """Sets a group's temporaries, 32 at a time, in cycles in which the register file has room for it.

    One group at a time; it takes two cycles, and one more for each further 32 temporaries of the program.

    Members
    -------
    group : ``In({valid, slot, group})``
        A group that takes a slot; only while not `busy`.
    busy : ``Out(1)``
    highest_temporary : ``In(7)``
    write : ``Out(stream.Signature(clear_layout(config)))``
    begin : ``Out({valid, slot})``
        All is set.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        at_slot = {"valid": 1, "slot": slot_bits(config)}
        super().__init__(
            {
                "group": In(data.StructLayout(at_slot | {"group": group_layout(config.lanes)})),
                "busy": Out(1),
                "highest_temporary": In(REGISTER_BITS),
                "write": Out(stream.Signature(clear_layout(config))),
                "begin": Out(data.StructLayout(at_slot)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        write, register, slot = self.write, Signal(REGISTER_BITS), Signal(slot_bits(self._config))
        place = delay(m, self._place(m), name="place")
        first = register == 0
        m.d.comb += [
            write.valid.eq(self.busy),
            write.payload.slot.eq(slot),
            write.payload.register.eq(register),
            Value.cast(write.payload.words).eq(Mux(first, Value.cast(place), 0)),
            self.begin.valid.eq(self.busy & write.ready & first),
            self.begin.slot.eq(slot),
        ]
        with m.If(self.group.valid):
            block = Cat(Const(0, PLACE_BITS), self.highest_temporary[PLACE_BITS:])
            m.d.sync += [self.busy.eq(1), register.eq(block), slot.eq(self.group.slot)]
        with m.Elif(write.ready):
            m.d.sync += register.eq(register - ROWS_TOGETHER)
            with m.If(first):
                m.d.sync += self.busy.eq(0)
        return m

    def _place(self, m: Module) -> data.View:
        """r0 of the group in `group`, or of the last one that was there."""
        words = record(words_layout(self._config.lanes))
        group = Signal.like(self.group.group)
        held = Signal.like(group, reset_less=True)
        m.d.comb += group.eq(Mux(self.group.valid, Value.cast(self.group.group), Value.cast(held)))
        m.d.sync += held.eq(group)
        columns = [from_integer(m, (group.i + offset)[: len(group.i)]) for offset in range(self._config.lanes // 2)]
        rows = [from_integer(m, (group.j + offset)[: len(group.j)]) for offset in range(2)]
        for lane in range(self._config.lanes):
            column, row = 2 * (lane // QUAD) + lane % 2, lane % QUAD // 2
            m.d.comb += [words[lane][0].eq(columns[column]), words[lane][1].eq(rows[row]), words[lane][3].eq(ONE)]
        return words
