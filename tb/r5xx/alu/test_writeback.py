"""Gating of an instruction's writes, compiled, against the reference that executes one pixel at a time."""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import COMMON
from ctm.rtl.isa.word import replace
from ctm.rtl.r5xx.alu.writeback import Writeback
from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.cases import comparisons
from ctm.tb.lib.compare import check
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.some import fewer
from ctm.tb.r5xx.alu_reference import Context, Instruction, Pixel
from ctm.tb.r5xx.random_alu import random_words

INSTRUCTIONS, PIXELS = fewer(1500), 16
UNWRITTEN = 0xDEADBEEF


def written_by(words: tuple[int, ...], active: bool, predicates: list[bool], values: list[int]) -> dict[str, int]:
    """What the reference writes of these results, as the unit's outputs; its temporaries start as UNWRITTEN."""
    instruction = Instruction(words)
    alpha, both = instruction.alpha, instruction.both
    pixel = Pixel([[UNWRITTEN] * CHANNELS for _ in range(128)], list(predicates), active)
    pixel.alu_result, pixel.conditional = False, UNWRITTEN
    gate = [instruction.passes(pixel, channel) for channel in range(CHANNELS)]
    # Both values of the ALU result are tried, to see whether it is written.
    other = Pixel([[0] * CHANNELS for _ in range(128)], list(predicates), active, alu_result=True)
    context = Context([], 0, False)
    for target in (pixel, other):
        instruction.write(target, context, values, gate)
    addresses = [both["rgb_addrd"]] * 3 + [alpha["addrd"]]
    temporaries = [pixel.temporaries[address][channel] != UNWRITTEN for channel, address in enumerate(addresses)]
    outputs = {channel for _, channel in pixel.outputs}
    result_written = pixel.alu_result == other.alu_result
    return {
        "temporary_enable": sum(bit << channel for channel, bit in enumerate(temporaries)),
        "output_enable": sum(1 << channel for channel in outputs),
        "next_predicates": sum(bit << channel for channel, bit in enumerate(pixel.predicates)),
        "alu_result_enable": int(result_written),
        "alu_result": int(pixel.alu_result if result_written else 0),
        "conditional_enable": int(pixel.conditional != UNWRITTEN),
        "uncached_enable": int({0, 1, 2} <= outputs),
    }


def test_random_instructions():
    generator = np.random.default_rng(5)
    instructions = [random_words(generator) for _ in range(INSTRUCTIONS)]
    # Uncached writes have full masks.
    instructions += [
        (replace(COMMON, words[0], type=1, rgb_omask=7, alpha_omask=1), *words[1:]) for words in instructions[:200]
    ]
    rows = [words for words in instructions for _ in range(PIXELS)]
    count = len(rows)
    active = generator.integers(0, 4, count) > 0
    predicates = generator.integers(0, 2, (count, CHANNELS)).astype(bool)
    values = random_floats(generator, (count, CHANNELS))
    expected = [
        written_by(words, bool(is_active), bits.tolist(), results.tolist())
        for words, is_active, bits, results in zip(rows, active, predicates, values, strict=True)
    ]
    holds = [comparisons(values[:, channel].copy()) << np.uint32(4 * channel) for channel in range(CHANNELS)]
    operands = {
        "words": np.array(rows, np.uint32),
        "active": active.astype(np.uint32),
        "predicates": (predicates @ (1 << np.arange(CHANNELS))).astype(np.uint32),
        "comparisons": np.bitwise_or.reduce(holds),
    }
    results = CompiledUnit(Writeback())(**operands)
    # Where it is not written the ALU result means nothing, and a partial mask is no uncached write.
    results["alu_result"] = results["alu_result"] & results["alu_result_enable"]
    full = (operands["words"][:, 0] >> 15 & 0xF) == 0xF
    wanted = {name: np.array([row[name] for row in expected], np.uint32) for name in expected[0]}
    wanted["uncached_enable"] &= full.astype(np.uint32)
    check(results, wanted, operands)
    assert all(0 < np.count_nonzero(array) for array in wanted.values())
