"""OutputRegisters against arrays."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import OutputRegisters
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.streams import simulate

CYCLES = 300


def bits_of(flags: np.ndarray) -> int:
    return sum(int(bit) << place for place, bit in enumerate(flags.ravel()))


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("lanes", [4, 8])
def test_random_writes_reads_and_starts(instruction_set, lanes):
    generator, shapes = np.random.default_rng(lanes), SHAPES[instruction_set]
    config = ArrayConfig(lanes=lanes, threads=4, temporaries=128)
    unit, rows = OutputRegisters(config, shapes), 2 * config.threads
    words = np.zeros((rows, OUTPUTS, lanes, CHANNELS), np.uint32)
    written = np.zeros(words.shape, bool)
    values, given = np.zeros((rows, lanes), np.uint32), np.zeros((rows, lanes), bool)
    counts = {"words": 0, "values": 0, "starts": 0}

    def write(context: Any, row: int) -> None:
        targets = generator.integers(0, OUTPUTS, len(shapes.parts)).tolist()
        given_values = generator.integers(0, 1 << 32, lanes, np.uint32)
        results = generator.integers(0, 1 << 32, (lanes, CHANNELS), np.uint32)
        enable = generator.random((lanes, CHANNELS)) < generator.choice([0, 0.2, 0.7])
        conditional = generator.random(lanes) < generator.choice([0, 0.5])
        payload = {"row": row, "targets": targets, "words": results.tolist(), "values": given_values.tolist(),
                   "enable": [bits_of(lane) for lane in enable], "conditional": bits_of(conditional)}  # fmt: skip
        context.set(unit.write, payload)
        for part, target in zip(shapes.parts, targets, strict=True):
            channels = slice(part.channels.start, part.channels.stop)
            words[row, target][:, channels][enable[:, channels]] = results[:, channels][enable[:, channels]]
            written[row, target][:, channels] |= enable[:, channels]
        values[row][conditional] = given_values[conditional]
        given[row] |= conditional

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            row, target, tested = (int(number) for number in generator.integers(0, [rows, OUTPUTS, rows]))
            context.set(unit.row, row)
            context.set(unit.target, target)
            context.set(unit.conditional_row, tested)
            found, found_written = words[row, target].copy(), written[row].copy()
            value, value_given = values[tested].copy(), given[tested].copy()

            started, writing = generator.permutation(rows)[:2].tolist()
            starts = generator.random() < 0.05
            context.set(unit.start, {"valid": starts, "row": started})
            write(context, writing)
            if starts:
                written[started], given[started] = False, False
            assert context.get(Value.cast(unit.written)) == bits_of(found_written)
            assert context.get(unit.conditional_written) == bits_of(value_given)
            await context.tick()
            read = np.array([list(context.get(unit.words[lane])) for lane in range(lanes)], np.uint32)
            # What was never written means nothing.
            assert (read == found)[found_written[target]].all()
            assert (np.array(list(context.get(unit.conditional)), np.uint32) == value)[value_given].all()
            counts["words"] += found_written[target].sum()
            counts["values"] += value_given.sum()
            counts["starts"] += starts

    simulate(unit, testbench)
    assert min(counts.values()) > 5
