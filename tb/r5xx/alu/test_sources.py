"""Sources against plain arrays: temporaries, constants and inline constants at random addresses."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.clients import LINE_BEATS, ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.constants.loader import LINE, LINES
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE, RGB_ADDR, inline_constant
from ctm.rtl.isa.word import pack, unpack
from ctm.rtl.r5xx.alu.sources import FLOAT_LINES, Sources
from ctm.tb.lib.streams import simulate

CYCLES = 250
UNITS, SOURCES = 2, 3
ALPHA = 3
Addresses = list[list[dict[str, int]]]
"""Fields of the three addresses of the RGB and of the alpha unit."""


def inline_word(code: int) -> int:
    return int(np.float32(inline_constant(code)).view(np.uint32))


class Bench:
    """The component and what its addresses mean."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config, self.unit = config, Sources(config)
        self.generator = generator = np.random.default_rng(config.lanes)
        self.constants = generator.integers(0, 1 << 32, (FLOAT_CONSTANTS, CHANNELS), np.uint32)
        self.error = generator.random(FLOAT_CONSTANTS) < 0.06

    async def load(self, context: Any) -> None:
        """Write all constants, and others that are no floats."""
        for number in range(FLOAT_CONSTANTS):
            position = {"line": number // LINE_BEATS, "beat": number % LINE_BEATS}
            beats = [{"bank": bank, "words": [7, 7, 7, 7], "error": 1, **position} for bank in list(ConstantBank)[1:]]
            words, error = self.constants[number].tolist(), bool(self.error[number])
            beats.insert(0, {"bank": ConstantBank.FLOAT, "words": words, "error": error, **position})
            for beat in beats:
                context.set(self.unit.write, {"valid": 1, **beat})
                await context.tick()
            context.set(self.unit.write, {"valid": 0, **beats[0], "words": [9, 9, 9, 9]})
            await context.tick()

    def address(self, kind: str, relative: bool) -> dict[str, int]:
        """Fields of a random address of that kind."""
        if kind == "inline":
            return {"addr": ADDRESS_INLINE | int(self.generator.integers(128)), "const": 0, "rel": 0}
        constant = kind == "constant"
        number = int(self.generator.integers(FLOAT_CONSTANTS if constant else TEMPORARIES))
        return {"addr": number, "const": int(constant), "rel": int(relative)}

    def entry_of(self, wave: int, number: int, highest: int) -> dict[str, int]:
        """The address of a temporary: each wave slot has a power of two entries, odd wave slots the second bank."""
        entry = (wave // 2 << highest.bit_length()) + number
        banks = self.config.temporaries // 2
        return {"bank": wave % 2 or entry // banks, "entry": entry % banks}

    def check_addresses(self, context: Any, addresses: Addresses, wave: int, highest: int, index: int):
        """Addresses of the temporaries that exist; they are read in the instruction's cycle."""
        for ports, unit in zip((self.unit.rgb_addresses, self.unit.alpha_addresses), addresses, strict=True):
            for source, address in enumerate(unit):
                number = (address["addr"] + address["rel"] * index) % TEMPORARIES
                if not address["const"] and address["addr"] < ADDRESS_INLINE and number <= highest:
                    found = {name: context.get(ports[source][name]) for name in ("bank", "entry")}
                    assert found == self.entry_of(wave, number, highest)

    def check_lines(self, context: Any, addresses: Addresses, uses: list[int], loaded: int, index: int):
        """Lines that are needed; whether one is missing, and whether a constant had an error response."""
        lines = context.get(Value.cast(self.unit.lines))
        missing, error = False, False
        for line in range(FLOAT_LINES):
            address, use = addresses[line // SOURCES][line % SOURCES], uses[line // SOURCES] >> line % SOURCES & 1
            found = unpack(LINE, lines >> LINE.size * line & (1 << LINE.size) - 1)
            assert found["needed"] == (use and address["const"])
            if found["needed"]:
                number = (address["addr"] + address["rel"] * index) % FLOAT_CONSTANTS
                assert (found["bank"], found["line"]) == (ConstantBank.FLOAT.value, number // LINE_BEATS)
                missing |= not loaded >> number // LINE_BEATS & 1
                error |= bool(self.error[number])
        assert context.get(self.unit.missing) == missing
        return missing, error

    def expected(self, address: dict[str, int], highest: int, index: int, temporary: np.ndarray, channel: int) -> int:
        number = address["addr"] + address["rel"] * index
        if address["const"]:
            return int(self.constants[number % FLOAT_CONSTANTS, channel])
        if address["addr"] & ADDRESS_INLINE:
            return inline_word(address["addr"] % ADDRESS_INLINE)
        return int(temporary[channel]) if number % TEMPORARIES <= highest else 0

    async def instruction(self, context: Any, addresses: Addresses, loaded: int) -> tuple[bool, bool]:
        """One instruction with its sources a cycle later; whether a line was missing, and a constant an error."""
        generator, lanes = self.generator, self.config.lanes
        highest = int(generator.choice([0, 1, 5, 16, 31, 62, 127]))
        wave = int(generator.integers(self.config.resident_wavefronts(highest + 1)))
        index = int(generator.choice([0, 1, int(generator.integers(512)), 511]))
        words = [pack(RGB_ADDR, **{f"addr{source}" + (f"_{name}" if name != "addr" else ""): value
                                   for source, address in enumerate(unit) for name, value in address.items()})
                 for unit in addresses]  # fmt: skip
        uses = generator.integers(0, 1 << SOURCES, UNITS).tolist()
        context.set(self.unit.entry.words, [0, *words, 0, 0, 0])
        context.set(self.unit.entry.rgb_use, uses[0])
        context.set(self.unit.entry.alpha_use, uses[1])
        allocation = {"highest": highest, "exponent": 1 << highest.bit_length()}
        for name, value in (("wave", wave), ("allocation", allocation), ("loop_index", index), ("loaded", loaded)):
            context.set(getattr(self.unit, name), value)
        self.check_addresses(context, addresses, wave, highest, index)
        missing, error = self.check_lines(context, addresses, uses, loaded, index)
        await context.tick()
        temporaries = generator.integers(0, 1 << 32, (lanes, SOURCES, CHANNELS), np.uint32)
        context.set(self.unit.temporaries, temporaries.tolist())
        for lane in range(lanes):
            for source in range(SOURCES):
                words = [self.expected(addresses[int(channel == ALPHA)][source], highest, index,
                                       temporaries[lane, source], channel) for channel in range(CHANNELS)]  # fmt: skip
                assert list(context.get(self.unit.sources[lane][source])) == words
        assert missing or context.get(self.unit.error) == error
        return missing, error


@pytest.mark.slow
@pytest.mark.parametrize("config", [ArrayConfig(threads=4, temporaries=128), ArrayConfig(lanes=8, temporaries=512)])
def test_random_addresses(config):
    bench = Bench(config)
    kinds, counts = ("temporary", "constant", "inline"), np.zeros(2, int)

    async def testbench(context: Any) -> None:
        await bench.load(context)
        every = (1 << LINES[ConstantBank.FLOAT]) - 1
        for number in range(CYCLES):
            addresses = [[bench.address(str(bench.generator.choice(kinds)), bool(bench.generator.integers(2)))
                          for _ in range(SOURCES)] for _ in range(UNITS)]  # fmt: skip
            loaded = every if number % 2 else every & ~(1 << int(bench.generator.integers(64)) | 0xFF00FF << 20)
            counts[:] += await bench.instruction(context, addresses, loaded)

    simulate(bench.unit, testbench)
    assert counts.min() > 5


def test_all_inline_constants():
    bench = Bench(ArrayConfig(threads=4, temporaries=128))

    async def testbench(context: Any) -> None:
        for code in range(128):
            numbers = [ADDRESS_INLINE | (code + index) % 128 for index in range(UNITS * SOURCES)]
            addresses = [{"addr": number, "const": 0, "rel": 0} for number in numbers]
            await bench.instruction(context, [addresses[:SOURCES], addresses[SOURCES:]], 0)

    simulate(bench.unit, testbench)
