"""The local data share: each pixel writes rows of its own, and reads any of its wavefront's.

Source: R700-Family Instruction Set Architecture, p. 35; docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.limits import LDS_BANK_DWORDS, LDS_BANKS, LDS_ROW
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.r700.border.walk import PixelWalk
from ctm.rtl.r700.fetch.operation import FETCH, Task
from ctm.rtl.r700.fetch.selection import QUAD_WORDS
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.shapes import SHARE_BITS

_ROWS = LDS_BANK_DWORDS // LDS_ROW
_HALVES = 2
"""Banks that share a memory, which one bank would not fill; they are written in alternate cycles."""
_MEMORIES = LDS_BANKS // _HALVES
_ROW_BITS = (_ROWS - 1).bit_length()


class LocalShare(wiring.Component):
    """Four banks, one for each pixel of a quad; a wavefront has `rows` rows of four dwords of each.

    A SHARE_WRITE takes a cycle for each two pixels, so a walk of 16 takes 8. A SHARE_READ takes a cycle for each pixel,
    and one more for the latency of the memory: 17. A row that the wavefront does not have ignores writes, and reads 0.
    `clear` takes two cycles for each row, and one.

    Members
    -------
    rows : ``In(9)``
        Rows of each bank that a wavefront has.
    clear : ``In(stream.Signature(wave))``
        A wave slot whose rows become 0; ready when they are. It waits while a walk is made.
    walk : ``Out(PixelWalk(W))``
        An element is the words that a pixel has read; a write has none.
    wave : ``In(wave)``
        The wave slot that reads or writes.
    fetch : ``In(FETCH)``
    burst : ``In(4)``
        The number of the register among those of the instruction; each accesses the next row.
    slice : ``In(partition.slice_bits)``
        The slice whose pixels write.
    quad_written : ``In(QUAD_WORDS)``
        The words that the wanted pixel's quad writes.
    own : ``In(WORDS)``
        The wanted pixel's words, which have its address: bank and dword.
    executing : ``In(W)``
        Pixels that write.
    active : ``In(W)``
        The first of them has the address of a read that `broadcasts`.
    """

    def __init__(self, config: ArrayConfig) -> None:
        partition = Partition.of(config)
        self._size = size = partition.slice
        wave = wave_bits(config)
        super().__init__(
            {
                "rows": In(SHARE_BITS),
                "clear": In(stream.Signature(wave)),
                "walk": Out(PixelWalk(size)),
                "wave": In(wave),
                "fetch": In(FETCH),
                "burst": In(4),
                "slice": In(partition.slice_bits),
                "quad_written": In(QUAD_WORDS),
                "own": In(WORDS),
                "executing": In(size),
                "active": In(size),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # The lowest bit of either selects one of the banks that share a memory.
        count, cleared = Signal(range(self._size + 1)), Signal(SHARE_BITS + 1)
        writes = self.walk.start & (self.fetch.task == Task.SHARE_WRITE)
        reads = self.walk.start & (self.fetch.task == Task.SHARE_READ)
        steps = Mux(writes, self._size // _MEMORIES, self._size)
        clears = self.clear.valid & ~self.walk.start
        m.d.comb += [
            self.clear.ready.eq(clears & (cleared[1:] == self.rows)),
            # The words of the last step's read come in the next cycle.
            self.walk.done.eq(self.walk.start & (count == Mux(writes, steps - 1, steps))),
        ]
        m.d.sync += count.eq(Mux(self.walk.start & ~self.walk.done, count + 1, 0))
        with m.If(clears):
            m.d.sync += cleared.eq(Mux(self.clear.ready, 0, cleared + 1))
        quads = self._size // LDS_BANKS
        half, in_slice = count[0], count[1:][: (quads - 1).bit_length()]
        quad = Cat(in_slice, self.slice)
        own_row, exists = self._written_row(m, quad)
        row, bank, word, found = self._read_row(m)
        read_pixel = Mux(self.fetch.broadcasts, one_hot_index(lowest_one(self.active)), count)
        m.d.comb += self.walk.wanted.eq(Mux(writes, in_slice * LDS_BANKS, read_pixel))
        base = (Mux(self.walk.start, self.wave, self.clear.payload) * self.rows)[: _ROWS.bit_length()]
        found_halves = []
        for number in range(_MEMORIES):
            # Of bank `number`, followed by that of the bank that shares its memory.
            memory = BlockRam(WORDS, _HALVES * _ROWS)
            m.submodules[f"banks_{number}"] = memory
            port, read = memory.write_port(granularity=1), memory.read_port()
            enable = Mux(half, self._written(in_slice, number + _MEMORIES), self._written(in_slice, number))
            words = [Mux(half, each[number + _MEMORIES], each[number]) for each in self.quad_written]
            own = (base + Mux(writes, own_row, cleared[1:]))[:_ROW_BITS]
            m.d.comb += [
                port.addr.eq(Cat(own, Mux(writes, half, cleared[0]))),
                read.addr.eq(Cat((base + row)[:_ROW_BITS], bank[-1])),
                *(target.eq(Mux(writes, each, 0)) for target, each in zip(port.data, words, strict=True)),
                port.en.eq(Mux(writes, Mux(exists, enable, 0), (clears & ~self.clear.ready).replicate(CHANNELS))),
            ]
            found_halves.append(Value.cast(read.data))
        held = Array(found_halves)[delay(m, bank[:-1])]
        one = held.word_select(delay(m, word), WORD_BITS)
        m.d.comb += [
            self.walk.valid.eq(delay(m, reads & (count < self._size))),
            self.walk.pixel.eq(delay(m, count[: len(self.walk.pixel)])),
        ]
        is_found = delay(m, found)
        for channel, target in enumerate(self.walk.element):
            each = Mux(self.fetch.selects_word, one, held.word_select(channel, WORD_BITS))
            m.d.comb += target.eq(Mux(is_found, each, 0))
        return m

    def _written_row(self, m: Module, quad: Value) -> tuple[Value, Value]:
        """The row that a quad writes, counted in its wavefront, and whether the wavefront has it."""
        fetch, row = self.fetch, Signal(2 * SHARE_BITS, name="own_row")
        m.d.comb += row.eq(((quad * fetch.stride + fetch.index) >> (LDS_ROW.bit_length() - 1)) + self.burst)
        return row, row < self.rows

    def _written(self, quad: Value, bank: int) -> Value:
        """The components that one pixel of a quad writes."""
        executes = Cat(self.executing[pixel] for pixel in range(bank, self._size, LDS_BANKS)).bit_select(quad, 1)
        return Cat(executes & (Value.cast(each) != ComponentSelect.MASK.value) for each in self.fetch.selects)

    def _read_row(self, m: Module) -> tuple[Value, Value, Value, Value]:
        """Row, bank and word of the pixel's address, and whether the wavefront has the row."""
        fetch = self.fetch
        own = Value.cast(self.own)
        bank = own.word_select(fetch.coordinates[0][:2], WORD_BITS)[: (LDS_BANKS - 1).bit_length()]
        dword, row = Signal(WORD_BITS), Signal(WORD_BITS)
        m.d.comb += [
            dword.eq(own.word_select(fetch.coordinates[1][:2], WORD_BITS) + fetch.offset),
            row.eq((dword >> 2) + self.burst),
        ]
        return row, bank, dword[:2], row < self.rows
