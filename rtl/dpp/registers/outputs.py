"""Output registers and conditional values of all groups, until they are sent.

Source: CTM Guide p. 29.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields, beat_members, beat_of
from ctm.rtl.dpp.groups.scheduling import row_bits
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS, WORD_BITS
from ctm.rtl.lib.ram import BlockRam, DistributedRam
from ctm.rtl.lib.views import record

_TARGET_BITS = (OUTPUTS - 1).bit_length()


def output_write_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """Results that go to outputs: each part's target, words and the channels written.

    `values` are conditional values, written in the lanes of `conditional`. With several beats the lanes are those
    of one.
    """
    lanes = config.at_once
    return data.StructLayout(
        {
            "row": row_bits(config),
            **beat_fields(config),
            "targets": data.ArrayLayout(_TARGET_BITS, len(shapes.parts)),
            "words": words_layout(lanes),
            "enable": data.ArrayLayout(CHANNELS, lanes),
            "values": data.ArrayLayout(WORD_BITS, lanes),
            "conditional": lanes,
        }
    )


class OutputRegisters(wiring.Component):
    """Keeps what instructions write to outputs until the group ends; one write and one read per cycle.

    Members
    -------
    write : ``In(output_write_layout(config, shapes))``
    start : ``In({valid, row})``
        Nothing of that row is written any more.
    row : ``In``
    target : ``In(2)``
    beat : ``In``
        Whose words; only if there are several beats.
    written : ``Out(ArrayLayout(ArrayLayout(4, lanes), 4))``
        Channels of the row's registers that were written, of all targets, in the same cycle.
    words : ``Out(words_layout(at_once))``
        The register `target`, a cycle later.
    conditional_row : ``In``
    conditional_written : ``Out(lanes)``
        Lanes whose conditional value was written, in the same cycle.
    conditional_beat : ``In``
        Whose values; only if there are several beats.
    conditional : ``Out(ArrayLayout(32, at_once))``
        Conditional values, a cycle later.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._parts = config, shapes.parts
        lanes, row = config.lanes, row_bits(config)
        super().__init__(
            {
                "write": In(output_write_layout(config, shapes)),
                "start": In(data.StructLayout({"valid": 1, "row": row})),
                "row": In(row),
                "target": In(_TARGET_BITS),
                **beat_members(config, In, "beat", "conditional_beat"),
                "written": Out(data.ArrayLayout(data.ArrayLayout(CHANNELS, lanes), OUTPUTS)),
                "words": Out(words_layout(config.at_once)),
                "conditional_row": In(row),
                "conditional_written": Out(lanes),
                "conditional": Out(data.ArrayLayout(WORD_BITS, config.at_once)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, write = self._config, self.write
        rows = 2 * config.threads
        targets = {
            channel: write.targets[number] for number, part in enumerate(self._parts) for channel in part.channels
        }
        written_beat, read_beat = beat_of(config, write), beat_of(config, self)
        tested_beat = beat_of(config, self, "conditional_beat")
        for lane in range(config.at_once):
            for channel in range(CHANNELS):
                target = targets[channel]
                word = self._memory(
                    m, f"words_{lane}_{channel}", OUTPUTS * rows * config.beats,
                    Cat(target, write.row, written_beat), write.words[lane][channel],
                    write.enable[lane][channel], Cat(self.target, self.row, read_beat),
                )  # fmt: skip
                m.d.comb += self.words[lane][channel].eq(word)
            value = self._memory(
                m, f"conditional_{lane}", rows * config.beats, Cat(write.row, written_beat), write.values[lane],
                write.conditional[lane], Cat(self.conditional_row, tested_beat),
            )  # fmt: skip
            m.d.comb += self.conditional[lane].eq(value)

        m.submodules.flags = flags = DistributedRam(
            data.StructLayout({"written": self.written.shape(), "conditional": config.lanes}), rows
        )
        # A row that starts is not cleared, so that the table has one writer.
        fresh = Signal(rows)

        def read(row: Value) -> data.View:
            found: data.View = record(flags.shape, name="found")
            m.d.comb += found.eq(Mux(fresh.bit_select(row, 1), 0, Value.cast(flags.read(m, row))))
            return found

        m.d.comb += [
            self.written.eq(read(self.row).written),
            self.conditional_written.eq(read(self.conditional_row).conditional),
        ]
        before = read(write.row)
        after = Signal.like(before)
        conditional = Cat(self._own(write.conditional, lane) for lane in range(config.lanes))
        m.d.comb += after.conditional.eq(before.conditional | conditional)
        for target in range(OUTPUTS):
            for lane in range(config.lanes):
                goes = Cat(targets[channel] == target for channel in range(CHANNELS))
                m.d.comb += after.written[target][lane].eq(
                    before.written[target][lane] | (self._own(write.enable, lane) & goes)
                )
        writes = Value.cast(write.enable).any() | write.conditional.any()
        flags.write(m, write.row, after, writes)
        written, started = Mux(writes, 1 << write.row, 0), Mux(self.start.valid, 1 << self.start.row, 0)
        m.d.sync += fresh.eq((fresh & ~written) | started)
        return m

    def _own(self, written: Any, lane: int) -> Value:
        """What is written of one of the group's lanes: nothing if it is another beat's."""
        config = self._config
        beat, place = divmod(lane, config.at_once)
        own = Value.cast(written[place])
        return own if config.beats == 1 else Mux(beat_of(config, self.write) == beat, own, 0)

    def _memory(
        self, m: Module, name: str, depth: int, row: Value, word: Value, enable: Value, read_row: Value
    ) -> Value:
        """A word of every row, a cycle after its row was asked for."""
        memory = BlockRam(WORD_BITS, depth)
        m.submodules[name] = memory
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [write.addr.eq(row), write.data.eq(word), write.en.eq(enable), read.addr.eq(read_row)]
        return Value.cast(read.data)
