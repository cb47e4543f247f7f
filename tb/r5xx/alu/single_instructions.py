"""Single ALU instructions on random sources: what the golden model gives."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, COMMON, RGB_ADDR
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import replace
from ctm.rtl.r5xx.code.alu_control import AluControl
from ctm.rtl.r5xx.entries import LaneControl
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx import alu
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu as Decoded
from ctm.sim.golden.r5xx.plan import plan
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.memory import Memory
from ctm.tb.jobs.folder import executable
from ctm.tb.lib.words import Words

SOURCES = 3
WAVEFRONTS, LANES = 32, 4


@cache
def decoder() -> CompiledUnit:
    return CompiledUnit(AluControl())


def from_fixed_temporaries(words: Sequence[int]) -> tuple[int, ...]:
    """An instruction that reads its sources from temporaries 0 to 5, the alpha unit's after the RGB unit's.

    It writes every channel, so that the model computes them all.
    """
    addresses = []
    for layout, word, first in ((RGB_ADDR, words[1], 0), (ALPHA_ADDR, words[2], SOURCES)):
        fields: dict[str, int] = {}
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
