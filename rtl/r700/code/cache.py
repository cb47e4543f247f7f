"""The code cache of a core: lines of 64 bytes from the code's start, read 16 bytes at a time by two readers.

The code begins at any word of memory, so a line may lie in two lines of memory. Lines are written at the address of
the second reader, which waits meanwhile: so a block RAM with two ports is enough. Source: docs/design/r700-core.md.
"""

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
_LINE_BITS = ROW_ADDRESS_BITS - _ROW_OF_LINE
"""Width of a line's number."""
_WORD_OFFSET = WORD_BYTES.bit_length() - 1
_POSITION_BITS = LINE_OFFSET_BITS - _WORD_OFFSET
"""Width of a word's position in a line of memory."""

_KEPT = 63
"""Cycles in which a loaded line and the next one are not replaced: every reader reads again in fewer."""

READERS = 2
_WAITS = 1
"""The reader at whose address lines are written."""
_TAG = data.StructLayout({"error": 1, "tag": _LINE_BITS - _INDEX_BITS})
_TOGETHER = 32
"""Lines that are invalidated in one cycle."""
_POSITION_TOGETHER = (_TOGETHER - 1).bit_length()


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
        refill = _Refill(m, self)

        def holds(line: Value) -> tuple[Value, Value]:
            """Whether a line is valid, and whether it had an error response."""
            index = line[:_INDEX_BITS]
            tag, together = tags.read(m, index), loaded.read(m, index[_POSITION_TOGETHER:])
            # A loading line overwrites its predecessor word by word.
            is_replaced = self.busy & (index == refill.line[:_INDEX_BITS])
            is_valid = together.bit_select(index[:_POSITION_TOGETHER], 1) & ~is_replaced & ~invalidates
            return is_valid & (tag.tag == line[_INDEX_BITS:]), tag.error

        wanted, wants = Signal(_LINE_BITS), Signal()
        writer = memory.write_port(granularity=1)
        stores = writer.en.any()
        for number in reversed(range(READERS)):
            reader = self.readers[number]
            row, reads = reader.row, Value.cast(reader.reads)
            line, position = row[_ROW_OF_LINE:], row[: len(refill.row)]
            if number == _WAITS:
                reads, position = reads & ~stores, Mux(stores, refill.row, position)
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
        next_is_there, _ = holds(refill.next_line)
        refill.build(wanted, wants & ~invalidates, next_is_there)
        m.d.comb += [writer.en.eq(refill.enable), *(each.eq(refill.word) for each in writer.data)]
        tags.write(m, refill.line[:_INDEX_BITS], Cat(refill.is_error, refill.line[_INDEX_BITS:]), refill.ends)
        block, position = refill.line[_POSITION_TOGETHER:_INDEX_BITS], refill.line[:_POSITION_TOGETHER]
        loaded.write(
            m, Mux(invalidates, invalidating, block)[: len(block)],
            Mux(invalidates, 0, loaded.read(m, block) | (1 << position)[:_TOGETHER]), invalidates | refill.is_loaded,
        )  # fmt: skip
        return m


