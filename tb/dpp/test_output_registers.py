"""OutputRegisters against arrays."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import OutputRegisters, OutputSizes
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.streams import simulate

CYCLES = 300


def bits_of(flags: np.ndarray) -> int:
    return sum(int(bit) << index for index, bit in enumerate(flags.ravel()))


class Bench:
    """The registers, and arrays of their contents: words and values, and whether each was written."""

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self.config, self._fields = config, shapes.register_fields
        self.unit = OutputRegisters(OutputSizes.of(config), shapes)
        self.generator = np.random.default_rng(config.lanes + config.at_once)
        self.contexts = 2 * config.threads
        self.words = np.zeros((self.contexts, OUTPUTS, config.lanes, CHANNELS), np.uint32)
        self.written = np.zeros(self.words.shape, bool)
        self.values = np.zeros((self.contexts, config.lanes), np.uint32)
        self.given = np.zeros(self.values.shape, bool)
        self.counts = {"words": 0, "values": 0, "starts": 0}

    def _in_beat(self, names: dict[str, int]) -> dict[str, int]:
        """Numbers of beats, where there are any."""
        return names if self.config.beats > 1 else {}

    def _lanes_in(self, beat: int) -> slice:
        rate = self.config.at_once
        return slice(rate * beat, rate * (beat + 1))

    def _write(self, context: Any, bank: int) -> None:
        generator, rate = self.generator, self.config.at_once
        beat = int(generator.integers(self.config.beats))
        own = self._lanes_in(beat)
        targets = generator.integers(0, OUTPUTS, len(self._fields)).tolist()
        given_values = generator.integers(0, 1 << 32, rate, np.uint32)
        results = generator.integers(0, 1 << 32, (rate, CHANNELS), np.uint32)
        enable = generator.random((rate, CHANNELS)) < generator.choice([0, 0.2, 0.7])
        conditional = generator.random(rate) < generator.choice([0, 0.5])
        payload = {
            "context": bank, **self._in_beat({"beat": beat}), "targets": targets, "words": results.tolist(),
            "values": given_values.tolist(), "enable": [bits_of(lane) for lane in enable],
            "conditional": bits_of(conditional),
        }  # fmt: skip
        context.set(self.unit.write, payload)
        for field, target in zip(self._fields, targets, strict=True):
            channels = slice(field.channels.start, field.channels.stop)
            enabled = enable[:, channels]
            self.words[bank, target][own, channels][enabled] = results[:, channels][enabled]
            self.written[bank, target][own, channels] |= enabled
        self.values[bank][own][conditional] = given_values[conditional]
        self.given[bank][own] |= conditional

    async def step(self, context: Any) -> None:
        """One cycle: read, start a context or none, write another one, and compare the read words."""
        unit, generator, beats = self.unit, self.generator, self.config.beats
        bank, following, target, tested, beat, tested_beat = generator.integers(
            0, [self.contexts, self.contexts, OUTPUTS, self.contexts, beats, beats]
        ).tolist()
        own, tested_own = self._lanes_in(beat), self._lanes_in(tested_beat)
        for port, selected in (
            (
                unit.sent,
                {"context": bank, "next_context": following, "target": target, **self._in_beat({"beat": beat})},
            ),
            (unit.tested, {"context": tested, **self._in_beat({"beat": tested_beat})}),
        ):
            for name, number in selected.items():
                context.set(getattr(port, name), number)
        found, found_written = self.words[bank, target].copy(), self.written[bank].copy()
        following_written = self.written[following].copy()
        value, value_given = self.values[tested].copy(), self.given[tested].copy()

        started, writing = generator.permutation(self.contexts)[:2].tolist()
        starts = generator.random() < 0.05
        context.set(unit.start, {"valid": starts, "context": started})
        self._write(context, writing)
        if starts:
            self.written[started], self.given[started] = False, False
        assert context.get(Value.cast(unit.sent.written)) == bits_of(following_written)
        assert context.get(unit.tested.written) == bits_of(value_given)
        await context.tick()
        read = np.array([list(context.get(words)) for words in unit.sent.words], np.uint32)
        # Words that were never written are undefined.
        assert (read == found[own])[found_written[target, own]].all()
        read_values = np.array(list(context.get(unit.tested.values)), np.uint32)
        assert (read_values == value[tested_own])[value_given[tested_own]].all()
        self.counts["words"] += found_written[target, own].sum()
        self.counts["values"] += value_given[tested_own].sum()
        self.counts["starts"] += starts


@pytest.mark.parametrize(
    ("instruction_set", "lanes", "rate"), [("r5xx", 4, 4), ("r5xx", 8, 1), ("invented", 8, 8), ("invented", 4, 2)]
)
def test_random_writes_reads_and_starts(instruction_set, lanes, rate):
    bench = Bench(ArrayConfig(lanes=lanes, rate=rate, threads=4, temporaries=128), SHAPES[instruction_set])

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            await bench.step(context)

    simulate(bench.unit, testbench)
    assert min(bench.counts.values()) > 5
