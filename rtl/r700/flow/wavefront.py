"""The wavefront that control flow executes.

Source: R700-Family Instruction Set Architecture, chapter 3; docs/r700.md has every instruction.
"""

from collections.abc import Callable

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.constants.flow import FlowConstants
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.r700.control_flow import Condition
from ctm.rtl.isa.r700.limits import FIRST_BRANCH_SUBENTRIES, LOOP_SUBENTRIES, SUBENTRIES, UNIT_BYTES
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.flow.stack import DEPTH_BITS, EntryKind, row_layout
from ctm.rtl.r700.flow.state import Then, state_layout
from ctm.rtl.r700.problem import PROBLEM


class Wavefront:
    """Registers of the wavefront whose CF instructions are executed, and the steps that many of these share.

    Steps add statements to the current state of the unit's state machine; each takes effect at the next clock edge and
    names the next state.

    Attributes
    ----------
    wave, state
        The wave slot and its state, a copy of `states` while its instruction is executed.
    row
        The row `stack_index` of the wave slot's stack, read a cycle after the index is set.
    active
        Pixels inside of the branch mask and of no other mask. Combinational.
    holds
        The condition of the instruction holds. Combinational, valid once constants are loaded.
    test, none_pass
        The pixels that pass the instruction's test, and whether there is none; likewise.
    second
        The second half of an instruction is executed, see `execute_again`.
    then
        What follows the pops of `start_pops`.
    problem
        The fault that `fault` reports.
    """

    def __init__(self, m: Module, unit: wiring.Component, config: ArrayConfig) -> None:
        self.m, self.unit, self.config = m, unit, config
        size = config.wavefront_lanes
        self.wave = Signal(wave_bits(config))
        self.state = Signal(state_layout(config), name="state")
        self.cleared = Signal(size)
        self.instruction = self.state.clause
        self.pops = Signal(3)
        self.then = Signal(Then)
        self.second = Signal()
        self.problem = Signal(PROBLEM, name="problem")
        self.active = Signal(size)
        self.row = Signal(row_layout(size), name="row")
        self.entry = [Signal(row_layout(size), name=f"entry_{row}") for row in range(LOOP_SUBENTRIES)]
        self.step = Signal(range(LOOP_SUBENTRIES + 1))
        self.unit_bits = Signal(8 * UNIT_BYTES)
        self.stack_index, self.base = Signal(DEPTH_BITS), Signal(range(config.stack_entries * SUBENTRIES))
        self.holds, self.test, self.none_pass = Signal(), Signal(size), Signal()
        self.states = DistributedRam(state_layout(config), config.threads)
        self.constants = FlowConstants()
        self._stack: Memory = Memory(shape=row_layout(size), depth=config.stack_entries * SUBENTRIES, init=[])
        self.push_port = self._stack.write_port()
        self._connect()

    def _connect(self) -> None:
        """The combinational values, in every state."""
        m, unit, state, instruction = self.m, self.unit, self.state, self.instruction
        m.submodules.states, m.submodules.constants, m.submodules.stack = self.states, self.constants, self._stack
        read, constants = self._stack.read_port(), self.constants
        m.d.comb += [
            self.base.eq(self.wave * unit.program.stack),
            read.addr.eq(self.base + self.stack_index),
            self.row.eq(read.data),
            self.push_port.addr.eq(self.base + state.depth),
            self.active.eq(state.branch_mask & ~state.continue_mask & ~state.break_mask),
            constants.write.eq(unit.constants.write),
            constants.integer_number.eq(instruction.constant),
            constants.boolean_number.eq(instruction.constant),
        ]
        with m.Switch(Value.cast(instruction.condition)):
            with m.Case(Condition.ACTIVE.value):
                m.d.comb += self.holds.eq(1)
            with m.Case(Condition.BOOL.value):
                m.d.comb += self.holds.eq(constants.boolean)
            with m.Case(Condition.NOT_BOOL.value):
                m.d.comb += self.holds.eq(~constants.boolean)
        pixels = self.active & Mux(instruction.valid_pixels, state.valid_mask & state.covered, ~0)
        m.d.comb += [self.test.eq(Mux(self.holds, pixels, 0)), self.none_pass.eq(~self.test.any())]

    def advance(self, target: Value | None = None) -> None:
        """Go to the next instruction, or to a target; to the end if the instruction is the last one."""
        m, state = self.m, self.state
        m.d.sync += state.pc.eq(state.pc + 1 if target is None else target)
        with m.If(self.instruction.ends):
            m.next = "ended"
        with m.Else():
            m.next = "fetch"

    def fault(self, status: Status, client: BusClient | None = None) -> None:
        """End the wavefront with a fault, which has no address."""
        m = self.m
        m.d.sync += [self.problem.status.eq(status), self.problem.client.eq(client or 0), self.problem.address.eq(0)]
        m.next = "ended"

    def start_pops(self, count: Value, then: Then) -> None:
        """Go to the state that pops `count` branch entries and then continues with `then`."""
        m = self.m
        m.d.sync += [self.pops.eq(count), self.then.eq(then)]
        m.next = "pop"

    def leave(self) -> None:
        """Pop POP_COUNT entries and go to the instruction's target."""
        with self.m.If(self.instruction.pop_count.any() & ~self.second):
            self.start_pops(self.instruction.pop_count, Then.TARGET)
        with self.m.Else():
            self.advance(self.instruction.target)

    def execute_again(self) -> None:
        """Execute the instruction's second half."""
        self.m.d.sync += self.second.eq(1)
        self.m.next = "execute"

    def has_space(self, rows: int, *, branches: bool) -> Value:
        """Whether the stack has space for `rows` more, and for those that are reserved while it has a branch."""
        state = self.state
        extra = FIRST_BRANCH_SUBENTRIES if branches else Mux(state.branches.any(), FIRST_BRANCH_SUBENTRIES, 0)
        return Value.cast(state.depth + rows + extra <= self.unit.program.stack)

    def push_branch(self, then: Callable[[], None]) -> None:
        """Push the branch mask and add the statements of `then`; STACK if there is no space."""
        m, state, port = self.m, self.state, self.push_port
        with m.If(~self.has_space(1, branches=True)):
            self.fault(Status.STACK)
        with m.Else():
            m.d.comb += [port.en.eq(1), port.data.kind.eq(EntryKind.BRANCH), port.data.mask.eq(state.branch_mask)]
            m.d.sync += [state.depth.eq(state.depth + 1), state.branches.eq(state.branches + 1)]
            then()
