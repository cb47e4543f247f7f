"""Which lines the cache of the conditional buffer has, in which rows, and how much of them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.mc.lines.tags import FreeList, LineTags, row_layout


class ConditionalTags(wiring.Component):
    """Finds a line's row, or puts the line into a free row. An access is looked up in the same cycle.

    Of a line that has a row there may be the dirty bytes only. It is asked for by the first access that reads.

    Members
    -------
    line : ``In(26)``
    reads : ``In(1)``
    take : ``In(1)``
        There is such an access; only with `ready`.
    ready : ``Out(1)``
        There is a free row.
    row : ``Out(range(rows))``
        Where the line is, or is put.
    hit : ``Out(1)``
        What is read is there, or has been asked for; a line that is only written has a row.
    asks : ``Out(1)``
        The line is to be asked for.
    replaced : ``Out(row_layout(rows))``
        The row of another line whose place the line takes. It is not free before it is given back.
    free : ``In(row_layout(rows))``
        A row that is given back.
    error : ``In(row_layout(rows))``
        A row whose line memory has refused. Its dirty bytes stay.
    invalidate : ``In(1)``
        Only the dirty bytes stay of all lines.
    asked : ``In(range(rows))``, two of them
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
                "asks": Out(1),
                "replaced": Out(row_layout(rows)),
                "free": In(row_layout(rows)),
                "error": In(row_layout(rows)),
                "invalidate": In(1),
                "asked": In(range(rows)).array(2),
                "lines": Out(LINE_ADDRESS_BITS).array(2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.tags = tags = LineTags(self._config, self._rows)
        m.submodules.pool = pool = FreeList(self._rows)
        m.submodules.lines = lines = DistributedRam(LINE_ADDRESS_BITS, self._rows)
        # Rows whose lines were asked for, and not refused.
        whole, misses = Signal(self._rows), Signal()
        m.d.comb += [
            tags.line.eq(self.line),
            self.row.eq(Mux(tags.hit, tags.row, pool.row.row)),
            self.ready.eq(pool.row.valid),
            self.hit.eq(tags.hit & (whole.bit_select(tags.row, 1) | ~self.reads)),
            self.asks.eq(self.take & self.reads & ~self.hit),
            misses.eq(self.take & ~tags.hit),
            tags.put.valid.eq(misses),
            tags.put.row.eq(pool.row.row),
            pool.take.eq(misses),
            pool.give.eq(self.free),
            self.replaced.valid.eq(misses & tags.owned.valid),
            self.replaced.row.eq(tags.owned.row),
            *(line.eq(lines.read(m, asked)) for asked, line in zip(self.asked, self.lines, strict=True)),
        ]
        lines.write(m, self.row, self.line, misses)
        with m.If(misses | self.asks):
            m.d.sync += whole.bit_select(self.row, 1).eq(self.asks)
        with m.If(self.error.valid):
            m.d.sync += whole.bit_select(self.error.row, 1).eq(0)
        with m.If(self.invalidate):
            m.d.sync += whole.eq(0)
        return m
