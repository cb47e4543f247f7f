"""The data RAM of a write-back cache, with dirty bytes."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import CHANGE, WORD_INDEX_BITS
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_BITS, LINE_WORDS
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.lib.ram import DistributedRam


class RowAccess(Interface):
    """Reads and changes of rows, seen from the unit that makes them: one of each in a cycle.

    Members
    -------
    read : ``Out({valid, row, slice})``
        `bits` are the slice in the next cycle, and until another is read. They have no changes of the same cycle.
    bits : ``In(slice_bits)``
    change : ``Out({row, word, change})``
        Bytes of a word that are dirty from now on, perhaps none.
    """

    def __init__(self, rows: int, slice_bits: int) -> None:
        row = range(rows)
        super().__init__(
            {
                "read": Out(data.StructLayout({"valid": 1, "row": row, "slice": range(LINE_BITS // slice_bits)})),
                "bits": In(slice_bits),
                "change": Out(data.StructLayout({"row": row, "word": WORD_INDEX_BITS, "change": CHANGE})),
            }
        )


class DirtyRows(wiring.Component):
    """Rows of a write-back cache. A slice of one row is filled or changed, and one is read, in each cycle.

    Where rows have several slices there is another port, by which they are written back: once a port of memory has the
    first one of a line, the others must not wait for accesses, which may wait for that port.

    Members
    -------
    access : ``In(RowAccess(rows, slice_bits))``
    write_back, write_back_bits : as `read` and `bits` of `access`
        Only where rows have several slices.
    fill : ``In({valid, row, slice, bits})``
        All bytes but the dirty ones; not in a cycle in which a row is changed.
    clean : ``In({valid, row})``
        No byte of the row is dirty any more; not of a row that is changed in the same cycle.
    selected : ``In(range(rows))``
    dirty : ``Out(64)``
        The dirty bytes of this row, as they were before the cycle.
    soiled : ``Out(rows)``
        Rows that have dirty bytes.
    """

    def __init__(self, rows: int, slice_bits: int = LINE_BITS) -> None:
        self._rows, self._slice_bits = rows, slice_bits
        row, slice_ = range(rows), range(LINE_BITS // slice_bits)
        some = data.StructLayout({"valid": 1, "row": row})
        access = RowAccess(rows, slice_bits)
        read = access.members["read"].shape
        write_back = {"write_back": In(read), "write_back_bits": Out(slice_bits)} if slice_bits < LINE_BITS else {}
        super().__init__(
            {
                "access": In(access),
                **write_back,
                "fill": In(data.StructLayout({"valid": 1, "row": row, "slice": slice_, "bits": slice_bits})),
                "clean": In(some),
                "selected": In(row),
                "dirty": Out(CacheConfig.LINE_BYTES),
                "soiled": Out(rows),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        slices = LINE_BITS // self._slice_bits
        memory: Memory = Memory(shape=self._slice_bits, depth=self._rows * slices, init=[])
        m.submodules.memory = memory
        m.submodules.masks = masks = DistributedRam(CacheConfig.LINE_BYTES, self._rows)
        reader, writer = memory.read_port(), memory.write_port(granularity=BYTE_BITS)

        if slices > 1:
            second = memory.read_port()
            m.d.comb += [
                second.addr.eq(Cat(self.write_back.slice, self.write_back.row)),
                second.en.eq(self.write_back.valid),
                self.write_back_bits.eq(second.data),
            ]

        def dirty(row: Value) -> Value:
            # The mask of a row that is not soiled means nothing, so it is not cleared.
            mask: Value = masks.read(m, row)
            return mask & Value.cast(self.soiled).bit_select(row, 1).replicate(CacheConfig.LINE_BYTES)

        read, given, fill = self.access.read, self.access.change, self.fill
        change = given.change
        row, old_mask = Signal.like(fill.row), Signal(CacheConfig.LINE_BYTES)
        changed, changes = Signal(CacheConfig.LINE_BYTES), change.mask.any()
        words, slice_bytes = self._slice_bits // WORD_BITS, self._slice_bits // BYTE_BITS
        slice_ = Mux(fill.valid, fill.slice, given.word >> (words - 1).bit_length())[: len(fill.slice)]
        m.d.comb += [
            row.eq(Mux(fill.valid, fill.row, given.row)),
            old_mask.eq(dirty(row)),
            changed.eq(_at_word(change.mask, given.word, LINE_WORDS)),
            reader.addr.eq(Cat(read.slice, read.row)),
            reader.en.eq(read.valid),
            self.access.bits.eq(reader.data),
            writer.addr.eq(Cat(slice_, row)),
            writer.data.eq(Mux(fill.valid, fill.bits, change.bits.replicate(words))),
            writer.en.eq(
                Mux(
                    fill.valid,
                    ~old_mask.word_select(fill.slice, slice_bytes),
                    _at_word(change.mask, given.word[: (words - 1).bit_length()], words),
                )
            ),
            self.dirty.eq(dirty(self.selected)),
        ]
        masks.write(m, row, old_mask | changed, changes)
        with m.If(changes):
            m.d.sync += self.soiled.bit_select(row, 1).eq(1)
        with m.If(self.clean.valid):
            m.d.sync += self.soiled.bit_select(self.clean.row, 1).eq(0)
        return m


def _at_word(mask: Value, word: Value, words: int) -> Value:
    """A word's byte mask as that of so many words."""
    return Cat(mask & (word == number).replicate(WORD_BYTES) for number in range(words))
