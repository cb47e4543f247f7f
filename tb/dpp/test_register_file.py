"""The register file in Amaranth's simulator against a plain array, with both writers busy in most cycles."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS, RegisterFile
from ctm.rtl.dpp.shapes import RegisterField, Shapes
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.some import fewer

CYCLES = fewer(500)
ENTRIES = 64
DRAWN_ENTRIES = [0, 1, 2, 5, 31, 32, 33, 63]
"""Few enough that writes and reads meet."""
Words = tuple[list[list[list[int]]], list[list[int]]]


class Model:
    """Registers as an array [bank, entry, lane, channel]."""

    def __init__(self, lanes: int, wave_exponent: int) -> None:
        self._wave_entries = 1 << wave_exponent
        self.words = np.zeros((BANKS, ENTRIES, lanes, CHANNELS), np.uint32)

    def read(
        self, register_fields: tuple[RegisterField, ...], addresses: list[tuple[int, int]], lane: int
    ) -> list[int]:
        """Each field's channels of an address of its own."""
        pairs = zip(register_fields, addresses, strict=True)
        return [int(self.words[address][lane, channel]) for field, address in pairs for channel in field.channels]

    def invalidate(self, address: tuple[int, int]) -> None:
        """Invalidate a wave slot's registers in the same block."""
        bank, entry = address
        count = min(self._wave_entries, ROWS_TOGETHER)
        first = entry // count * count
        self.words[bank, first : first + count] = 0

    def write(self, address: tuple[int, int], words: np.ndarray, enable: np.ndarray, channels: slice) -> None:
        """Write the enabled words of some channels."""
        target = self.words[address][:, channels]
        np.copyto(target, words[:, channels], where=enable[:, channels])

    def write_texture(self, write: "TextureWrite") -> None:
        """Invalidate if that is wanted, then write."""
        if write.invalidates:
            self.invalidate(write.address)
        self.write(write.address, write.words, write.enable, slice(None))


@dataclass(frozen=True, eq=False)
class Results:
    """What the ALU writes in a cycle: an address for each field, words and their enables [lane, channel]."""

    addresses: list[tuple[int, int]]
    words: np.ndarray
    enable: np.ndarray
    may_write: list[bool]
    """By field; its bank is reserved in the cycle before."""

    @property
    def banks(self) -> set[int]:
        """Banks that may be written."""
        return {bank for (bank, _), may in zip(self.addresses, self.may_write, strict=True) if may}

    def drive(self, context: Any, registers: RegisterFile) -> None:
        """Set the ports of the results."""
        context.set(registers.results.entries, [entry for _, entry in self.addresses])
        context.set(registers.results.words, self.words.tolist())
        context.set(registers.results.enable, masks(self.enable))
        banks = [may << bank for (bank, _), may in zip(self.addresses, self.may_write, strict=True)]
        context.set(registers.results.banks, banks)


@dataclass(frozen=True, eq=False)
class TextureWrite:
    """A write of the other port; with `invalidates` it is the first of a wave slot, and enables every word."""

    address: tuple[int, int]
    words: np.ndarray
    enable: np.ndarray
    invalidates: bool

    def drive(self, context: Any, registers: RegisterFile) -> None:
        """Set the payload."""
        payload = {"words": self.words.tolist(), "enable": masks(self.enable), "invalidates": self.invalidates}
        context.set(registers.texture_write.payload, payload | {"address": as_address(self.address)})


@dataclass(frozen=True, eq=False)
class Reads:
    """The addresses that a cycle reads: by field and operand, and one of the texture port."""

    sources: list[list[tuple[int, int]]]
    fetched: tuple[int, int]

    def drive(self, context: Any, registers: RegisterFile) -> None:
        """Set the ports of the addresses."""
        sources = [[as_address(address) for address in field] for field in self.sources]
        context.set(registers.sources.addresses, sources)
        context.set(registers.texture_source, as_address(self.fetched))

    def expected(self, model: Model, fields: tuple[RegisterField, ...], lanes: int) -> Words:
        """The words of the model, as `found` gives those of the hardware."""
        operands = range(len(self.sources[0]))
        return (
            [
                [model.read(fields, [field[operand] for field in self.sources], lane) for operand in operands]
                for lane in range(lanes)
            ],
            [model.read(fields, [self.fetched] * len(fields), lane) for lane in range(lanes)],
        )  # fmt: skip

    def found(self, context: Any, registers: RegisterFile, lanes: int) -> Words:
        """The words at the ports, by lane and operand, and by lane; a cycle after the addresses."""
        operands = range(len(self.sources[0]))
        return (
            [
                [list(context.get(registers.sources.operands[lane][source])) for source in operands]
                for lane in range(lanes)
            ],
            [list(context.get(registers.texture_words[lane])) for lane in range(lanes)],
        )


