"""The ALU of one processor, compiled, against the golden model: random instructions on random sources."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from amaranth.lib import data

from ctm.rtl.config import PipelineConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, COMMON, RGB_ADDR, WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import replace
from ctm.rtl.r5xx.alu.alu import Alu
from ctm.rtl.r5xx.code.alu_control import AluControl
from ctm.rtl.r5xx.entries import LaneControl
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx import alu
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu as Decoded
from ctm.sim.golden.r5xx.instruction import Illegal
from ctm.sim.golden.r5xx.plan import plan
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.memory import Memory
from ctm.tb.fp.cases import comparisons
from ctm.tb.jobs.folder import executable
from ctm.tb.lib.compare import check
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.words import Words
from ctm.tb.r5xx.random_alu import random_words

SOURCES = 3
WAVEFRONTS, LANES = 32, 4
INSTRUCTIONS = 400
CONFIGS = {
    "all registers": (PipelineConfig(), PipelineConfig()),
    "fewer registers": (PipelineConfig(operands=0, rounding=0), PipelineConfig(operands=0, addition=0, rounding=0)),
}


@cache
def decoder() -> CompiledUnit:
    return CompiledUnit(AluControl())


def from_fixed_temporaries(words: Sequence[int]) -> tuple[int, ...]:
    """An instruction that reads its sources from temporaries 0 to 5, the alpha unit's after the RGB unit's.

    It writes every channel, so that the model computes them all.
    """
    addresses = []
    for layout, word, first in ((RGB_ADDR, words[1], 0), (ALPHA_ADDR, words[2], SOURCES)):
        fields = {}
        for source in range(SOURCES):
            fields |= {f"addr{source}": first + source, f"addr{source}_const": 0, f"addr{source}_rel": 0}
        addresses.append(replace(layout, word, **fields))
    common = replace(COMMON, words[0], type=InstructionType.ALU.value, rgb_wmask=7, alpha_wmask=1, rgb_pred_sel=0,
                     alpha_pred_sel=0)  # fmt: skip
    return (common, *addresses, *words[3:])


def programs() -> list[Program]:
    """Programs without and with zero times anything being zero."""
    found = []
    for us_config in (0, 2):
        memory = Memory()
        memory.write(0, executable([(0,) * 6], highest_temporary=2 * SOURCES - 1, us_config=us_config, fg_depth_src=1))
        found.append(Program(image=load(memory, 0, "r5xx"), constants=Constants(memory, 0x20000, 0x30000, 0x31000)))
    return found


def golden(program: Program, words: Sequence[int], temporaries: Words) -> Words:
    """Results [lanes, channels] of one instruction."""
    size = WAVEFRONTS * LANES
    zeros = np.zeros(size, np.int64)
    batch = Batch.start(
        program, LANES, np.arange(WAVEFRONTS), zeros, zeros, np.ones(size, bool), np.zeros(size, np.float32)
    )
    batch.temporaries.view(np.uint32)[:] = temporaries
    batch.clean = [False] * (2 * SOURCES)
    instruction = decode(words, code_offset=0, uncached_writes=False)
    assert isinstance(instruction, Decoded)
    with np.errstate(all="ignore"):
        results = alu.execute(batch, program, instruction, plan(instruction))
    rows = [np.broadcast_to(results[channel].values, size) for channel in range(CHANNELS)]
    return np.stack(rows, axis=1).view(np.uint32)


def control_of(words: Words, zero_times_anything: Words) -> Words:
    """LaneControl as the decoder gives it, with the program's rule."""
    decoded = decoder()(words=words, uncached_writes=0)
    assert not decoded["illegal"].any()
    offset = np.uint64(data.Layout.cast(LaneControl)["zero_times_anything"].offset)
    return decoded["control"].astype(np.uint64) | zero_times_anything.astype(np.uint64) << offset


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
    words = np.repeat(np.array(all_words, np.uint32), WAVEFRONTS, axis=0)
    operands = {
        "presubtracts": 1, "words": words, "control": control_of(words, np.repeat(rules, WAVEFRONTS)),
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


@pytest.mark.parametrize("uncached_writes", [False, True])
def test_illegal_instructions(uncached_writes):
    generator = np.random.default_rng(2)
    instructions = [random_words(generator) for _ in range(5000)]
    instructions += [random_fields(generator, words) for words in instructions]
    expected = [
        isinstance(decode(words, code_offset=0, uncached_writes=uncached_writes), Illegal) for words in instructions
    ]
    assert 0.1 < np.mean(expected) < 0.9
    operands = {"words": np.array(instructions, np.uint32), "uncached_writes": int(uncached_writes)}
    illegal = decoder()(**operands)["illegal"]
    check({"illegal": illegal}, {"illegal": np.array(expected)}, {"words": operands["words"]})


def test_layouts_of_the_words_are_the_ones_that_the_decoder_checks():
    assert WORDS[InstructionType.ALU] == WORDS[InstructionType.OUTPUT]
