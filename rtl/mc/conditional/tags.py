"""The tags of the cache of the conditional buffer."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.mc.lines.tags import FreeList, LineTags, row_layout


class ConditionalTags(wiring.Component):
    """Finds a line's row, or allocates a free row. The match is combinational.

    A line's row may have its dirty bytes only. The first access that reads the line requests it.

    Members
    -------
    line : ``In(26)``
    reads : ``In(1)``
    take : ``In(1)``
        The access is taken; only with `ready`.
    ready : ``Out(1)``
        There is a free row.
    row : ``Out(range(rows))``
        The line's row.
    hit : ``Out(1)``
        The line has a row, and, if it is read, its refill has arrived or is in flight.
    refills : ``Out(1)``
        The line is to be requested.
    replaced : ``Out(row_layout(rows))``
        The row of the line that this one evicts. It is not free before it is given back.
    free : ``In(row_layout(rows))``
        A row that is given back.
    error : ``In(row_layout(rows))``
        A row whose line has an error. Its dirty bytes stay.
    invalidate : ``In(1)``
        Invalidates all bytes but dirty ones.
    selected : ``In(range(rows))``, two of them
    lines : ``Out(26)``, two of them
        The lines of these rows.
    """

    def __init__(self, config: CacheConfig, rows: int) -> None:
        self._config, self._rows = config, rows
        super().__init__(
            {
                "line": In(LINE_ADDRESS_BITS),
                "reads": In(1),
                "take": In(1),
                "ready": Out(1),
                "row": Out(range(rows)),
                "hit": Out(1),
                "refills": Out(1),
                "replaced": Out(row_layout(rows)),
                "free": In(row_layout(rows)),
                "error": In(row_layout(rows)),
                "invalidate": In(1),
                "selected": In(range(rows)).array(2),
                "lines": Out(LINE_ADDRESS_BITS).array(2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.tags = tags = LineTags(self._config, self._rows)
        m.submodules.free_list = free_list = FreeList(self._rows)
        m.submodules.lines = lines = DistributedRam(LINE_ADDRESS_BITS, self._rows)
        # Rows whose lines were requested, and have no error.
        whole, misses = Signal(self._rows), Signal()
        m.d.comb += [
            tags.line.eq(self.line),
            self.row.eq(Mux(tags.hit, tags.row, free_list.row.row)),
            self.ready.eq(free_list.row.valid),
            self.hit.eq(tags.hit & (whole.bit_select(tags.row, 1) | ~self.reads)),
            self.refills.eq(self.take & self.reads & ~self.hit),
            misses.eq(self.take & ~tags.hit),
            tags.put.valid.eq(misses),
            tags.put.row.eq(free_list.row.row),
            free_list.take.eq(misses),
            free_list.give.eq(self.free),
            self.replaced.valid.eq(misses & tags.owned.valid),
            self.replaced.row.eq(tags.owned.row),
            *(line.eq(lines.read(m, selected)) for selected, line in zip(self.selected, self.lines, strict=True)),
        ]
        lines.write(m, self.row, self.line, misses)
        with m.If(misses | self.refills):
            m.d.sync += whole.bit_select(self.row, 1).eq(self.refills)
        with m.If(self.error.valid):
            m.d.sync += whole.bit_select(self.error.row, 1).eq(0)
        with m.If(self.invalidate):
            m.d.sync += whole.eq(0)
        return m
