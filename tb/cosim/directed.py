"""Directed work: a small machine's memory, and a program that each error comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.cosim.work import Work
from ctm.tb.r5xx.machine import FULL_FLOW_CONTROL, Instruction, alu, move
from ctm.tb.r5xx.statements import ALWAYS, BOOL, POP, begin_loop, constant_into, end_loop, fetch, jump

GOOD, BAD, EMPTY, FLOATS, INTS, BOOLS, INPUT, OUTPUT, CONDITIONAL, COUNTERS, BUFFER, NEXT = (
    0x1_0000, 0x8001_0000, 0x2_0000, 0x8003_0000, 0x3_2000, 0x3_3000, 0x8004_0000, 0x5_0000, 0x8006_0000, 0x7_0000,
    0x8_0000, 0x8008_0000,
)  # fmt: skip
WATCHDOG = 100
_LAYOUT = Layout(width=8, height=8, format=DataFormat.FLOAT32_4)
_SINGLE = Layout(width=8, height=8, format=DataFormat.FLOAT32_1)
_LINE = 64
COPY = (move(0, 0, output=0),)


def _image(instructions: Sequence[Instruction], **information: int) -> bytes:
    values = {"end": len(instructions) - 1, "highest_temporary": 7, "us_fc_ctrl": FULL_FLOW_CONTROL, **information}
    return write(Executable(instructions=tuple(instructions), **values))  # type: ignore[arg-type]


def commands(base: int = GOOD) -> CommandBuffer:
    """A buffer that sets everything."""
    buffer = CommandBuffer().set_inst_fmt(base).set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
    buffer.set_inp_fmt(0, INPUT, _LAYOUT.format_word, 8).inv_inp_cache()
    buffer.set_out_fmt(0, OUTPUT, _LAYOUT.format_word, 8)
    buffer.set_cond_out_fmt(CONDITIONAL, _SINGLE.format_word, 8).inv_cond_out_cache()
    return buffer.set_cond_test(ConditionalTest.ALWAYS).set_cond_out_mask(enable=False).set_domain(0, 0, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A buffer that is dropped with `status`, by a program or by an error response of memory."""

    status: Status
    buffer: list[int]
    program: tuple[Instruction, ...] = COPY
    information: dict[str, int] = field(default_factory=dict)
    error_line: int | None = None
    """Address of a line."""
    client: BusClient | None = None

    def work(self) -> Work:
        """The buffer, and the next one, which runs right."""
        right = commands().set_cond_val(2.0).set_domain(2, 2, 5, 5).start_program().flush_out_cache()
        generator = np.random.default_rng(7)
        values = generator.random(1024, np.float32).tobytes()
        buffers = ((BUFFER, self.buffer), (NEXT, right.words))
        arrays = [(base, values) for base in (FLOATS, INPUT, OUTPUT, CONDITIONAL)]
        small = [(INTS, bytes([2, 0, 1, 0] * 32)), (BOOLS, bytes([1, 0, 0, 0] * 32)), (EMPTY, bytes(4096))]
        images = [(GOOD, _image(COPY)), (BAD, _image(self.program, **self.information))]
        words = [(address, np.array(stream, "<u4").tobytes()) for address, stream in buffers]
        return Work(
            contents=tuple([*arrays, *small, *images, *words]),
            buffers=tuple((address, len(stream)) for address, stream in buffers),
            skipped=((COUNTERS, 8),),
        )


def _start(base: int = BAD) -> CommandBuffer:
    return commands(base).start_program().flush_out_cache().flush_cond_out_cache()


def _program(status: Status, *program: Instruction) -> Mistake:
    return Mistake(status=status, buffer=_start().words, program=program)


_ILLEGAL = alu(rgb={"rgb_op": 6})
_LOOP = (begin_loop(3), alu(), end_loop(1))


def _bus(client: BusClient, line: int, buffer: CommandBuffer, *program: Instruction) -> Mistake:
    return Mistake(
        status=Status.BUS_ERROR, buffer=buffer.words, program=(*program, *COPY), error_line=line, client=client
    )  # fmt: skip


def _tested() -> CommandBuffer:
    buffer = commands().set_cond_test(ConditionalTest.LESS)
    return buffer.start_program().flush_out_cache().flush_cond_out_cache()


MISTAKES = {
    "BAD_COMMAND": Mistake(status=Status.BAD_COMMAND, buffer=[*commands().words, 0x1234_5678, *_start().words]),
    "BAD_PARAMETER": Mistake(
        status=Status.BAD_PARAMETER, buffer=commands().append("set_inp_fmt", 1, 0, 5 << 24, 8).start_program().words
    ),
    "TRUNCATED": Mistake(status=Status.TRUNCATED, buffer=commands().set_domain(0, 0, 7, 7).words[:-1]),
    "BAD_EXECUTABLE": Mistake(status=Status.BAD_EXECUTABLE, buffer=_start(EMPTY).words),
    "BAD_CONDITIONAL_FORMAT": Mistake(
        status=Status.BAD_CONDITIONAL_FORMAT,
        buffer=commands().set_cond_out_fmt(CONDITIONAL, _LAYOUT.format_word, 8).set_cond_test(ConditionalTest.LESS)
        .start_program().words,
    ),
    "BAD_UMRT_FORMAT": Mistake(
        status=Status.BAD_UMRT_FORMAT, buffer=_start().words, program=(alu(),), information={"uncached_writes": 1}
    ),
    "ILLEGAL_INSTRUCTION": _program(Status.ILLEGAL_INSTRUCTION, move(0, 0), _ILLEGAL, *COPY),
    "STACK": _program(Status.STACK, move(0, 0), jump(0, ALWAYS, a_op=POP), *COPY),
    "PC_RANGE": _program(Status.PC_RANGE, move(0, 0), jump(500, ALWAYS), *COPY),
    "WATCHDOG": _program(Status.WATCHDOG, move(0, 0), jump(0, ALWAYS), *COPY),
    "command read": _bus(BusClient.COMMAND, BUFFER + _LINE, _start()),
    "image read": _bus(BusClient.INSTRUCTION, BAD, _start()),
    "instruction read": _bus(BusClient.INSTRUCTION, BAD + 2 * _LINE, _start()),
    "float constant read": _bus(BusClient.FLOAT_CONSTANT, FLOATS + 2 * _LINE, _start(), constant_into(1, 8)),
    "int constant read": _bus(BusClient.INT_CONSTANT, INTS, _start(), *_LOOP),
    "bool constant read": _bus(BusClient.BOOL_CONSTANT, BOOLS, _start(), jump(1, BOOL)),
    "input read": _bus(BusClient.INPUT, INPUT, _start(), fetch()),
    "output write": _bus(BusClient.OUTPUT, OUTPUT, _start()),
    "conditional read": _bus(BusClient.CONDITIONAL_OUTPUT, CONDITIONAL, _tested()),
    "counters write": _bus(
        BusClient.COUNTERS, COUNTERS, commands().init_perf_counters(enable=True).read_perf_counters(COUNTERS)
    ),
}  # fmt: skip
"""By what is wrong."""
