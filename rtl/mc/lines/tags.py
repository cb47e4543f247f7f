"""The tags of a cache, and the free list of its data RAM's rows."""

from collections.abc import Sequence

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.views import record, view


def row_layout(rows: int) -> data.StructLayout:
    """One of `rows` rows, or none."""
    return data.StructLayout({"valid": 1, "row": range(rows)})


def entry_layout(config: CacheConfig) -> data.StructLayout:
    """An entry of the tags: a way of a set."""
    return data.StructLayout({"set": range(config.sets), "way": range(config.ways)})


class LineTags(wiring.Component):
    """The tags of a set-associative cache. Rows of the data RAM are not tied to ways: each way holds the row it owns.

    The match is combinational, of `line`. The tags of many sets are in block RAM: they are read in the cycle before
    it, `synchronous`. Replacement is round-robin in each set.

    Members
    -------
    line : ``In(26)``
    next_line, advances : ``In(26)``, ``In(1)``
        Only if reads are `synchronous`: the value of `line` from the next cycle on; else `line` is constant. High in
        each cycle with `put`.
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

    def __init__(self, config: CacheConfig, rows: int, *, synchronous: bool = False) -> None:
        self._config, self._rows, self._synchronous = config, rows, synchronous
        entry = entry_layout(config)
        super().__init__(
            {
                "line": In(LINE_ADDRESS_BITS),
                **({"next_line": In(LINE_ADDRESS_BITS), "advances": In(1)} if synchronous else {}),
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
        index = self.line[:set_bits]
        found = self._set(m, index)
        m.d.comb += [self.entry.set.eq(index), self.entry.way.eq(found.pointer)]

        content = data.StructLayout({"upper": len(self.line) - set_bits, "row": range(self._rows)})
        written, put = record(content, name="written"), Mux(self.put.valid, 1 << found.pointer, 0)[:ways]
        m.d.comb += Value.cast(written).eq(Cat(self.line[set_bits:], self.put.row))
        kept = (self._kept_synchronous if self._synchronous else self._kept)(m, index, written, put)
        hits = Cat(valid & (way.upper == written.upper) for valid, way in zip(found.hitting, kept, strict=True))
        rows = [way.row for way in kept]
        m.d.comb += [
            self.hit.eq(hits.any()),
            self.row.eq(Array(rows)[one_hot_index(hits)]),
            # An entry owns a row from its first line on, also when its line is invalid.
            self.owned.valid.eq(found.is_full),
            self.owned.row.eq(Array(rows)[found.pointer]),
        ]
        return m

    def _kept(self, m: Module, index: Value, written: data.View, put: Value) -> list[data.View]:
        """What each way of the set has; `put` says which is to have what is written."""
        kept = []
        for way, writes in enumerate(put):
            m.submodules[f"way_{way}"] = table = DistributedRam(written.shape(), self._config.sets)
            kept.append(table.read(m, index))
            table.write(m, index, written, writes)
        return kept

    def _kept_synchronous(self, m: Module, index: Value, written: data.View, put: Value) -> list[data.View]:
        """As `_kept`, from block RAM, whose row does not have what is put in the cycle in which it is read."""
        next_index = self.next_line[: len(index)]
        recent, in_set, kept = Signal.like(written, reset_less=True), Signal.like(put), []
        with m.If(self.advances):
            m.d.sync += [recent.eq(written), in_set.eq(Mux(next_index == index, put, 0))]
        for way, writes in enumerate(put):
            m.submodules[f"way_{way}"] = table = BlockRam(written.shape(), self._config.sets)
            reader, writer = table.read_port(), table.write_port()
            m.d.comb += [
                reader.addr.eq(next_index),
                reader.en.eq(self.advances),
                writer.addr.eq(index),
                writer.data.eq(written),
                writer.en.eq(writes),
            ]
            kept.append(view(written.shape(), Mux(in_set[way], Value.cast(recent), Value.cast(reader.data))))
        return kept

    def _set(self, m: Module, index: Value) -> data.View:
        """A set's round-robin pointer, whether all its ways have lines, and its valid bits.

        `begun` has a bit for each set that has been written, because the memory has no reset.
        """
        sets, ways, drops = self._config.sets, self._config.ways, self.invalidate_entry.valid
        layout = data.StructLayout({"pointer": max(1, (ways - 1).bit_length()), "is_full": 1, "hitting": ways})
        m.submodules.sets = table = DistributedRam(layout, sets)
        begun, valid = Signal(sets), Signal(sets)
        # Whether a line is put follows late in a cycle, so its set's bits are set in the next one.
        recent = record(data.StructLayout({"valid": 1, "set": range(sets)}), name="recent")
        kept: data.View = table.read(m, index)
        # A read of its own, so that no hit follows from whether an entry is invalidated.
        dropped, drop = table.read(m, self.invalidate_entry.entry.set), self.invalidate_entry.entry
        found, after = Signal(layout, name="found"), Signal(layout, name="after")
        has_lines, has_begun = Signal(), Signal()
        self._see_set(m, index, (valid, begun), recent, (has_lines, has_begun))
        m.d.comb += found.hitting.eq(Mux(has_lines, kept.hitting, 0))
        with m.If(has_begun):
            m.d.comb += [found.pointer.eq(kept.pointer), found.is_full.eq(kept.is_full)]
        with m.If(drops):
            m.d.comb += [after.eq(dropped), after.hitting.eq(dropped.hitting & ~(1 << drop.way))]
        with m.Else():
            m.d.comb += [
                after.pointer.eq((found.pointer + 1) % ways),
                after.is_full.eq(found.is_full | (found.pointer == ways - 1)),
                after.hitting.eq(found.hitting | (1 << found.pointer)),
            ]
        table.write(m, Mux(drops, drop.set, index), after, self.put.valid | drops)
        m.d.sync += [recent.valid.eq(self.put.valid), recent.set.eq(index)]
        with m.If(recent.valid):
            m.d.sync += [begun.bit_select(recent.set, 1).eq(1), valid.bit_select(recent.set, 1).eq(1)]
        with m.If(self.invalidate):
            m.d.sync += [valid.eq(0), recent.valid.eq(0)]
        return found

    def _see_set(
        self, m: Module, index: Value, bits: Sequence[Signal], recent: data.View, seen: tuple[Signal, Signal]
    ) -> None:
        """Set whether the line's set has lines, and has begun: `bits` have it of all sets but the recent one."""
        if not self._synchronous:
            is_recent = recent.valid & (recent.set == index)
            m.d.comb += [each.eq(own.bit_select(index, 1) | is_recent) for each, own in zip(seen, bits, strict=True)]
            return
        following = self.next_line[: len(index)]
        comes = recent.valid & (recent.set == following)
        with m.If(self.advances):
            m.d.sync += [each.eq(own.bit_select(following, 1) | comes) for each, own in zip(seen, bits, strict=True)]
        with m.If(self.put.valid & (index == following)):
            m.d.sync += [each.eq(1) for each in seen]
        with m.If(self.invalidate):
            m.d.sync += seen[0].eq(0)


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
