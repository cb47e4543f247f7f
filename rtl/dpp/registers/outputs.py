"""Output registers and conditional values of all wavefronts, until they are sent.

Source: CTM Guide p. 29.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields, beat_members, beat_of
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import context_bits
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.views import record


def output_write_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """Results that go to outputs: each field's target, words and the channels written.

    `values` are conditional values, written in the lanes of `conditional`. The lanes are those of one beat.
    """
    lanes = config.at_once
    return data.StructLayout(
        {
            "context": context_bits(config),
            **beat_fields(config),
            "targets": data.ArrayLayout((config.outputs - 1).bit_length(), len(shapes.register_fields)),
            "words": words_layout(lanes),
            "enable": data.ArrayLayout(CHANNELS, lanes),
            "values": data.ArrayLayout(WORD_BITS, lanes),
            "conditional": lanes,
        }
    )


class OutputRegisters(wiring.Component):
    """Holds what instructions write to outputs until the wavefront ends; one write and one read per cycle.

    Members
    -------
    write : ``In(output_write_layout(config, shapes))``
    start : ``In({valid, context})``
        Marks all registers of that context as not written.
    context : ``In``
    target : ``In(range(outputs))``
    beat : ``In``
        Whose words; only if there are several beats.
    written : ``Out(ArrayLayout(ArrayLayout(4, lanes), outputs))``
        Channels of the context's registers that were written, of all targets, in the same cycle.
    words : ``Out(words_layout(at_once))``
        The register `target`, a cycle later.
    conditional_context : ``In``
    conditional_written : ``Out(lanes)``
        Lanes whose conditional value was written, in the same cycle.
    conditional_beat : ``In``
        Whose values; only if there are several beats.
    conditional : ``Out(ArrayLayout(32, at_once))``
        Conditional values, a cycle later.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._fields = config, shapes.register_fields
        lanes, context = config.lanes, context_bits(config)
        super().__init__(
            {
                "write": In(output_write_layout(config, shapes)),
                "start": In(data.StructLayout({"valid": 1, "context": context})),
                "context": In(context),
                "target": In(range(config.outputs)),
                **beat_members(config, In, "beat", "conditional_beat"),
                "written": Out(data.ArrayLayout(data.ArrayLayout(CHANNELS, lanes), config.outputs)),
                "words": Out(words_layout(config.at_once)),
                "conditional_context": In(context),
                "conditional_written": Out(lanes),
                "conditional": Out(data.ArrayLayout(WORD_BITS, config.at_once)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, write = self._config, self.write
        contexts = 2 * config.threads
        targets = {
            channel: write.targets[number] for number, field in enumerate(self._fields) for channel in field.channels
        }
        written_beat, read_beat = beat_of(config, write), beat_of(config, self)
        tested_beat = beat_of(config, self, "conditional_beat")
        for lane in range(config.at_once):
            for channel in range(CHANNELS):
                target = targets[channel]
                word = self._memory(
                    m, f"words_{lane}_{channel}", config.outputs * contexts * config.beats,
                    Cat(target, write.context, written_beat), write.words[lane][channel],
                    write.enable[lane][channel], Cat(self.target, self.context, read_beat),
                )  # fmt: skip
                m.d.comb += self.words[lane][channel].eq(word)
            value = self._memory(
                m, f"conditional_{lane}", contexts * config.beats, Cat(write.context, written_beat), write.values[lane],
                write.conditional[lane], Cat(self.conditional_context, tested_beat),
            )  # fmt: skip
            m.d.comb += self.conditional[lane].eq(value)

        m.submodules.flags = flags = DistributedRam(
            data.StructLayout({"written": self.written.shape(), "conditional": config.lanes}), contexts
        )
        # A start does not clear the table, so that the table has one writer.
        fresh = Signal(contexts)

        def read(context: Value) -> data.View:
            found: data.View = record(flags.shape, name="found")
            m.d.comb += found.eq(Mux(fresh.bit_select(context, 1), 0, Value.cast(flags.read(m, context))))
            return found

        m.d.comb += [
            self.written.eq(read(self.context).written),
            self.conditional_written.eq(read(self.conditional_context).conditional),
        ]
        before = read(write.context)
        after = Signal.like(before)
        conditional = Cat(self._own(write.conditional, lane) for lane in range(config.lanes))
        m.d.comb += after.conditional.eq(before.conditional | conditional)
        for target in range(config.outputs):
            for lane in range(config.lanes):
                goes = Cat(targets[channel] == target for channel in range(CHANNELS))
                m.d.comb += after.written[target][lane].eq(
                    before.written[target][lane] | (self._own(write.enable, lane) & goes)
                )
        writes = Value.cast(write.enable).any() | write.conditional.any()
        flags.write(m, write.context, after, writes)
        written, started = Mux(writes, 1 << write.context, 0), Mux(self.start.valid, 1 << self.start.context, 0)
        m.d.sync += fresh.eq((fresh & ~written) | started)
        return m

    def _own(self, written: Any, lane: int) -> Value:
        """The write of one lane of the wavefront: 0 if it belongs to another beat."""
        config = self._config
        beat, index = divmod(lane, config.at_once)
        own = Value.cast(written[index])
        return own if config.beats == 1 else Mux(beat_of(config, self.write) == beat, own, 0)

    def _memory(
        self, m: Module, name: str, depth: int, address: Value, word: Value, enable: Value, read_address: Value
    ) -> Value:
        """A block RAM of words; the word at `read_address`, a cycle later."""
        memory = BlockRam(WORD_BITS, depth)
        m.submodules[name] = memory
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [write.addr.eq(address), write.data.eq(word), write.en.eq(enable), read.addr.eq(read_address)]
        return Value.cast(read.data)
