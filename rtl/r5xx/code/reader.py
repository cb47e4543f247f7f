"""Instructions from memory: their reader, and its multicast to the cores.

Source: CTM Guide pp. 6-8.
"""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import CODE_LINES, LINE_BITS, LINE_OFFSET_BITS, TaggedLineClient, code_client, read_bits
from ctm.rtl.config import CacheConfig, MachineConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_WORDS
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.rings import next_index
from ctm.rtl.mc.lines.cache import LineCache
from ctm.rtl.r5xx.instruction_client import InstructionClient

_WORD_OFFSET_BITS = WORD_BYTES.bit_length() - 1
_LINES = CacheConfig(sets=2, ways=1)
_TOUCHES = 4
"""Instructions that a line holds, whole or not. The queue has so many for each line, so that only lines bound it."""


class InstructionReader(wiring.Component):
    """Reads instructions, in order, with up to `outstanding` lines in flight; a word in each cycle, so one in six.

    An instruction lies in one line or two; neighbours share lines. Lines are not kept after a cycle of `idle`. They are
    read in sectors of `read_bits(slice_bits)`, of which an instruction lies in up to three.

    Members
    -------
    code : ``In(32)``
        Address of instruction 0, a multiple of 4; constant while not idle.
    client : ``In(InstructionClient())``
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))``
    idle : ``Out(1)``
    """

    def __init__(self, *, outstanding: int, slice_bits: int = LINE_BITS) -> None:
        self._outstanding, self._slice_bits = outstanding, slice_bits
        self._sector_bits = read_bits(slice_bits)
        self._sector_words = self._sector_bits // WORD_BITS
        self._offset_bits = (self._sector_words - 1).bit_length()
        super().__init__(
            {
                "code": In(ADDRESS_BITS),
                "client": In(InstructionClient()),
                "lines": Out(TaggedLineClient(range(outstanding), slice_bits)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # The passenger is the offset of the instruction's first word in its first sector.
        m.submodules.lines = lines = LineCache(
            _LINES, unsigned(self._offset_bits), outstanding=self._outstanding,
            waiting=_TOUCHES * self._outstanding * (LINE_BITS // self._sector_bits),
            slice_bits=self._slice_bits, sector_bits=self._sector_bits,
        )  # fmt: skip
        connect(m, lines.lines, flipped(self.lines))
        asks, whole = self._ask(m, lines.access), self._gather(m, lines.result)
        m.d.comb += [
            self.idle.eq(~asks & lines.idle & ~whole),
            lines.invalidate.eq(self.idle & ~self.client.request.valid),
        ]
        return m

    def _ask(self, m: Module, access: stream.Interface) -> Signal:
        """Ask for the sectors of each instruction. Returns whether there is one whose sectors are not all asked for."""
        request, first, offset_bits = self.client.request, Signal(ADDRESS_BITS), self._offset_bits
        offset_start, sector_start = _WORD_OFFSET_BITS, _WORD_OFFSET_BITS + offset_bits
        sectors = -(-(INSTRUCTION_WORDS - 1) // self._sector_words) + 1
        asks, remaining = Signal(), Signal(range(sectors))
        sector, offset = Signal(ADDRESS_BITS - sector_start), Signal(offset_bits)
        sector_of_line = LINE_OFFSET_BITS - sector_start
        m.d.comb += [
            first.eq(self.code + request.payload.number * INSTRUCTION_BYTES),
            access.valid.eq(asks),
            access.payload.line.eq(sector[sector_of_line:]),
            access.payload.sector.eq(sector[:sector_of_line]),
            access.payload.reads.eq(1),
            access.payload.passenger.eq(offset),
            request.ready.eq(~asks | (access.ready & (remaining == 0))),
        ]
        first_offset = first[offset_start:sector_start]
        with m.If(request.ready):
            m.d.sync += [
                asks.eq(request.valid),
                remaining.eq((first_offset + INSTRUCTION_WORDS - 1) >> offset_bits),
                sector.eq(first[sector_start:]),
                offset.eq(first_offset),
            ]
        with m.Elif(access.ready):
            m.d.sync += [remaining.eq(remaining - 1), sector.eq(sector + 1)]
        return asks

    def _gather(self, m: Module, line: stream.Interface) -> Signal:
        """Take the words of each instruction, one in each cycle. Returns whether a whole one is offered."""
        response, payload = self.client.response, line.payload
        whole, error, word = Signal(), Signal(), Signal(range(INSTRUCTION_WORDS))
        takes, is_last, offset = Signal(), word == INSTRUCTION_WORDS - 1, Signal(self._offset_bits)
        words = Value.cast(response.payload.words)
        m.d.comb += [
            takes.eq(line.valid & (~whole | response.ready)),
            offset.eq(payload.passenger + word),
            line.ready.eq(takes & (is_last | (offset == self._sector_words - 1))),
            response.valid.eq(whole),
            response.payload.error.eq(error),
        ]
        with m.If(takes | response.ready):
            m.d.sync += whole.eq(takes & is_last)
        with m.If(takes):
            m.d.sync += [
                words.eq(Cat(words[WORD_BITS:], payload.bits.word_select(offset, WORD_BITS))),
                error.eq(payload.error | (error & (word != 0))),
                word.eq(next_index(word, INSTRUCTION_WORDS)),
            ]
        return whole


def ask_together(m: Module, cores: Sequence[wiring.PureInterface], client: wiring.PureInterface) -> None:
    """Connect clients that request the same in the same cycles with one that requests for all."""
    m.d.comb += [
        client.request.valid.eq(cores[0].request.valid),
        client.request.payload.eq(cores[0].request.payload),
        client.response.ready.eq(cores[0].response.ready),
    ]
    for core in cores:
        m.d.comb += [
            core.request.ready.eq(client.request.ready),
            core.response.valid.eq(client.response.valid),
            core.response.payload.eq(client.response.payload),
        ]


class CodeReader(wiring.Component):
    """Reads the code for all cores. They load the program at the same time, so one request serves all.

    Members
    -------
    address : ``In(32)``
        Where the code begins, a multiple of 4; constant while a core loads it.
    cores : ``In(InstructionClient())`` for each core
        All request the same in the same cycles.
    lines : ``Out(code_client(config.memory.slice_bits))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._slice_bits = config.memory.slice_bits
        super().__init__(
            {
                "address": In(ADDRESS_BITS),
                "cores": In(InstructionClient()).array(config.array.cores),
                "lines": Out(code_client(self._slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        reader = InstructionReader(outstanding=CODE_LINES, slice_bits=self._slice_bits)
        client = reader.client
        m.submodules.instructions = Gated(reader, client.request.valid | ~reader.idle)
        connect(m, reader.lines, flipped(self.lines))
        m.d.comb += reader.code.eq(self.address)
        ask_together(m, self.cores, client)
        return m
