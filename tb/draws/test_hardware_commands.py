"""Commands around draws on the hardware: what they leave is what they leave on the golden model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import Status
from ctm.sim.assembler import assemble
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.sim.runtime.draws import Draw, VertexArray, Viewport, pipeline
from ctm.tb.draws.scene import CLEAR, PIXEL, SMOOTH, VERTEX
from ctm.tb.lib.machines import machine

WHOLE = [[-1, -1, 0, 1, 1, 0, 0, 1], [3, -1, 0, 1, 0, 1, 0, 1], [-1, 3, 0, 1, 0, 0, 1, 1]]
LAYOUT = Layout(width=9, height=5, format=DataFormat.FLOAT32_4)
SINGLE = replace(LAYOUT, format=DataFormat.FLOAT32_1)
PROGRAM = ".isa r700\nEXPORT PIX0, R0.xyzw"


class Bench:
    """A device with a target, a depth buffer of 0.5, and a draw that covers both."""

    def __init__(self, engine: str) -> None:
        self.device: Any = Device(engine, machine("draws") if engine == "rtl" else PRESETS["r700"])
        self.target = self.device.image(LAYOUT, np.full((5, 9, 4), CLEAR))
        self.depth = self.device.image(SINGLE, np.full((5, 9), 0.5, np.float32))
        vertices = VertexArray.of(self.device, np.array(WHOLE, np.float32))
        self.draw = Draw(primitive="TRILIST", count=3, viewport=Viewport.of(9, 5), buffers={0: vertices})
        self.drawing = self.device.place(pipeline(vertex=VERTEX, pixel=PIXEL, inputs=SMOOTH))
        self.program = self.device.place(assemble(PROGRAM))

    def commands(self) -> CommandBuffer:
        """The state of all draws."""
        commands = CommandBuffer().set_out_fmt(0, self.target.base, LAYOUT.format_word, LAYOUT.height)
        return commands.set_domain(0, 0, 8, 4).set_inst_fmt(self.drawing)

    def tested(self, commands: CommandBuffer, test: ConditionalTest = ConditionalTest.LESS) -> CommandBuffer:
        """The state of the depth test, too."""
        commands.set_cond_out_fmt(self.depth.base, SINGLE.format_word, SINGLE.height)
        return commands.set_cond_out_mask(enable=True).set_cond_test(test).set_cond_loc(ConditionalLocation.DPP)

    def run(self, commands: CommandBuffer) -> bytes:
        """What a buffer leaves in both."""
        self.device.run(commands.flush_out_cache().flush_cond_out_cache())
        found: bytes = self.target.read().tobytes() + self.depth.read().tobytes()
        return found


def test_a_program_that_is_loaded_draws_again() -> None:
    left = []
    for engine in ("golden", "rtl"):
        bench = Bench(engine)
        commands = bench.draw.append(bench.draw.append(bench.commands()))
        left.append([bench.run(commands), bench.run(bench.draw.append(CommandBuffer()))])
    assert left[0] == left[1]


@pytest.mark.parametrize("value", [0.25, 0.75, -3.0])
def test_a_pixel_without_a_depth_has_the_value_that_was_set_for_this_draw(value: float) -> None:
    word = int(np.float32(value).view(np.uint32))
    left = []
    for engine in ("golden", "rtl"):
        bench = Bench(engine)
        commands = bench.tested(bench.commands()).append("set_cond_val", word)
        left.append(bench.run(bench.draw.append(commands)))
        assert bench.depth.read()[0, 0, 0] == min(max(value, 0.0), 0.5)
        # One that is set while a draw runs is the next one's.
        commands = bench.draw.append(CommandBuffer().append("set_cond_val", 0)).append("set_cond_val", word)
        left[-1] += bench.run(commands)
    assert left[0] == left[1]


def test_programs_and_draws_alternate() -> None:
    left = []
    for engine in ("golden", "rtl"):
        bench = Bench(engine)
        commands = bench.draw.append(bench.commands()).set_domain(2, 1, 4, 2)
        commands.set_inst_fmt(bench.program).start_program().set_domain(3, 1, 8, 3)
        left.append(bench.run(bench.draw.append(commands.set_inst_fmt(bench.drawing)).set_domain(0, 0, 0, 0)))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    "change", [{"instances": 0}, {"count": 2}, {"discard": True}, {"primitive": "LINELIST"}, {"count": 1 << 20}]
)
def test_of_several_mistakes_that_of_the_executable_is_reported(change: dict[str, Any]) -> None:
    """A draw with a program's executable, a format that depth cannot have, and more."""
    for engine in ("golden", "rtl"):
        bench = Bench(engine)
        commands = bench.tested(bench.commands().set_inst_fmt(bench.program))
        commands.set_cond_out_fmt(bench.depth.base, LAYOUT.format_word, SINGLE.height)
        with pytest.raises(MachineError) as caught:
            bench.run(replace(bench.draw, **change).append(commands))
        assert caught.value.status is Status.BAD_EXECUTABLE, engine


def test_a_draw_is_no_program() -> None:
    for engine in ("golden", "rtl"):
        bench = Bench(engine)
        commands = bench.tested(bench.commands())
        commands.set_cond_out_fmt(bench.depth.base, LAYOUT.format_word, SINGLE.height)
        with pytest.raises(MachineError) as caught:
            bench.run(commands.start_program())
        assert caught.value.status is Status.BAD_EXECUTABLE, engine
