"""The formulas of the R700's ALU operations as LLVM IR, by the operations' names."""

from collections.abc import Mapping

from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.sim.engines.fast.r700.formulas import arithmetic, conversion, integer, selection, transcendental
from ctm.sim.engines.fast.r700.formulas.conversion import INDICES
from ctm.sim.engines.fast.r700.formulas.kinds import Formula, Unit
from ctm.sim.engines.fast.r700.formulas.modifiers import modify
from ctm.sim.engines.fast.r700.formulas.predicate import PREDICATES
from ctm.sim.engines.fast.r700.formulas.reduction import DOTS, REDUCTIONS

VALUES: Mapping[str, Formula] = {
    **arithmetic.VALUES,
    **conversion.VALUES,
    **integer.VALUES,
    **selection.VALUES,
    **transcendental.VALUES,
}
"""Operations of one slot."""
ANY_NAN = frozenset({*arithmetic.VALUES, *DOTS})
"""Operations whose results may have any NaN, to be made the machine's."""

_OF_INTEGERS = ("_INT", "_UINT")
_CONVERSIONS, _MOVES = ("FLT_TO_INT", "FLT_TO_UINT"), ("MOV", "NOP")
READ_FLOATS = frozenset(
    operation.name
    for operation in OPERATIONS.values()
    if operation.name in _CONVERSIONS or not (operation.name in _MOVES or operation.name.endswith(_OF_INTEGERS))
)
"""Operations that compute with floats; the others' operands are words."""

__all__ = ["ANY_NAN", "INDICES", "PREDICATES", "READ_FLOATS", "REDUCTIONS", "VALUES", "Unit", "modify"]
