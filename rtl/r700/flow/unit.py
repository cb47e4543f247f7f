"""Executes CF instructions: masks, stack and the address of the next one.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md has every instruction.
"""

from collections.abc import Sequence

from amaranth import Const, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.constants.loader import LoaderClient
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.r700.control_flow import AluClause
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.alu_clause import alu_clause_layout, alu_outcome_layout
from ctm.rtl.r700.border.code import CodePort
from ctm.rtl.r700.border.fetch_clause import fetch_clause_layout, fetch_outcome_layout
from ctm.rtl.r700.border.issued import IssuedInstruction
from ctm.rtl.r700.border.wavefront import end_layout, start_layout
from ctm.rtl.r700.flow import branches, execution, loops
from ctm.rtl.r700.flow.instruction import CfDecode, Kind
from ctm.rtl.r700.flow.state import Then, state_layout
from ctm.rtl.r700.flow.trace import flow_trace_layout
from ctm.rtl.r700.flow.wavefront import Wavefront
from ctm.rtl.r700.shapes import PROGRAM

FLOW_LINES = 2
"""Lines of constants that an instruction may need: one of int and one of bool constants."""


class FlowUnit(wiring.Component):
    """Executes CF instructions of one wavefront after another, until each begins a clause or an export, or ends.

    One takes three cycles and, with a stack, one more for each row that is written and two for each that is read.

    Members
    -------
    program : ``In(PROGRAM)``
    start : ``In(stream.Signature(start_layout(config)))``
    alu_clause : ``Out(stream.Signature(alu_clause_layout(config)))``
    fetch_clause : ``Out(stream.Signature(fetch_clause_layout(config, W)))``
    alu_outcome : ``In(stream.Signature(alu_outcome_layout(config)))``
    fetch_outcome : ``In(stream.Signature(fetch_outcome_layout(config)))``
        Clauses and exports that have ended.
    end : ``Out(stream.Signature(end_layout(config)))``
    code : ``Out(CodePort())``
        A read is always free.
    constants : ``Out(LoaderClient(2, ConstantBank.INT, ConstantBank.BOOL))``
    issued : ``Out(IssuedInstruction(config))``
    busy : ``Out(1)``
        The unit has a wavefront.
    emits : ``Out(stream.Signature({emits, cuts, wave, lanes}))``
        With geometry programs: threads that emit a vertex, or end their strip.
    trace : ``Out(flow_trace_layout(config))``
    """

    def __init__(self, config: ArrayConfig, *, draws: bool = False, geometry: bool = False) -> None:
        self._config, self.draws, self.geometry, self.outputs = config, draws, geometry, config.outputs
        emits = data.StructLayout({"emits": 1, "cuts": 1, "wave": wave_bits(config), "lanes": config.wavefront_lanes})
        super().__init__(
            {
                **({"emits": Out(stream.Signature(emits))} if geometry else {}),
                "program": In(PROGRAM),
                "start": In(stream.Signature(start_layout(config))),
                "alu_clause": Out(stream.Signature(alu_clause_layout(config))),
                "fetch_clause": Out(stream.Signature(fetch_clause_layout(config, config.wavefront_lanes))),
                "alu_outcome": In(stream.Signature(alu_outcome_layout(config))),
                "fetch_outcome": In(stream.Signature(fetch_outcome_layout(config))),
                "end": Out(stream.Signature(end_layout(config))),
                "code": Out(CodePort()),
                "constants": Out(LoaderClient(FLOW_LINES, ConstantBank.INT, ConstantBank.BOOL)),
                "issued": Out(IssuedInstruction(config)),
                "busy": Out(1),
                "trace": Out(flow_trace_layout(config)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        flow = Wavefront(m, self, self._config)
        end = self.end.payload
        m.d.comb += [
            end.wave.eq(flow.wave),
            end.valid_mask.eq(flow.state.valid_mask),
            end.pc.eq(flow.state.pc),
            end.problem.eq(flow.problem),
            self.trace.instruction.valid.eq(self.issued.valid),
            self.trace.instruction.wave.eq(flow.wave),
            self.trace.instruction.state.eq(flow.state),
            self.trace.push.valid.eq(flow.push_port.en),
            self.trace.push.row.eq(flow.push_port.addr),
            self.trace.push.words.eq(flow.push_port.data),
        ]
        with m.FSM() as fsm:
            _add_idle(flow)
            _add_fetch(flow)
            execution.add_states(flow)
            branches.add_pops(flow)
            branches.add_top(flow)
            loops.add_push(flow)
            loops.add_read(flow)
            with m.State("ended"):
                m.d.comb += self.end.valid.eq(1)
                with m.If(self.end.ready):
                    m.next = "idle"
        m.d.comb += self.busy.eq(~fsm.ongoing("idle"))
        return m


def _add_idle(flow: Wavefront) -> None:
    m, unit, state = flow.m, flow.unit, flow.state
    with m.State("idle"):
        m.d.sync += [Value.cast(flow.problem).eq(0), flow.second.eq(0)]
        over = ((unit.alu_outcome, ("branch_mask", "valid_mask", "budget")), (unit.fetch_outcome, ("budget",)))
        saved = [flow.states.read(m, source.payload.wave) for source, _ in over]
        with m.If(unit.alu_outcome.valid):
            _resume(flow, *over[0], saved[0])
        with m.Elif(unit.fetch_outcome.valid):
            _resume(flow, *over[1], saved[1])
        with m.Elif(unit.start.valid):
            started = unit.start.payload
            m.d.comb += unit.start.ready.eq(1)
            m.d.sync += [
                flow.wave.eq(started.wave),
                Value.cast(state).eq(0),
                state.pc.eq(unit.program.start),
                state.branch_mask.eq(~0),
                state.valid_mask.eq(~0),
                state.covered.eq(started.covered),
                state.base.eq(started.base),
                state.budget.eq(unit.program.watchdog),
            ]
            m.next = "fetch"
    with m.State("after"):
        _after_clause(flow)


def _resume(flow: Wavefront, source: data.View, changed: Sequence[str], saved: data.View) -> None:
    """Go on with a wavefront whose clause or export has ended."""
    m, state = flow.m, flow.state
    m.d.comb += source.ready.eq(1)
    m.d.sync += [
        flow.wave.eq(source.payload.wave),
        *(state[name].eq(saved[name]) for name, _ in state_layout(flow.config)),
        *(state[name].eq(source.payload[name]) for name in changed),
        flow.cleared.eq(flow.unit.alu_outcome.payload.cleared),
        flow.problem.eq(source.payload.problem),
    ]
    with m.If(Value.cast(source.payload.problem.status) != Status.OK.value):
        m.next = "ended"
    with m.Else():
        m.next = "after"


def _after_clause(flow: Wavefront) -> None:
    """The steps of an ALU instruction after its clause, executed or skipped."""
    m, state, instruction = flow.m, flow.state, flow.instruction
    with m.If(Value.cast(instruction.kind) != Kind.ALU.value):
        flow.advance()
    with m.Else(), m.Switch(instruction.alu):
        for code, count in ((AluClause.ALU_POP_AFTER, 1), (AluClause.ALU_POP2_AFTER, 2)):
            with m.Case(code):
                flow.start_pops(Const(count), Then.NEXT)
        with m.Case(AluClause.ALU_ELSE_AFTER):
            m.next = "top"
        for code, mask in ((AluClause.ALU_BREAK, state.break_mask), (AluClause.ALU_CONTINUE, state.continue_mask)):
            with m.Case(code):
                m.d.sync += [state.branch_mask.eq(state.branch_mask | flow.cleared), mask.eq(mask | flow.cleared)]
                flow.advance()
        with m.Default():
            flow.advance()


def _add_fetch(flow: Wavefront) -> None:
    """Read the next instruction."""
    m, unit, state = flow.m, flow.unit, flow.state
    # The program is stable before its first wavefront starts.
    watches, size = (
        delay(m, unit.program.watchdog != 0, name="watches"),
        delay(m, unit.program.size, name="size_of_program"),
    )
    m.submodules.decode = decode = CfDecode(draws=unit.draws, outputs=unit.outputs, geometry=unit.geometry)
    with m.State("fetch"):
        m.d.comb += unit.code.row.eq(state.pc[1:])
        with m.If(watches & (state.budget == 0)):
            flow.fault(Status.WATCHDOG)
        with m.Elif(~(state.valid_mask & state.covered).any()):
            m.next = "ended"
        with m.Elif(state.pc >= size):
            flow.fault(Status.PC_RANGE)
        with m.Else():
            m.d.comb += unit.code.reads.eq(1)
            m.next = "decode"
    with m.State("decode"):
        found = unit.code.found
        m.d.comb += [
            decode.unit.eq(Mux(state.pc[0], found.units[1], found.units[0])),
            decode.program.eq(unit.program),
        ]
        m.d.sync += [flow.instruction.eq(decode.instruction), flow.second.eq(0), flow.cleared.eq(0)]
        m.d.sync += flow.unit_bits.eq(decode.unit)
        with m.If(~found.hit):
            m.next = "fetch"
        with m.Elif(found.error):
            flow.fault(Status.BUS_ERROR, BusClient.INSTRUCTION)
        with m.Else():
            m.d.sync += state.budget.eq(state.budget - 1)
            m.d.comb += [unit.issued.valid.eq(1), unit.issued.active.eq(flow.active)]
            with m.If(decode.instruction.illegal):
                flow.fault(Status.ILLEGAL_INSTRUCTION)
            with m.Else():
                m.next = "execute"
