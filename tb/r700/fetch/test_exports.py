"""ExportWrite: what an export makes of a register, and which output registers or conditional values get it."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal, Value
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.fetch.selection import PixelSelection
from ctm.rtl.r700.fetch.writers.exports import ExportWrite
from ctm.rtl.r700.partition import Partition, segment_outputs
from ctm.tb.r700.fetch.looking import mask

EXPORTS, CHANNELS = 150, 4
DEPTH, MASK, ONE = 61, 7, 0x3F800000
SIZE, LANES, EXPORTED = 16, 4, 2


def export_word(base: int, selects: list[int]) -> int:
    """The CF instruction: ARRAY_BASE in bits 12:0, SEL_X to SEL_W in bits 43:32; opcode 0x27 is no concern here."""
    return base | sum(select << 32 + 3 * channel for channel, select in enumerate(selects))


def check(seed: int, count: int) -> None:
    """Passes of exports of random registers."""
    array = ArrayConfig(instruction_set="r700", wavefront=SIZE)
    m, unit, selection = Module(), ExportWrite(segment_outputs(array)), PixelSelection(Partition.of(array))
    port: Any = unit
    m.submodules += [unit, selection]
    half = Signal()
    m.d.comb += selection.selects.eq(unit.selects)
    for words, written in zip(unit.words, selection.written, strict=True):
        m.d.comb += Value.cast(words).eq(Value.cast(written).word_select(half, 32 * EXPORTED))
    draw = np.random.default_rng(seed)

    async def run(context: Any) -> None:
        for _ in range(count):
            source = draw.integers(0, 1 << 32, (CHANNELS, SIZE)).astype(np.uint32)
            selects = [int(select) for select in draw.choice([0, 1, 2, 3, 4, 5, MASK], CHANNELS)]
            is_depth, takes = bool(draw.random() < 0.3), bool(draw.random() < 0.7)
            base, burst = (DEPTH, 0) if is_depth else (int(draw.integers(4)), int(draw.integers(4)))
            number, executing = int(draw.integers(SIZE // EXPORTED)), draw.random(EXPORTED) < 0.6
            context.set(Value.cast(selection.source), int.from_bytes(source.tobytes(), "little"))
            context.set(selection.pass_number, number * EXPORTED // LANES)
            context.set(half, number % (LANES // EXPORTED))
            context.set(port.unit, export_word(base, selects) | int(draw.integers(1 << 20)) << 44)
            context.set(port.burst, burst)
            context.set(port.takes_conditional, takes)
            context.set(port.executing, mask(executing))
            write, what = context.get(port.write), f"base {base}, {selects}, half pass {number}"
            if not is_depth:
                assert list(write["targets"]) == [(base + burst) % 4] * CHANNELS, what
            for lane in range(EXPORTED):
                own = source[:, number * EXPORTED + lane]
                words = [int(own[select]) if select < CHANNELS else ONE * (select == 5) for select in selects]
                written = [bool(executing[lane]) and select != MASK for select in selects]
                enable = 0 if is_depth else sum(1 << channel for channel in range(CHANNELS) if written[channel])
                assert write["enable"][lane] == enable, what
                for channel in range(CHANNELS):
                    assert not written[channel] or write["words"][lane][channel] == words[channel], what
                is_value = is_depth and takes and written[0]
                assert (write["conditional"] >> lane & 1) == is_value, what
                assert not is_value or write["values"][lane] == words[0], what

    simulator = Simulator(m)
    simulator.add_testbench(run)
    simulator.run()


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, EXPORTS)


def test_exports_write_what_they_say() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_more_exports(seed: int) -> None:
    check(seed, 5000)
