"""What LLVM knows of a program's operands changes no bit: it may not take x * 1 or x - 0 for x, as a denormal is 0."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700.alu import Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.fast.r700.twins import Twins
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.words import CORNERS
from ctm.tb.r700 import machine
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.words import CHANNELS, Slot, group, slot, tex

PROGRAMS, LONG = 10, 500
_TARGETS, _WAVEFRONTS = 4, (16, 4, 16, 4, 16, 64)
_ANY = ("R1.x", "R2.x")
"""Every pair of corner words."""
_VALUES = (
    "0", "0", "1.0", "1.0", "0.5", "1i", "-1i", "#0", "#80000000", "#1", "#80000001", "#807fffff", "#800000",
    "#3f800000", "#bf800000", "#40000000", "#ff7fffff", "#7f800000", "#ff800000", "#7f800001", "#7fc00001", "#ffffffff",
)  # fmt: skip
"""Inline constants and literals."""
_ABSENT = ("R1.y", "R1.w", "R2.z", "R3.x", "R13.w", "R99.x", "R123.z")
"""Channels that an input's element lacks, a register that is never written, and registers that do not exist."""
_MADE = (
    ("XOR_INT", "R1.x", "R1.x"), ("SUB_INT", "R2.x", "R2.x"), ("AND_INT", "R1.x", "0"), ("OR_INT", "R1.x", "-1i"),
    ("SETE_INT", "R1.x", "R1.x"), ("SETGT_UINT", "0", "R1.x"), ("AND_INT", "R1.x", "#80000000"),
    ("AND_INT", "R1.x", "#807fffff"), ("LSHR_INT", "R2.x", "#a"), ("OR_INT", "R1.x", "#7f800000"),
    ("MOV", "#80000001"), ("INT_TO_FLT", "1i"),
)  # fmt: skip
"""What makes the channels of registers 4 and so on: words of which LLVM knows all bits or some."""
_KNOWN = _VALUES + _ABSENT + tuple(f"R{4 + at // 4}.{CHANNELS[at % 4]}" for at in range(len(_MADE)))
_SIGNS = ("{}", "{}", "-{}", "-{}", "|{}|", "-|{}|")
_OFTEN = ("ADD", "ADD", "MUL", "MUL_IEEE", "MULADD", "MULADD_IEEE", "MAX", "MIN", "CNDGE", "SETE", "SETNE", "DOT4")
_OPERATIONS = {each.name: each for each in OPERATIONS.values() if not (each.kills or each.sets_address)}


class _Drawing:
    """Draws statements: an operation, and one on its result."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def statement(self, register: int, channel: str) -> list[list[tuple[int, int]]]:
        """Groups that write a channel of a register."""
        first = self._operation()
        groups = [group(*self._slots(first, register, channel, self._operands(first)))]
        if self._generator.random() < 0.5:
            second = self._operation()
            before = "PS" if first.slots is Slots.TRANS else f"PV.{channel}"
            operands = [before, *self._operands(second)[1:]] if second.operands else []
            groups.append(group(*self._slots(second, register, channel, operands)))
        return groups

    def _choice(self, values: tuple[str, ...]) -> str:
        return values[self._generator.integers(len(values))]

    def _operation(self) -> Operation:
        return _OPERATIONS[self._choice(_OFTEN if self._generator.random() < 0.5 else tuple(_OPERATIONS))]

    def _operands(self, operation: Operation) -> list[str]:
        signs = _SIGNS[:4] if isinstance(operation.code, Op3) else _SIGNS
        operands = [
            self._choice(signs).format(self._choice(_KNOWN if self._generator.random() < 0.6 else _ANY))
            for _ in range(operation.operands)
        ]
        # Slot t reads no three constants.
        if len(operands) == 3 and not any("R" in each for each in operands):
            operands[0] = _ANY[0]
        return operands

    def _slots(self, operation: Operation, register: int, channel: str, operands: list[str]) -> list[Slot]:
        modifiers: dict[str, Any] = {}
        if operation.result is Result.FLOAT:
            modifiers["clamp"] = bool(self._generator.random() < 0.2)
            if not isinstance(operation.code, Op3):
                modifiers["omod"] = int(self._generator.integers(4)) if self._generator.random() < 0.3 else 0
        channels = CHANNELS if operation.is_reduction else channel
        return [
            slot(operation.name, f"R{register}.{each}" if each == channel else f"_.{each}", *operands, **modifiers)
            for each in channels
        ]


def executable(seed: int) -> Executable:
    """A statement for each channel of four targets."""
    drawing, a = _Drawing(seed), Assembly()
    a.fetch(tex("LD", 2, 0, 1), tex("LD", 1, 0, 0))
    a.alu(*(
        group(slot(name, f"R{4 + at // 4}.{CHANNELS[at % 4]}", *operands))
        for at, (name, *operands) in enumerate(_MADE)
    ))  # fmt: skip
    for target in range(_TARGETS):
        a.alu(*(each for channel in CHANNELS for each in drawing.statement(8 + target, channel)))
        a.output(8 + target, target, ends=target == _TARGETS - 1)
    return a.executable(gprs=14, type=ProgramType.CS, dx10_clamp=seed % 2 == 0)


@pytest.mark.parametrize("seed", seeds(PROGRAMS, LONG))
def test_arithmetic_with_known_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Twins, "host", list(HOSTS.values())[seed % len(HOSTS)])
    check(seed)


def check(seed: int) -> None:
    columns, rows = np.meshgrid(CORNERS, CORNERS)
    job = Job(
        program=executable(seed), domain=(0, 0, CORNERS.size - 1, CORNERS.size - 1), targets=_TARGETS,
        inputs={0: Input(values=columns[..., None]), 1: Input(values=rows[..., None])},
        wavefront=_WAVEFRONTS[seed % len(_WAVEFRONTS)],
    )  # fmt: skip
    assert machine.run(job).error is None and not Twins.remarks
