"""Instructions from memory: their reader, and its multicast to the cores.

Source: CTM Guide pp. 6-8.
"""

from collections.abc import Sequence
from typing import Any

from amaranth import Module, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import CODE_CLIENT, CODE_LINES, LINE_OFFSET_BITS, TaggedLineClient
from ctm.rtl.config import CacheConfig, MachineConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_WORDS
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.mc.lines.cache import LineCache
from ctm.rtl.mc.lines.coalescer import Coalescer, share_layout
from ctm.rtl.r5xx.code.client import InstructionClient

_WORD_OFFSET_BITS = WORD_BYTES.bit_length() - 1
_OFFSET_BITS = LINE_OFFSET_BITS - _WORD_OFFSET_BITS
_LINES = CacheConfig(sets=2, ways=1)
_TOUCHES = 4
"""Instructions that a line holds, whole or not. The queue has so many for each line, so that only lines bound it."""


class InstructionReader(wiring.Component):
    """Reads instructions, in order, with up to `outstanding` lines in flight.

    An instruction lies in one line or two; neighbours share lines. Lines are not kept after a cycle of `idle`.

    Members
    -------
    code : ``In(32)``
        Address of instruction 0, a multiple of 4; constant while not idle.
    client : ``In(InstructionClient())``
    lines : ``Out(TaggedLineClient(range(outstanding)))``
    idle : ``Out(1)``
    """

    def __init__(self, *, outstanding: int) -> None:
        self._outstanding = outstanding
        super().__init__(
            {
                "code": In(ADDRESS_BITS),
                "client": In(InstructionClient()),
                "lines": Out(TaggedLineClient(range(outstanding))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # The queue holds, for an instruction, the offset of its first word in its first line.
        first_offset = unsigned(_OFFSET_BITS)
        m.submodules.coalescer = coalescer = Coalescer(INSTRUCTION_WORDS, first_offset)
        m.submodules.lines = lines = LineCache(
            _LINES,
            share_layout(INSTRUCTION_WORDS, first_offset),
            outstanding=self._outstanding,
            waiting=_TOUCHES * self._outstanding,
        )
        connect(m, coalescer.access, lines.access)
        connect(m, lines.lines, flipped(self.lines))

        request, response = self.client.request, self.client.response
        read, first = coalescer.touches, Signal(ADDRESS_BITS)
        m.d.comb += [
            read.valid.eq(request.valid),
            request.ready.eq(read.ready),
            first.eq(self.code + request.payload.number * INSTRUCTION_BYTES),
            read.payload.reads.eq(~0),
            read.payload.passenger.eq(first[_WORD_OFFSET_BITS:LINE_OFFSET_BITS]),
        ]
        for word in range(INSTRUCTION_WORDS):
            address = Signal(ADDRESS_BITS, name=f"address_{word}")
            m.d.comb += [
                address.eq(first + word * WORD_BYTES),
                read.payload.lines[word].eq(address[LINE_OFFSET_BITS:]),
            ]

        line = lines.result
        share, whole, error = line.payload.passenger, Signal(), Signal()
        m.d.comb += [
            line.ready.eq(~whole | response.ready),
            response.valid.eq(whole),
            response.payload.error.eq(error),
            self.idle.eq(coalescer.idle & lines.idle & ~whole),
            lines.invalidate.eq(self.idle & ~request.valid),
        ]
        taken = line.valid & line.ready
        with m.If(line.ready):
            m.d.sync += whole.eq(line.valid & share.last)
        with m.If(taken):
            # The first line of an instruction is taken when the previous one has gone, or is going.
            m.d.sync += error.eq(line.payload.error | (error & ~whole))
        with m.Elif(response.ready):
            m.d.sync += error.eq(error & ~whole)
        for word in range(INSTRUCTION_WORDS):
            with m.If(taken & share.channels[word]):
                offset = (share.passenger + word)[:_OFFSET_BITS]
                m.d.sync += response.payload.words[word].eq(line.payload.bits.word_select(offset, WORD_BITS))
        return m


def ask_together(m: Module, cores: Sequence[Any], client: Any) -> None:
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
    lines : ``Out(CODE_CLIENT)``
    """

    def __init__(self, config: MachineConfig) -> None:
        super().__init__(
            {
                "address": In(ADDRESS_BITS),
                "cores": In(InstructionClient()).array(config.array.cores),
                "lines": Out(CODE_CLIENT),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        reader = InstructionReader(outstanding=CODE_LINES)
        client = reader.client
        m.submodules.instructions = Gated(reader, client.request.valid | ~reader.idle)
        connect(m, reader.lines, flipped(self.lines))
        m.d.comb += reader.code.eq(self.address)
        ask_together(m, self.cores, client)
        return m
