"""Launches for tests of the simulation around a compiled core, and a component instead of the core."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from ctm.rtl.config import DEFAULT, ArrayConfig
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.dpp.inputs import Inputs
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read_at
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.memory import Memory
from ctm.tb.jobs.folder import executable
from ctm.tb.lib.words import random_words
from ctm.tb.r5xx.machine import move
from ctm.tb.r5xx.simulation.copier import Copier, Mistake
from ctm.tb.r5xx.simulation.launch import WavefrontArrays
from ctm.tb.r5xx.simulation.simulation import CoreSimulation

PROGRAM, FLOATS, INTS, BOOLS = 0x10000, 0x20000, 0x22000, 0x22800
INPUT, CONDITIONAL, OUTPUT, STEP = 0x100000, 0x180000, 0x200000, 0x40000
FLOAT4 = Buffer(base=INPUT, pitch=16, height=8, format=DataFormat.FLOAT32_4)


@cache
def simulation(lanes: int = 4, mistake: Mistake | None = None) -> CoreSimulation:
    """The compiled copier."""
    config = replace(DEFAULT, array=ArrayConfig(lanes=lanes))
    return CoreSimulation(config, Copier(config.array, mistake))


def outputs(format: DataFormat = FLOAT4.format) -> tuple[Buffer, ...]:
    """Four outputs like input 0 but for their format, if one is given."""
    return tuple(replace(FLOAT4, base=OUTPUT + STEP * output, format=format) for output in range(4))


def launch_of(
    memory: Memory,
    *,
    lanes: int = 4,
    source: Buffer = FLOAT4,
    targets: tuple[Buffer, ...] | None = None,
    mask: tuple[bool, ...] = (True,) * 4,
    conditional: ConditionalUnit | None = None,
    uncached_writes: bool = False,
    mistake: Mistake = Mistake.NOTHING,
) -> Launch:
    """A launch of a program of one instruction, with every input the same; `mistake` is what the copier does wrong."""
    memory.write(PROGRAM, executable([move(0, 0, output=0)], uncached_writes=uncached_writes))
    inputs = (source,) * 16
    return Launch(
        program=Program(image=load(memory, PROGRAM, "r5xx"), constants=Constants(memory, FLOATS, INTS, BOOLS)),
        executable=0,
        memory=memory,
        inputs=Inputs(buffers=inputs, cached=(memory,) * 16, memory=memory),
        outputs=targets or outputs(),
        output_mask=mask,
        conditional=conditional or ConditionalUnit(location=ConditionalLocation.DPP),
        conditional_value=np.float32(0.5),
        domain=Domain(),
        lanes=lanes,
        watchdog=mistake.value,
    )


def wavefronts_of(domain: Domain, lanes: int) -> Iterator[WavefrontArrays]:
    """The domain in blocks of a few wavefronts."""
    for wavefronts in domain.wavefronts(lanes, 3):
        yield np.arange(wavefronts.order.size), *wavefronts.pairs(), wavefronts.covered()


def filled(seed: int = 1) -> Memory:
    """A memory with random inputs and constants, some of which are no numbers."""
    memory = Memory()
    for base in (INPUT, CONDITIONAL, FLOATS):
        memory.write(base, random_words(1 << 12, seed + base).tobytes())
    return memory


def floats_at(memory: Memory, buffer: Buffer, domain: Domain) -> np.ndarray:
    """The elements of a domain as words [4, n]."""
    y, x = (axis.ravel() for axis in np.mgrid[domain.j0 : domain.j1 + 1, domain.i0 : domain.i1 + 1])
    return read_at(memory, buffer, element_address(buffer, x, y)).view(np.uint32)
