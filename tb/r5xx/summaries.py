"""Random instructions of any type, and what a scheduler must know of them, by docs and golden model."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ctm.rtl.isa.r5xx.instruction import COMMON, RGB_INST
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import replace, unpack
from ctm.rtl.r5xx.code.predecode import Predecode
from ctm.rtl.r5xx.shapes import Unit
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu, Illegal
from ctm.tb.r5xx.needed_sources import needed
from ctm.tb.r5xx.random_alu import random_words

Instruction = tuple[int, ...]
BEYOND = {"unit": Unit.FLOW.value, "waits": 0, "direct": 0, "writes": 0}
"""Summary of what faults: an illegal instruction, or none."""


def random_instruction(generator: np.random.Generator) -> tuple[int, ...]:
    """Any type; mostly legal, often with an illegal code somewhere."""
    words = list(random_words(generator))
    kind = int(generator.choice(4))
    masks = {name: int(generator.choice([0, bits, int(generator.integers(bits + 1))]))
             for name, bits in (("rgb_omask", 7), ("alpha_omask", 1))}  # fmt: skip
    words[0] = replace(COMMON, words[0], type=kind, tex_sem_wait=int(generator.integers(2)), **masks)
    if generator.random() < 0.3:
        words[0] = replace(COMMON, words[0], rgb_pred_sel=int(generator.integers(8)))
    if generator.random() < 0.3:
        words[0] = replace(COMMON, words[0], alpha_pred_sel=int(generator.integers(8)))
    if generator.random() < 0.3:
        words[int(generator.integers(1, 6))] = int(generator.integers(1 << 32))
    return tuple(words)


@cache
def compiled_predecode() -> CompiledUnit:
    """Predecode, compiled; it has a test of its own."""
    unit: Any = Predecode()
    unit.latency = 0
    return CompiledUnit(unit)


@dataclass(frozen=True)
class Known:
    """Summary by field; whether the instruction is illegal; whether it needs presubtract, and which sources."""

    summary: dict[str, int]
    illegal: bool = False
    presubtracts: bool = False
    sources: tuple[int, int] | None = None


@cache
def known(words: Instruction, uncached: bool) -> Known:
    """What is known of an instruction when it is loaded. Flow control finds out itself what is illegal."""
    common, target = unpack(COMMON, words[0]), unpack(RGB_INST, words[3])["target"]
    kind = InstructionType(common["type"])
    waits = common["tex_sem_wait"]
    if kind is InstructionType.FC:
        return Known({"unit": Unit.FLOW.value, "waits": waits, "direct": 0, "writes": 0})
    decoded = decode(words, code_offset=0, uncached_writes=uncached)
    if isinstance(decoded, Illegal):
        return Known(BEYOND, illegal=True)
    if not isinstance(decoded, Alu):
        return Known({"unit": Unit.TEXTURE.value, "waits": waits, "direct": 0, "writes": 0})
    rgb, alpha, presubtract = needed(decoded)
    writes = uncached and kind is InstructionType.OUTPUT and common["rgb_omask"] + common["alpha_omask"] > 0
    # A target whose lowest bit is set acquires.
    waits |= int(writes and target & 1)
    summary = {"unit": Unit.ALU.value, "waits": waits, "direct": int(not presubtract), "writes": int(writes)}
    return Known(summary, presubtracts=bool(presubtract), sources=(rgb, alpha))