class Stimulus:
    """Random reads and writes, so that both writers are busy in most cycles."""

    def __init__(self, shapes: Shapes, lanes: int, alu_share: float) -> None:
        self._generator = np.random.default_rng(lanes)
        self._lanes, self._alu_share = lanes, alu_share
        self._fields, self._operands = shapes.register_fields, range(shapes.operands)

    def no_results(self) -> Results:
        """Results that write nothing."""
        addresses = [self._address() for _ in self._fields]
        return Results(addresses, self._words(), self._enable(0), [False] * len(self._fields))

    def results(self) -> Results:
        """Results, most of which are written; an enabled field may write in no lane."""
        addresses, enable = [self._address() for _ in self._fields], self._enable(self._alu_share)
        may_write = [
            bool(enable[:, field.channels].any() or self._generator.random() < 0.1) for field in self._fields
        ]  # fmt: skip
        return Results(addresses, self._words(), enable, may_write)

    def reads(self) -> Reads:
        """Addresses of all operands."""
        return Reads([[self._address() for _ in self._operands] for _ in self._fields], self._address())

    def texture_write(self) -> TextureWrite | None:
        """A write, in four of five cycles."""
        if self._generator.random() >= 0.8:
            return None
        address, words, enable = self._address(), self._words(), self._enable(1)
        invalidates = bool(self._generator.random() < 0.3)
        return TextureWrite(address, words, enable | invalidates, invalidates)

    def _address(self) -> tuple[int, int]:
        return int(self._generator.integers(BANKS)), int(self._generator.choice(DRAWN_ENTRIES))

    def _enable(self, share: float) -> np.ndarray:
        enable = self._generator.integers(0, 2, (self._lanes, CHANNELS)).astype(bool)
        return enable & (self._generator.random() < share)

    def _words(self) -> np.ndarray:
        return self._generator.integers(0, 1 << 32, (self._lanes, CHANNELS), np.uint32)


def as_address(address: tuple[int, int]) -> dict[str, int]:
    return {"bank": address[0], "entry": address[1]}


def masks(enable: np.ndarray) -> list[int]:
    return [int(row @ (1 << np.arange(CHANNELS))) for row in enable.astype(np.int64)]


def bit_mask(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize(
    ("lanes", "alu_share", "wave_exponent"),
    [(4, 0.5, 5)]
    + [
        pytest.param(*each, marks=pytest.mark.long)
        for each in ((4, 0.9, 1), (8, 0.6, 2), (4, 0.3, 0), (4, 0.5, 6), (4, 0.5, 7))
    ],
)
def test_reads_see_the_last_write_and_nothing_is_lost(instruction_set, lanes, alu_share, wave_exponent):
    shapes = SHAPES[instruction_set]
    registers, model = RegisterFile(ArrayConfig(lanes=lanes, temporaries=128), shapes), Model(lanes, wave_exponent)
    stimulus, counts = Stimulus(shapes, lanes, alu_share), Counter[str]()

    async def testbench(context: Any) -> None:
        write: TextureWrite | None = None
        busy: set[int] = set()
        upcoming = stimulus.no_results()
        context.set(registers.wave_exponent, 1 << wave_exponent)
        await context.tick()
        for _ in range(CYCLES):
            reads = stimulus.reads()
            reads.drive(context, registers)
            expected = reads.expected(model, shapes.register_fields, lanes)

            # Banks are reserved in the cycle before; in the first cycle none is.
            results, upcoming = upcoming, stimulus.results()
            context.set(registers.results.reserved, bit_mask(upcoming.banks))
            results.drive(context, registers)
            if write is None:
                write = stimulus.texture_write()
                if write is not None:
                    write.drive(context, registers)
            context.set(registers.texture_write.valid, write is not None)

            assert context.get(registers.busy) == bit_mask(busy)
            busy = upcoming.banks
            taken = write is not None and bool(context.get(registers.texture_write.ready))
            for field, address in zip(shapes.register_fields, results.addresses, strict=True):
                model.write(address, results.words, results.enable, slice(field.channels.start, field.channels.stop))
            if write is not None and taken:
                counts["together"] += int(results.enable.any())
                counts["invalidated"] += int(write.invalidates)
                model.write_texture(write)
                write = None
            counts["waited"] += int(write is not None)
            await context.tick()
            assert reads.found(context, registers, lanes) == expected

    simulator = Simulator(registers)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
    assert all(counts[name] > 5 for name in ("waited", "together", "invalidated")), counts
