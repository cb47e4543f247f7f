"""A prologue for compiled shaders: it loads temporaries from inputs before the program begins.

The machine starts a program with r0 = (i, j, 0, 1). A compiled shader expects its interpolated inputs in temporaries
instead. The prologue is after the program, so that no address in the program moves: fetches at (i, j), r0 last,
then a jump to the program's start.
"""

from collections.abc import Sequence
from dataclasses import replace

from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR, FC_INST, TEX_ADDR, TEX_INST
from ctm.rtl.isa.r5xx.opcodes import Channel, InstructionType, JumpFunction, TextureOperation
from ctm.rtl.isa.word import pack
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.elf.r5xx.notes import derive_notes

_IDENTITY = {f"dst_{name}_swiz": Channel[name.upper()].value for name in "rgba"}


def with_prologue(executable: Executable, temporaries: Sequence[int]) -> tuple[Executable, dict[int, int]]:
    """The program with a prologue that loads `temporaries`.

    Returns
    -------
    executable, inputs
        The new program, and the input that each temporary is loaded from: FLOAT32_4, an element per pixel. They
        are the highest inputs that the program itself does not use.

    Raises
    ------
    ValueError
        There are not enough free inputs.
    """
    free = [index for index in reversed(range(INPUTS)) if index not in executable.notes.inputs]
    if len(temporaries) > len(free):
        raise ValueError(f"{len(temporaries)} temporaries need as many inputs, but {len(free)} are free")
    # r0 holds the coordinates until the end.
    order = sorted(temporaries, key=lambda number: (number == 0, number))
    inputs = dict(zip(order, free, strict=False))
    loads = [_load(number, inputs[number], is_last=number == order[-1]) for number in order]
    instructions = (*executable.instructions, *loads, _jump(executable.start))
    changed = replace(
        executable,
        instructions=instructions,
        start=len(executable.instructions) - executable.offset,
        highest_temporary=max(executable.highest_temporary, *temporaries, 0),
        notes=derive_notes(instructions),
        lines=executable.lines and executable.lines.extended(len(instructions)),
    )
    return changed, inputs


def _load(number: int, index: int, *, is_last: bool) -> tuple[int, ...]:
    return (
        pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=is_last, rgb_wmask=7, alpha_wmask=1),
        pack(TEX_INST, tex_id=index, inst=TextureOperation.LOOKUP.value, unscaled=1, tex_sem_acquire=is_last),
        pack(TEX_ADDR, src_t_swiz=Channel.G.value, dst_addr=number, **_IDENTITY),
        0,
        0,
        0,
    )


def _jump(start: int) -> tuple[int, ...]:
    return (
        pack(COMMON, type=InstructionType.FC.value, tex_sem_wait=1),
        0,
        pack(FC_INST, jump_func=JumpFunction.ALWAYS.value),
        pack(FC_ADDR, jump_addr=start),
        0,
        0,
    )
