"""Which lines a cache has, and in which rows of its memory."""

from typing import Any

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.ram import DistributedRam


def row_layout(rows: int) -> data.StructLayout:
    """One of `rows` rows, or none."""
    return data.StructLayout({"valid": 1, "row": range(rows)})


def entry_layout(config: CacheConfig) -> data.StructLayout:
    """A place in the cache: a way of a set."""
    return data.StructLayout({"set": range(config.sets), "way": range(config.ways)})


class LineTags(wiring.Component):
    """The sets of a cache: each way has a line, and owns the row in which it is.

    A line is looked up in the same cycle. Ways are replaced in turn, set by set.

    Members
    -------
    line : ``In(26)``
    hit : ``Out(1)``
        Whether the cache has the line, or will have it.
    row : ``Out(range(rows))``
        The row it is in; meaningless without a hit.
    entry : ``Out(entry_layout(config))``
        Where the line would be put.
    owned : ``Out(row_layout(rows))``
        The row that this entry owns.
    put : ``In(row_layout(rows))``
        Puts the line there, in another row, at the end of the cycle.
    forget : ``In({valid, entry})``
        The entry's line is not to hit any more, whichever it is; in a cycle in which no line is looked up.
    invalidate : ``In(1)``
        No line is to hit any more.
    """

    def __init__(self, config: CacheConfig, rows: int) -> None:
        self._config, self._rows = config, rows
        entry = entry_layout(config)
        super().__init__(
            {
                "line": In(LINE_ADDRESS_BITS),
                "hit": Out(1),
                "row": Out(range(rows)),
                "entry": Out(entry),
                "owned": Out(row_layout(rows)),
                "put": In(row_layout(rows)),
                "forget": In(data.StructLayout({"valid": 1, "entry": entry})),
                "invalidate": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sets, ways = self._config.sets, self._config.ways
        set_bits = (sets - 1).bit_length()
        index, upper = Signal(set_bits), self.line[set_bits:]
        m.d.comb += index.eq(Mux(self.forget.valid, self.forget.entry.set, self.line[:set_bits]))
        found = self._set(m, index)
        m.d.comb += [self.entry.set.eq(index), self.entry.way.eq(found.turn)]

        content = data.StructLayout({"upper": len(upper), "row": range(self._rows)})
        hits, rows = [], []
        for way in range(ways):
            m.submodules[f"way_{way}"] = table = DistributedRam(content, sets)
            kept = table.read(m, index)
            table.write(m, index, Cat(upper, self.put.row), self.put.valid & (found.turn == way))
            hits.append(found.hitting[way] & (kept.upper == upper))
            rows.append(kept.row)
        m.d.comb += [
            self.hit.eq(Cat(hits).any()),
            self.row.eq(Array(rows)[one_hot_index(Cat(hits))]),
            # An entry owns a row from its first line on, also when its line is forgotten.
            self.owned.valid.eq(found.is_full),
            self.owned.row.eq(Array(rows)[found.turn]),
        ]
        return m

    def _set(self, m: Module, index: Value) -> Any:
        """The way of a set that is next, whether it has a line as all others have, and which ways may hit.

        A bit for each set tells those apart of which the memory says nothing yet.
        """
        sets, ways = self._config.sets, self._config.ways
        layout = data.StructLayout({"turn": max(1, (ways - 1).bit_length()), "is_full": 1, "hitting": ways})
        m.submodules.sets = table = DistributedRam(layout, sets)
        begun, valid = Signal(sets), Signal(sets)
        kept: data.View = table.read(m, index)
        found, after = Signal(layout, name="found"), Signal(layout, name="after")
        own, forgotten = Signal(ways), Signal(ways)
        m.d.comb += [
            own.eq(Mux(self.put.valid, 1 << found.turn, 0)),
            forgotten.eq(Mux(self.forget.valid, 1 << self.forget.entry.way, 0)),
            found.hitting.eq(Mux(valid.bit_select(index, 1), kept.hitting, 0)),
            after.eq(found),
            after.hitting.eq(found.hitting & ~forgotten | own),
        ]
        with m.If(begun.bit_select(index, 1)):
            m.d.comb += [found.turn.eq(kept.turn), found.is_full.eq(kept.is_full)]
        with m.If(self.put.valid):
            m.d.comb += after.turn.eq((found.turn + 1) % ways)
            m.d.comb += after.is_full.eq(found.is_full | (found.turn == ways - 1))
            m.d.sync += [begun.bit_select(index, 1).eq(1), valid.bit_select(index, 1).eq(1)]
        with m.If(self.invalidate):
            m.d.sync += valid.eq(0)
        table.write(m, index, after, self.put.valid | (self.forget.valid & valid.bit_select(index, 1)))
        return found


class FreeList(wiring.Component):
    """The rows of a cache's memory that nobody uses. A row may be taken in the cycle after it was given back.

    Members
    -------
    row : ``Out(row_layout(rows))``
        A free row, if there is one.
    take : ``In(1)``
        It is used from now on.
    give : ``In(row_layout(rows))``
        A row that is not used any more.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        super().__init__({"row": Out(row_layout(rows)), "take": In(1), "give": In(row_layout(rows))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.returned = returned = SyncFIFO(width=max(1, len(self.row.row)), depth=self._rows)
        # Rows from `untouched` on were never taken.
        untouched = Signal(range(self._rows + 1))
        exhausted = untouched == self._rows
        m.d.comb += [
            self.row.valid.eq(~exhausted | returned.r_rdy),
            self.row.row.eq(Mux(exhausted, returned.r_data, untouched)),
            returned.r_en.eq(self.take & exhausted),
            returned.w_data.eq(self.give.row),
            returned.w_en.eq(self.give.valid),
        ]
        with m.If(self.take & ~exhausted):
            m.d.sync += untouched.eq(untouched + 1)
        return m
