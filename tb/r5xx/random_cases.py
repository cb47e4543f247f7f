"""Random programs with random inputs, constants, outputs and domains, ready for any model to run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.limits import BASE_ALIGNMENT, FLOAT_CONSTANTS
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC, US_CONFIG, US_FC_CTRL
from ctm.rtl.isa.word import pack
from ctm.sim.assembler import disassemble
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.machine import Machine
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r5xx.random_instructions import INPUTS, READ_BACK
from ctm.tb.r5xx.random_programs import INT_CONSTANTS, Program

_OUTPUTS = 4
_MOST_GROUPS = 24
_COMMANDS = 0x4000_0000
_FILLER = (0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Case:
    """A program with all that it reads; the same for the same seed and number of lanes."""

    seed: int
    lanes: int
    executable: Executable
    contents: tuple[tuple[int, bytes], ...]
    """What memory holds, by address."""
    commands: CommandBuffer
    watchdog: int

    def launch(self) -> tuple[Launch, list[Any]]:
        """The program in a memory of its own, and its wavefronts."""
        memory = Memory()
        for address, data in self.contents:
            memory.write(address, data)
        machine = Machine(ArrayConfig(lanes=self.lanes), memory, watchdog=self.watchdog)
        memory.write(_COMMANDS, bytes(self.commands))
        machine.run(_COMMANDS, len(self.commands.words))
        walked = machine.state.domain.wavefronts(self.lanes, 1 << 16)
        return machine.launch(), [
            (wavefronts.order, *wavefronts.pairs(), wavefronts.covered()) for wavefronts in walked
        ]

    def listing(self) -> str:
        """The program with its PCs."""
        return disassemble(self.executable)


class _Space:
    """Memory, filled from its beginning."""

    def __init__(self) -> None:
        self._next = BASE_ALIGNMENT
        self.contents: list[tuple[int, bytes]] = []

    def place(self, data: bytes, size: int | None = None) -> int:
        address, size = self._next, max(size or 0, len(data))
        self.contents.append((address, data))
        self._next = -(-(address + size) // BASE_ALIGNMENT) * BASE_ALIGNMENT
        return address


def random_case(seed: int, *, lanes: int, draw: Callable[..., Program] = Program) -> Case:
    """Draw a case; `draw` makes its program, with the parameters of `Program`."""
    generator = np.random.default_rng([seed, lanes])
    uncached, full = bool(generator.random() < 0.15), bool(generator.random() < 0.85)
    program = draw(generator, size=int(generator.integers(6, 28)), full=full, uncached=uncached)
    offset = int(generator.choice([0, 0, 0, 5]))
    code = (_FILLER,) * offset + tuple(program.code)
    executable = Executable(
        instructions=code, start=program.start, end=len(program.code) - 1, offset=offset,
        highest_temporary=program.highest_temporary,
        us_config=pack(US_CONFIG, zero_times_anything=int(generator.integers(2))),
        us_fc_ctrl=pack(US_FC_CTRL, full_fc_en=int(full)),
        fg_depth_src=pack(FG_DEPTH_SRC, from_program=int(generator.integers(2))),
        uncached_writes=uncached,
    )  # fmt: skip
    space, commands = _Space(), CommandBuffer()
    commands.set_inst_fmt(space.place(write(executable)))
    _constants(generator, space, commands)
    i0, j0, i1, j1 = _domain(generator, lanes)
    commands.set_domain(i0, j0, i1, j1)
    _inputs(generator, space, commands)
    _outputs(generator, space, commands, (i1 + 1, j1 + 1), uncached=uncached)
    watchdog = int(generator.integers(1, 60)) if generator.random() < 0.04 else 0
    return Case(seed, lanes, executable, tuple(space.contents), commands, watchdog)


def _constants(generator: np.random.Generator, space: _Space, commands: CommandBuffer) -> None:
    commands.set_constf_fmt(space.place(random_floats(generator, (FLOAT_CONSTANTS, 4)).tobytes()))
    ints = [
        [
            int(generator.integers(4)),
            int(generator.choice([0, 1, 5, 255])),
            int(generator.choice([0, 1, 2, 255, 128])),
            7,
        ]
        for _ in range(INT_CONSTANTS)
    ]
    commands.set_consti_fmt(space.place(bytes(np.array(ints, np.uint8).ravel())))
    commands.set_constb_fmt(space.place(generator.choice([0, 1, 0x100, 0x80], 32).astype("<u4").tobytes()))


def _domain(generator: np.random.Generator, lanes: int) -> tuple[int, int, int, int]:
    """A few wavefronts anywhere, odd corners included."""
    quads = lanes // 4
    width = int(generator.integers(1, 8 * quads + 2))
    height = int(generator.integers(1, max(2, _MOST_GROUPS * 2 * quads * 2 // (width + 1))))
    i0 = int(generator.choice([0, 0, 1, 2, 37]))
    j0 = int(generator.choice([0, 0, 1, 3]))
    if generator.random() < 0.05:
        i0 = 4096 - width
    return i0, j0, min(i0 + width - 1, 4095), min(j0 + height - 1, 4095)


def _layout(generator: np.random.Generator, width: int, height: int, formats: list[DataFormat]) -> Layout:
    tilings = [Tiling.LINEAR, Tiling.TILED]
    data_format = formats[int(generator.integers(len(formats)))]
    if ELEMENTS[data_format].channels == 1:
        tilings += [Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2]
    tiling = tilings[int(generator.integers(len(tilings)))]
    return Layout(width=width, height=height, format=data_format, tiling=tiling)


def _inputs(generator: np.random.Generator, space: _Space, commands: CommandBuffer) -> None:
    for index in range(INPUTS):
        width, height = (int(generator.integers(1, 70)) for _ in range(2))
        layout = _layout(generator, width, height, list(DataFormat))
        words = random_floats(generator, (layout.size // 4,))
        if not ELEMENTS[layout.format].is_float:
            words = generator.integers(1 << 32, size=words.shape, dtype=np.uint32)
        word = 0 if generator.random() < 0.05 else layout.format_word
        commands.set_inp_fmt(index, space.place(words.tobytes()), word, layout.height)


def _outputs(
    generator: np.random.Generator, space: _Space, commands: CommandBuffer, size: tuple[int, int], *, uncached: bool
) -> None:
    width, height = size
    formats = [DataFormat.FLOAT32_1] if uncached else list(DataFormat)
    for index in range(_OUTPUTS):
        # Some are too small: what is beyond their limits is dropped. An uncached one holds every pair.
        narrower = 0 if uncached else int(generator.choice([0, 0, 0, 3]))
        layout = _layout(generator, max(1, width - narrower), height, formats)
        fill = generator.integers(256, size=layout.size, dtype=np.uint8).tobytes()
        base = space.place(fill)
        commands.set_out_fmt(index, base, layout.format_word, layout.height)
        if uncached and index == 0:
            # The same elements, one at a time.
            tiling = {Tiling.LINEAR_INP_2X2: Tiling.LINEAR, Tiling.TILED_INP_2X2: Tiling.TILED}
            single = Layout(width=layout.width, height=layout.height, format=layout.format,
                            tiling=tiling.get(layout.tiling, layout.tiling))  # fmt: skip
            commands.set_inp_fmt(READ_BACK, base, single.format_word, single.height)
    if generator.random() < 0.3:
        layout = _layout(generator, width, height, [DataFormat.FLOAT32_1, DataFormat.UINT16_1])
        words = random_floats(generator, (layout.size // 4,))
        commands.set_cond_out_fmt(space.place(words.tobytes()), layout.format_word, layout.height)
        commands.set_cond_loc(ConditionalLocation.DPP)
        commands.set_cond_test(ConditionalTest(int(generator.integers(8))))
        commands.set_cond_out_mask(enable=bool(generator.integers(2)))
    commands.set_cond_val(float(generator.normal()))
    red, green, blue, alpha = (bool(generator.random() < 0.85) for _ in range(4))
    commands.set_out_mask(red=red, green=green, blue=blue, alpha=alpha)
