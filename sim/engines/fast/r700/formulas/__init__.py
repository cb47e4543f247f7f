"""The formulas of the R700's ALU operations as LLVM IR, by the operations' names."""

from collections.abc import Mapping

from ctm.sim.engines.fast.r700.formulas import arithmetic, conversion, integer, selection, transcendental
from ctm.sim.engines.fast.r700.formulas.comparison import OF_FLOATS
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

READ_FLOATS = ANY_NAN | {
    f"{kind}{name}{suffix}" for kind in ("SET", "PRED_SET", "KILL") for name in OF_FLOATS for suffix in ("", "_DX10")
}
"""Operations that take a denormal for a zero and show nothing of their operands' bits."""

__all__ = ["ANY_NAN", "INDICES", "PREDICATES", "READ_FLOATS", "REDUCTIONS", "VALUES", "Unit", "modify"]
