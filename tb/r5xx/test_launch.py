"""Launch: the cores' program from an executable's program information and from what commands have set."""

import struct
from typing import Any

import numpy as np
import pytest
from amaranth import Value
from amaranth.sim import Simulator

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r5xx.program import PROGRAM_INFORMATION
from ctm.rtl.isa.status import Status
from ctm.rtl.r5xx.launch import Launch
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx.image import fields_of
from ctm.sim.memory import Memory
from ctm.tb.mc.buffers import buffer_bits, golden_buffer, random_buffers


def settle(launch: Launch, testbench: Any) -> None:
    """Run a testbench on hardware without a clock."""
    simulator = Simulator(launch)
    simulator.add_testbench(testbench)
    simulator.run()


def information_words(generator: np.random.Generator) -> list[int]:
    """Sixteen words, reserved bits set at random."""
    words = [int(word) for word in generator.integers(1 << 32, size=16)]
    words[0] = 1
    return words


def golden(words: list[int]) -> dict[str, dict[str, int]]:
    """The fields as the golden model's loader finds them."""
    image = bytearray(write(Executable(instructions=((0,) * 6,), start=0, end=0)))
    descriptor = image.index(struct.pack("<I", 1), image.index(b"ATI DPP\x00"))
    image[descriptor : descriptor + 64] = struct.pack("<16I", *words)
    memory = Memory()
    memory.write(0, bytes(image))
    return {name: dict(fields) for name, fields in fields_of(load(memory, 0, "r5xx").information).items()}


def drive(context: Any, launch: Launch, words: list[int], buffers: list[Buffer]) -> None:
    """Set image and buffers: the first sixteen are the inputs."""
    for index, word in enumerate(words):
        context.set(launch.processor.image.information[index], word)
    for index, buffer in enumerate(buffers):
        if index < INPUTS:
            context.set(launch.inputs[index], {"pitch": buffer.pitch, "height": buffer.scale_height})
        else:
            context.set(Value.cast(launch.outputs[index - INPUTS]), buffer_bits(buffer))


@pytest.mark.parametrize("seed", range(20))
def test_the_program_is_what_the_model_reads_in_the_same_words(seed: int) -> None:
    generator, launch = np.random.default_rng(seed), Launch()
    words = information_words(generator)
    buffers = [golden_buffer(each) for each in random_buffers(seed, 20)]
    found, program = golden(words), launch.program
    offset, address = found["US_CODE_OFFSET"]["offset"], found["US_CODE_ADDR"]
    expected = {
        "size": 300, "start": offset + address["start"], "end": offset + address["end"], "code_offset": offset,
        "highest_temporary": found["US_PIXSIZE"]["highest_temporary"],
        "zero_times_anything": found["US_CONFIG"]["zero_times_anything"],
        "full_flow_control": found["US_FC_CTRL"]["full_fc_en"],
        "conditional_from_program": found["FG_DEPTH_SRC"]["from_program"],
        "uncached_writes": found["UMRT"]["uncached_writes"],
        "tests": seed % 2, "conditional_value": 0x3F12_3456, "watchdog": 0xFFFF_0000 + seed,
    }  # fmt: skip
    assert list(PROGRAM_INFORMATION)[0] == "version"

    async def testbench(context: Any) -> None:
        drive(context, launch, words, buffers)
        context.set(launch.processor.image.size, 300)
        context.set(launch.processor.conditional_value, expected["conditional_value"])
        for name in ("tests", "watchdog"):
            context.set(getattr(launch, name), expected[name])
        assert {name: int(context.get(Value.cast(program[name]))) for name in expected} == expected
        for number, buffer in enumerate(buffers[:16]):
            described = program.inputs[number]
            assert context.get(described.pitch) == buffer.pitch
            assert context.get(described.height) == buffer.scale_height
        output = program.output
        assert context.get(output.width) == buffers[16].width_limit
        assert context.get(output.height) == buffers[16].height_limit

    settle(launch, testbench)


@pytest.mark.parametrize("uncached", [0, 1])
@pytest.mark.parametrize("data_format", list(DataFormat))
def test_uncached_writes_need_float32_1(data_format: DataFormat, uncached: int) -> None:
    launch, words = Launch(), [0] * 16
    words[list(PROGRAM_INFORMATION).index("UMRT")] = uncached
    buffers = [Buffer(format=DataFormat.FLOAT32_1)] * 16 + [Buffer(format=data_format)]
    wrong = uncached and data_format is not DataFormat.FLOAT32_1

    async def testbench(context: Any) -> None:
        drive(context, launch, words, buffers)
        status = Status(context.get(Value.cast(launch.processor.status)))
        assert status is (Status.BAD_UMRT_FORMAT if wrong else Status.OK)

    settle(launch, testbench)
