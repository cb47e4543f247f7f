"""The sources that an instruction needs, against those that the golden model's plan reads."""

from collections.abc import Sequence

import numpy as np
import pytest

from ctm.rtl.isa.r5xx.instruction import COMMON
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES as SOURCES
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import replace
from ctm.rtl.r5xx.code.source_use import SourceUse
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu
from ctm.tb.lib.compare import check
from ctm.tb.lib.some import fewer
from ctm.tb.r5xx.needed_sources import needed
from ctm.tb.r5xx.random_alu import random_words

INSTRUCTIONS = fewer(4000)


def some_destinations(generator: np.random.Generator, words: Sequence[int]) -> tuple[int, ...]:
    """The instruction with few results that go anywhere."""
    masks = {
        name: int(generator.integers(1 << bits) & generator.integers(1 << bits))
        for name, bits in (("rgb_wmask", 3), ("alpha_wmask", 1), ("rgb_omask", 3), ("alpha_omask", 1))
    }
    kind = generator.choice([InstructionType.ALU.value, InstructionType.OUTPUT.value])
    return replace(COMMON, words[0], type=int(kind), **masks), *words[1:]


@pytest.mark.slow
def test_random_instructions() -> None:
    generator = np.random.default_rng(5)
    instructions = [some_destinations(generator, random_words(generator)) for _ in range(INSTRUCTIONS)]
    expected = []
    for words in instructions:
        instruction = decode(words, code_offset=0, uncached_writes=False)
        assert isinstance(instruction, Alu)
        expected.append(needed(instruction))
    rgb, alpha, srcp = (np.array(column) for column in zip(*expected, strict=True))
    assert len(set(rgb)) == len(set(alpha)) == 1 << SOURCES
    assert 0.1 < srcp.mean() < 0.9
    unit, operands = CompiledUnit(SourceUse()), {"words": np.array(instructions, np.uint32)}
    check(unit(**operands), {"rgb": rgb, "alpha": alpha, "presubtract": srcp}, operands)
