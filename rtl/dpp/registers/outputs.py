"""Output registers and conditional values of all wavefronts, until they are sent.

Source: CTM Guide p. 29.
"""

from dataclasses import dataclass

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields, beat_members, beat_of
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.views import record


@dataclass(frozen=True, kw_only=True)
class OutputSizes:
    """Sizes of what a core keeps of wavefronts' outputs until they are sent.

    It keeps those of `contexts` wavefronts with `lanes` lanes, `outputs` registers of each lane. `at_once` lanes are
    written in a cycle, and as many are sent.
    """

    contexts: int
    lanes: int
    at_once: int
    outputs: int

    @staticmethod
    def of(array: ArrayConfig) -> "OutputSizes":
        """Those of a core with a scheduler: a wave slot has two contexts (`context_bits`)."""
        return OutputSizes(
            contexts=2 * array.threads, lanes=array.lanes, at_once=array.at_once, outputs=array.outputs
        )  # fmt: skip

    @property
    def beats(self) -> int:
        """Cycles in which the lanes of a wavefront are written or sent."""
        return self.lanes // self.at_once

    @property
    def context_bits(self) -> int:
        """Width of a context's number."""
        return (self.contexts - 1).bit_length()


def output_write_layout(sizes: OutputSizes, shapes: Shapes) -> data.StructLayout:
    """Results that go to outputs: each field's target, words and the channels written.

    `values` are conditional values, written in the lanes of `conditional`. The lanes are those of one beat.
    """
    lanes = sizes.at_once
    return data.StructLayout(
        {
            "context": sizes.context_bits,
            **beat_fields(sizes),
            "targets": data.ArrayLayout((sizes.outputs - 1).bit_length(), len(shapes.register_fields)),
            "words": words_layout(lanes),
            "enable": data.ArrayLayout(CHANNELS, lanes),
            "values": data.ArrayLayout(WORD_BITS, lanes),
            "conditional": lanes,
        }
    )


class OutputRead(Interface):
    """Reads of output registers, seen from the reader: words of one context, and what was written of the next one.

    Members
    -------
    context, target : ``Out``, ``Out(range(outputs))``
        The register that is read.
    beat : ``Out``
        Whose words; only if there are several beats.
    words : ``In(words_layout(at_once))``
        The register `target` of `context`, a cycle later.
    next_context : ``Out``
        The context whose written channels are read.
    written : ``In(ArrayLayout(ArrayLayout(4, lanes), outputs))``
        Channels of its registers that were written, of all targets, in the same cycle.
    """

    def __init__(self, sizes: OutputSizes) -> None:
        super().__init__(
            {
                "context": Out(sizes.context_bits),
                "target": Out(range(sizes.outputs)),
                **beat_members(sizes, Out, "beat"),
                "words": In(words_layout(sizes.at_once)),
                "next_context": Out(sizes.context_bits),
                "written": In(data.ArrayLayout(data.ArrayLayout(CHANNELS, sizes.lanes), sizes.outputs)),
            }
        )


class ConditionalRead(Interface):
    """Reads of a context's conditional values, seen from the reader.

    Members
    -------
    context : ``Out``
        Whose values.
    beat : ``Out``
        The beat of the values; only if there are several beats.
    written : ``In(lanes)``
        Lanes whose conditional value was written, in the same cycle.
    values : ``In(ArrayLayout(32, at_once))``
        Conditional values, a cycle later.
    """

    def __init__(self, sizes: OutputSizes) -> None:
        super().__init__(
            {
                "context": Out(sizes.context_bits),
                **beat_members(sizes, Out, "beat"),
                "written": In(sizes.lanes),
                "values": In(data.ArrayLayout(WORD_BITS, sizes.at_once)),
            }
        )


