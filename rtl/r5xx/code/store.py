"""The program of a core: loaded once, decoded once, read by every issue port at the same time."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS, SLOT_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.r5xx.code.predecode import Predecode
from ctm.rtl.r5xx.entries import ALU_ENTRY, FLOW_ENTRY, TEXTURE_ENTRY, EntryRead
from ctm.rtl.r5xx.instruction_client import InstructionClient
from ctm.rtl.r5xx.shapes import SUMMARY, Unit
from ctm.rtl.r5xx.state import PC_BITS


class InstructionStore(wiring.Component):
    """Holds a program's instructions, one copy for each reader.

    With `load` it loads all of them in order unless it has them. It takes one response in each cycle, and `loaded`
    follows two cycles after the last one. Each reader may read in each cycle, and gets its entry one cycle later. Words
    that a port does not use cost no memory in its copy.

    Members
    -------
    size : ``In(PC_BITS)``
        Instructions of the program, 1 at least; constant while it loads and is read.
    uncached_writes : ``In(1)``
        OUTPUT instructions write past the caches; constant while it loads.
    load, invalidate : ``In(1)``
        `invalidate` only while not `loading`.
    loaded : ``Out(1)``
    loading : ``Out(1)``
    error : ``Out(1)``
        The latest load had an error response.
    alu : ``In(EntryRead(ALU_ENTRY, held=True))``
    texture : ``In(EntryRead(TEXTURE_ENTRY, held=True))``
    flow : ``In(EntryRead(FLOW_ENTRY))``
    pc : ``In(PC_BITS)``
    summary : ``Out(SUMMARY)``
        Of the instruction at `pc`, one cycle later. One outside the program is FLOW's, and with `error` each one is.
    client : ``Out(InstructionClient())``
    """

    size: In(PC_BITS)
    uncached_writes: In(1)
    load: In(1)
    invalidate: In(1)
    loaded: Out(1)
    loading: Out(1)
    error: Out(1)
    alu: In(EntryRead(ALU_ENTRY, held=True))
    texture: In(EntryRead(TEXTURE_ENTRY, held=True))
    flow: In(EntryRead(FLOW_ENTRY))
    pc: In(PC_BITS)
    summary: Out(SUMMARY)
    client: Out(InstructionClient())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.predecode = predecode = GatedStateless(Predecode())
        request, response = self.client.request, self.client.response
        requested, received, arrives = Signal(PC_BITS), Signal(PC_BITS), self.loading & response.valid
        m.d.comb += [
            request.valid.eq(self.loading & (requested != self.size)),
            request.payload.number.eq(requested),
            response.ready.eq(1),
            predecode.words.eq(response.payload.words),
            predecode.uncached_writes.eq(self.uncached_writes),
            predecode.wanted.eq(arrives),
        ]
        # An instruction is written when the next one has come; `pending` is the last one that came.
        pending, pending_summary = Signal(ALU_ENTRY), Signal(SUMMARY)
        pending_illegal, last = Signal(), Signal()
        with m.If(request.valid & request.ready):
            m.d.sync += requested.eq(requested + 1)
        with m.If(arrives):
            m.d.sync += [
                received.eq(received + 1),
                pending.words.eq(response.payload.words),
                pending.control.eq(predecode.control),
                *(getattr(pending, use).eq(getattr(predecode, use)) for use in ("rgb_use", "alpha_use")),
                pending.presubtracts.eq(predecode.presubtracts),
                pending.writes.eq(predecode.summary.writes),
                pending_summary.eq(predecode.summary),
                pending_illegal.eq(predecode.illegal),
                last.eq(received == self.size - 1),
                self.error.eq(self.error | response.payload.error),
            ]
        with m.If(last):
            m.d.sync += [self.loading.eq(0), self.loaded.eq(1), last.eq(0)]
        with m.If(self.invalidate):
            m.d.sync += self.loaded.eq(0)
        with m.Elif(self.load & ~self.loaded & ~self.loading):
            m.d.sync += [self.loading.eq(1), self.error.eq(0), requested.eq(0), received.eq(0)]

        def memory(name: str, contents: Value, address: Value, reads: ValueLike = 1) -> Value:
            write = last | (arrives & (received != 0)), (received - 1)[:SLOT_BITS]
            return _stored(m, name, contents, write, address, reads)

        beyond = Value.cast(SUMMARY.const({"unit": Unit.FLOW.value}))
        words, following = Value.cast(pending.words), Mux(last, beyond, Value.cast(predecode.summary))
        entry, inside = Signal(ALU_ENTRY), Signal()
        m.d.sync += inside.eq(self.pc < self.size)
        m.d.comb += [entry.eq(pending), Value.cast(entry.following).eq(following)]
        summary = memory("summary", Value.cast(pending_summary), self.pc[:SLOT_BITS])
        m.d.comb += [
            Value.cast(self.alu.entry).eq(memory("alu", Value.cast(entry), self.alu.address, self.alu.reads)),
            Value.cast(self.texture.entry).eq(
                memory("texture", Cat(words, following), self.texture.address, self.texture.reads)
            ),
            Value.cast(self.flow.entry).eq(memory("flow", Cat(words, pending_illegal, following), self.flow.address)),
            Value.cast(self.summary).eq(Mux(inside & ~self.error, summary, beyond)),
        ]
        return m


def _stored(
    m: Module, name: str, contents: Value, write: tuple[Value, Value], address: Value, reads: ValueLike
) -> Value:  # fmt: skip
    """What a memory of instructions reads; `write` has its enable and its address."""
    m.submodules[name] = memory = BlockRam(len(contents), INSTRUCTION_SLOTS)
    writer, reader = memory.write_port(), memory.read_port()
    m.d.comb += [
        *(port.eq(value) for port, value in zip((writer.en, writer.addr), write, strict=True)),
        writer.data.eq(contents),
        reader.addr.eq(address),
        reader.en.eq(reads),
    ]
    return Value.cast(reader.data)
