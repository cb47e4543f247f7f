"""The machine in Amaranth's own simulator: slow, but nothing lies between it and the hardware's description."""

from collections.abc import Callable
from contextlib import ExitStack
from io import TextIOBase
from typing import Any

from amaranth.sim import Simulator

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.axi_memory import AxiMemory
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from ctm.sim.memory import Memory

_CONTROL = "s_axi_control"
PERIOD = 1e-9
"""Seconds of a clock cycle; the first rising edge is in its middle."""
_TIMEOUT = 1000


class InterpretedMachine:
    """A machine in Amaranth's simulator, after its reset. Making it takes about a minute.

    Parameters
    ----------
    config
        With the latency and the bandwidth of the simulated memory.
    memory
        Both ports' memory.
    wave
        What every signal does is written here as VCD, until `end_wave`.
    """

    def __init__(self, config: MachineConfig, memory: Memory, wave: TextIOBase | None = None) -> None:
        # Imported here, because it takes long, and other engines do not need it.
        from ctm.rtl.ctm import Ctm

        self._config, self._memory = config, memory
        self._top: Any = Ctm(config)
        self.cycles = self.raised = 0
        self._inputs: dict[str, int] = {f"{_CONTROL}_bready": 1, f"{_CONTROL}_rready": 1}
        self._outputs: dict[str, int] = {}
        simulator: Any = Simulator(self._top)
        simulator.add_clock(PERIOD)
        simulator.add_testbench(self._testbench, background=True)
        self._advance: Callable[[], bool] = simulator.advance
        self._wave = ExitStack()
        if wave is not None:
            self._wave.enter_context(simulator.write_vcd(wave))
        self._clock()

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        self._inputs |= {f"{_CONTROL}_awaddr": offset, f"{_CONTROL}_wdata": value, f"{_CONTROL}_wstrb": 0xF}
        self._inputs |= {f"{_CONTROL}_awvalid": 1, f"{_CONTROL}_wvalid": 1}
        self._transact(("aw", "w"), "b")

    def read(self, offset: int) -> int:
        """Read a register."""
        self._inputs |= {f"{_CONTROL}_araddr": offset, f"{_CONTROL}_arvalid": 1}
        self._transact(("ar",), "r")
        return self._outputs["rdata"]

    def end_wave(self) -> None:
        """Complete the wave, if there is one."""
        self._wave.close()

    def run(self, cycles: int) -> bool:
        """Clock until the interrupt is raised, at most `cycles` cycles; whether it is."""
        while cycles > 0 and not self._outputs["irq"]:
            self._clock()
            cycles -= 1
        return bool(self._outputs["irq"])

    def _transact(self, requests: tuple[str, ...], response: str) -> None:
        """Clock until the requests have been taken and the response has come."""
        for _ in range(_TIMEOUT):
            self._clock()
            for channel in requests:
                if self._outputs[f"{channel}ready"]:
                    self._inputs[f"{_CONTROL}_{channel}valid"] = 0
            if self._outputs[f"{response}valid"]:
                return
        raise TimeoutError("the control port does not respond")

    def _clock(self) -> None:
        """One clock cycle."""
        end = self.cycles + 1
        while self.cycles < end:
            self._advance()

    async def _testbench(self, context: Any) -> None:
        """In each cycle: drive the inputs, look at the outputs, go over the clock's edge."""
        top = self._top

        def port(prefix: str) -> tuple[Callable[[str], int], Callable[[str, int], None]]:
            return (
                lambda name: int(context.get(getattr(top, f"{prefix}_{name}"))),
                lambda name, value: context.set(getattr(top, f"{prefix}_{name}"), value),
            )

        memory = self._config.memory
        memories = [
            AxiMemory(
                self._memory, *port(f"m_axi_{name}"),
                data_bits=memory.data_bits, latency=memory.latency, bytes_per_cycle=memory.bytes_per_cycle,
            )
            for name in memory.ports
        ]  # fmt: skip
        control, _ = port(_CONTROL)
        seen = ("awready", "wready", "bvalid", "arready", "rvalid", "rdata")
        while True:
            # The host sets its inputs between a clock's edge and this moment.
            await context.delay(PERIOD / 4)
            for name, value in self._inputs.items():
                context.set(getattr(top, name), value)
            for port_memory in memories:
                port_memory.drive(self.cycles)
            for port_memory in memories:
                port_memory.take(self.cycles)
            was_raised = self._outputs.get("irq", 0)
            self._outputs = {name: control(name) for name in seen} | {"irq": int(context.get(top.irq))}
            if self._outputs["irq"] and not was_raised:
                self.raised = self.cycles
            await context.tick()
            self.cycles += 1


class AmaranthEngine(CycleAccurateEngine):
    """Runs command buffers on the machine in Amaranth's simulator, some 100 cycles per second."""

    name = "amaranth"
    slice_cycles = 16

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The simulated machine."""
        return InterpretedMachine(config, self.memory)
