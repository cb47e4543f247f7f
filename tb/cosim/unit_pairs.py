"""Cocotb tests of the conditional unit alone: random settings, and wavefronts of both clients at once."""

import os
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge, gather

from ctm.rtl.border.commands import UNIT_COMMAND
from ctm.rtl.isa.commands import BY_NAME
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.word import pack
from ctm.sim.golden.co.unit import FORMATS, ConditionalUnit
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory
from ctm.tb.co.bench import LOCATIONS, TESTS, TILINGS
from ctm.tb.co.wavefronts import LINE, Wavefronts, expected, random_contents, random_wavefronts
from ctm.tb.cosim.bench import LIMIT, Clocked
from ctm.tb.cosim.choice import seeds, with_pauses
from ctm.tb.cosim.configuration import SMALL
from ctm.tb.cosim.ends import Pace
from ctm.tb.cosim.streams import Sink, Source
from ctm.tb.cosim.unit_cache import UnitCache
from ctm.tb.cosim.unit_top import Mistake
from ctm.tb.mc.buffers import buffer_bits

_LANES = SMALL.array.lanes
_BASES = (1 << 20, 0x8000_0800)
_AROUND = 4096
_SETTINGS, _WAVEFRONTS = 12, 25
_COMPARISONS = tuple(test for test in TESTS if test not in (ConditionalTest.NEVER, ConditionalTest.ALWAYS))


class _Bench(Clocked):
    """The unit between its clients and a cache, and the golden model with a memory of its own."""

    def __init__(self, dut: Any, *, pauses: float, seed: int) -> None:
        super().__init__(dut)
        ends: Pace = {"pauses": pauses, "seed": seed}
        self._command = Source(dut, "command", **ends)
        self._requests = [Source(dut, f"clients__{number}__request", **ends) for number in range(len(LOCATIONS))]
        self._responses = [Sink(dut, f"clients__{number}__response", **ends) for number in range(len(LOCATIONS))]
        self.cache = UnitCache(dut, lanes=_LANES, **ends)
        self._received = [0] * len(LOCATIONS)
        self.golden = Memory()
        dut.target__buffer.value = buffer_bits(Buffer())
        dut.target__writes_enabled.value = 0
        dut.mistake.value = Mistake[os.environ.get("MISTAKE", "NONE")].value

    async def start(self) -> None:
        """Clock and reset the unit, let the cache work, and watch."""
        await super().start()
        self.cache.start()
        cocotb.start_soon(self._watch())

    def load(self, address: int, contents: bytes) -> None:
        """Write both memories."""
        for memory in (self.cache.memory, self.golden):
            memory.write(address, contents)

    def respond_with_errors(self, ranges: list[tuple[int, int]]) -> None:
        """Let both memories respond with errors to these ranges, and to no others."""
        for memory in (self.cache.memory, self.golden):
            memory.error_ranges = list(ranges)

    async def set_up(self, unit: ConditionalUnit) -> None:
        """Give the unit its state, and check its outputs."""
        self.dut.target__buffer.value = buffer_bits(unit.buffer)
        self.dut.target__writes_enabled.value = unit.write_enabled
        for name, word in (("set_cond_test", unit.test.value), ("set_cond_loc", unit.location.value)):
            await self._command.send([pack(UNIT_COMMAND, opcode=BY_NAME[name].opcode, words=word)])
        await RisingEdge(self.dut.clk)
        assert bool(self.dut.format_legal.value) == unit.format_is_legal, f"{unit}: format_legal is wrong"
        touches = unit.reads_buffer or unit.may_write_buffer or unit.test is ConditionalTest.NEVER
        shown = [bool(getattr(self.dut, f"tests_{location.name.lower()}").value) for location in LOCATIONS]
        assert shown == [touches and location is unit.location for location in LOCATIONS], f"{unit}: tests is wrong"

    async def ask(self, unit: ConditionalUnit, wavefronts: list[Wavefronts]) -> None:
        """Both clients send requests; the lanes that pass, and then memory, are as in the golden model."""
        await gather(*(self._client(number, unit, each) for number, each in enumerate(wavefronts)))
        for _ in range(2):
            await RisingEdge(self.dut.clk)
        assert self.dut.idle.value == 1, "it is not idle after the last response"
        first, size = unit.buffer.base - _AROUND, extent(unit.buffer) + 2 * _AROUND
        found, wanted = (np.frombuffer(each.read(first, size), np.uint8) for each in (self.cache.memory, self.golden))
        wrong = np.flatnonzero(found != wanted)
        assert not wrong.size, f"{wrong.size} bytes from 0x{first + int(wrong[0]):x} on are wrong; {unit}"

    async def _client(self, number: int, unit: ConditionalUnit, wavefronts: Wavefronts) -> None:
        sending = cocotb.start_soon(self._requests[number].send(wavefronts.payloads()))
        passed, _ = expected(unit, self.golden, wavefronts, LOCATIONS[number])
        before = self._received[number]
        self._received[number] += len(wavefronts)
        found = np.array((await self._responses[number].take(self._received[number]))[before:])
        await sending
        wrong = np.flatnonzero(found != passed)
        for index in wrong[:1]:
            wavefront = f"the {LOCATIONS[number].name}'s wavefront {index}"
            raise AssertionError(f"{wavefront}: passed {found[index]:b}, not {passed[index]:b}; {unit}")

    async def _watch(self) -> None:
        """The unit is idle only when each wavefront it has taken has its response."""
        edge, in_flight = RisingEdge(self.dut.clk), 0
        directions = {"request": 1, "response": -1}
        ends = [
            (step, *(getattr(self.dut, f"clients__{number}__{name}__{end}") for end in ("valid", "ready")))
            for name, step in directions.items()
            for number in range(len(LOCATIONS))
        ]
        while True:
            await edge
            assert not in_flight or self.dut.idle.value == 0, "it is idle while it works"
            in_flight += sum(step for step, valid, ready in ends if valid.value == 1 and ready.value == 1)


