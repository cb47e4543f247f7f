"""The formulas of the R700's ALU operations on whole arrays, by the operations' names.

Operands are float32 arrays of shape [n] or [1], carriers of 32-bit words, which broadcast; results are new arrays.
`clean` promises that no operand is a denormal. `tb/golden/r700/scalar` says the same in plain integers, one set of
words at a time; docs/arithmetic.md.
"""

from collections.abc import Mapping

from ctm.sim.golden.r700.formulas import arithmetic, conversion, integer, selection, transcendental
from ctm.sim.golden.r700.formulas.address import INDICES
from ctm.sim.golden.r700.formulas.kinds import Value
from ctm.sim.golden.r700.formulas.modifiers import modify
from ctm.sim.golden.r700.formulas.predicate import PREDICATES
from ctm.sim.golden.r700.formulas.reduction import REDUCTIONS

VALUES: Mapping[str, Value] = {
    **arithmetic.VALUES,
    **conversion.VALUES,
    **integer.VALUES,
    **selection.VALUES,
    **transcendental.VALUES,
}
"""Operations of one slot: f(*operands, clean) is the result."""

__all__ = ["INDICES", "PREDICATES", "REDUCTIONS", "VALUES", "modify"]
