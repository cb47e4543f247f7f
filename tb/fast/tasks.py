"""Tasks of one program: its words, where they run, and what they read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r5xx.opcodes import RgbOperation, TextureOperation, UmrtTarget, ZeroTest
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.fast.comparison import COMMANDS, Task, machine
from ctm.tb.r5xx.machine import BOOLS, FLOATS, FULL_FLOW_CONTROL, INTS, PROGRAM, Instruction, alu, move
from ctm.tb.r5xx.statements import (
    ALU,
    NOT_ALU,
    POP,
    PUSH,
    add,
    begin_if,
    begin_loop,
    compare,
    end_if,
    end_loop,
    fetch,
    jump,
)

OUTPUT, OTHER = 0x100_0000, 0x800_0000
"""Where output 0 and input 0 are."""
Domain = tuple[int, int, int, int]
ILLEGAL = alu(rgb={"rgb_op": 6})
ENDLESS = [jump(0), move(0, 0, output=0)]
LARGE = (3, 1, 517, 258)
"""Odd at all its edges, and four segments of threads."""
STORE_POSITION = [move(0, 0, output=0)]
SUM = [
    begin_loop(6), add(0), compare(1, ZeroTest.LESS), begin_if(5, ALU), add(2), end_if(), end_loop(1),
    move(0, 1, output=0),
]  # fmt: skip
"""Seven rounds; those right of column 40 add more in each."""
FAULTS = [
    compare(0, ZeroTest.EQUAL), jump(5, ALU, jump_any=1), compare(1, ZeroTest.EQUAL, channel=1),
    jump(6, ALU, jump_any=1), jump(7), ILLEGAL, jump(0, a_op=POP), *STORE_POSITION,
]  # fmt: skip
"""Groups with i = c0 meet an illegal instruction, others with j = c1 a return without a call."""
COPY = [fetch(destination=1), add(0), move(0, 1, output=0)]
"""Output 0 is input 0 and something more in red."""
READS_BACK = [
    add(0, temporary=0), fetch(TextureOperation.LOOKUP_UNCACHED, destination=1), add(1), move(0, 1, output=0),
]  # fmt: skip
"""Reads what a pixel further left writes, and writes something else."""
_POSITION = {f"{color}_swiz_{name}": swizzle for color, swizzle in (("green", 0), ("blue", 1)) for name in "ab"}
WRITES_PAST_THE_CACHES = [
    alu(rgb={"rgb_op": RgbOperation.MIN.value, "rgb_addrd": 2, **_POSITION}, rgb_wmask=7), *READS_BACK[:-1],
    move(2, 1, rgb_wmask=1, alpha_wmask=0), move(0, 2, output=UmrtTarget.PER_PROCESSOR_IDX.value),
]  # fmt: skip
"""The same, written at once."""
TANGLED = [*[jump(0, NOT_ALU, a_op=PUSH)] * 12, jump(0, a_op=POP), *STORE_POSITION]
"""Calls by more paths than the graph distinguishes."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a task is made of; float constants have one value each."""

    program: Sequence[Instruction]
    floats: Sequence[float] = (1.5, 40.0, 0.25)
    rounds: int = 7
    """Of a loop with int constant 0."""
    group: int = 4
    walk: str = "rows"
    watchdog: int = 1 << 24
    size: tuple[int, int] = (520, 260)
    """Of output and input."""
    format: DataFormat = DataFormat.FLOAT32_1
    tiling: Tiling = Tiling.LINEAR
    information: Mapping[str, Any] = field(default_factory=dict)
    """Of the executable."""
    contents: Sequence[tuple[int, bytes]] = ()
    before: CommandBuffer | None = None
    """Commands in front of the first start."""

    @property
    def layout(self) -> Layout:
        """Of output and input."""
        return Layout(width=self.size[0], height=self.size[1], format=self.format, tiling=self.tiling)

    def words(self, base: int) -> tuple[int, int, int]:
        """A buffer there, as commands describe it."""
        return base, self.layout.format_word, self.layout.height

    @property
    def executable(self) -> Executable:
        """The program."""
        information: dict[str, Any] = {"highest_temporary": 7, "us_fc_ctrl": FULL_FLOW_CONTROL, **self.information}
        return Executable(instructions=tuple(self.program), end=len(self.program) - 1, **information)

    @property
    def constants(self) -> tuple[bytes, bytes]:
        """What float and int constants lie in memory as."""
        return np.repeat(np.array(self.floats, "<f4"), 4).tobytes(), bytes([self.rounds, 0, 1, 0])

    def task(self, *domains: Domain, changing: bool = False) -> Task:
        """It runs over each domain, one after the other; with `changing` output and input are swapped."""
        commands = CommandBuffer().set_inst_fmt(PROGRAM)
        commands.set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
        commands.set_inp_fmt(0, *self.words(OTHER)).set_out_fmt(0, *self.words(OUTPUT))
        commands.words += self.before.words if self.before is not None else []
        for number, domain in enumerate(domains):
            if changing:
                bases = (OTHER, OUTPUT) if number % 2 else (OUTPUT, OTHER)
                commands.set_out_fmt(0, *self.words(bases[0])).set_inp_fmt(0, *self.words(bases[1])).inv_inp_cache()
            commands.set_domain(*domain).start_program().flush_out_cache()
        floats, ints = self.constants
        contents = [
            (PROGRAM, write(self.executable)), (FLOATS, floats), (INTS, ints),
            *self.contents, (COMMANDS, bytes(commands)),
        ]  # fmt: skip
        config = machine(self.group)
        return Task(
            name=f"{len(domains)} domains, the first {domains[0]}",
            config=replace(config, array=replace(config.array, walk=self.walk)), watchdog=self.watchdog,
            contents=contents, buffers=[(COMMANDS, len(commands.words))],
        )  # fmt: skip


def refusing(task: Task, first: int, end: int) -> Task:
    """The task where a range of memory responds with errors."""
    return replace(task, error_ranges=[(first, end)])
