"""CF instructions of loops.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md has every instruction.
"""

from amaranth import Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.limits import LOOP_SUBENTRIES
from ctm.rtl.isa.status import Status
from ctm.rtl.r700.flow import stack
from ctm.rtl.r700.flow.stack import EntryKind
from ctm.rtl.r700.flow.wavefront import Wavefront


def start_loop(flow: Wavefront) -> None:
    """LOOP_START in its three forms."""
    m, instruction = flow.m, flow.instruction
    is_unlimited = Value.cast(instruction.flow) == CfOperation.LOOP_START_DX10.value
    with m.If(flow.none_pass | (~is_unlimited & (flow.constants.integer.count == 0))):
        flow.leave()
    with m.Elif(~flow.has_space(LOOP_SUBENTRIES, branches=False)):
        flow.fault(Status.STACK)
    with m.Else():
        m.d.sync += flow.step.eq(0)
        m.next = "push loop"


def add_push(flow: Wavefront) -> None:
    """Push the four rows of a loop's entry, and begin its first iteration."""
    m, state, instruction, port = flow.m, flow.state, flow.instruction, flow.push_port
    code, integer = Value.cast(instruction.flow), flow.constants.integer
    with_index = code == CfOperation.LOOP_START.value
    beside: list[tuple[data.StructLayout, dict[str, Value], Value]] = [
        (
            stack.LOOP_BRANCH,
            {name: state[name] for name in ("loop", "in_loop", "branches", "calls")},
            state.branch_mask,
        ),
        (
            stack.LOOP_CONTINUE,
            {"rounds": integer.count, "unlimited": code == CfOperation.LOOP_START_DX10.value},
            state.continue_mask,
        ),
        (stack.LOOP_BREAK, {"index": state.index}, state.break_mask),
        (stack.LOOP_ENTERED, {"step": Mux(with_index, Value.cast(integer.step), 0)}, flow.test),
    ]
    with m.State("push loop"):
        m.d.comb += [port.en.eq(1), port.data.kind.eq(EntryKind.LOOP)]
        with m.Switch(flow.step):
            for row, (layout, values, mask) in enumerate(beside):
                with m.Case(row):
                    fields = Signal(layout, name=f"beside_{row}")
                    m.d.comb += [fields[name].eq(value) for name, value in values.items()]
                    m.d.comb += [port.data.mask.eq(mask), port.data.beside.eq(Value.cast(fields))]
        m.d.sync += [flow.step.eq(flow.step + 1), state.depth.eq(state.depth + 1)]
        with m.If(flow.step == LOOP_SUBENTRIES - 1):
            m.d.sync += [
                state.loop.eq(state.depth - (LOOP_SUBENTRIES - 1)),
                state.in_loop.eq(1),
                state.branch_mask.eq(flow.test),
                state.continue_mask.eq(0),
                state.break_mask.eq(~flow.test),
            ]
            with m.If(with_index):
                m.d.sync += state.index.eq(integer.start)
            flow.advance()


def add_read(flow: Wavefront) -> None:
    """Read the innermost loop's entry, all rows, and execute the instruction with it."""
    m, state = flow.m, flow.state
    with m.State("read loop"):
        m.d.comb += flow.stack_index.eq(state.loop + flow.step)
        m.d.sync += flow.step.eq(flow.step + 1)
        for row in range(LOOP_SUBENTRIES):
            with m.If(flow.step == row + 1):
                m.d.sync += flow.entry[row].eq(flow.row)
        with m.If(flow.step == LOOP_SUBENTRIES):
            m.next = "in loop"
    with m.State("in loop"):
        with m.If(Value.cast(flow.instruction.flow) == CfOperation.LOOP_END.value):
            _end_round(flow)
        with m.Else():
            _leave_round(flow)


def _unwind(flow: Wavefront) -> None:
    """Pop all entries above the innermost loop."""
    state = flow.state
    below = data.View(stack.LOOP_BRANCH, flow.entry[0].beside)
    flow.m.d.sync += [
        state.depth.eq(state.loop + LOOP_SUBENTRIES),
        state.branches.eq(below.branches),
        state.calls.eq(below.calls),
    ]


def _leave_round(flow: Wavefront) -> None:
    """LOOP_BREAK and LOOP_CONTINUE."""
    m, state, instruction = flow.m, flow.state, flow.instruction
    breaks = Value.cast(instruction.flow) == CfOperation.LOOP_BREAK.value
    continue_mask = state.continue_mask | Mux(breaks, 0, flow.test)
    break_mask = state.break_mask | Mux(breaks, flow.test, 0)
    m.d.sync += [state.continue_mask.eq(continue_mask), state.break_mask.eq(break_mask)]
    with m.If((flow.entry[LOOP_SUBENTRIES - 1].mask & ~break_mask & ~continue_mask).any()):
        flow.advance()
    with m.Else():
        _unwind(flow)
        flow.advance(instruction.target)


def _end_round(flow: Wavefront) -> None:
    m, state, instruction, port = flow.m, flow.state, flow.instruction, flow.push_port
    first, second, third, last = flow.entry
    below = data.View(stack.LOOP_BRANCH, first.beside)
    rounds = data.View(stack.LOOP_CONTINUE, second.beside[: stack.LOOP_CONTINUE.size])
    index = data.View(stack.LOOP_BREAK, third.beside[: stack.LOOP_BREAK.size])
    step = data.View(stack.LOOP_ENTERED, last.beside[: stack.LOOP_ENTERED.size])
    goes_on = (last.mask & ~state.break_mask).any() & (rounds.unlimited | (rounds.rounds != 1))
    _unwind(flow)
    with m.If(goes_on):
        after = Signal(stack.LOOP_CONTINUE)
        base = flow.wave * flow.unit.program.stack
        m.d.comb += [
            after.rounds.eq(rounds.rounds - 1),
            after.unlimited.eq(rounds.unlimited),
            port.en.eq(1),
            port.addr.eq(base + state.loop + 1),
            port.data.kind.eq(EntryKind.LOOP),
            port.data.mask.eq(second.mask),
            port.data.beside.eq(Value.cast(after)),
        ]
        m.d.sync += [
            state.continue_mask.eq(0),
            state.branch_mask.eq(last.mask),
            state.index.eq(state.index + step.step),
        ]
        flow.advance(instruction.target)
    with m.Else():
        m.d.sync += [
            state.depth.eq(state.loop),
            state.branch_mask.eq(first.mask),
            state.continue_mask.eq(second.mask),
            state.break_mask.eq(third.mask),
            state.index.eq(index.index),
            state.loop.eq(below.loop),
            state.in_loop.eq(below.in_loop),
        ]
        flow.advance()
