"""Flow-control instructions: their effect on a wavefront's control state.

The order of the steps is that of docs/design/choices.md; each is one method. Source: CTM Guide pp. 34-40.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.dpp.constants.flow import INT_CONSTANT
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR, FC_INST, INSTRUCTION
from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL, LOOP_STACK
from ctm.rtl.isa.r5xx.opcodes import AddressOperation, BranchOperation, FlowOperation, PredicateSelect
from ctm.rtl.r5xx.state import PC_BITS, control_state_layout, frame_layout

_FRAME_BITS, _RETURN_BITS = (LOOP_STACK - 1).bit_length(), (ADDRESS_STACK - 1).bit_length()


class FlowFault(enum.Enum, shape=2):
    """The cause by which a flow-control instruction faults."""

    NONE = 0
    ILLEGAL_INSTRUCTION = 1
    STACK = 2
    BUS_ERROR = 3


def needs_integer(words: Value) -> Value:
    """Whether a flow-control instruction needs its int constant: the step comes before the decision."""
    operations = (FlowOperation.LOOP, FlowOperation.REP, FlowOperation.ENDLOOP)
    return Value.cast(FC_INST(words[2]).op).matches(*(operation.value for operation in operations))


def needs_boolean(words: Value) -> Value:
    """Whether the jump function of a flow-control instruction depends on its bool constant."""
    function = Value.cast(FC_INST(words[2]).jump_func)
    return (function[::2] ^ function[1::2]).any()


class FlowControl(wiring.Component):
    """Executes a flow-control instruction for one wavefront. Combinational.

    With a fault the next state is undefined.

    Members
    -------
    words : ``In(INSTRUCTION)``
    code_offset : ``In(9)``
        US_CODE_OFFSET, which jump addresses are relative to.
    full : ``In(1)``
        Whether the program uses full flow control.
    boolean : ``In(1)``
    integer : ``In(INT_CONSTANT)``
        The constants that the instruction names.
    error : ``In(1)``
        One that it needs had an error response.
    state : ``In(control_state_layout(lanes))``
    valid_mask, covered, alu_result : ``In(lanes)``
    predicates : ``In(4 * lanes)``
        Of the red bit all lanes, then green, blue, alpha.
    next_state : ``Out(control_state_layout(lanes))``
    fault : ``Out(FlowFault)``
    """

    latency = 0

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__(
            {
                "words": In(INSTRUCTION),
                "code_offset": In(PC_BITS - 1),
                "full": In(1),
                "boolean": In(1),
                "integer": In(INT_CONSTANT),
                "error": In(1),
                "state": In(control_state_layout(lanes)),
                "valid_mask": In(lanes),
                "covered": In(lanes),
                "alu_result": In(lanes),
                "predicates": In(CHANNELS * lanes),
                "next_state": Out(control_state_layout(lanes)),
                "fault": Out(FlowFault),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, state = self._lanes, self.state
        code = Value.cast(self._inst.op)
        begins = code.matches(FlowOperation.LOOP.value, FlowOperation.REP.value)
        ends = code.matches(FlowOperation.ENDLOOP.value, FlowOperation.ENDREP.value)
        breaks = code.matches(FlowOperation.BREAKLOOP.value, FlowOperation.BREAKREP.value)
        continues = code.matches(FlowOperation.CONTINUE.value)
        is_loop = code.matches(FlowOperation.LOOP.value, FlowOperation.ENDLOOP.value, FlowOperation.BREAKLOOP.value)

        frame, has_frame = Signal(frame_layout(lanes)), Signal()
        m.d.comb += [
            frame.eq(state.frames[(state.frame_depth - 1)[:_FRAME_BITS]]),
            has_frame.eq(state.frame_depth != 0),
        ]
        active, loop_inactive, counters = self._resume(m, frame, ends)
        wish = self._wish(m, active)
        voters = self.valid_mask & (self.covered | (~self._inst.ignore_uncovered).replicate(lanes))

        # BREAK and CONTINUE take pixels out of the loop; then either they or the wavefront's decision jump.
        leaving = wish & (breaks | continues).replicate(lanes)
        broken = frame.broken | (leaving & breaks.replicate(lanes))
        continued = frame.continued & ~ends.replicate(lanes) | (leaving & continues.replicate(lanes))
        remaining = frame.entered & ~broken & voters & ~(continued & continues.replicate(lanes))
        deciding = active & voters
        decision = self._decision(deciding, wish, begins, ends, frame.iterations)
        jumps = Signal()
        m.d.comb += jumps.eq(Mux(breaks | continues, ~remaining.any(), decision))

        branched = self._branch(m, active & ~leaving, loop_inactive | leaving, counters, wish, jumps)
        pops = Mux(jumps, breaks, ends)
        pushes = begins & ~jumps
        overflow = self._addresses(m, jumps)
        self._lanes_after_loop(m, branched, loop_inactive | leaving, pops, frame.entered)
        self._frames(m, frame, is_loop, pushes, pops, jumps & ends, broken, continued)

        loop_limit = Mux(self.full, LOOP_STACK, 0)
        stack_fault = overflow | branched["overflow"] | (pushes & (state.frame_depth >= loop_limit))
        needs_frame = ends | breaks | continues
        other_kind = (ends | breaks) & (frame.has_index != is_loop)
        with m.If(self._illegal()):
            m.d.comb += self.fault.eq(FlowFault.ILLEGAL_INSTRUCTION)
        with m.Elif(needs_frame & ~has_frame):
            m.d.comb += self.fault.eq(FlowFault.STACK)
        with m.Elif(other_kind):
            m.d.comb += self.fault.eq(FlowFault.ILLEGAL_INSTRUCTION)
        with m.Elif(self.error):
            m.d.comb += self.fault.eq(FlowFault.BUS_ERROR)
        with m.Elif(stack_fault):
            m.d.comb += self.fault.eq(FlowFault.STACK)
        return m

    @property
    def _inst(self) -> data.View:
        """The word that most of an instruction is in."""
        return FC_INST(self.words[2])

    def _illegal(self) -> Value:
        """Whether a field has a value without a meaning."""
        common = COMMON(self.words[0])
        rgb, alpha = Value.cast(common.rgb_pred_sel), Value.cast(common.alpha_pred_sel)
        branches = [Value.cast(self._inst[name]) for name in ("b_op0", "b_op1")]
        return Cat(
            rgb > PredicateSelect.AAAA.value,
            alpha > PredicateSelect.AAAA.value,
            rgb == PredicateSelect.RGBA.value,
            Value.cast(self._inst.a_op) > AddressOperation.PUSH.value,
            *(branch > BranchOperation.INCR.value for branch in branches),
        ).any()

    def _resume(self, m: Module, frame: data.View, ends: Value) -> tuple[Value, Value, list[Value]]:
        """(active, loop-inactive, counters) after those that CONTINUEd are active again and B_ELSE has swapped."""
        state, lanes = self.state, self._lanes
        back = frame.continued & ends.replicate(lanes)
        active, loop_inactive = Signal(lanes), Signal(lanes)
        m.d.comb += [active.eq(state.active | back), loop_inactive.eq(state.loop_inactive & ~back)]
        swaps = self._inst.b_else
        waiting = Cat(~active[lane] & ~loop_inactive[lane] & (state.counters[lane] == 0) for lane in range(lanes))
        counters = [Mux(swaps & active[lane], 0, state.counters[lane]) for lane in range(lanes)]
        swapped = Signal(lanes)
        m.d.comb += swapped.eq(Mux(swaps, waiting, active))
        return swapped, loop_inactive, counters

    def _wish(self, m: Module, active: Value) -> Value:
        """Active pixels for which JUMP_FUNC says jump."""
        lanes, common = self._lanes, COMMON(self.words[0])
        bits = [self.predicates[channel * lanes : (channel + 1) * lanes] for channel in range(CHANNELS)]
        chosen = Signal(lanes)
        m.d.comb += chosen.eq((1 << lanes) - 1)
        with m.Switch(common.rgb_pred_sel):
            for channel, bit in enumerate(bits):
                with m.Case(PredicateSelect.RRRR.value + channel):
                    m.d.comb += chosen.eq(bit)
        predicate = chosen ^ common.rgb_pred_inv.replicate(lanes)
        function = self._inst.jump_func
        return Cat(
            active[lane] & function.bit_select(Cat(self.boolean, predicate[lane], self.alu_result[lane]), 1)
            for lane in range(lanes)
        )

    def _decision(self, deciding: Value, wish: Value, begins: Value, ends: Value, iterations: Value) -> Value:
        """Whether the wavefront jumps, by its pixels' wishes or by a loop's count."""
        some, all_wish = (deciding & wish).any(), ~(deciding & ~wish).any()
        decision = Mux(self._inst.jump_any, some, all_wish & (deciding.any() | ~begins))
        no_iterations = Value.cast(self.integer.count) == 0
        return (decision | (begins & no_iterations)) & ~(ends & (iterations == 1))

    def _branch(
        self, m: Module, active: Value, loop_inactive: Value, counters: list[Value], wish: Value, jumps: Value
    ) -> dict[str, Any]:
        """Active mask, counters and overflow after the branch operation of the decision."""
        operation = Mux(jumps, Value.cast(self._inst.b_op1), Value.cast(self._inst.b_op0))
        decrements, increments = operation == BranchOperation.DECR.value, operation == BranchOperation.INCR.value
        limit = Mux(self.full, BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL)
        pops, overflow, result = self._inst.b_pop_cnt, Signal(self._lanes), Signal(self._lanes, name="branched")
        for lane, counter in enumerate(counters):
            waiting = ~active[lane] & ~loop_inactive[lane]
            differs = increments & active[lane] & (wish[lane] != jumps)
            following = self.next_state.counters[lane]
            m.d.comb += [
                result[lane].eq((active[lane] & ~differs) | (waiting & decrements & (counter < pops))),
                overflow[lane].eq(waiting & increments & (counter >= limit)),
                following.eq(counter),
            ]
            with m.If(differs):
                m.d.comb += following.eq(0)
            with m.Elif(waiting & decrements):
                m.d.comb += following.eq(counter - pops)
            with m.Elif(waiting & increments):
                m.d.comb += following.eq(counter + 1)
        return {"active": result, "overflow": overflow.any()}

    def _lanes_after_loop(
        self, m: Module, branched: dict[str, Value], loop_inactive: Value, pops: Value, entered: Value
    ) -> None:
        """After a loop the pixels are active that were when it began."""
        released = entered & pops.replicate(self._lanes)
        m.d.comb += [
            self.next_state.active.eq(branched["active"] | released),
            self.next_state.loop_inactive.eq(loop_inactive & ~released),
        ]

    def _addresses(self, m: Module, jumps: Value) -> Value:
        """PC and address stack; gives whether the stack over- or underflows."""
        state, following = self.state, self.next_state
        addr, operation, depth = FC_ADDR(self.words[3]), Value.cast(self._inst.a_op), state.return_depth
        pushes = jumps & (operation == AddressOperation.PUSH.value)
        pops = jumps & (operation == AddressOperation.POP.value)
        sequential, target = Signal(PC_BITS), Signal(PC_BITS)
        m.d.comb += [
            sequential.eq(state.pc + 1),
            target.eq(addr.jump_addr + Mux(addr.jump_global, 0, self.code_offset)),
            following.pc.eq(Mux(jumps, target, sequential)),
            following.returns.eq(state.returns),
            following.return_depth.eq(depth + pushes - pops),
        ]
        with m.If(pops):
            m.d.comb += following.pc.eq(state.returns[(depth - 1)[:_RETURN_BITS]])
        for entry in range(ADDRESS_STACK):
            with m.If(pushes & (depth == entry)):
                m.d.comb += following.returns[entry].eq(sequential)
        return Value.cast((pushes & (depth >= Mux(self.full, ADDRESS_STACK, 0))) | (pops & (depth == 0)))

    def _frames(
        self,
        m: Module,
        frame: data.View,
        is_loop: Value,
        pushes: Value,
        pops: Value,
        repeats: Value,
        broken: Value,
        continued: Value,
    ) -> None:
        """Loop stack and aL."""
        state, following = self.state, self.next_state
        m.d.comb += [
            following.frame_depth.eq(state.frame_depth + pushes - pops),
            following.frames.eq(state.frames),
            following.loop_index.eq(state.loop_index),
        ]
        for entry in range(LOOP_STACK):
            new = following.frames[entry]
            with m.If(pushes & (state.frame_depth == entry)):
                m.d.comb += [
                    new.has_index.eq(is_loop),
                    new.iterations.eq(self.integer.count),
                    new.loop_index.eq(state.loop_index),
                    new.entered.eq(following.active),
                    new.broken.eq(0),
                    new.continued.eq(0),
                ]
            with m.Elif(~pushes & (state.frame_depth == entry + 1)):
                m.d.comb += [
                    new.iterations.eq(frame.iterations - repeats),
                    new.broken.eq(broken),
                    new.continued.eq(continued),
                ]
        with m.If(pops & frame.has_index):
            m.d.comb += following.loop_index.eq(frame.loop_index)
        with m.Elif(pushes & is_loop):
            m.d.comb += following.loop_index.eq(self.integer.start)
        with m.Elif(repeats & frame.has_index):
            m.d.comb += following.loop_index.eq(state.loop_index + self.integer.step)
