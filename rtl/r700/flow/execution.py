"""Executes CF instructions, and hands wavefronts over to their clauses and exports.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md has every instruction.
"""

from amaranth import Cat, Const, Mux, Value

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.isa.r700.control_flow import EMITS, AluClause, CfOperation
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.flow import branches, loops
from ctm.rtl.r700.flow.instruction import Kind, has_bit
from ctm.rtl.r700.flow.state import Then
from ctm.rtl.r700.flow.wavefront import Wavefront
from ctm.rtl.r700.quads import whole_quads

_LINE_BITS = 4
_LOOPS = (CfOperation.LOOP_START, CfOperation.LOOP_START_DX10, CfOperation.LOOP_START_NO_AL)
_POP_FIRST = {
    CfOperation.POP_JUMP: CfOperation.JUMP,
    CfOperation.POP_PUSH: CfOperation.PUSH,
    CfOperation.POP_PUSH_ELSE: CfOperation.PUSH_ELSE,
}
_WITH_CONDITION = (
    CfOperation.JUMP, CfOperation.PUSH, CfOperation.PUSH_ELSE, CfOperation.ELSE, CfOperation.POP, *_POP_FIRST, *_LOOPS,
    CfOperation.LOOP_BREAK, CfOperation.LOOP_CONTINUE, CfOperation.CALL, CfOperation.RETURN, *EMITS,
)  # fmt: skip
"""Instructions that read a boolean constant if their condition is one."""


def add_states(flow: Wavefront) -> None:
    """States that execute an instruction and hand the wavefront over."""
    m, unit, instruction = flow.m, flow.unit, flow.instruction
    code = Value.cast(instruction.flow)
    is_flow = Value.cast(instruction.kind) == Kind.FLOW.value
    needs_bool = is_flow & Value.cast(instruction.condition)[1] & has_bit(code, _WITH_CONDITION)
    is_loop = is_flow & has_bit(code, _LOOPS)
    needs_int = is_loop & (code != CfOperation.LOOP_START_DX10.value)
    line = instruction.constant[_LINE_BITS:]
    missing = Cat(
        needs_int & ~unit.constants.int_loaded.bit_select(line, 1),
        needs_bool & ~unit.constants.bool_loaded.bit_select(line, 1),
    )
    banks = ConstantBank.INT, ConstantBank.BOOL
    with m.State("execute"):
        m.d.comb += [
            unit.constants.miss.valid.eq(missing.any()),
            *(
                target.eq(Cat(missing[number], Const(bank.value, 2), line))
                for number, (target, bank) in enumerate(zip(unit.constants.miss.lines, banks, strict=True))
            ),
        ]
        with m.If(missing.any()):
            m.next = "execute"
        with m.Elif(needs_bool & flow.constants.boolean_error):
            flow.fault(Status.BUS_ERROR, BusClient.BOOL_CONSTANT)
        with m.Elif(needs_int & flow.constants.integer_error):
            flow.fault(Status.BUS_ERROR, BusClient.INT_CONSTANT)
        with m.Else(), m.Switch(instruction.kind):
            with m.Case(Kind.ALU):
                _start_alu(flow)
            with m.Case(Kind.FLOW):
                _execute_flow(flow)
            with m.Default():
                _start_move(flow)
    with m.State("dispatch"):
        _hand_over(flow)
    if unit.geometry:
        _add_emit(flow)


def _add_emit(flow: Wavefront) -> None:
    """EMIT_VERTEX, CUT_VERTEX, and both."""
    m, emits, code = flow.m, flow.unit.emits, Value.cast(flow.instruction.flow)
    m.d.comb += [
        emits.payload.emits.eq(code != CfOperation.CUT_VERTEX.value),
        emits.payload.cuts.eq(code != CfOperation.EMIT_VERTEX.value),
        emits.payload.wave.eq(flow.wave),
        emits.payload.lanes.eq(flow.test & flow.state.valid_mask & flow.state.covered),
    ]
    with m.State("emit"):
        m.d.comb += emits.valid.eq(1)
        with m.If(emits.ready):
            flow.advance()


def _start_alu(flow: Wavefront) -> None:
    """Begin an ALU clause, or skip it."""
    m, instruction = flow.m, flow.instruction
    pushes = (Value.cast(instruction.alu) == AluClause.ALU_PUSH_BEFORE.value) & ~flow.second
    with m.If(pushes):
        flow.push_branch(flow.execute_again)
    with m.Elif(~flow.active.any()):
        m.next = "after"
    with m.Else():
        _begin(flow)


