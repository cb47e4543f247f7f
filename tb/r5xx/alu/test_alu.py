"""The ALU of one lane, compiled, against the golden model: random instructions on random sources."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.r5xx.alu.alu import Alu
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Illegal
from ctm.tb.fp.cases import comparisons
from ctm.tb.lib.compare import check
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.some import fewer
from ctm.tb.r5xx.alu.single_instructions import (
    LANES,
    SOURCES,
    WAVEFRONTS,
    control_of,
    decoder,
    from_fixed_temporaries,
    golden,
    programs,
)
from ctm.tb.r5xx.random_alu import random_words

INSTRUCTIONS = fewer(400)
CONFIGS = {
    "all registers": (PipelineConfig(), PipelineConfig()),
    "fewer registers": (PipelineConfig(operands=0, rounding=0), PipelineConfig(operands=0, addition=0, rounding=0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("config", ["all registers", pytest.param("fewer registers", marks=pytest.mark.long)])
def test_random_instructions(config):
    generator = np.random.default_rng(1)
    rules = generator.integers(0, 2, INSTRUCTIONS)
    all_words, all_sources, expected = [], [], []
    both = programs()
    for rule in rules:
        words = from_fixed_temporaries(random_words(generator))
        temporaries = random_floats(generator, (2 * SOURCES, CHANNELS, WAVEFRONTS * LANES))
        expected.append(golden(both[rule], words, temporaries))
        sources = np.concatenate([temporaries[:SOURCES, :3], temporaries[SOURCES:, 3:]], axis=1)
        all_sources.append(sources.reshape(SOURCES * CHANNELS, -1).T.reshape(WAVEFRONTS, -1))
        all_words.append(words)
    rows = np.repeat(np.array(all_words, np.uint32), WAVEFRONTS, axis=0)
    operands: dict[str, Any] = {
        "presubtracts": 1, "words": rows, "control": control_of(rows, np.repeat(rules, WAVEFRONTS)),
        "sources": np.concatenate(all_sources),
    }  # fmt: skip
    results = np.concatenate(expected)
    holds = [comparisons(results[:, channel].copy()) << np.uint32(4 * channel) for channel in range(CHANNELS)]
    by_wavefront = np.bitwise_or.reduce(holds).reshape(-1, LANES).astype(np.uint64)
    all_holds = np.bitwise_or.reduce(by_wavefront << np.uint64(16) * np.arange(LANES, dtype=np.uint64), axis=1)
    unit = CompiledUnit(Alu(LANES, *CONFIGS[config]))
    check(unit(**operands), {"results": results.reshape(-1, LANES * CHANNELS), "comparisons": all_holds}, operands)


def random_fields(generator: np.random.Generator, legal: Sequence[int]) -> tuple[int, ...]:
    """A legal instruction of which one word has a few bits changed."""
    words = list(legal)
    changed = int(generator.integers(1, len(words)))
    words[changed] ^= int(np.bitwise_and.reduce(generator.integers(1 << 32, size=3)))
    return tuple(words)


@pytest.mark.slow
@pytest.mark.parametrize("uncached_writes", [False, True])
def test_illegal_instructions(uncached_writes):
    generator = np.random.default_rng(2)
    instructions = [random_words(generator) for _ in range(5000)]
    instructions += [random_fields(generator, words) for words in instructions]
    expected = [
        isinstance(decode(words, code_offset=0, uncached_writes=uncached_writes), Illegal) for words in instructions
    ]
    assert 0.1 < np.mean(expected) < 0.9
    words = np.array(instructions, np.uint32)
    illegal = decoder()(words=words, uncached_writes=int(uncached_writes))["illegal"]
    check({"illegal": illegal}, {"illegal": np.array(expected)}, {"words": words})


def test_layouts_of_the_words_are_the_ones_that_the_decoder_checks():
    assert WORDS[InstructionType.ALU] == WORDS[InstructionType.OUTPUT]
