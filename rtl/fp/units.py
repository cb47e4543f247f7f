"""The arithmetic units by name, for tests, measurements and synthesis."""

from collections.abc import Callable
from functools import partial

from amaranth.lib import wiring

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.adder import Adder
from ctm.rtl.fp.conversion import CoordinateIndex, FromUnorm, ToUnorm
from ctm.rtl.fp.dot_product import DotProduct
from ctm.rtl.fp.fraction import Fraction
from ctm.rtl.fp.multiplication import Multiplication
from ctm.rtl.fp.multiply_add import MultiplyAdd
from ctm.rtl.fp.result import OutputModifier
from ctm.rtl.fp.selection import Selection
from ctm.rtl.fp.transcendental import Transcendental
from ctm.rtl.fp.zero_comparison import ZeroComparison


def _zero_test(config: PipelineConfig) -> ZeroComparison:
    """Compares a word with zero; it has no registers."""
    return ZeroComparison()


UNITS: dict[str, Callable[[PipelineConfig], wiring.Component]] = {
    "multiply_add": MultiplyAdd,
    "multiplication": Multiplication,
    "adder": Adder,
    "fraction": Fraction,
    "dot_product": DotProduct,
    "selection": Selection,
    "output_modifier": OutputModifier,
    "zero_test": _zero_test,
    "transcendental": Transcendental,
    "from_unorm8": partial(FromUnorm, 8),
    "from_unorm16": partial(FromUnorm, 16),
    "to_unorm8": partial(ToUnorm, 8),
    "to_unorm16": partial(ToUnorm, 16),
    "coordinate_index": CoordinateIndex,
}
