"""CF instructions that use branch and call entries of the stack.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md has every instruction.
"""

from collections.abc import Callable

from amaranth import Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.r700.limits import CALL_DEPTH
from ctm.rtl.isa.status import Status
from ctm.rtl.r700.flow import stack
from ctm.rtl.r700.flow.instruction import Kind
from ctm.rtl.r700.flow.stack import EntryKind
from ctm.rtl.r700.flow.state import Then
from ctm.rtl.r700.flow.wavefront import Wavefront


def unless_none_pass(flow: Wavefront, stay: Callable[[], None]) -> None:
    """Leave if no pixel passes the test, else do `stay`."""
    with flow.m.If(flow.none_pass):
        flow.leave()
    with flow.m.Else():
        stay()


def restrict_and_advance(flow: Wavefront) -> None:
    """Take the active pixels that fail the test out of the branch mask."""
    flow.m.d.sync += flow.state.branch_mask.eq(flow.state.branch_mask & (flow.test | ~flow.active))
    flow.advance()


def exclude_and_leave(flow: Wavefront) -> None:
    """PUSH_ELSE after its push."""
    m, state = flow.m, flow.state
    m.d.sync += state.branch_mask.eq(state.branch_mask & ~flow.test)
    with m.If(~(flow.active & ~flow.test).any()):
        flow.leave()
    with m.Else():
        flow.advance()


def call(flow: Wavefront) -> None:
    """CALL."""
    m, state, instruction, port = flow.m, flow.state, flow.instruction, flow.push_port
    too_deep = state.calls + instruction.call_count > CALL_DEPTH
    with m.If(flow.none_pass | too_deep):
        flow.advance()
    with m.Elif(~flow.has_space(1, branches=False)):
        flow.fault(Status.STACK)
    with m.Else():
        call = Signal(stack.CALL)
        m.d.comb += [
            call.target.eq(state.pc + 1),
            call.count.eq(instruction.call_count),
            port.en.eq(1),
            port.data.kind.eq(EntryKind.CALL),
            port.data.beside.eq(Value.cast(call)),
        ]
        m.d.sync += [state.depth.eq(state.depth + 1), state.calls.eq(state.calls + instruction.call_count)]
        flow.advance(instruction.target)


def add_pops(flow: Wavefront) -> None:
    """Pop branch entries, two cycles each, and go on with `then`."""
    m, state = flow.m, flow.state
    with m.State("pop"):
        m.d.comb += flow.stack_index.eq(state.depth - 1)
        with m.If(~flow.pops.any()):
            _go_on(flow)
        with m.Elif(~state.depth.any()):
            flow.fault(Status.STACK)
        with m.Else():
            m.next = "popped"
    with m.State("popped"):
        with m.If(flow.row.kind != EntryKind.BRANCH):
            flow.fault(Status.STACK)
        with m.Else():
            m.d.sync += [
                state.branch_mask.eq(flow.row.mask),
                state.depth.eq(state.depth - 1),
                state.branches.eq(state.branches - 1),
                flow.pops.eq(flow.pops - 1),
            ]
            m.next = "pop"


def _go_on(flow: Wavefront) -> None:
    m, instruction = flow.m, flow.instruction
    with m.Switch(flow.then):
        with m.Case(Then.NEXT):
            flow.advance()
        with m.Case(Then.TARGET):
            flow.advance(instruction.target)
        with m.Case(Then.SECOND):
            flow.execute_again()
        with m.Case(Then.RESTRICT):
            with m.If(Value.cast(instruction.condition) != Condition.ACTIVE.value):
                restrict_and_advance(flow)
            with m.Else():
                flow.advance()


def add_top(flow: Wavefront) -> None:
    """ELSE, alone or at the end of a clause, and RETURN."""
    m, state, instruction = flow.m, flow.state, flow.instruction
    is_flow = Value.cast(instruction.kind) == Kind.FLOW.value
    returns = is_flow & (Value.cast(instruction.flow) == CfOperation.RETURN.value)
    with m.State("top"):
        m.d.comb += flow.stack_index.eq(state.depth - 1)
        with m.If(~state.depth.any()):
            flow.fault(Status.STACK)
        with m.Else():
            m.next = "at top"
    with m.State("at top"):
        inverted = flow.row.mask & ~state.branch_mask
        branch_mask = Mux(flow.holds | ~is_flow, inverted, state.branch_mask)
        kind = Mux(returns, EntryKind.CALL.value, EntryKind.BRANCH.value)
        call = data.View(stack.CALL, flow.row.beside[: stack.CALL.size])
        with m.If(Value.cast(flow.row.kind) != kind):
            flow.fault(Status.STACK)
        with m.Elif(returns):
            m.d.sync += [state.depth.eq(state.depth - 1), state.calls.eq(state.calls - call.count)]
            flow.advance(call.target)
        with m.Else():
            m.d.sync += state.branch_mask.eq(branch_mask)
            with m.If(is_flow & ~(branch_mask & ~state.continue_mask & ~state.break_mask).any()):
                flow.leave()
            with m.Else():
                flow.advance()
