"""A small machine for directed tests: instruction words, an executable in memory, a command processor."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx import instruction as words
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, InstructionType, RgbOperation, Swizzle
from ctm.rtl.isa.r5xx.program import US_FC_CTRL
from ctm.rtl.isa.word import pack
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.golden import machine as golden
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout

PROGRAM, FLOATS, INTS, BOOLS, BUFFER, OUTPUT = 0x10000, 0x20000, 0x22000, 0x22800, 0x30000, 0x40000
"""Addresses; output n is at OUTPUT + n * 0x40000."""

Instruction = tuple[int, ...]
FULL_FLOW_CONTROL = pack(US_FC_CTRL, full_fc_en=1)
_ZERO = Swizzle.ZERO.value


def alu(*, rgb: dict[str, int] | None = None, alpha: dict[str, int] | None = None, **fields: int) -> Instruction:
    """An ALU or OUTPUT instruction.

    Fields of word 0 are given directly, those of the units' words in `rgb` and `alpha` by their names there; `c` fields
    of word 5 go by their whole names. What is not given is 0: MAD of src0.rrr * src0.rrr + src0.rrr, nothing written.
    """
    layouts = (words.COMMON, words.RGB_ADDR, words.ALPHA_ADDR, words.RGB_INST, words.ALPHA_INST, words.RGBA_INST)
    values: list[dict[str, int]] = [fields, {}, {}, {}, {}, {}]
    for given, indices in ((rgb or {}, (1, 3, 5)), (alpha or {}, (2, 4, 5))):
        for name, value in given.items():
            word_index = next(word_index for word_index in indices if name in dict(layouts[word_index]))
            values[word_index][name] = value
    return tuple(pack(layout, **fields) for layout, fields in zip(layouts, values, strict=True))


def move(destination: int, source: int, *, output: int | None = None, **fields: int) -> Instruction:
    """Copy temporary `source` to temporary `destination` bit by bit, or to output register `output`."""
    identity = {
        "red_swiz_a": 0,
        "green_swiz_a": 1,
        "blue_swiz_a": 2,
        "red_swiz_b": 0,
        "green_swiz_b": 1,
        "blue_swiz_b": 2,
    }
    rgb = {"addr0": source, "rgb_op": RgbOperation.MIN.value, "rgb_addrd": destination, "omod": 7, **identity}
    alpha = {"addr0": source, "op": AlphaOperation.MIN.value, "addrd": destination, "omod": 7, "swiz_a": 3, "swiz_b": 3}
    if output is None:
        return alu(rgb=rgb, alpha=alpha, **{"rgb_wmask": 7, "alpha_wmask": 1, **fields})
    target = {"target": output}
    masks = {"type": InstructionType.OUTPUT.value, "rgb_omask": 7, "alpha_omask": 1}
    return alu(rgb=rgb | target, alpha=alpha | target, **{**masks, **fields})


def tex(*, inst: dict[str, int], addr: dict[str, int], **fields: int) -> Instruction:
    """A texture instruction; swizzles that are not given are S = R, T = R, R = R, Q = R and so on."""
    common = pack(words.COMMON, type=InstructionType.TEX.value, **fields)
    return common, pack(words.TEX_INST, **inst), pack(words.TEX_ADDR, **addr), 0, 0, 0


def flow(*, inst: dict[str, int], addr: dict[str, int] | None = None, **fields: int) -> Instruction:
    """A flow-control instruction."""
    common = pack(words.COMMON, type=InstructionType.FC.value, **fields)
    return common, 0, pack(words.FC_INST, **inst), pack(words.FC_ADDR, **(addr or {})), 0, 0


@dataclass
class Machine:
    """A command processor over a memory with constants; `lanes` is the wavefront size."""

    lanes: int = 4
    watchdog: int = 100_000
    hazards: bool = False
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        array = ArrayConfig(lanes=self.lanes)
        self.model = golden.Machine(array, self.memory, watchdog=self.watchdog, hazards=self.hazards)
        self.counters = self.model.counters

    def commands(self, buffer: CommandBuffer | Sequence[int]) -> None:
        """Run a command buffer."""
        numbers = buffer.words if isinstance(buffer, CommandBuffer) else buffer
        self.memory.write(BUFFER, np.array(numbers, "<u4").tobytes())
        self.model.run(BUFFER, len(numbers))

    def load(self, instructions: Sequence[Instruction], **information: int) -> None:
        """Put an executable at PROGRAM; it ends at its last instruction unless `end` says otherwise."""
        values = {"end": len(instructions) - 1, "highest_temporary": 7, "us_fc_ctrl": FULL_FLOW_CONTROL, **information}
        executable = Executable(instructions=tuple(instructions), **values)  # type: ignore[arg-type]
        self.memory.write(PROGRAM, write(executable))

    def set_floats(self, index: int, *values: float) -> None:
        """Set a float constant."""
        self.memory.write(FLOATS + 16 * index, np.array(values, "<f4").tobytes())

    def set_int(self, index: int, count: int, start: int = 0, step: int = 0) -> None:
        """Set an int constant."""
        self.memory.write(INTS + 4 * index, bytes([count, start, step & 0xFF, 0]))

    def set_bool(self, index: int, value: bool) -> None:
        """Set a bool constant."""
        self.memory.write(BOOLS + 4 * index, bytes([value]))

    def start(
        self,
        domain: tuple[int, int, int, int],
        *,
        outputs: int = 1,
        data_format: DataFormat = DataFormat.FLOAT32_4,
        before: CommandBuffer | None = None,
    ) -> np.ndarray:
        """Run the program over `domain`; the outputs, float32 [outputs, height, width, channels], 0 where unwritten.

        Width and height are those of the smallest rectangle from (0, 0) that holds the domain.
        """  # fmt: skip
        i0, j0, i1, j1 = domain
        layout = Layout(width=i1 + 1, height=j1 + 1, format=data_format)
        buffer = CommandBuffer().set_inst_fmt(PROGRAM)
        buffer.set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
        for output in range(outputs):
            buffer.set_out_fmt(output, OUTPUT + 0x40000 * output, layout.format_word, layout.height)
        buffer.words += before.words if before is not None else []
        self.commands(buffer.set_domain(i0, j0, i1, j1).start_program())
        return np.stack([self.output(output, layout) for output in range(outputs)])

    def output(self, output: int, layout: Layout) -> np.ndarray:
        """What an output's buffer holds."""
        return Image(memory=self.memory, base=OUTPUT + 0x40000 * output, layout=layout).read()