def _begin(flow: Wavefront) -> None:
    """Hand a clause over, which must lie in the code."""
    with flow.m.If(flow.instruction.target + flow.instruction.units > flow.unit.program.size):
        flow.fault(Status.PC_RANGE)
    with flow.m.Else():
        flow.m.next = "dispatch"


def _start_move(flow: Wavefront) -> None:
    """Begin a fetch clause or an export."""
    m, instruction = flow.m, flow.instruction
    is_export = Value.cast(instruction.kind) == Kind.EXPORT.value
    with m.If(is_export):
        with m.If(instruction.relative & ~flow.state.in_loop):
            flow.fault(Status.ILLEGAL_INSTRUCTION)
        with m.Else():
            m.next = "dispatch"
    with m.Elif(flow.none_pass):
        flow.advance()
    with m.Else():
        _begin(flow)


def _hand_over(flow: Wavefront) -> None:
    """Hand the wavefront over."""
    m, unit, state, instruction = flow.m, flow.unit, flow.state, flow.instruction
    clause, fetch = unit.alu_clause.payload, unit.fetch_clause.payload
    is_alu = Value.cast(instruction.kind) == Kind.ALU.value
    for target in (clause, fetch):
        m.d.comb += [
            target.wave.eq(flow.wave),
            target.begin.eq(instruction.target),
            target.end.eq(instruction.target + instruction.units),
            target.loop_index.eq(state.index),
            target.base.eq(state.base),
            target.budget.eq(state.budget),
        ]
    m.d.comb += [
        clause.kcache.eq(instruction.kcache),
        clause.whole.eq(instruction.whole_quads),
        clause.inside.eq(~state.continue_mask & ~state.break_mask),
        clause.branch_mask.eq(state.branch_mask),
        clause.valid_mask.eq(state.valid_mask),
        fetch.exports.eq(Value.cast(instruction.kind) == Kind.EXPORT.value),
        fetch.textures.eq(instruction.textures),
        fetch.unit.eq(flow.unit_bits),
        fetch.active.eq(flow.active),
        fetch.covered.eq(state.covered),
        fetch.valid_mask.eq(state.valid_mask),
        fetch.executing.eq(Mux(instruction.whole_quads, whole_quads(m, flow.test), flow.test)),
        unit.alu_clause.valid.eq(is_alu),
        unit.fetch_clause.valid.eq(~is_alu),
    ]
    taken = Mux(is_alu, unit.alu_clause.ready, unit.fetch_clause.ready)
    flow.states.write(m, flow.wave, state, taken)
    with m.If(taken):
        m.next = "idle"


def _execute_flow(flow: Wavefront) -> None:
    """Instructions of control flow, once their constants are loaded."""
    m, instruction, state = flow.m, flow.instruction, flow.state
    with m.Switch(instruction.flow):
        with m.Case(CfOperation.NOP, CfOperation.WAIT_ACK):
            flow.advance()
        if flow.unit.geometry:
            with m.Case(*EMITS):
                m.next = "emit"
        with m.Case(CfOperation.KILL):
            m.d.sync += state.valid_mask.eq(state.valid_mask & ~flow.test)
            flow.advance()
        for first, second in _POP_FIRST.items():
            with m.Case(first):
                m.d.sync += instruction.flow.eq(second)
                flow.start_pops(instruction.pop_count, Then.SECOND)
        with m.Case(CfOperation.JUMP):
            branches.unless_none_pass(flow, flow.advance)
        with m.Case(CfOperation.PUSH):
            branches.unless_none_pass(flow, lambda: flow.push_branch(lambda: branches.restrict_and_advance(flow)))
        with m.Case(CfOperation.PUSH_ELSE):
            flow.push_branch(lambda: branches.exclude_and_leave(flow))
        with m.Case(CfOperation.ELSE):
            m.next = "top"
        with m.Case(CfOperation.POP):
            flow.start_pops(instruction.pop_count, Then.RESTRICT)
        with m.Case(*_LOOPS):
            loops.start_loop(flow)
        with m.Case(CfOperation.LOOP_BREAK, CfOperation.LOOP_CONTINUE, CfOperation.LOOP_END):
            with m.If(~state.in_loop):
                flow.fault(Status.STACK)
            with m.Else():
                m.d.sync += flow.step.eq(0)
                m.next = "read loop"
        with m.Case(CfOperation.CALL):
            branches.call(flow)
        with m.Case(CfOperation.RETURN):
            with m.If((flow.active & ~flow.test).any()):
                flow.advance()
            with m.Else():
                m.next = "top"
