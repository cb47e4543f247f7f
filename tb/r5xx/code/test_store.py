"""InstructionStore: every entry of several programs, one after the other, with a memory that stalls."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.word import unpack
from ctm.rtl.r5xx.code.store import InstructionStore
from ctm.rtl.r5xx.entries import ALU_ENTRY, FLOW_ENTRY, TEXTURE_ENTRY
from ctm.rtl.r5xx.shapes import SUMMARY
from ctm.rtl.r5xx.state import PC_BITS
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.r5xx.summaries import BEYOND, Instruction, compiled_predecode, known, random_instruction

WORD = 32


def joined(words: Instruction) -> int:
    return sum(word << WORD * index for index, word in enumerate(words))


class Store:
    """The component with a memory that responds in order."""

    def __init__(self, stall: float) -> None:
        self.unit = InstructionStore()
        generator = np.random.default_rng(int(10 * stall))
        self._asked = Sink(self.unit.client.request, generator, stall)
        self._responses = Source(self.unit.client.response, generator, stall)

    async def load(self, context: Any, program: list[Instruction], *, uncached: bool, error: int = -1) -> int:
        """Load a program, one instruction with an error response, and give the cycles that it took."""
        unit, first, cycles = self.unit, len(self._asked.received), 0
        context.set(unit.size, len(program))
        context.set(unit.uncached_writes, uncached)
        assert not context.get(unit.loaded)
        while not context.get(unit.loaded):
            context.set(unit.load, not cycles)
            assert context.get(unit.loading) == (cycles > 0)
            asked = len(self._asked.received)
            await cycle(context, [self._asked, self._responses])
            self._responses.waiting += [
                joined(program[number]) | (number == error) << WORD * len(program[number])
                for number in self._asked.received[asked:]
            ]
            cycles += 1
            assert cycles < 20 * len(program) + 200
        assert self._asked.received[first:] == list(range(len(program)))
        assert context.get(unit.error) == (error >= 0)
        assert not context.get(unit.loading)
        return cycles

    async def invalidate(self, context: Any) -> None:
        context.set(self.unit.load, 0)
        context.set(self.unit.invalidate, 1)
        await context.tick()
        context.set(self.unit.invalidate, 0)


def following(program: list[Instruction], number: int, uncached: bool) -> dict[str, int]:
    return known(program[number + 1], uncached).summary if number + 1 < len(program) else BEYOND


async def check_entries(context: Any, unit: Any, program: list[Instruction], uncached: bool) -> None:
    """Read all entries, each port another one at the same time."""
    size = len(program)
    controls = decoded(program, uncached)
    for first in range(size):
        numbers = [(first + distance) % size for distance in (0, size // 3, size // 2)]
        for port, number in zip((unit.alu, unit.texture, unit.flow), numbers, strict=True):
            context.set(port.address, number)
        for port in (unit.alu, unit.texture):
            context.set(port.reads, 1)
        await context.tick()
        # Without a read the outputs keep what was read.
        for port in (unit.alu, unit.texture):
            context.set(port.address, first)
            context.set(port.reads, 0)
        await context.tick()
        views = ((ALU_ENTRY, unit.alu), (TEXTURE_ENTRY, unit.texture), (FLOW_ENTRY, unit.flow))
        entries = [unpack(layout, context.get(Value.cast(port.entry))) for layout, port in views]
        for entry, number in zip(entries, numbers, strict=True):
            assert entry["words"] == joined(program[number])
            assert unpack(SUMMARY, entry["following"]) == following(program, number, uncached), number
        alu, of_alu, of_flow = entries[0], known(program[numbers[0]], uncached), known(program[numbers[2]], uncached)
        assert (alu["presubtracts"], alu["writes"]) == (of_alu.presubtracts, of_alu.summary["writes"])
        if of_alu.sources:
            assert (alu["rgb_use"], alu["alpha_use"]) == of_alu.sources
            assert alu["control"] == controls[numbers[0]]
        assert entries[2]["illegal"] == of_flow.illegal


def decoded(program: list[Instruction], uncached: bool) -> list[int]:
    """What Predecode says a lane does."""
    words = np.array(program, np.uint32)
    control = compiled_predecode()(words=words, uncached_writes=np.full(len(words), uncached))["control"]
    return [int.from_bytes(np.ascontiguousarray(row).tobytes(), "little") for row in control]


async def check_summaries(context: Any, unit: Any, expected: list[dict[str, int]]) -> None:
    """The summary at every PC there is."""
    near = {*range(len(expected) + 2), INSTRUCTION_SLOTS - 1, INSTRUCTION_SLOTS, INSTRUCTION_SLOTS + 1}
    for pc in sorted(near | {(1 << PC_BITS) - 1}):
        context.set(unit.pc, pc)
        await context.tick()
        wanted = expected[pc] if pc < len(expected) else BEYOND
        assert unpack(SUMMARY, context.get(Value.cast(unit.summary))) == wanted, pc


@pytest.mark.parametrize("stall", STALLS)
def test_programs_one_after_the_other(stall):
    generator = np.random.default_rng(1)
    store = Store(stall)

    async def testbench(context: Any) -> None:
        for number, size in enumerate((16, 1, 21, 2)):
            uncached = bool(number % 2)
            program = [random_instruction(generator) for _ in range(size)]
            cycles = await store.load(context, program, uncached=uncached)
            assert stall or cycles <= size + 6
            await check_entries(context, store.unit, program, uncached)
            await check_summaries(context, store.unit, [known(words, uncached).summary for words in program])
            context.set(store.unit.load, 1)
            await context.tick()
            assert not context.get(store.unit.loading), "what is there is not loaded again"
            await store.invalidate(context)

    simulate(store.unit, testbench)


def test_a_full_store():
    generator = np.random.default_rng(2)
    store, program = Store(0.0), [random_instruction(generator) for _ in range(INSTRUCTION_SLOTS)]

    async def testbench(context: Any) -> None:
        await store.load(context, program, uncached=False)
        await check_summaries(context, store.unit, [known(words, False).summary for words in program])

    simulate(store.unit, testbench)


@pytest.mark.parametrize("error", [0, 3, 6])
def test_an_error_response_faults_wherever_a_wavefront_goes(error):
    generator = np.random.default_rng(3)
    store, program = Store(0.3), [random_instruction(generator) for _ in range(7)]

    async def testbench(context: Any) -> None:
        await store.load(context, program, uncached=False, error=error)
        await check_summaries(context, store.unit, [BEYOND] * len(program))
        await store.invalidate(context)
        await store.load(context, program, uncached=False)
        await check_summaries(context, store.unit, [known(words, False).summary for words in program])

    simulate(store.unit, testbench)
