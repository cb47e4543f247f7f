"""The ALU of wavefronts that come in beats, compiled, against the golden model: random instructions, back to back."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig, PipelineConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, ALPHA_INST, RGB_ADDR, RGB_INST, RGBA_INST
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation, Select
from ctm.rtl.isa.word import unpack
from ctm.rtl.r5xx.alu.beat_alu import BeatAlu
from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.cases import comparisons
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.some import fewer
from ctm.tb.lib.words import Words
from ctm.tb.r5xx.alu.single_instructions import (
    LANES,
    SOURCES,
    WAVEFRONTS,
    control_of,
    from_fixed_temporaries,
    golden,
    programs,
)
from ctm.tb.r5xx.random_alu import random_words

INSTRUCTIONS = fewer(120)
SHORT = PipelineConfig(operands=0, addition=0, rounding=0)
NONE = PipelineConfig(**dict.fromkeys(vars(SHORT), 0))
CASES = {
    "one lane": (1, PipelineConfig()),
    "two lanes": (2, PipelineConfig()),
    "one lane, two registers to presubtract": (1, SHORT),
    "one lane, no register to presubtract": (1, NONE),
}


def uses_srcp(words: tuple[int, ...]) -> bool:
    operands = [(RGB_INST, 3, "sel_a"), (RGB_INST, 3, "sel_b"), (ALPHA_INST, 4, "sel_a"), (ALPHA_INST, 4, "sel_b"),
                (RGBA_INST, 5, "rgb_sel_c"), (RGBA_INST, 5, "alpha_sel_c")]  # fmt: skip
    return any(unpack(layout, words[number])[name] == Select.SRCP.value for layout, number, name in operands)


class Series:
    """What the unit is given in each cycle, and the cycles of its results."""

    def __init__(self, unit: BeatAlu, array: ArrayConfig, cycles: int) -> None:
        self._unit, self._array = unit, array
        size = array.at_once * SOURCES * CHANNELS
        shapes: dict[str, Any] = {"sources": (cycles, size), "words": (cycles, 6)}
        names = ("sources", "presubtracts", "rgb", "alpha", "entering", "words", "control")
        self.inputs = {name: np.zeros(shapes.get(name, cycles), np.uint32) for name in names}
        self.entries: list[int] = []
        self._taken: set[int] = set()

    def issue(self, cycle: int, words: tuple[int, ...], control: int, sources: Words, presubtracts: bool) -> int:
        """Enter an instruction with sources [lane, word] from a cycle on, or a later one; the cycle of the next one."""
        beats, given = self._array.beats, self.inputs
        extra = self._unit.presubtract_latency if presubtracts else 0
        while self._taken.intersection(range(cycle + extra, cycle + extra + beats)):
            cycle += 1
        above = (unpack(RGBA_INST, words[5])["rgb_op"] == RgbOperation.MDV.value) | (
            unpack(ALPHA_INST, words[4])["op"] == AlphaOperation.MDV.value
        ) << 1
        for beat, own in enumerate(sources.reshape(beats, -1)):
            entry = cycle + beat + extra + beats
            given["sources"][cycle + beat] = own
            given["presubtracts"][cycle + beat + 1] = presubtracts
            given["rgb"][cycle + beat + 1] = unpack(RGB_ADDR, words[1])["srcp_op"]
            given["alpha"][cycle + beat + 1] = unpack(ALPHA_ADDR, words[2])["srcp_op"]
            given["entering"][entry - 1] = presubtracts | beat << 1 | above << 1 + (beats - 1).bit_length()
            given["words"][entry] = words
            given["control"][entry] = control
            self.entries.append(entry)
            self._taken.add(cycle + extra + beat)
        return cycle + beats


def check_beats(make: type[BeatAlu], rate: int, presubtract: PipelineConfig) -> None:
    """Issue random instructions, some of which presubtract, as soon as their beats find the entry free.

    Raises
    ------
    AssertionError
        Results or comparisons are not the golden model's.
    """
    generator, array = np.random.default_rng(rate), ArrayConfig(lanes=LANES, rate=rate)
    unit: Any = make(array, PipelineConfig(), presubtract)
    most = INSTRUCTIONS * WAVEFRONTS * (array.beats + unit.presubtract_latency + 1) + 50
    series, expected, cycle, program = Series(unit, array, most), [], 2, programs()[0]
    for _ in range(INSTRUCTIONS):
        words = from_fixed_temporaries(random_words(generator))
        temporaries = random_floats(generator, (2 * SOURCES, CHANNELS, WAVEFRONTS * LANES))
        expected.append(golden(program, words, temporaries))
        sources = np.concatenate([temporaries[:SOURCES, :3], temporaries[SOURCES:, 3:]], axis=1)
        by_lane = sources.reshape(SOURCES * CHANNELS, -1).T.reshape(WAVEFRONTS, LANES, -1)
        control = int(control_of(np.array([words], np.uint32), np.zeros(1, np.uint32))[0])
        needed = uses_srcp(words)
        for own in by_lane:
            cycle = series.issue(cycle, words, control, own, bool(needed or generator.random() < 0.3))
            cycle += int(generator.integers(3)) if generator.random() < 0.2 else 0
    unit.latency = unit.direct_latency
    results = CompiledUnit(unit)(**series.inputs)
    found = results["results"].reshape(most, -1)[series.entries].reshape(-1, CHANNELS)
    right = np.concatenate(expected).reshape(-1, CHANNELS)
    np.testing.assert_array_equal(found, right)
    holds = [comparisons(right[:, channel].copy()) << np.uint32(4 * channel) for channel in range(CHANNELS)]
    whole = np.bitwise_or.reduce(holds).astype(np.uint64).reshape(-1, rate)
    joined = np.bitwise_or.reduce(whole << np.uint64(16) * np.arange(rate, dtype=np.uint64), axis=1)
    np.testing.assert_array_equal(results["comparisons"][series.entries], joined)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == next(iter(CASES)) else pytest.mark.long) for name in CASES]
)
def test_random_instructions(name):
    check_beats(BeatAlu, *CASES[name])


FAULTS = {
    "sources come a cycle early": ("Mux(self.entering.presubtracted, latest, self._beats)", "self._beats"),
    "a neighbour is always the right one": ("_ABOVE // lanes, _RIGHT // lanes", "_RIGHT // lanes, _RIGHT // lanes"),
    "the quad begins with its second lane": ("since_first, name", "cycles, name"),
    "srcp comes too early": ("unit.result, spare", "unit.result, 0"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name):
    config = CASES["one lane, no register to presubtract" if "srcp" in name else "one lane"]
    with planted(Fault("rtl.r5xx.alu.beat_alu", *FAULTS[name]), "ctm.rtl.r5xx.alu.beat_alu") as module:
        with pytest.raises(AssertionError):
            check_beats(module.BeatAlu, *config)
