"""The program of a core: loaded once, decoded once, read by every issue port at the same time."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.dpp.groups.scheduling import Summary, Unit
from ctm.rtl.dpp.program import SLOT_BITS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.lib.rest import Resting
from ctm.rtl.r5xx.code.predecode import Predecode
from ctm.rtl.r5xx.entries import ALU_ENTRY, FLOW_ENTRY, INSTRUCTION, TEXTURE_ENTRY
from ctm.rtl.r5xx.state import PC_BITS


class InstructionStore(wiring.Component):
    """Holds a program's instructions, one copy for each reader.

    Loads all of them, in order, when `load` comes and they are not there: a cycle each behind the first answer. A read
    gives its entry one cycle later. Words that a port does not use cost no memory in its copy.

    Members
    -------
    size : ``In(PC_BITS)``
        Instructions of the program.
    uncached_writes : ``In(1)``
    load, forget : ``In(1)``
        `forget` only while nobody loads.
    loaded : ``Out(1)``
    loading : ``Out(1)``
    refused : ``Out(1)``
        Memory answered a load with an error.
    alu_slot, texture_slot, flow_slot : ``In(9)``
    alu, texture, flow : ``Out(ALU_ENTRY)``, ``Out(TEXTURE_ENTRY)``, ``Out(FLOW_ENTRY)``
    pc : ``In(PC_BITS)``
    summary : ``Out(Summary)``
        Of the instruction at `pc`; one outside the program is FLOW's.
    request, response
        As the core's `instruction_request` and `instruction_response`.
    """

    size: In(PC_BITS)
    uncached_writes: In(1)
    load: In(1)
    forget: In(1)
    loaded: Out(1)
    loading: Out(1)
    refused: Out(1)
    alu_slot: In(SLOT_BITS)
    texture_slot: In(SLOT_BITS)
    flow_slot: In(SLOT_BITS)
    alu: Out(ALU_ENTRY)
    texture: Out(TEXTURE_ENTRY)
    flow: Out(FLOW_ENTRY)
    pc: In(PC_BITS)
    summary: Out(Summary)
    request: Out(stream.Signature(data.StructLayout({"slot": SLOT_BITS})))
    response: In(stream.Signature(data.StructLayout({"words": INSTRUCTION, "refused": 1})))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.predecode = predecode = Resting(Predecode())
        asked, answered = Signal(PC_BITS), Signal(PC_BITS)
        m.d.comb += [
            self.request.valid.eq(self.loading & (asked != self.size)),
            self.request.payload.slot.eq(asked),
            self.response.ready.eq(1),
            predecode.words.eq(self.response.payload.words),
            predecode.uncached_writes.eq(self.uncached_writes),
        ]
        # An instruction is written when the one behind it has come; `pending` is the last one that came.
        pending, pending_summary = Signal(ALU_ENTRY), Signal(Summary)
        pending_illegal, last = Signal(), Signal()
        arrives = self.loading & self.response.valid
        m.d.comb += predecode.wanted.eq(arrives)
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += asked.eq(asked + 1)
        with m.If(arrives):
            m.d.sync += [
                answered.eq(answered + 1),
                pending.words.eq(self.response.payload.words),
                pending.control.eq(predecode.control),
                pending.rgb_use.eq(predecode.rgb_use),
                pending.alpha_use.eq(predecode.alpha_use),
                pending.late.eq(predecode.summary.late),
                pending.writes.eq(predecode.summary.writes),
                pending_summary.eq(predecode.summary),
                pending_illegal.eq(predecode.illegal),
                last.eq(answered == self.size - 1),
                self.refused.eq(self.refused | self.response.payload.refused),
            ]
        with m.If(last):
            m.d.sync += [self.loading.eq(0), self.loaded.eq(1), last.eq(0)]
        with m.If(self.forget):
            m.d.sync += self.loaded.eq(0)
        with m.Elif(self.load & ~self.loaded & ~self.loading):
            m.d.sync += [self.loading.eq(1), self.refused.eq(0), asked.eq(0), answered.eq(0)]

        beyond = Summary.const({"unit": Unit.FLOW})
        entry = Signal(ALU_ENTRY)
        m.d.comb += entry.eq(pending)
        m.d.comb += entry.following.eq(Mux(last, beyond, predecode.summary))
        writes, slot = last | (arrives & (answered != 0)), (answered - 1)[:SLOT_BITS]
        flow_entry = Cat(Value.cast(pending.words), pending_illegal, Value.cast(entry.following))
        texture_entry = Cat(Value.cast(pending.words), Value.cast(entry.following))
        for name, contents, address, output in (
            ("alu", entry, self.alu_slot, self.alu),
            ("texture", texture_entry, self.texture_slot, self.texture),
            ("flow", flow_entry, self.flow_slot, self.flow),
            ("summary", pending_summary, self.pc[:SLOT_BITS], None),
        ):
            contents = Value.cast(contents)
            m.submodules[name] = memory = Memory(shape=len(contents), depth=INSTRUCTION_SLOTS, init=[])
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [write.addr.eq(slot), write.data.eq(contents), write.en.eq(writes), read.addr.eq(address)]
            if output is not None:
                m.d.comb += Value.cast(output).eq(read.data)
        inside = Signal()
        m.d.sync += inside.eq(self.pc < self.size)
        m.d.comb += Value.cast(self.summary).eq(Mux(inside & ~self.refused, read.data, Value.cast(beyond)))
        return m
