"""The specification of the R700's ALU operations: plain integers, one set of 32-bit words at a time.

It has the tables of `ctm.sim.golden.r700.formulas`, under the same names, and is written to be read.
"""

from collections.abc import Callable, Mapping

from ctm.tb.golden.r700.scalar import arithmetic, conversion, integer, selection, transcendental
from ctm.tb.golden.r700.scalar.address import INDICES
from ctm.tb.golden.r700.scalar.modifiers import modify
from ctm.tb.golden.r700.scalar.predicate import PREDICATES
from ctm.tb.golden.r700.scalar.reduction import REDUCTIONS

VALUES: Mapping[str, Callable[..., int]] = {
    **arithmetic.VALUES,
    **conversion.VALUES,
    **integer.VALUES,
    **selection.VALUES,
    **transcendental.VALUES,
}
"""Operations of one slot: f(*operands) is the result."""

__all__ = ["INDICES", "PREDICATES", "REDUCTIONS", "VALUES", "modify"]
