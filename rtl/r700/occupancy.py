"""Occupancy: the wave slots that a program may use.

Source: docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r700.limits import LDS_BANK_DWORDS, LDS_ROW, SUBENTRIES
from ctm.rtl.r700.border.registers import depth_of, rows_of
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.shapes import PROGRAM


class Occupancy(wiring.Component):
    """Finds the wave slots that a program may use, by a wavefront's share of each memory that all wave slots share.

    Wave slot 0 is usable from two cycles after another program on, each of the others a cycle after its predecessor: so
    no multiplier is needed. In the cycle after another program `usable` is that of the previous one.

    Members
    -------
    program : ``In(PROGRAM)``
    usable : ``Out(threads)``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        super().__init__({"program": In(PROGRAM), "usable": Out(config.threads)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, program = self._config, self.program
        limits = [
            (rows_of(program.gprs) * Partition.of(config).slices, depth_of(config)),
            (Value.cast(program.stack), config.stack_entries * SUBENTRIES),
            (Value.cast(program.share), LDS_BANK_DWORDS // LDS_ROW),
        ]
        sizes = Cat(size for size, _ in limits)
        counted = Signal.like(sizes)
        is_other, fits = Signal(), Signal()
        m.d.comb += is_other.eq(sizes != counted)
        m.d.sync += counted.eq(sizes)
        takens = [Signal(range(capacity + 1), name="taken") for _, capacity in limits]
        totals = [taken + size for taken, (size, _) in zip(takens, limits, strict=True)]
        m.d.comb += fits.eq(Cat(total <= capacity for total, (_, capacity) in zip(totals, limits, strict=True)).all())
        with m.If(is_other):
            m.d.sync += [self.usable.eq(0), *(taken.eq(0) for taken in takens)]
        with m.Elif(fits):
            m.d.sync += self.usable.eq(Cat(1, self.usable))
            m.d.sync += [taken.eq(total) for taken, total in zip(takens, totals, strict=True)]
        return m
