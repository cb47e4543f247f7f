"""The words that set-up computes with, and the results of its operations.

Source: docs/design/draws.md.
"""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay, delay_valid
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.pa import coordinates
from ctm.rtl.pa.arithmetic import RESULT, TAG_BITS
from ctm.rtl.pa.bounds import BOUND
from ctm.rtl.pa.registers import AREA, REGISTER_BITS, REGISTER_WRITE, ROW_WORD, SNAPPED, SPARE
from ctm.rtl.pa.rows import FILL
from ctm.rtl.pa.snap import Snap


class RegisterRead(Interface):
    """A read of a register, seen from the reader.

    Members
    -------
    register : ``Out(4)``
    word : ``In(32)``
        Its word, in the same cycle.
    """

    def __init__(self) -> None:
        super().__init__({"register": Out(REGISTER_BITS), "word": In(WORD_BITS)})


class ResultRouter(wiring.Component):
    """Takes results to where their tags say: to registers, to a row of the record, or snapped to a coordinate.

    Members
    -------
    taken : ``In(1)``
        An operation was taken.
    result : ``In(RESULT)``
    pending : ``Out(5)``
        Operations without a result.
    write : ``In(REGISTER_WRITE)``
        Another word for a register; not in a cycle with a result.
    reads : ``In(RegisterRead()).array(2)``
    fill : ``Out(FILL)``
        A result that is a word of a row, in its cycle.
    has_area : ``Out(1)``
        The area as a float is written into its register.
    snapped : ``Out(SNAPPED)``
        A result that is a coordinate, `Snap.latency` cycles later.
    bound : ``Out(BOUND)``
        What it is for `Bounds`, if it is a vertex's.
    finite : ``Out(1)``
        As that of `Snap`, of this coordinate.
    snaps : ``Out(1)``
        There is one, from the cycle of its result to the one in which it is `snapped`.
    """

    taken: In(1)
    result: In(RESULT)
    pending: Out(TAG_BITS)
    write: In(REGISTER_WRITE)
    reads: In(RegisterRead()).array(2)
    fill: Out(FILL)
    has_area: Out(1)
    snapped: Out(coordinates.SNAPPED)
    bound: Out(BOUND)
    finite: Out(1)
    snaps: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.registers = registers = DistributedRam(WORD_BITS, 1 << REGISTER_BITS)
        m.submodules.snap = snap = Snap()
        result, is_register = self.result, self.result.valid & ~self.result.tag[-1]
        register, word = (
            Mux(is_register, result.tag[:REGISTER_BITS], self.write.register),
            Mux(is_register, result.word, self.write.word),
        )
        registers.write(m, register, word, self.write.valid | is_register)
        m.d.sync += self.pending.eq(self.pending + self.taken - result.valid)
        is_word, is_snapped = (Value.cast(result.tag[3:5]) == tag >> 3 for tag in (ROW_WORD, SNAPPED))
        snaps = delay_valid(m, result.valid & is_snapped, snap.latency)
        at = self.snapped.at
        m.d.comb += [
            *(read.word.eq(registers.read(m, read.register)) for read in self.reads),
            self.fill.valid.eq(result.valid & is_word),
            self.fill.index.eq(result.tag[:2]),
            self.fill.word.eq(result.word),
            self.has_area.eq(result.valid & (result.tag == AREA)),
            snap.word.eq(result.word),
            self.snapped.valid.eq(snaps[-1]),
            self.snapped.at.eq(delay(m, result.tag[:3], snap.latency)),
            self.snapped.value.eq(snap.value),
            self.bound.axis.eq(at.axis),
            self.bound.begins.eq(snaps[-1] & (at.vertex == 0)),
            self.bound.goes_on.eq(snaps[-1] & (at.vertex != 0) & (at.vertex != SPARE)),
            self.finite.eq(snap.finite),
            self.snaps.eq(Cat(snaps).any()),
        ]
        return m