class _Refill:
    """The logic of the refill: loads one line after the other, once the lines of memory that have it have come.

    States: idle; ask for one or two lines of memory, and wait for them; store the words, one in each cycle.

    `asked`, `came` and `error` have a bit for each of two lines of memory. The second one has the remainder of the
    line, or, where lines of memory are those of the code, `paired`, the next line.
    """

    def __init__(self, m: Module, cache: CodeCache) -> None:
        self.m, self.cache = m, cache
        self.line = Signal(_LINE_BITS, name="line")
        """The line that is loaded."""
        self.next_line = (self.line + 1)[:_LINE_BITS]
        self.first = Signal(ADDRESS_BITS - _WORD_OFFSET, name="first")
        """The first of its words in memory."""
        self.held = Signal(2 * LINE_WORDS * WORD_BITS, name="held", reset_less=True)
        self.asked, self.came, self.error = (Signal(2, name=name) for name in ("asked", "came", "error"))
        self.paired, self.prefetching, self.stale = (Signal(name=name) for name in ("paired", "prefetching", "stale"))
        self.position = Signal(range(LINE_WORDS + 1), name="position")
        """The word of the line that is stored."""
        self.row, self.enable = Signal(_ROW_OF_LINE + _INDEX_BITS, name="stored"), Signal(_ROW_WORDS, name="enable")
        """The row of the data RAM that has the word, and the bit of the word in it while it is stored."""
        at_second = self.prefetching & self.paired
        self.word = self.held.word_select(
            (Cat(self.first[:_POSITION_BITS], at_second) + self.position)[: _POSITION_BITS + 1], WORD_BITS
        )
        self.ends = self.position == LINE_WORDS
        """All words of the line are stored."""
        self.is_error = Mux(self.paired, self.error.bit_select(self.prefetching, 1), self.error.any())
        self.is_loaded = Signal(name="is_loaded")
        """The line is valid from the next cycle on."""
        self.kept, self.last = Signal(range(_KEPT + 1), name="kept"), Signal(_INDEX_BITS, name="last")
        """Cycles for which the line that was loaded last is not replaced, and its index."""

    def build(self, wanted: Value, wants: Value, next_is_there: Value) -> None:
        """Build the logic: a line is `wanted` if it `wants` one; `next_is_there` says whether `next_line` is valid."""
        m, cache = self.m, self.cache
        goes_on = ((self.next_line << 3) < cache.size) & ~next_is_there
        m.d.comb += self.row.eq(Cat(self.position[_WORD_OF_ROW : _WORD_OF_ROW + _ROW_OF_LINE], self.line[:_INDEX_BITS]))
        with m.If(self.kept.any()):
            m.d.sync += self.kept.eq(self.kept - 1)
        with m.If(cache.invalidate):
            m.d.sync += self.stale.eq(cache.busy)
        with m.FSM():
            self._idle(wanted, wants)
            self._ask(goes_on & ~self.prefetching)
            self._store(goes_on)

    def _begin(self, line: Value) -> None:
        """Begin to load a line."""
        self.m.d.sync += [
            self.line.eq(line),
            self.first.eq((self.cache.address >> _WORD_OFFSET) + (line << _POSITION_BITS)),
            *(each.eq(0) for each in (self.error, self.asked, self.came, self.paired, self.position)),
        ]
        self.m.next = "ask"

    def _idle(self, wanted: Value, wants: Value) -> None:
        """Begin with a line that is missed."""
        m = self.m
        # Readers of lines that exclude each other would load them alternately and never hit.
        other = wanted[:_INDEX_BITS] - self.last
        with m.State("idle"), m.If(wants & ~(self.kept.any() & (other[:_INDEX_BITS] < 2))):
            m.d.sync += [self.prefetching.eq(0), self.last.eq(wanted)]
            self._begin(wanted)

    def _ask(self, goes_on: Value) -> None:
        """Read the one or two lines of memory that hold the line, or with it the one that `goes_on`."""
        m, request, response = self.m, self.cache.lines.request, self.cache.lines.response
        crosses = self.first[:_POSITION_BITS].any()
        with m.State("ask"):
            m.d.comb += [
                self.cache.busy.eq(1),
                request.valid.eq(~self.asked.all()),
                request.payload.line.eq((self.first >> _POSITION_BITS) + self.asked[0]),
                request.payload.tag.eq(self.asked[0]),
            ]
            with m.If(request.valid & request.ready):
                m.d.sync += self.asked.eq(Mux(self.asked[0] | ~(crosses | goes_on), 0b11, 0b01))
                with m.If(~self.asked[0]):
                    m.d.sync += self.paired.eq(~crosses & goes_on)
            with m.If(response.valid):
                m.d.sync += [
                    self.held.word_select(response.payload.tag, LINE_WORDS * WORD_BITS).eq(response.payload.bits),
                    self.error.bit_select(response.payload.tag, 1).eq(response.payload.error),
                    self.came.eq(self.came | (1 << response.payload.tag)[:2]),
                ]
            with m.If(self.asked.all() & self.came[0] & (self.came[1] | ~(crosses | self.paired))):
                m.next = "store"

    def _store(self, goes_on: Value) -> None:
        """Store the words of the line, then go on with the next one, or end."""
        m, cache = self.m, self.cache
        with m.State("store"):
            m.d.comb += cache.busy.eq(1)
            with m.If(self.ends):
                m.d.comb += self.is_loaded.eq(~self.stale & ~cache.invalidate)
                m.d.sync += self.prefetching.eq(1)
                with m.If(~self.prefetching & self.paired):
                    m.d.sync += [self.line.eq(self.next_line), self.position.eq(0)]
                with m.Elif(~self.prefetching & goes_on):
                    m.d.sync += self.stale.eq(0)
                    self._begin(self.next_line)
                with m.Else():
                    m.d.sync += [self.kept.eq(_KEPT), self.stale.eq(0)]
                    m.next = "idle"
            with m.Else():
                m.d.comb += self.enable.eq((1 << self.position[:_WORD_OF_ROW])[:_ROW_WORDS])
                m.d.sync += self.position.eq(self.position + 1)
