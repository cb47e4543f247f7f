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


@pytest.mark.parametrize(
    ("instruction_set", "lanes", "rate"), [("r5xx", 4, 4), ("r5xx", 8, 1), ("invented", 8, 8), ("invented", 4, 2)]
)
def test_random_writes_reads_and_starts(instruction_set, lanes, rate):
    generator, shapes = np.random.default_rng(lanes + rate), SHAPES[instruction_set]
    config = ArrayConfig(lanes=lanes, rate=rate, threads=4, temporaries=128)
    unit, rows = OutputRegisters(config, shapes), 2 * config.threads
    words = np.zeros((rows, OUTPUTS, lanes, CHANNELS), np.uint32)
    written = np.zeros(words.shape, bool)
    values, given = np.zeros((rows, lanes), np.uint32), np.zeros((rows, lanes), bool)
    counts = {"words": 0, "values": 0, "starts": 0}

    def in_turn(names: dict[str, int]) -> dict[str, int]:
        """Numbers of turns, where there are any."""
        return names if config.turns > 1 else {}

    def lanes_in(turn: int) -> slice:
        return slice(rate * turn, rate * (turn + 1))

    def write(context: Any, row: int) -> None:
        turn = int(generator.integers(config.turns))
        own = lanes_in(turn)
        targets = generator.integers(0, OUTPUTS, len(shapes.parts)).tolist()
        given_values = generator.integers(0, 1 << 32, rate, np.uint32)
        results = generator.integers(0, 1 << 32, (rate, CHANNELS), np.uint32)
        enable = generator.random((rate, CHANNELS)) < generator.choice([0, 0.2, 0.7])
        conditional = generator.random(rate) < generator.choice([0, 0.5])
        payload = {
            "row": row, **in_turn({"turn": turn}), "targets": targets, "words": results.tolist(),
            "values": given_values.tolist(), "enable": [bits_of(lane) for lane in enable],
            "conditional": bits_of(conditional),
        }  # fmt: skip
        context.set(unit.write, payload)
        for part, target in zip(shapes.parts, targets, strict=True):
            channels = slice(part.channels.start, part.channels.stop)
            words[row, target][own, channels][enable[:, channels]] = results[:, channels][enable[:, channels]]
            written[row, target][own, channels] |= enable[:, channels]
        values[row][own][conditional] = given_values[conditional]
        given[row][own] |= conditional

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            row, target, tested, turn, tested_turn = generator.integers(
                0, [rows, OUTPUTS, rows, config.turns, config.turns]
            ).tolist()
            own, tested_own = lanes_in(turn), lanes_in(tested_turn)
            context.set(unit.row, row)
            context.set(unit.target, target)
            context.set(unit.conditional_row, tested)
            for name, number in in_turn({"turn": turn, "conditional_turn": tested_turn}).items():
                context.set(getattr(unit, name), number)
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
            read = np.array([list(context.get(unit.words[lane])) for lane in range(rate)], np.uint32)
            # What was never written means nothing.
            assert (read == found[own])[found_written[target, own]].all()
            read_values = np.array(list(context.get(unit.conditional)), np.uint32)
            assert (read_values == value[tested_own])[value_given[tested_own]].all()
            counts["words"] += found_written[target, own].sum()
            counts["values"] += value_given[tested_own].sum()
            counts["starts"] += starts

    simulate(unit, testbench)
    assert min(counts.values()) > 5
