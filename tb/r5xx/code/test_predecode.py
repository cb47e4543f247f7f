"""What is known of an instruction when it is loaded, against the golden model's decoder and the fields by hand."""

from collections import Counter

import numpy as np
import pytest

from ctm.rtl.isa.word import unpack
from ctm.rtl.r5xx.shapes import SUMMARY
from ctm.tb.r5xx.summaries import compiled_predecode, known, random_instruction

INSTRUCTIONS = 1500


@pytest.mark.slow
@pytest.mark.parametrize("uncached", [False, True])
def test_random_instructions(uncached):
    generator = np.random.default_rng(uncached)
    instructions = [random_instruction(generator) for _ in range(INSTRUCTIONS)]
    rows = np.array(instructions, np.uint32)
    result = compiled_predecode()(words=rows, uncached_writes=np.full(len(rows), uncached))
    counts: Counter[str] = Counter()
    for index, words in enumerate(instructions):
        expected, shown = known(words, uncached), [hex(word) for word in words]
        assert result["illegal"][index] == expected.illegal, shown
        assert unpack(SUMMARY, int(result["summary"][index])) == expected.summary, shown
        assert result["presubtracts"][index] == expected.presubtracts, shown
        if expected.sources:
            assert (result["rgb_use"][index], result["alpha_use"][index]) == expected.sources, shown
        counts["illegal"] += expected.illegal
        counts.update(name for name, bit in expected.summary.items() if name != "unit" and bit)
        counts[f"unit {expected.summary['unit']}"] += 1
    assert len(counts) == 6 + uncached
    assert min(counts.values()) > INSTRUCTIONS / 50
