"""The issue port of flow-control instructions, and of all instructions that are to fault.

Source: CTM Guide pp. 34-40.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.constants.flow import FlowConstants
from ctm.rtl.dpp.constants.loader import LINES, LoaderClient
from ctm.rtl.dpp.wavefronts.scheduling import IssuePort, wave_bits
from ctm.rtl.dpp.wavefronts.state import wavefront_state_layout
from ctm.rtl.isa.limits import INT_CONSTANTS
from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.entries import FLOW_ENTRY, EntryRead
from ctm.rtl.r5xx.flow.control import FlowControl, FlowFault, needs_boolean, needs_integer
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import PC_BITS, control_state_layout, stacks_layout

FLOW_LINES = 2
_LINE_CONSTANTS = INT_CONSTANTS // LINES[ConstantBank.INT]
_CONSTANT_BITS = (_LINE_CONSTANTS - 1).bit_length()


class FlowPort(wiring.Component):
    """Executes flow-control instructions; faults wavefronts that cannot go on.

    One instruction per cycle; a wavefront's next one may be issued four cycles later, after a jump six. An instruction
    that misses a constant is issued again.

    Members
    -------
    scheduler : ``In(IssuePort(config, SHAPES))``
    instruction : ``Out(EntryRead(FLOW_ENTRY))``
        The instruction, a cycle after its issue.
    program : ``In(PROGRAM)``
    error : ``In(1)``
        The program could not be loaded.
    expired : ``In(threads)``
        Wave slots whose wavefront has executed as many instructions as it may.
    wavefront, stacks
        The wavefront's state in that cycle.
    constants : ``Out(LoaderClient(FLOW_LINES, ConstantBank.INT, ConstantBank.BOOL))``
    control : ``Out({valid, wave, state})``
    pc : ``Out(PC_BITS)``
        The instruction of `done`.
    fault : ``Out({status, client})``
        The cause of a fault.
    started : ``Out(1)``
        A flow-control instruction is executed.
    active : ``Out(lanes)``
        The pixels that are active before it, in that cycle.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        wave, lanes = wave_bits(config), config.lanes
        super().__init__(
            {
                "scheduler": In(IssuePort(config, SHAPES)),
                "instruction": Out(EntryRead(FLOW_ENTRY)),
                "program": In(PROGRAM),
                "error": In(1),
                "expired": In(config.threads),
                "wavefront": In(wavefront_state_layout(SHAPES, lanes)),
                "stacks": In(stacks_layout(lanes)),
                "constants": Out(LoaderClient(FLOW_LINES, ConstantBank.INT, ConstantBank.BOOL)),
                "control": Out(data.StructLayout({"valid": 1, "wave": wave, "state": control_state_layout(lanes)})),
                "pc": Out(PC_BITS),
                "fault": Out(data.StructLayout({"status": Status, "client": BusClient})),
                "started": Out(1),
                "active": Out(lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entry = self.instruction.entry
        issued = Signal.like(self.scheduler.issue)
        m.d.sync += issued.eq(self.scheduler.issue)
        m.d.comb += self.instruction.address.eq(self.scheduler.issue.pc)

        trap = record(data.StructLayout({"valid": 1, "status": Status, "client": BusClient}))
        with m.If(self.expired.bit_select(issued.wave, 1)):
            m.d.comb += [trap.valid.eq(1), trap.status.eq(Status.WATCHDOG)]
        with m.Elif(self.error):
            m.d.comb += [trap.valid.eq(1), trap.status.eq(Status.BUS_ERROR), trap.client.eq(BusClient.INSTRUCTION)]
        with m.Elif(issued.pc >= self.program.size):
            m.d.comb += [trap.valid.eq(1), trap.status.eq(Status.PC_RANGE)]
        with m.Elif(entry.illegal):
            m.d.comb += [trap.valid.eq(1), trap.status.eq(Status.ILLEGAL_INSTRUCTION)]

        constants, missing, error = self._constants(m, issued, trap)
        valid = Signal()
        m.d.sync += valid.eq(issued.valid)
        executing = delay(m, issued, name="executing")
        missing, trap = delay(m, missing, name="delayed"), delay(m, trap, name="delayed")
        following = delay(m, entry.following, name="delayed")
        unit, client = self._execute(m, valid, constants, error)
        self._finish(m, unit, client, valid, executing, missing, trap, following)
        return m

    def _constants(
        self, m: Module, issued: data.View, trap: data.View
    ) -> tuple[FlowConstants, Value, dict[str, Value]]:
        """The constants; whether one is missing; the one that is needed but had an error response."""
        m.submodules.constants = constants = FlowConstants()
        words, loader = self.instruction.entry.words, self.constants
        addr = FC_ADDR(words[3])
        wants = ~trap.valid
        missing, error = [], {}
        for index, (name, bank, number, needed, loaded) in enumerate(
            (
                ("integer", ConstantBank.INT, addr.int_addr, needs_integer(words), loader.int_loaded),
                ("boolean", ConstantBank.BOOL, addr.bool_addr, needs_boolean(words), loader.bool_loaded),
            )
        ):
            line = loader.miss.lines[index]
            m.d.comb += [
                getattr(constants, f"{name}_number").eq(number),
                line.needed.eq(needed & wants),
                line.bank.eq(bank),
                line.line.eq(number[_CONSTANT_BITS:]),
            ]
            missing.append(line.needed & ~loaded.bit_select(number[_CONSTANT_BITS:], 1))
            error[name] = needed & getattr(constants, f"{name}_error")
        is_missing = Signal()
        m.d.comb += [
            constants.write.eq(loader.write),
            is_missing.eq(issued.valid & Cat(missing).any()),
            loader.miss.valid.eq(is_missing),
        ]
        return constants, is_missing, error

    def _execute(
        self, m: Module, valid: Value, constants: FlowConstants, error: dict[str, Value]
    ) -> tuple[GatedStateless, Value]:
        """Flow control, a cycle after the instruction was read; and the constant that had an error response."""
        m.submodules.flow_control = unit = GatedStateless(FlowControl(self._config.lanes))
        wavefront, program = self.wavefront, self.program
        state = Signal(control_state_layout(self._config.lanes))
        m.d.comb += [
            *(state[name].eq(wavefront[name]) for name, _ in state.shape() if name in dict(wavefront.shape())),
            *(state[name].eq(self.stacks[name]) for name, _ in self.stacks.shape()),
        ]
        now = {
            "words": self.instruction.entry.words, "boolean": constants.boolean, "integer": constants.integer,
            "error": Cat(error.values()).any(), "state": state, "valid_mask": wavefront.valid_mask,
            "covered": wavefront.covered,
            "alu_result": wavefront.alu_result, "predicates": wavefront.predicates,
        }  # fmt: skip
        m.d.comb += [getattr(unit, name).eq(delay(m, value, name=name)) for name, value in now.items()]
        client = delay(m, Mux(error["integer"], BusClient.INT_CONSTANT.value, BusClient.BOOL_CONSTANT.value))
        m.d.comb += [
            unit.wanted.eq(valid),
            unit.code_offset.eq(program.code_offset),
            unit.full.eq(program.full_flow_control),
        ]
        return unit, client

    def _finish(
        self,
        m: Module,
        unit: GatedStateless,
        client: Value,
        valid: Value,
        executing: data.View,
        missing: Value,
        trap: data.View,
        following: Value,
    ) -> None:
        done = self.scheduler.done
        common = COMMON(unit.words[0])
        is_flow = Value.cast(common.type) == InstructionType.FC.value
        m.d.comb += [
            unit.state.pc.eq(executing.pc),
            self.started.eq(valid & ~missing & ~trap.valid & is_flow),
            self.active.eq(unit.state.active),
        ]
        m.d.sync += Value.cast(self.fault).eq(0)
        with m.If(trap.valid):
            m.d.sync += [self.fault.status.eq(trap.status), self.fault.client.eq(trap.client)]
        with m.Elif(unit.fault == FlowFault.BUS_ERROR):
            m.d.sync += [self.fault.status.eq(Status.BUS_ERROR), Value.cast(self.fault.client).eq(client)]
        with m.Elif(unit.fault == FlowFault.STACK):
            m.d.sync += self.fault.status.eq(Status.STACK)
        with m.Else():
            m.d.sync += self.fault.status.eq(Status.ILLEGAL_INSTRUCTION)

        faults = trap.valid | (unit.fault != FlowFault.NONE)
        sequential = Signal(PC_BITS)
        waiting = unit.covered & unit.valid_mask & ~unit.next_state.active
        m.d.comb += sequential.eq(executing.pc + 1)
        # A decision is a dozen LUTs deep, and so is the scheduler's logic after it.
        m.d.sync += [
            self.control.valid.eq(valid & ~missing & ~faults),
            self.control.wave.eq(executing.wave),
            self.control.state.eq(unit.next_state),
            self.pc.eq(executing.pc),
            done.valid.eq(valid),
            done.wave.eq(executing.wave),
            done.again.eq(missing),
            done.ends.eq((executing.pc == self.program.end) | (common.last & ~waiting.any())),
            done.faults.eq(faults),
            done.jumps.eq(unit.next_state.pc != sequential),
            done.pc.eq(unit.next_state.pc),
            done.following.eq(following),
        ]
