"""Short programs whose results are worked out by hand: how they are run and compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.machine import UNTOUCHED, Job, Run, run
from ctm.tb.r700.words import Unit, group, slot

ROWS = {row: tuple(int(np.float32(row + channel / 4).view(np.uint32)) for channel in range(4)) for row in range(256)}
"""Float constants: row 3 is (3.0, 3.25, 3.5, 3.75)."""
NAN = 0x7FC0_0001
ONES = 0xFFFF_FFFF


def word(value: float | int) -> int:
    """A float's word; an int is one already."""
    return int(np.float32(value).view(np.uint32)) if isinstance(value, float) else value


def words(values: Any) -> np.ndarray:
    """An array of words from floats and ints, nested as it is given; None is a word that was not written."""
    if isinstance(values, list | tuple):
        return np.array([words(each) for each in values], np.uint32)
    return np.asarray(UNTOUCHED if values is None else word(values), np.uint32)


def finish(a: Assembly, registers: Sequence[int] = (1,), **information) -> Any:
    """The program, which exports registers to the targets 0 and so on at its end."""
    for target, register in enumerate(registers):
        a.output(register, target, ends=target == len(registers) - 1)
    return a.executable(**information)


def execute(a: Assembly, registers: Sequence[int] = (1,), *, information: dict | None = None, **job) -> Run:
    """Run a program that exports registers at its end; constants are ROWS. It must not fault."""
    program = finish(a, registers, **(information or {}))
    found = run(Job(program=program, targets=len(registers), floats=ROWS, **job))
    assert found.error is None, found.error
    return found


def same(found: np.ndarray, expected: Any) -> None:
    """Compare words with what was worked out."""
    wanted = words(expected)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    lines = [
        f"{tuple(map(int, index))}: 0x{int(found[tuple(index)]):08x}, not 0x{int(wanted[tuple(index)]):08x}"
        for index in np.argwhere(found != wanted)
    ]
    assert not lines, "\n".join(lines)


def numbered(a: Assembly, register: str = "R1.x") -> None:
    """Write 1 + i + 16 * j to a register, in floats."""
    a.alu(group(slot("MULADD", register, "R0.y", "#41800000", "R0.x")), group(slot("ADD", register, register, "1.0")))


def moves(register: int, *values: str) -> list[Unit]:
    """A group that writes the channels of a register."""
    return group(*(slot("MOV", f"R{register}.{c}", value) for c, value in zip("xyzw", values, strict=False)))


def add(number: float) -> list[Unit]:
    """R1.x += a number."""
    return group(slot("ADD", "R1.x", "R1.x", f"#{int(np.float32(number).view(np.uint32)):x}"))


def where(a: Assembly, comparison: str, first: str, second: str, name: str = "ALU_PUSH_BEFORE") -> None:
    """Begin a branch of the pixels in which a comparison holds."""
    a.alu(group(slot(f"PRED_SET{comparison}", "_.x", first, second, updates_mask=True)), name=name)
