"""What the operations of ALU instructions are: their slots, operands, results, and what else they do.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/isa-r700.md has the table, docs/arithmetic.md the
arithmetic. What is not in `OPERATIONS` is known by name only and illegal: operations on doubles, and codes of the R600.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amaranth.lib import enum

from ctm.rtl.isa.r700.alu import Op2, Op3


class Slots(enum.Enum):
    """Where an operation may be."""

    ANY = enum.auto()
    """In the slot of its destination's channel, or in t if that one is taken."""
    VECTOR = enum.auto()
    """In the slot of its destination's channel."""
    TRANS = enum.auto()
    """In t."""
    REDUCTION = enum.auto()
    """In all four vector slots at once."""


class Result(enum.Enum):
    """What a result is. Modifiers are for floats only."""

    FLOAT = enum.auto()
    INTEGER = enum.auto()
    MASK = enum.auto()
    """All ones or 0."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation, by its code.

    `operands` is how many it reads. `formula` says what it computes: operations of one formula differ in what becomes
    of the result. `copies_bits`: the result is one of the operands as it is, raw.
    """

    code: Op2 | Op3
    operands: int
    formula: str
    slots: Slots = Slots.ANY
    result: Result = Result.FLOAT
    copies_bits: bool = False
    sets_predicate: bool = False
    kills: bool = False
    sets_address: bool = False

    @property
    def name(self) -> str:
        """As it is written."""
        return self.code.name

    @property
    def is_reduction(self) -> bool:
        """Whether it takes all four vector slots."""
        return self.slots is Slots.REDUCTION


_COMPARISONS = ("E", "GT", "GE", "NE")


def _floats() -> Iterator[Operation]:
    for name in ("ADD", "MUL", "MUL_IEEE"):
        yield Operation(code=Op2[name], operands=2, formula=name)
    for name in ("MAX", "MIN", "MAX_DX10", "MIN_DX10"):
        yield Operation(code=Op2[name], operands=2, formula=name, copies_bits=True)
    for name in ("FRACT", "TRUNC", "CEIL", "RNDNE", "FLOOR"):
        yield Operation(code=Op2[name], operands=1, formula=name)
    yield Operation(code=Op2.MOV, operands=1, formula="MOV", copies_bits=True)
    yield Operation(code=Op2.NOP, operands=0, formula="ZERO")
    for name in ("DOT4", "DOT4_IEEE", "CUBE"):
        yield Operation(code=Op2[name], operands=2, formula=name, slots=Slots.REDUCTION)
    yield Operation(code=Op2.MAX4, operands=1, formula="MAX4", slots=Slots.REDUCTION, copies_bits=True)


def _comparisons() -> Iterator[Operation]:
    for test in _COMPARISONS:
        yield Operation(code=Op2[f"SET{test}"], operands=2, formula=test)
        yield Operation(code=Op2[f"SET{test}_DX10"], operands=2, formula=test, result=Result.MASK)
        yield Operation(code=Op2[f"SET{test}_INT"], operands=2, formula=f"{test}_INT", result=Result.MASK)
        for form in ("", "_INT"):
            yield Operation(code=Op2[f"PRED_SET{test}{form}"], operands=2, formula=test + form, sets_predicate=True)
            yield Operation(code=Op2[f"KILL{test}{form}"], operands=2, formula=test + form, kills=True)
            counted = Op2[f"PRED_SET{test}_PUSH{form}"]
            yield Operation(code=counted, operands=2, formula=f"PUSH_{test}{form}", sets_predicate=True)
    for test in ("GT", "GE"):
        formula = f"{test}_UINT"
        yield Operation(code=Op2[f"SET{formula}"], operands=2, formula=formula, result=Result.MASK)
        yield Operation(code=Op2[f"PRED_SET{formula}"], operands=2, formula=formula, sets_predicate=True)
        yield Operation(code=Op2[f"KILL{formula}"], operands=2, formula=formula, kills=True)
    for test in ("LT", "LE"):
        counted = Op2[f"PRED_SET{test}_PUSH_INT"]
        yield Operation(code=counted, operands=2, formula=f"PUSH_{test}_INT", sets_predicate=True)
    for name, operands in (("INV", 1), ("POP", 2), ("CLR", 0), ("RESTORE", 1)):
        yield Operation(code=Op2[f"PRED_SET_{name}"], operands=operands, formula=name, sets_predicate=True)