class OutputRegisters(wiring.Component):
    """Holds what instructions write to outputs until the wavefront ends; one write and one read per cycle.

    Members
    -------
    write : ``In(output_write_layout(sizes, shapes))``
    start : ``In({valid, context})``
        Marks all registers of that context as not written.
    sent : ``In(OutputRead(sizes))``
    tested : ``In(ConditionalRead(sizes))``
    """

    def __init__(self, sizes: OutputSizes, shapes: Shapes) -> None:
        self.sizes, self._fields = sizes, shapes.register_fields
        super().__init__(
            {
                "write": In(output_write_layout(sizes, shapes)),
                "start": In(data.StructLayout({"valid": 1, "context": sizes.context_bits})),
                "sent": In(OutputRead(sizes)),
                "tested": In(ConditionalRead(sizes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sizes, write, sent, tested = self.sizes, self.write, self.sent, self.tested
        targets = {
            channel: write.targets[number] for number, field in enumerate(self._fields) for channel in field.channels
        }
        written_beat, read_beat, tested_beat = (beat_of(sizes, holder) for holder in (write, sent, tested))
        for lane in range(sizes.at_once):
            for channel in range(CHANNELS):
                target = targets[channel]
                word = self._memory(
                    m, f"words_{lane}_{channel}", sizes.outputs * sizes.contexts * sizes.beats,
                    Cat(target, write.context, written_beat), write.words[lane][channel],
                    write.enable[lane][channel], Cat(sent.target, sent.context, read_beat),
                )  # fmt: skip
                m.d.comb += sent.words[lane][channel].eq(word)
            value = self._memory(
                m, f"conditional_{lane}", sizes.contexts * sizes.beats, Cat(write.context, written_beat),
                write.values[lane], write.conditional[lane], Cat(tested.context, tested_beat),
            )  # fmt: skip
            m.d.comb += tested.values[lane].eq(value)

        m.submodules.flags = flags = DistributedRam(
            data.StructLayout({"written": sent.written.shape(), "conditional": sizes.lanes}), sizes.contexts
        )
        # A start does not clear the table, so that the table has one writer.
        fresh = Signal(sizes.contexts)

        def read(context: Value) -> data.View:
            found: data.View = record(flags.shape, name="found")
            m.d.comb += found.eq(Mux(fresh.bit_select(context, 1), 0, Value.cast(flags.read(m, context))))
            return found

        m.d.comb += [
            sent.written.eq(read(sent.next_context).written),
            tested.written.eq(read(tested.context).conditional),
        ]
        before = read(write.context)
        after = Signal.like(before)
        conditional = Cat(self._own(write.conditional, lane) for lane in range(sizes.lanes))
        m.d.comb += after.conditional.eq(before.conditional | conditional)
        for target in range(sizes.outputs):
            for lane in range(sizes.lanes):
                goes = Cat(targets[channel] == target for channel in range(CHANNELS))
                m.d.comb += after.written[target][lane].eq(
                    before.written[target][lane] | (self._own(write.enable, lane) & goes)
                )
        writes = Value.cast(write.enable).any() | write.conditional.any()
        flags.write(m, write.context, after, writes)
        written, started = Mux(writes, 1 << write.context, 0), Mux(self.start.valid, 1 << self.start.context, 0)
        m.d.sync += fresh.eq((fresh & ~written) | started)
        return m

    def _own(self, written: Value | data.View, lane: int) -> Value:
        """The write of one lane of the wavefront: 0 if it belongs to another beat."""
        sizes = self.sizes
        beat, index = divmod(lane, sizes.at_once)
        own = Value.cast(written[index])
        return own if sizes.beats == 1 else Mux(beat_of(sizes, self.write) == beat, own, 0)

    def _memory(
        self, m: Module, name: str, depth: int, address: Value, word: Value, enable: Value, read_address: Value
    ) -> Value:
        """A block RAM of words; the word at `read_address`, a cycle later."""
        memory = BlockRam(WORD_BITS, depth)
        m.submodules[name] = memory
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [write.addr.eq(address), write.data.eq(word), write.en.eq(enable), read.addr.eq(read_address)]
        return Value.cast(read.data)
