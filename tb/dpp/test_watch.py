"""What is seen of a core: the core's units have every signal that its watch reads."""

import pytest

from ctm.rtl.config import PRESETS
from ctm.rtl.instruction_sets import INSTRUCTION_SETS


@pytest.mark.parametrize("preset", ["default", "small", "r700", "r700-small", "r700-draw"])
def test_a_core_has_the_signals_that_its_watch_reads(preset: str) -> None:
    config = PRESETS[preset]
    instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
    core = instruction_set.core(config)
    core.elaborate(None)
    instruction_set.watch(config.array, core).elaborate(None)
