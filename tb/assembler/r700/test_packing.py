"""Packed operations do what they do one after the other."""

import random

import numpy as np
import pytest

from ctm.rtl.isa.r700.operations import OPERATIONS, Result, Slots
from ctm.sim.assembler import AssemblyError, disassemble
from ctm.tb.assembler.r700.assembly import assemble
from ctm.tb.assembler.r700.running import run
from ctm.tb.lib.seeds import seeds

_UNKNOWN = ("PRED", "KILL", "MOVA", "NOP")
SINGLE = [each for each in OPERATIONS.values() if not each.is_reduction and not each.name.startswith(_UNKNOWN)]
REDUCTIONS = [each for each in OPERATIONS.values() if each.is_reduction]
FLOATS = {row: tuple(float(row * 4 + column - 30) / 8 for column in range(4)) for row in range(64)}


class RandomCode:
    """Draws operations, one a line, that read and write few registers."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def lines(self, count: int) -> list[str]:
        return [self._line() for _ in range(count)]

    def _line(self) -> str:
        kind = self._random.random()
        if kind < 0.04:
            return f"PRED_SET{self._random.choice(('E', 'GT', 'GE', 'NE'))} ____, {self._source()}, 0 UPDATE_PRED"
        if kind < 0.06:
            return f"PRED_SETGE ____, {self._source()}, -3.0 UPDATE_EXEC_MASK"
        if kind < 0.09:
            return f"MOVA_FLOOR ____.{self._random.choice('xy')}, {self._random.choice(('0.5', 'C3.x', '-1.0'))}"
        if kind < 0.15:
            operation = self._random.choice(REDUCTIONS)
            operands = ", ".join(self._random.choice(("R1", "R2.wzyx", "C5")) for _ in range(operation.operands))
            return f"{operation.name} R{self._register()}.{self._random.choice(('x', 'yw'))}, {operands}"
        operation = self._random.choice(SINGLE)
        if operation.slots is Slots.TRANS and self._random.random() < 0.5:
            operation = self._random.choice(SINGLE)
        sources = ", ".join(self._source() for _ in range(operation.operands))
        modifier = (
            "*2" if operation.result is Result.FLOAT and operation.operands < 3 and self._random.random() < 0.1 else ""
        )
        flags = self._random.choice(("", "", "", "", " PRED_SEL_ONE", " PRED_SEL_ZERO"))
        index = self._random.choice(("", "", "", "", "", "x"))
        register = f"R[{self._register() + 1}+AR.x]" if index else f"R{self._register()}"
        return f"{operation.name}{modifier} {register}.{self._random.choice('xyzw')}, {sources}{flags}"

    def _register(self) -> int:
        return self._random.randint(1, 6)

    def _source(self) -> str:
        letter = self._random.choice("xyzw")
        kind = self._random.random()
        if kind < 0.1:
            return self._random.choice(("0", "1.0", "-0.5", "2.5", "0x12345678", "-7"))
        if kind < 0.25:
            return f"C{self._random.randint(0, 63)}.{letter}"
        if kind < 0.29:
            return f"R[{self._register()}+AR.x].{letter}"
        return f"R{self._random.randint(0, 6)}.{letter}"


def result(body: str) -> np.ndarray:
    """All registers that the code writes, mixed into one."""
    mixed = "\n".join(
        f"XOR_INT R20.{letter}, R20.{letter}, R{number}.{letter}\nMULLO_UINT R20.{letter}, R20.{letter}, 0x9E3779B1"
        for number in range(9)
        for letter in "xyzw"
    )
    text = f".isa r700\n.gprs 30\nALU_PUSH_BEFORE\n{body}\nPOP POP_CNT(1)\n{mixed}\nEXPORT_DONE PIX0, R20.xyzw\n"
    return run(text, FLOATS).view(np.uint32)


@pytest.mark.parametrize("seed", seeds(24, of=60))
def test_packed_code_does_the_same(seed: int) -> None:
    lines = RandomCode(seed).lines(24)
    body = "\n".join(lines)
    packed = result(f".pack\n{body}\n.endpack")
    np.testing.assert_array_equal(packed, result(body), body)


def units(body: str) -> int:
    return len(assemble(f".isa r700\n{body}\nEXPORT_DONE PIX0, R0.xyzw\n").code)


def groups(body: str) -> int:
    text = disassemble(assemble(f".isa r700\n{body}\nEXPORT_DONE PIX0, R0.xyzw\n"))
    return sum(line[:9].strip().isdigit() for line in text.splitlines())


def test_five_operations_that_do_not_depend_are_one_group() -> None:
    body = "\n".join(f"ADD R{number}.{letter}, R0.{letter}, 1.0" for number, letter in enumerate("xyzw", start=1))
    assert groups(f".pack\n{body}\nSIN R5.x, R0.x\n.endpack") == 1
    assert groups(body) == 4


def test_an_operation_moves_in_front_of_others_but_not_of_what_it_needs() -> None:
    body = "ADD R1.x, R0.x, 1.0\nADD R1.x, R1.x, 1.0\nADD R1.x, R1.x, 1.0\nADD R2.y, R0.y, 1.0\nADD R2.y, R2.y, R1.x"
    assert groups(f".pack\n{body}\n.endpack") == 4


def test_what_is_still_read_can_be_overwritten_in_the_same_group() -> None:
    assert groups(".pack\nMOV R1.x, R0.x\nMOV R0.x, R2.x\nMOV R0.y, R1.y\n.endpack") == 1
    assert groups(".pack\nMOV R1.x, R0.x\nMOV R1.x, R2.x\n.endpack") == 2


def test_no_more_than_four_literals_are_together() -> None:
    body = "\n".join(
        f"ADD R{number}.{letter}, {number}.25, {number}.75" for number, letter in enumerate("xyzw", start=1)
    )
    assert groups(f".pack\n{body}\n.endpack") == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MOV R1.x, PV.x", "inside .pack a result has no name but its register's"),
        ("KILL", "only ALU instructions can be packed: write .endpack before this"),
        (".pack", ".pack inside .pack"),
        ("a: MOV R1.x, 0", "a label inside .pack"),
        ("MULADD R1.x, LIT.x, 0, 0", "LIT.x names a word of .literals"),
        ("ADD R1.x, R0.x", "ADD takes 2 operands, not 1"),
        ("MOV R1.x, 0\n.literals 1, 2", "inside .pack literals are written as numbers"),
    ],
)
def test_what_cannot_be_packed_is_an_error(line: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(f".isa r700\n.pack\n{line}\n.endpack\n")
    assert message in caught.value.message


def test_a_pack_ends() -> None:
    with pytest.raises(AssemblyError, match=r"this .pack has no .endpack"):
        assemble(".isa r700\n.pack\nMOV R1.x, 0\n")
    with pytest.raises(AssemblyError, match=r".endpack without .pack"):
        assemble(".isa r700\n.endpack\nMOV R1.x, 0\n")


def test_results_of_packed_code_are_not_passed_on() -> None:
    with pytest.raises(AssemblyError, match="PV.x is not known here"):
        assemble(".isa r700\n.pack\nMOV R1.x, 0\n.endpack\n0 x: MOV R2.x, PV.x\n")
