"""A prologue for compiled programs: it loads registers from inputs before the program begins.

The machine starts a wavefront with R0 = (i, j, 0, 1). A compiled program expects its interpolated inputs in registers
instead. The prologue is after the program, so that no address in the program moves: R0.xy become integers, one LD
for each register, R0 last, then a jump to the program's start.
"""

from collections.abc import Sequence
from dataclasses import replace

from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r700 import alu, control_flow, fetch
from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.fetch import SourceSelect, TextureOperation
from ctm.rtl.isa.r700.limits import FETCH_CLAUSE_INSTRUCTIONS, FETCH_UNITS
from ctm.rtl.isa.word import pack
from ctm.sim.elf.r700.executable import Executable, Unit

_IDENTITY = {f"dst_sel_{name}": ComponentSelect[name.upper()].value for name in "xyzw"}
_ZERO_ZW = {f"src_sel_{name}": SourceSelect.ZERO.value for name in "zw"}


def with_prologue(executable: Executable, registers: Sequence[int]) -> tuple[Executable, dict[int, int]]:
    """The program with a prologue that loads `registers`; the program itself if there are none.

    Returns
    -------
    executable, inputs
        The new program, and the input that each register is loaded from: FLOAT32_4, an element per pixel. They are the
        highest inputs that the program itself does not use.

    Raises
    ------
    ValueError
        There are not enough free inputs, or the code gets too long.
    """
    if not registers:
        return executable, {}
    free = [index for index in reversed(range(INPUTS)) if index not in executable.notes.inputs]
    if len(registers) > len(free):
        raise ValueError(f"{len(registers)} registers need as many inputs, but {len(free)} are free")
    # R0 holds the coordinates until the end.
    order = sorted(registers, reverse=True)
    inputs = dict(zip(order, free, strict=False))
    code = (*executable.code, *_prologue(executable, inputs))
    gprs = max(executable.gprs, *(register + 1 for register in registers), 1)
    lines = executable.lines and executable.lines.extended(len(code))
    return replace(executable, code=code, start=len(executable.code), gprs=gprs, lines=lines), inputs


def _prologue(executable: Executable, inputs: dict[int, int]) -> list[Unit]:
    """CF instructions, an ALU clause and a fetch clause, which begins at an even address."""
    clauses = -(-len(inputs) // FETCH_CLAUSE_INSTRUCTIONS)
    first = len(executable.code)
    conversions_at = first + 1 + clauses + 1
    conversions = [_to_integer(channel) for channel in range(2)]
    fetches_at = -(-(conversions_at + len(conversions)) // FETCH_UNITS) * FETCH_UNITS
    padding = fetches_at - conversions_at - len(conversions)
    fetches = [unit for register, index in inputs.items() for unit in _load(executable, register, index)]
    words: list[Unit] = [_alu(conversions_at, len(conversions))]
    for clause in range(clauses):
        done = clause * FETCH_CLAUSE_INSTRUCTIONS
        count = min(FETCH_CLAUSE_INSTRUCTIONS, len(inputs) - done)
        words.append(_fetch(fetches_at + FETCH_UNITS * done, count))
    words.append(_flow(CfOperation.JUMP, executable.start, cond=Condition.FALSE.value))
    return [*words, *conversions, *[(0, 0)] * padding, *fetches]


def _alu(address: int, units: int) -> Unit:
    return (
        pack(control_flow.CF_ALU_DWORD0, addr=address),
        pack(control_flow.CF_ALU_DWORD1, count=units - 1, cf_inst=AluClause.ALU.value, barrier=1),
    )


def _fetch(address: int, count: int) -> Unit:
    high, low = divmod(count - 1, 8)
    return _flow(CfOperation.TEX, address, count=low, count_3=high)


def _flow(operation: CfOperation, address: int, **fields: int) -> Unit:
    word = pack(control_flow.CF_DWORD1, cf_inst=operation.value, barrier=1, **fields)
    return pack(control_flow.CF_DWORD0, addr=address), word


def _to_integer(channel: int) -> Unit:
    return (
        pack(alu.ALU_DWORD0, src0_chan=channel, last=1),
        pack(alu.ALU_DWORD1_OP2, alu_inst=Op2.FLT_TO_INT.value, write_mask=1, dst_chan=channel),
    )


def _load(executable: Executable, register: int, index: int) -> list[Unit]:
    first = pack(fetch.TEX_DWORD0, tex_inst=TextureOperation.LD.value, resource_id=executable.texture_base + index)
    second = pack(fetch.TEX_DWORD1, dst_gpr=register, **_IDENTITY)
    third = pack(fetch.TEX_DWORD2, src_sel_x=SourceSelect.X.value, src_sel_y=SourceSelect.Y.value, **_ZERO_ZW)
    return [(first, second), (third, 0)]
