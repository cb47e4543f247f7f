"""The machine as waves show it: nothing merged, no clock gates, and an observer beside each core."""

from typing import Any

from amaranth import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.core_module import NAME, CoreInstance
from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.dpp.watch import Wait
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.isa.limits import ADDRESS_BITS, COLUMN_BITS, COORDINATE_BITS
from ctm.rtl.lib.clock_gating import resettable
from ctm.rtl.lib.forwarding import forward
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.verilog import ports

CORE = NAME
"""The module of a core."""
_TAKE = ("take_valid", "take_wave", "take_i", "take_j", "take_covered")
_FREE = "free_wave_slots"


def _shown(config: MachineConfig) -> dict[str, int]:
    """What the host sees of each core, so that it knows when a wavefront is there; names and widths."""
    array = config.array
    widths = (1, wave_bits(array), COLUMN_BITS, COORDINATE_BITS, array.wavefront_lanes)
    return {**dict(zip(_TAKE, widths, strict=True)), _FREE: array.threads}


class ObservedCore(wiring.Component):
    """A core as `CoreModule` has it, and beside it its observer as `watch`.

    Members
    -------
    as those of `CoreModule`
    take_valid and so on
        As those of the observer (`ctm.rtl.dpp.watch`).
    free_wave_slots : ``Out(threads)``
        The wave slots without a wavefront.
    executable : ``In(32)``
        Where the executable of the program lies.

    Beside these there are two signals for each wave slot N. ``wave_slot_N_pc`` is the address of the instruction that
    counts as issued, or was the last one that did; ``wave_slot_N_instruction`` is the same below the executable's
    address, which together are one instruction of the run.
    """

    def __init__(self, config: MachineConfig, instruction_set: InstructionSet) -> None:
        self._core = instruction_set.core(config)
        self._watch = instruction_set.watch(config.array, self._core)
        self._ports = len(instruction_set.shapes.ports)
        shown = {name: Out(width) for name, width in _shown(config).items()}
        members = {"reset": In(1), "executable": In(ADDRESS_BITS), **shown}
        super().__init__({**core_members(config.array, instruction_set.shapes, config), **members})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # In front of the core, because it adds readers to the core's memories.
        m.submodules.watch = resettable(self._watch, self.reset)
        m.submodules.core = resettable(self._core, self.reset)
        inside = {port.name: port.value for port in ports(self._core)}
        for port in ports(self):
            if port.name in inside:
                inner = inside[port.name]
                m.d.comb += inner.eq(port.value) if port.is_input else port.value.eq(inner)
        m.d.comb += [getattr(self, name).eq(getattr(self._watch, name)) for name in _TAKE]
        waits = [Value.cast(getattr(self._watch, f"wave_slot_{slot}")) for slot in range(len(self.free_wave_slots))]
        m.d.comb += self.free_wave_slots.eq(Cat(wait == Wait.FREE.value for wait in waits))
        for slot in range(len(self.free_wave_slots)):
            self._follow(m, slot)
        return m

    def _follow(self, m: Module, slot: int) -> None:
        """Keep what a wave slot has issued last."""
        issues = [[getattr(self._watch, f"issue_{port}_{name}") for name in ("valid", "wave", "pc")]
                  for port in range(self._ports)]  # fmt: skip
        pc = Signal(len(issues[0][2]), name=f"wave_slot_{slot}_pc")
        instruction = Signal(len(pc) + ADDRESS_BITS, name=f"wave_slot_{slot}_instruction")
        last = Signal.like(instruction, name=f"wave_slot_{slot}_last")
        m.d.comb += [instruction.eq(last), pc.eq(instruction)]
        for valid, wave, issued in issues:
            with m.If(valid & (wave == slot)):
                m.d.comb += instruction.eq(Cat(issued, self.executable))
        m.d.sync += last.eq(instruction)


class _ObservedInstance(CoreInstance):
    """An instance of `ObservedCore`, which is written separately; `shown` is what the host sees of it."""

    def __init__(self, config: MachineConfig, instruction_set: InstructionSet) -> None:
        self.shown = {name: Signal(width, name=f"shown_{name}") for name, width in _shown(config).items()}
        self.executable = Signal(ADDRESS_BITS)
        super().__init__(config, instruction_set)

    def elaborate(self, platform: object) -> Instance:
        """Instantiate the module."""
        ports_: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": ResetSignal(), "i_executable": self.executable}
        for path, member, value in self.signature.flatten(self):
            if not isinstance(value, Const):
                direction = "i" if member.flow is Flow.In else "o"
                ports_[f"{direction}_{'__'.join(map(str, path))}"] = Value.cast(value)
        return Instance(CORE, **ports_, **{f"o_{name}": signal for name, signal in self.shown.items()})


class ObservedMachine(wiring.Component):
    """`Sampled`, whose cores are observed.

    Members
    -------
    as those of `Sampled`
    fault : ``Out(1)``
        A program has a fault, or a command buffer has ended with an error.
    core_0_take_valid and so on
        As those of core 0, see `ObservedCore`.
    """

    def __init__(self, config: MachineConfig) -> None:
        instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
        self._cores = [_ObservedInstance(config, instruction_set) for _ in range(config.array.cores)]
        waiting = iter(self._cores)
        self._machine = Sampled(config, lambda *_: next(waiting))
        shown = {f"core_{core}_{name}": Out(width)
                 for core in range(config.array.cores) for name, width in _shown(config).items()}  # fmt: skip
        super().__init__({**self._machine.signature.members, "fault": Out(1), **shown})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.machine = self._machine
        forward(m, self, self._machine, self._machine.signature.members)
        processor = self._machine.ctm.machine.processor
        m.d.comb += self.fault.eq(processor.array.fault.valid | processor.host.error.valid)
        for number, core in enumerate(self._cores):
            m.d.comb += core.executable.eq(processor.executable)
            for name, signal in core.shown.items():
                m.d.comb += getattr(self, f"core_{number}_{name}").eq(signal)
        return m