def _random_unit(generator: np.random.Generator) -> ConditionalUnit:
    """Mostly comparisons in a legal format; narrow buffers, whose rows overlap, and wide ones."""
    tests = [*TESTS, *_COMPARISONS * 2]
    test, write = tests[int(generator.integers(len(tests)))], bool(generator.integers(3))
    unit = ConditionalUnit(test=test, location=LOCATIONS[int(generator.integers(2))], write_enabled=write)
    formats = list(FORMATS) if unit.reads_buffer or unit.may_write_buffer else list(DataFormat)
    unit.buffer = Buffer(
        base=_BASES[int(generator.integers(2))], pitch=4 * int(generator.integers(0, 20)),
        tiling=TILINGS[int(generator.integers(2))], format=formats[int(generator.integers(len(formats)))],
        height=int(generator.integers(1, 40)),
    )  # fmt: skip
    return unit


def _random_errors(generator: np.random.Generator, unit: ConditionalUnit) -> list[tuple[int, int]]:
    """Now and then some lines of a buffer that is read."""
    if not unit.reads_buffer or generator.random() < 0.6:
        return []
    lines = extent(unit.buffer) // LINE + 1
    first = [unit.buffer.base // LINE + int(generator.integers(lines)) for _ in range(1 + lines // 4)]
    return [(LINE * line, LINE * (line + 1)) for line in first]


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("seed", "pauses"), with_pauses(seeds(4))))
async def pairs_of_both_clients(dut: Any, seed: int, pauses: float) -> None:
    bench, generator = _Bench(dut, pauses=pauses, seed=seed), np.random.default_rng([seed, 7])
    await bench.start()
    for _ in range(_SETTINGS):
        unit = _random_unit(generator)
        size = extent(unit.buffer) + 2 * _AROUND
        bench.load(unit.buffer.base - _AROUND, random_contents(generator, unit.buffer.format, size))
        bench.respond_with_errors(_random_errors(generator, unit))
        await bench.set_up(unit)
        limits = {"width": max(4, unit.buffer.width_limit), "height": unit.buffer.height_limit}
        await bench.ask(unit, [random_wavefronts(generator, _WAVEFRONTS, _LANES, **limits) for _ in LOCATIONS])
    assert bench.cache.reads and bench.cache.stores, "nothing was compared, or nothing stored"
