"""The tags of a cache, and the free list of its data RAM's rows."""

from typing import Any

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record


def row_layout(rows: int) -> data.StructLayout:
    """One of `rows` rows, or none."""
    return data.StructLayout({"valid": 1, "row": range(rows)})


def entry_layout(config: CacheConfig) -> data.StructLayout:
    """An entry of the tags: a way of a set."""
    return data.StructLayout({"set": range(config.sets), "way": range(config.ways)})


class LineTags(wiring.Component):
    """The tags of a set-associative cache. Rows of the data RAM are not tied to ways: each way holds the row it owns.

    A lookup is combinational. Replacement is round-robin in each set.

    Members
    -------
    line : ``In(26)``
    hit : ``Out(1)``
        The cache has the line, or its refill is in flight.
    row : ``Out(range(rows))``
        The line's row; meaningless without a hit.
    entry : ``Out(entry_layout(config))``
        The entry that the line would replace.
    owned : ``Out(row_layout(rows))``
        The row that this entry owns.
    put : ``In(row_layout(rows))``
        Puts the line into that entry, with another row, at the end of the cycle.
    invalidate_entry : ``In({valid, entry})``
        Invalidates the entry's line; in a cycle in which no line is looked up.
    invalidate : ``In(1)``
        Invalidates all lines.
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
                "invalidate_entry": In(data.StructLayout({"valid": 1, "entry": entry})),
                "invalidate": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sets, ways = self._config.sets, self._config.ways
        set_bits = (sets - 1).bit_length()
        index, upper = Signal(set_bits), self.line[set_bits:]
        m.d.comb += index.eq(Mux(self.invalidate_entry.valid, self.invalidate_entry.entry.set, self.line[:set_bits]))
        found = self._set(m, index)
        m.d.comb += [self.entry.set.eq(index), self.entry.way.eq(found.pointer)]

        content = data.StructLayout({"upper": len(upper), "row": range(self._rows)})
        hits, rows = [], []
        for way in range(ways):
            m.submodules[f"way_{way}"] = table = DistributedRam(content, sets)
            kept = table.read(m, index)
            table.write(m, index, Cat(upper, self.put.row), self.put.valid & (found.pointer == way))
            hits.append(found.hitting[way] & (kept.upper == upper))
            rows.append(kept.row)
        m.d.comb += [
            self.hit.eq(Cat(hits).any()),
            self.row.eq(Array(rows)[one_hot_index(Cat(hits))]),
            # An entry owns a row from its first line on, also when its line is invalid.
            self.owned.valid.eq(found.is_full),
            self.owned.row.eq(Array(rows)[found.pointer]),
        ]
        return m

    def _set(self, m: Module, index: Value) -> Any:
        """A set's round-robin pointer, whether all its ways have lines, and its valid bits.

        `begun` has a bit for each set that has been written, because the memory has no reset.
        """
        sets, ways = self._config.sets, self._config.ways
        layout = data.StructLayout({"pointer": max(1, (ways - 1).bit_length()), "is_full": 1, "hitting": ways})
        m.submodules.sets = table = DistributedRam(layout, sets)
        begun, valid = Signal(sets), Signal(sets)
        # Whether a line is put follows late in a cycle, so its set's bits are set in the next one.
        recent = record(data.StructLayout({"valid": 1, "set": range(sets)}), name="recent")
        is_recent, has_lines = recent.valid & (recent.set == index), Signal()
        kept: data.View = table.read(m, index)
        found, after = Signal(layout, name="found"), Signal(layout, name="after")
        own, dropped = Signal(ways), Signal(ways)
        m.d.comb += [
            own.eq(Mux(self.put.valid, 1 << found.pointer, 0)),
            dropped.eq(Mux(self.invalidate_entry.valid, 1 << self.invalidate_entry.entry.way, 0)),
            has_lines.eq(valid.bit_select(index, 1) | is_recent),
            found.hitting.eq(Mux(has_lines, kept.hitting, 0)),
            after.eq(found),
            after.hitting.eq(found.hitting & ~dropped | own),
        ]
        m.d.sync += [recent.valid.eq(self.put.valid), recent.set.eq(index)]
        with m.If(recent.valid):
            m.d.sync += [begun.bit_select(recent.set, 1).eq(1), valid.bit_select(recent.set, 1).eq(1)]
        with m.If(begun.bit_select(index, 1) | is_recent):
            m.d.comb += [found.pointer.eq(kept.pointer), found.is_full.eq(kept.is_full)]
        with m.If(self.put.valid):
            m.d.comb += after.pointer.eq((found.pointer + 1) % ways)
            m.d.comb += after.is_full.eq(found.is_full | (found.pointer == ways - 1))
        with m.If(self.invalidate):
            m.d.sync += [valid.eq(0), recent.valid.eq(0)]
        table.write(m, index, after, self.put.valid | (self.invalidate_entry.valid & has_lines))
        return found


class FreeList(wiring.Component):
    """The free list of a data RAM's rows. A row may be taken in the cycle after it was given back.

    Members
    -------
    row : ``Out(row_layout(rows))``
        A free row, if there is one.
    take : ``In(1)``
        Allocates the row.
    give : ``In(row_layout(rows))``
        A row that is freed.
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
