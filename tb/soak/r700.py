"""R700 programs for drawn work: random ones of every kind, and short ones whose domain may be long."""

from functools import cache

import numpy as np

from ctm.rtl.isa.limits import INPUTS
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700 import random_groups, random_statements
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.flow_code import Compiler
from ctm.tb.r700.hardware.limits import is_unsupported
from ctm.tb.r700.hardware.random_fetches import draw_pixel_program
from ctm.tb.r700.words import tex
from ctm.tb.soak.programs import Executables, Source

_SHORT_STACK = 0.2
"""The share of programs with control flow that have a stack entry too few."""
_PAIR = """
.isa r700
FLT_TO_INT R0.x, R0.x
FLT_TO_INT R0.y, R0.y
LD R1.xyzw, R0.xy00, t0
"""
_READS_OUTPUT = f"""{_PAIR}
0 x: MULADD R1.x, R1.x, C0.x, C1.x
  y: MULADD_IEEE R1.y, R1.y, C0.x, C1.y
  z: MAX R1.z, R1.z, C0.y
  w: ADD R1.w, R1.x, C1.y
EXPORT PIX0, R1.xyzw
"""
"""Each pixel reads and writes its own element only."""
_FAN_OUT = f"""{_PAIR}
LD R2.xyzw, R0.yx00, t1
0 x: DOT4 R3.x, R1.x, R2.x
  y: DOT4 ____, R1.y, R2.y
  z: DOT4 ____, R1.z, R2.z
  w: DOT4 ____, R1.w, R2.w
EXPORT PIX0, R2.wzyx
EXPORT PIX1, R3.x1_0
EXPORT PIX2, R1.__xy
EXPORT PIX3, R0.xyzw
"""
_VALUES = f"""{_PAIR}
.depth
EXPORT DEPTH, R1.x___
EXPORT PIX0, R1.xyzw
"""
_MEMORY = """
.isa r700
.type cs
.memory
LD R1.xyzw, R0.xy00, t0
MOV R2.x, R0.z
RD_SCATTER R3.xyzw, [0+R2.x] ELEM_SIZE(4)
0 x: ADD_INT R1.x, R1.x, R3.x
  y: MOV R1.y, R3.z
MEM_EXPORT R1.xyz_, [0+R2] ELEM_SIZE(4)
"""
"""Each pixel reads and writes an element of its own, past the caches."""


@cache
def _short(source: str) -> Executables:
    executable = assemble(source)
    assert isinstance(executable, Executable)
    return Executables(write(executable), uncached=executable.memory, own=source == _READS_OUTPUT)


@cache
def _astray(target: int) -> Executables:
    """One that jumps to a CF instruction: to its jump, which is word 1 and goes on for ever, or after its code."""
    a = Assembly()
    a.fetch(tex("LD", 1, 0))
    a.flow("JUMP", to=target, cond="FALSE")
    a.end()
    return Executables(write(a.executable()), short=False)


def _groups(generator: np.random.Generator) -> random_groups.Drawn:
    """Random groups that hardware supports."""
    while True:
        drawn = random_groups.draw(int(generator.integers(1 << 30)))
        groups = [group for clause in drawn.clauses for group in clause.groups]
        if not any(map(is_unsupported, groups)):
            return drawn


def _random(generator: np.random.Generator) -> Executables:
    kind, scratch = generator.choice(["statements", "groups", "fetches"], p=[0.4, 0.25, 0.35]), False
    if kind == "statements":
        drawing = random_statements.Drawing(generator, int(generator.integers(5, 30)))
        compiler = Compiler(generator, drawing.program)
        compiler.stack_size -= int(compiler.stack_size > 0 and generator.random() < _SHORT_STACK)
        executable = compiler.executable()
    elif kind == "groups":
        first = int(generator.integers(random_groups.GPRS - 4))
        drawn = _groups(generator)
        program = drawn.job(16, shown=range(first, first + 4)).program
        assert isinstance(program, Executable)
        executable = program
    else:
        scratch = bool(generator.random() < 0.4)
        executable = draw_pixel_program(generator, scratch=scratch)
    return Executables(write(executable), scratch=scratch, short=False)


def draw_program(generator: np.random.Generator) -> Executables:
    """A program; some fault."""
    if generator.random() < 0.03:
        return _astray(int(generator.choice([1, 8000])))
    if generator.random() < 0.6:
        return _random(generator)
    return _short([_READS_OUTPUT, _READS_OUTPUT, _FAN_OUT, _VALUES, _MEMORY][int(generator.integers(5))])


R700 = Source(kind="r700", draw=draw_program, inputs=INPUTS, linear=True)