def _integers() -> Iterator[Operation]:
    for name in ("AND", "OR", "XOR", "ADD", "SUB", "MAX", "MIN", "ASHR", "LSHR", "LSHL"):
        yield Operation(code=Op2[f"{name}_INT"], operands=2, formula=f"{name}_INT", result=Result.INTEGER)
    for name in ("MAX", "MIN"):
        yield Operation(code=Op2[f"{name}_UINT"], operands=2, formula=f"{name}_UINT", result=Result.INTEGER)
    yield Operation(code=Op2.NOT_INT, operands=1, formula="NOT_INT", result=Result.INTEGER)
    for name in ("MULLO_INT", "MULHI_INT", "MULLO_UINT", "MULHI_UINT"):
        yield Operation(code=Op2[name], operands=2, formula=name, slots=Slots.TRANS, result=Result.INTEGER)
    for name in ("RECIP_INT", "RECIP_UINT", "FLT_TO_INT", "FLT_TO_UINT"):
        yield Operation(code=Op2[name], operands=1, formula=name, slots=Slots.TRANS, result=Result.INTEGER)
    for name in ("INT_TO_FLT", "UINT_TO_FLT"):
        yield Operation(code=Op2[name], operands=1, formula=name, slots=Slots.TRANS)


def _transcendentals() -> Iterator[Operation]:
    for name in (
        "EXP_IEEE", "LOG_CLAMPED", "LOG_IEEE", "RECIP_CLAMPED", "RECIP_FF", "RECIP_IEEE", "RECIPSQRT_CLAMPED",
        "RECIPSQRT_FF", "RECIPSQRT_IEEE", "SQRT_IEEE", "SIN", "COS",
    ):  # fmt: skip
        yield Operation(code=Op2[name], operands=1, formula=name, slots=Slots.TRANS)


def _addresses() -> Iterator[Operation]:
    for name, result in (("MOVA", Result.FLOAT), ("MOVA_FLOOR", Result.FLOAT), ("MOVA_INT", Result.INTEGER)):
        yield Operation(
            code=Op2[name], operands=1, formula="MOV", slots=Slots.VECTOR, result=result,
            copies_bits=True, sets_address=True,
        )  # fmt: skip


def _three_operands() -> Iterator[Operation]:
    for scale in ("", "_M2", "_M4", "_D2"):
        yield Operation(code=Op3[f"MUL_LIT{scale}"], operands=3, formula=f"MUL_LIT{scale}", slots=Slots.TRANS)
        yield Operation(code=Op3[f"MULADD{scale}"], operands=3, formula=f"MULADD{scale}")
        yield Operation(code=Op3[f"MULADD_IEEE{scale}"], operands=3, formula=f"MULADD_IEEE{scale}")
    for test in ("E", "GT", "GE"):
        yield Operation(code=Op3[f"CND{test}"], operands=3, formula=f"CND{test}", copies_bits=True)
        yield Operation(
            code=Op3[f"CND{test}_INT"], operands=3, formula=f"CND{test}_INT",
            result=Result.INTEGER, copies_bits=True,
        )  # fmt: skip


def _in_order_of_codes() -> Iterator[Operation]:
    families = (_floats, _comparisons, _integers, _transcendentals, _addresses, _three_operands)
    known = {operation.code: operation for family in families for operation in family()}
    for codes in (Op2, Op3):
        yield from (known[code] for code in codes if code in known)


OPERATIONS: Mapping[Op2 | Op3, Operation] = {operation.code: operation for operation in _in_order_of_codes()}
"""By code, in the order of codes."""

ILLEGAL = tuple(code for codes in (Op2, Op3) for code in codes if code not in OPERATIONS)
"""Codes that have a name and nothing else."""
