"""Output registers and conditional values of all resident groups.

Source: CTM Guide p. 29.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.config import ArrayConfig
from rtl.dpp.border import WORD_BITS, words_layout
from rtl.dpp.scheduling import slot_bits
from rtl.fp.lane import CHANNELS, SCALAR
from rtl.isa.limits import OUTPUTS
from rtl.lib.table import Table

_TARGET_BITS = (OUTPUTS - 1).bit_length()


def output_write_layout(config: ArrayConfig) -> data.StructLayout:
    """Results of an OUTPUT: the units' registers, the channels and the conditional values that are written."""
    return data.StructLayout(
        {
            "slot": slot_bits(config),
            "rgb_target": _TARGET_BITS,
            "alpha_target": _TARGET_BITS,
            "words": words_layout(config.lanes),
            "enable": data.ArrayLayout(CHANNELS, config.lanes),
            "conditional": config.lanes,
        }
    )


class OutputRegisters(wiring.Component):
    """Keeps what OUTPUT instructions write until the group ends; one write and one read per cycle.

    Members
    -------
    write : ``In(output_write_layout(config))``
    start : ``In({valid, slot})``
        Nothing of that slot is written any more.
    slot : ``In``
    target : ``In(2)``
    written : ``Out(ArrayLayout(ArrayLayout(4, lanes), 4))``
        Channels of the slot's registers that were written, of all targets, in the same cycle.
    words : ``Out(words_layout(lanes))``
        The register `target`, a cycle later.
    conditional_slot : ``In``
    conditional_written : ``Out(lanes)``
        Lanes whose conditional value was written, in the same cycle.
    conditional : ``Out(ArrayLayout(32, lanes))``
        Conditional values, a cycle later.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        lanes, slot = config.lanes, slot_bits(config)
        super().__init__(
            {
                "write": In(output_write_layout(config)),
                "start": In(data.StructLayout({"valid": 1, "slot": slot})),
                "slot": In(slot),
                "target": In(_TARGET_BITS),
                "written": Out(data.ArrayLayout(data.ArrayLayout(CHANNELS, lanes), OUTPUTS)),
                "words": Out(words_layout(lanes)),
                "conditional_slot": In(slot),
                "conditional_written": Out(lanes),
                "conditional": Out(data.ArrayLayout(WORD_BITS, lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, write = self._config, self.write
        registers = OUTPUTS * config.threads
        for lane in range(config.lanes):
            for channel in range(CHANNELS):
                target = write.alpha_target if channel == SCALAR else write.rgb_target
                word = self._memory(
                    m, f"words_{lane}_{channel}", registers, Cat(target, write.slot), write.words[lane][channel],
                    write.enable[lane][channel], Cat(self.target, self.slot),
                )  # fmt: skip
                m.d.comb += self.words[lane][channel].eq(word)
            value = self._memory(
                m, f"conditional_{lane}", config.threads, write.slot, write.words[lane][SCALAR],
                write.conditional[lane], self.conditional_slot,
            )  # fmt: skip
            m.d.comb += self.conditional[lane].eq(value)

        m.submodules.flags = flags = Table(
            data.StructLayout({"written": self.written.shape(), "conditional": config.lanes}), config.threads
        )
        m.d.comb += [
            self.written.eq(flags.read(m, self.slot).written),
            self.conditional_written.eq(flags.read(m, self.conditional_slot).conditional),
        ]
        before = flags.read(m, write.slot)
        after = Signal.like(before)
        m.d.comb += after.conditional.eq(before.conditional | write.conditional)
        for target in range(OUTPUTS):
            for lane in range(config.lanes):
                units = Cat((write.rgb_target == target).replicate(SCALAR), write.alpha_target == target)
                m.d.comb += after.written[target][lane].eq(before.written[target][lane] | (write.enable[lane] & units))
        writes = Value.cast(write.enable).any() | write.conditional.any()
        flags.write(m, write.slot, after, writes)
        flags.write(m, self.start.slot, 0, self.start.valid)
        return m

    def _memory(
        self, m: Module, name: str, depth: int, row: Value, word: Value, enable: Value, read_row: Value
    ) -> Value:
        """A word of every row, a cycle after its row was asked for."""
        m.submodules[name] = memory = Memory(shape=WORD_BITS, depth=depth, init=[])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [write.addr.eq(row), write.data.eq(word), write.en.eq(enable), read.addr.eq(read_row)]
        return read.data
