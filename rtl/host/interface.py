"""The host interface: registers for the host, interrupt and soft reset. docs/isa.md has the registers' table."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.commands import BufferClient
from ctm.rtl.config import MachineConfig
from ctm.rtl.host.control_bus import ControlBus, ControlBusSignature
from ctm.rtl.host.counters import Counters, counter_steps, draw_steps
from ctm.rtl.host.errors import Errors
from ctm.rtl.host.queue import BufferQueue
from ctm.rtl.isa.host import COUNTERS_OFFSET, DRAW_COUNTERS_OFFSET, IDENTITY, QUEUE_DEPTH, REGISTERS, VERSION
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BITS

_REGISTERS = {register.name: register for register in REGISTERS}
_WORD_BYTES = WORD_BITS // 8
_WORD_OFFSET_BITS = _WORD_BYTES.bit_length() - 1


class HostInterface(wiring.Component):
    """The registers, the queue of command buffers, the interrupt and the soft reset.

    An error of the command processor holds further buffers in the queue until the host clears it. A push into the full
    queue is rejected and flagged. A soft reset lasts until no memory access is in flight; buffers that it drops are
    flagged as RESET. Registers respond after a few cycles, also during a reset.

    Members
    -------
    bus : ``In(ControlBusSignature())``
    irq : ``Out(1)``
        High while an enabled interrupt is pending.
    processor : ``Out(BufferClient())``
    watchdog : ``Out(32)``
    reset : ``Out(1)``
        Resets everything but this unit and the memory ports, which drain meanwhile.
    ports_idle : ``In(1)``
        No burst is in flight at the memory ports.
    steps : ``In(counter_steps(config))``
    draw_steps : ``In(draw_steps(config))``
        Where the machine draws.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        super().__init__(
            {
                "bus": In(ControlBusSignature()),
                "irq": Out(1),
                "processor": Out(BufferClient()),
                "watchdog": Out(WORD_BITS),
                "reset": Out(1),
                "ports_idle": In(1),
                "steps": In(counter_steps(config)),
                **({"draw_steps": In(draw_steps(config))} if config.pipeline.draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.bus = bus = ControlBus()
        m.submodules.queue = queue = BufferQueue()
        m.submodules.errors = errors = Errors()
        m.submodules.counters = counters = Counters(counter_steps(self._config))
        registers = _Registers()
        connect(m, flipped(self.bus), bus.bus)
        connect(m, queue.buffer, flipped(self.processor.buffer))
        connect(m, flipped(self.processor.error), errors.error)
        m.d.comb += [
            counters.steps.eq(self.steps),
            counters.clear.eq(self.reset),
            queue.hold.eq(errors.holds | errors.error.valid),
            queue.consumed.eq(self.processor.consumed),
            queue.discard.eq(self.reset),
            errors.rejected.eq(queue.rejected),
            queue.entry.address.eq(registers.address),
            queue.entry.dwords.eq(registers.dwords),
            self.irq.eq(registers.enabled & Value.cast(registers.interrupt).any()),
        ]
        self._write_registers(m, bus.write, registers, queue, errors)
        self._read_registers(m, bus, registers, queue, errors)
        self._read_counters(m, bus, counters, COUNTERS_OFFSET)
        if self._config.pipeline.draws:
            m.submodules.draw_counters = of_draws = Counters(draw_steps(self._config))
            m.d.comb += [of_draws.steps.eq(self.draw_steps), of_draws.clear.eq(self.reset)]
            self._read_counters(m, bus, of_draws, DRAW_COUNTERS_OFFSET)
        return m

    def _write_registers(
        self, m: Module, write: data.View, registers: "_Registers", queue: BufferQueue, errors: Errors
    ) -> None:
        starts, interrupt = Signal(), registers.interrupt
        # A new event counts even in the cycle in which the host clears the interrupt.
        pending = Signal.like(interrupt, name="pending")
        m.d.comb += [pending.eq(interrupt), errors.invalidate.eq(starts)]
        with m.If(_writes(write, "CONTROL")):
            control = _written(write, "CONTROL")
            m.d.comb += [errors.clear.eq(control.clear_error), starts.eq(control.reset)]
            with m.If(write.strobe[0]):
                m.d.sync += registers.enabled.eq(control.interrupt_enable)
        with m.If(_writes(write, "INTERRUPT")):
            cleared = _written(write, "INTERRUPT")
            m.d.comb += pending.eq(Value.cast(interrupt) & ~Value.cast(cleared)[: len(pending.as_value())])
        m.d.comb += queue.push.eq(_writes(write, "QUEUE_PUSH"))
        for name, register in (
            ("QUEUE_ADDRESS", registers.address), ("QUEUE_DWORDS", registers.dwords), ("WATCHDOG", self.watchdog),
        ):  # fmt: skip
            with m.If(_writes(write, name)):
                m.d.sync += register.eq(_merged(write, register))
        # Two cycles at least, see `resettable`.
        lasts = Signal()
        m.d.sync += lasts.eq(self.reset)
        with m.If(starts):
            m.d.sync += [self.reset.eq(1), self.watchdog.eq(0)]
        with m.Elif(self.reset & lasts & self.ports_idle):
            m.d.sync += self.reset.eq(0)
        m.d.comb += errors.lost.eq(starts & ~queue.empty)
        m.d.sync += [
            interrupt.consumed.eq(pending.consumed | (self.processor.consumed & ~self.reset)),
            interrupt.error.eq(pending.error | errors.raised),
        ]

    def _read_registers(
        self, m: Module, bus: ControlBus, registers: "_Registers", queue: BufferQueue, errors: Errors
    ) -> None:
        array, record = self._config.array, errors.record
        fields: dict[str, dict[str, ValueLike]] = {
            "ID": {"value": IDENTITY},
            "VERSION": {"value": VERSION},
            "CONFIG": {
                "cores": array.cores, "lanes": array.lanes, "threads": array.threads, "queue_depth": QUEUE_DEPTH,
            },
            "CONTROL": {"interrupt_enable": registers.enabled},
            "STATUS": {
                "idle": self.processor.idle & queue.empty & ~self.reset,
                "error": errors.pending,
                "queue_full": queue.full,
                "push_refused": errors.push_refused,
                "code": record.status,
            },
            "INTERRUPT": {"consumed": registers.interrupt.consumed, "error": registers.interrupt.error},
            "QUEUE_ADDRESS": {"value": registers.address},
            "QUEUE_DWORDS": {"value": registers.dwords},
            "LAST_SUBMITTED": {"value": queue.last_submitted},
            "LAST_CONSUMED": {"value": queue.last_consumed},
            "ERROR_ADDRESS": {"value": record.address},
            "ERROR_WORD": {"value": record.word},
            "ERROR_CLIENT": {"client": record.client},
            "FAULT_PC": {"value": record.pc},
            "FAULT_IJ": {"i": record.i, "j": record.j},
            "WATCHDOG": {"value": self.watchdog},
        }  # fmt: skip
        with m.Switch(bus.read_offset[_WORD_OFFSET_BITS:]):
            for name, values in fields.items():
                with m.Case(_REGISTERS[name].offset >> _WORD_OFFSET_BITS):
                    word = data.View(_REGISTERS[name].layout, bus.read_bits)
                    m.d.comb += [Value.cast(word[field]).eq(value) for field, value in values.items()]

    def _read_counters(self, m: Module, bus: ControlBus, counters: Counters, offset: int) -> None:
        number, first = bus.read_offset[_WORD_OFFSET_BITS:], offset >> _WORD_OFFSET_BITS
        count = len(list(counters.steps.shape()))
        m.d.comb += counters.index.eq(number - first)
        with m.If((number >= first) & (number < first + count)):
            m.d.comb += bus.read_bits.eq(counters.value)


class _Registers:
    """The registers that the host writes."""

    def __init__(self) -> None:
        self.address, self.dwords = Signal(WORD_BITS, name="address"), Signal(WORD_BITS, name="dwords")
        self.enabled = Signal(name="enabled")
        self.interrupt = Signal(data.StructLayout({"consumed": 1, "error": 1}), name="interrupt")


def _writes(write: data.View, name: str) -> Value:
    """Whether the host writes a register in this cycle."""
    is_meant = write.offset[_WORD_OFFSET_BITS:] == _REGISTERS[name].offset >> _WORD_OFFSET_BITS
    return Value.cast(write.valid & is_meant)


def _written(write: data.View, name: str) -> data.View:
    """The value that the host writes; bytes without a strobe are 0."""
    mask = Cat(strobe.replicate(BYTE_BITS) for strobe in write.strobe)
    return data.View(_REGISTERS[name].layout, write.bits & mask)


def _merged(write: data.View, register: Value) -> Value:
    """A register with the bytes that the host writes."""
    return Cat(
        Mux(write.strobe[byte], write.bits.word_select(byte, BYTE_BITS), register.word_select(byte, BYTE_BITS))
        for byte in range(_WORD_BYTES)
    )
