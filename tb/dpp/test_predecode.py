"""What is known of an instruction when it is loaded, against the golden model's decoder and the fields by hand."""

import numpy as np
import pytest

from rtl.dpp.predecode import Predecode
from rtl.dpp.scheduling import Summary, Unit
from rtl.dpp.source_use import SourceUse
from rtl.isa.instruction import COMMON, RGB_INST
from rtl.isa.opcodes import InstructionType
from rtl.isa.word import replace, unpack
from sim.compiled import CompiledUnit
from sim.golden.dpp.decode import decode
from sim.golden.dpp.instruction import Illegal
from tb.golden.test_alu_reference import random_words

INSTRUCTIONS = 4000


def random_instruction(generator: np.random.Generator) -> tuple[int, ...]:
    """Any type; mostly legal, often with an illegal code somewhere."""
    words = list(random_words(generator))
    kind = int(generator.choice(4))
    masks = {name: int(generator.choice([0, bits, generator.integers(bits + 1)]))
             for name, bits in (("rgb_omask", 7), ("alpha_omask", 1))}  # fmt: skip
    words[0] = replace(COMMON, words[0], type=kind, tex_sem_wait=int(generator.integers(2)), **masks)
    if generator.random() < 0.3:
        words[0] = replace(COMMON, words[0], rgb_pred_sel=int(generator.integers(8)))
    if generator.random() < 0.3:
        words[0] = replace(COMMON, words[0], alpha_pred_sel=int(generator.integers(8)))
    if generator.random() < 0.3:
        words[int(generator.integers(1, 6))] = int(generator.integers(1 << 32))
    return tuple(words)


def is_illegal(words: tuple[int, ...], uncached: bool) -> bool:
    return isinstance(decode(words, code_offset=0, uncached_writes=uncached), Illegal)


@pytest.mark.parametrize("uncached", [False, True])
def test_random_instructions(uncached):
    generator = np.random.default_rng(uncached)
    instructions = [random_instruction(generator) for _ in range(INSTRUCTIONS)]
    rows = np.array(instructions, np.uint32)
    unit = Predecode()
    unit.latency = 0
    result = CompiledUnit(unit)(words=rows, uncached_writes=np.full(len(rows), uncached))
    use = CompiledUnit(SourceUse())(words=rows)
    counts = dict.fromkeys(("illegal", "waits", "writes", "late"), 0)
    for place, words in enumerate(instructions):
        common, target = unpack(COMMON, words[0]), unpack(RGB_INST, words[3])["target"]
        kind = InstructionType(common["type"])
        illegal = kind is not InstructionType.FC and is_illegal(words, uncached)
        writes = uncached and kind is InstructionType.OUTPUT and common["rgb_omask"] + common["alpha_omask"] > 0
        computes = kind in (InstructionType.ALU, InstructionType.OUTPUT)
        # A target whose lowest bit is set acquires.
        expected = {
            "unit": {InstructionType.FC: Unit.FLOW, InstructionType.TEX: Unit.TEXTURE}.get(kind, Unit.ALU).value,
            "waits": common["tex_sem_wait"] | (writes and target & 1),
            "late": int(use["presubtract"][place]) if computes else 0,
            "writes": int(writes),
        }
        if illegal:
            expected = {"unit": Unit.FLOW.value, "waits": 0, "late": 0, "writes": 0}
        shown = [hex(word) for word in words]
        assert result["illegal"][place] == illegal, shown
        assert unpack(Summary.as_shape(), int(result["summary"][place])) == expected, shown
        counts["illegal"] += illegal
        for name in ("waits", "writes", "late"):
            counts[name] += expected[name]
        if computes and not illegal:
            assert (result["rgb_use"][place], result["alpha_use"][place]) == (use["rgb"][place], use["alpha"][place])
    assert all(count > INSTRUCTIONS / 50 or (name == "writes" and not uncached) for name, count in counts.items())
