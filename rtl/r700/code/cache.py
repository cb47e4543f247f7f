"""The code cache of a core: lines of 64 bytes from the code's start, read 16 bytes at a time by two readers.

The code begins at any word of memory, so a line may lie in two lines of memory. Lines are written at the address of
the second reader, which waits meanwhile: so a block RAM with two ports is enough. Source: docs/design/r700-core.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_OFFSET_BITS, LINE_WORDS
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.r700.border.code import ROW_ADDRESS_BITS, ROW_UNITS, CodePort
from ctm.rtl.r700.shapes import CODE_LINE_CLIENT, UNIT_ADDRESS_BITS

LINES = 256
"""16 KiB."""
_ROW_WORDS = ROW_UNITS * UNIT_BYTES // WORD_BYTES
_ROWS = LINE_WORDS // _ROW_WORDS
_ROW_OF_LINE = (_ROWS - 1).bit_length()
_WORD_OF_ROW = (_ROW_WORDS - 1).bit_length()
_INDEX_BITS = (LINES - 1).bit_length()
_WORD_OFFSET = WORD_BYTES.bit_length() - 1
_POSITION_BITS = LINE_OFFSET_BITS - _WORD_OFFSET
"""Width of a word's position in a line of memory."""

_KEPT = 63
"""Cycles in which a loaded line and the next one are not replaced: every reader reads again in fewer."""

READERS = 2
_WAITS = 1
"""The reader at whose address lines are written."""
_TAG = data.StructLayout({"error": 1, "tag": ROW_ADDRESS_BITS - _ROW_OF_LINE - _INDEX_BITS})
_TOGETHER = 32
"""Lines that are invalidated in one cycle."""
_POSITION_TOGETHER = (_TOGETHER - 1).bit_length()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Loading:
    """The line that is loaded: its number, the first of its words in memory, and the lines of memory that have come.

    `asked`, `came` and `error` have a bit for each of two lines of memory. The second one has the remainder of the
    line, or, where lines of memory are those of the code, `paired`, the next line.
    """

    line: Signal
    first: Signal
    held: Signal
    error: Signal
    asked: Signal
    came: Signal
    paired: Signal


class CodeCache(wiring.Component):
    """Direct-mapped; after a line that was missed the next one is loaded, too, together with it where possible.

    Latency of a read is a cycle. A read that misses has to be repeated; it hits when the line is loaded as a whole. The
    second reader misses in cycles in which a line is stored, at most 16 for each line.

    Members
    -------
    address : ``In(32)``
        Where the code begins, a multiple of 4; constant while lines are read.
    size : ``In(14)``
        Units of the code.
    invalidate : ``In(1)``
        Invalidate all lines; only in cycles without reads. Reads of the next eight cycles miss.
    readers : ``In(CodePort())``, 2 of them
        Both are always free.
    lines : ``Out(CODE_LINE_CLIENT)``
    busy : ``Out(1)``
        A line is in flight.
    """

    address: In(ADDRESS_BITS)
    size: In(UNIT_ADDRESS_BITS)
    invalidate: In(1)
    readers: In(CodePort()).array(READERS)
    lines: Out(CODE_LINE_CLIENT)
    busy: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = data.ArrayLayout(WORD_BITS, _ROW_WORDS)
        memory = BlockRam(words, LINES * _ROWS)
        m.submodules.memory = memory
        m.submodules.tags = tags = DistributedRam(_TAG, LINES)
        m.submodules.loaded = loaded = DistributedRam(_TOGETHER, LINES // _TOGETHER)
        # All are invalidated after reset, too.
        invalidating = Signal(range(LINES // _TOGETHER + 1))
        invalidates = invalidating != LINES // _TOGETHER
        with m.If(self.invalidate):
            m.d.sync += invalidating.eq(0)
        with m.Elif(invalidates):
            m.d.sync += invalidating.eq(invalidating + 1)
        line_bits = ROW_ADDRESS_BITS - _ROW_OF_LINE
        loading = Signal(line_bits, name="line")

        def holds(line: Value) -> tuple[Value, Value]:
            """Whether a line is valid, and whether it had an error response."""
            index = line[:_INDEX_BITS]
            tag, together = tags.read(m, index), loaded.read(m, index[_POSITION_TOGETHER:])
            # A loading line overwrites its predecessor word by word.
            is_replaced = self.busy & (index == loading[:_INDEX_BITS])
            is_valid = together.bit_select(index[:_POSITION_TOGETHER], 1) & ~is_replaced & ~invalidates
            return is_valid & (tag.tag == line[_INDEX_BITS:]), tag.error

        wanted, wants = Signal(line_bits), Signal()
        writer, stored = memory.write_port(granularity=1), Signal(_ROW_OF_LINE + _INDEX_BITS)
        stores = writer.en.any()
        for number in reversed(range(READERS)):
            reader = self.readers[number]
            row, reads = reader.row, Value.cast(reader.reads)
            line, position = row[_ROW_OF_LINE:], row[: len(stored)]
            if number == _WAITS:
                reads, position = reads & ~stores, Mux(stores, stored, position)
            port = memory.read_port()
            hit, error = holds(line)
            m.d.comb += [
                port.addr.eq(position),
                reader.free.eq(1),
                reader.found.hit.eq(delay(m, hit & reads)),
                reader.found.error.eq(delay(m, error)),
                Value.cast(reader.found.units).eq(Value.cast(port.data)),
            ]
            if number == _WAITS:
                m.d.comb += writer.addr.eq(port.addr)
            with m.If(reads & ~hit):
                m.d.comb += [wanted.eq(line), wants.eq(1)]
        is_loaded = self._fill(m, writer, stored, tags, loading, (wanted, wants & ~invalidates), holds)
        block, position = loading[_POSITION_TOGETHER:_INDEX_BITS], loading[:_POSITION_TOGETHER]
        loaded.write(
            m, Mux(invalidates, invalidating, block)[: len(block)],
            Mux(invalidates, 0, loaded.read(m, block) | (1 << position)[:_TOGETHER]), invalidates | is_loaded,
        )  # fmt: skip
        return m

    def _fill(
        self, m: Module, port: Any, stored: Signal, tags: DistributedRam, line: Signal,
        misses: tuple[Value, Value], holds: Callable[[Value], tuple[Value, Value]],
    ) -> Signal:  # fmt: skip
        """Load one line after the other, a word in each cycle, to row `stored`, once both lines of memory have come.

        Returns whether `line` is valid from the next cycle on.
        """
        wanted, wants = misses
        loading = _Loading(
            line=line, first=Signal(ADDRESS_BITS - _WORD_OFFSET, name="first"),
            held=Signal(2 * LINE_WORDS * WORD_BITS, name="held", reset_less=True), error=Signal(2, name="error"),
            asked=Signal(2, name="asked"), came=Signal(2, name="came"), paired=Signal(name="paired"),
        )  # fmt: skip
        first, prefetching, stale = loading.first, Signal(), Signal()
        position, index = Signal(range(LINE_WORDS + 1)), line[:_INDEX_BITS]
        at_second = prefetching & loading.paired
        word = loading.held.word_select(
            (Cat(first[:_POSITION_BITS], at_second) + position)[: _POSITION_BITS + 1], WORD_BITS
        )
        error = Mux(loading.paired, loading.error.bit_select(prefetching, 1), loading.error.any())
        next_line = (line + 1)[: len(line)]
        next_exists = (next_line << 3) < self.size
        there, _ = holds(next_line)
        goes_on = next_exists & ~there

        def begin(number: Value) -> list[Any]:
            return [
                line.eq(number),
                first.eq((self.address >> _WORD_OFFSET) + (number << _POSITION_BITS)),
                *(each.eq(0) for each in (loading.error, loading.asked, loading.came, loading.paired, position)),
            ]

        m.d.comb += [
            stored.eq(Cat(position[_WORD_OF_ROW : _WORD_OF_ROW + _ROW_OF_LINE], index)),
            *(each.eq(word) for each in port.data),
        ]
        tags.write(m, index, Cat(error, line[_INDEX_BITS:]), position == LINE_WORDS)
        # Readers of lines that exclude each other would load them alternately and never hit.
        kept, last, is_loaded = Signal(range(_KEPT + 1)), Signal.like(index), Signal()
        other = wanted[:_INDEX_BITS] - last
        with m.If(kept.any()):
            m.d.sync += kept.eq(kept - 1)
        with m.If(self.invalidate):
            m.d.sync += stale.eq(self.busy)
        with m.FSM():
            with m.State("idle"):
                with m.If(wants & ~(kept.any() & (other[:_INDEX_BITS] < 2))):
                    m.d.sync += [*begin(wanted), prefetching.eq(0), last.eq(wanted)]
                    m.next = "ask"
            with m.State("ask"):
                self._ask(m, loading, goes_on & ~prefetching)
            with m.State("store"):
                m.d.comb += [self.busy.eq(1), port.en.eq((1 << position[:_WORD_OF_ROW])[:_ROW_WORDS])]
                with m.If(position == LINE_WORDS):
                    m.d.comb += [port.en.eq(0), is_loaded.eq(~stale & ~self.invalidate)]
                    m.d.sync += prefetching.eq(1)
                    with m.If(~prefetching & loading.paired):
                        m.d.sync += [line.eq(next_line), position.eq(0)]
                    with m.Elif(~prefetching & goes_on):
                        m.d.sync += [*begin(next_line), stale.eq(0)]
                        m.next = "ask"
                    with m.Else():
                        m.d.sync += [kept.eq(_KEPT), stale.eq(0)]
                        m.next = "idle"
                with m.Else():
                    m.d.sync += position.eq(position + 1)
        return is_loaded

    def _ask(self, m: Module, loading: _Loading, goes_on: Value) -> None:
        """Read the one or two lines of memory that hold the line, or with it the one that `goes_on`."""
        request, response = self.lines.request, self.lines.response
        crosses = loading.first[:_POSITION_BITS].any()
        m.d.comb += [
            self.busy.eq(1),
            request.valid.eq(~loading.asked.all()),
            request.payload.line.eq((loading.first >> _POSITION_BITS) + loading.asked[0]),
            request.payload.tag.eq(loading.asked[0]),
        ]
        with m.If(request.valid & request.ready):
            m.d.sync += loading.asked.eq(Mux(loading.asked[0] | ~(crosses | goes_on), 0b11, 0b01))
            with m.If(~loading.asked[0]):
                m.d.sync += loading.paired.eq(~crosses & goes_on)
        with m.If(response.valid):
            m.d.sync += [
                loading.held.word_select(response.payload.tag, LINE_WORDS * WORD_BITS).eq(response.payload.bits),
                loading.error.bit_select(response.payload.tag, 1).eq(response.payload.error),
                loading.came.eq(loading.came | (1 << response.payload.tag)[:2]),
            ]
        with m.If(loading.asked.all() & loading.came[0] & (loading.came[1] | ~(crosses | loading.paired))):
            m.next = "store"
