"""The table of operations: each code is in it once."""

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation
from ctm.rtl.isa.r5xx.operations import ALPHA, OPERATIONS, RGB


def test_every_code_is_there_once_in_order() -> None:
    assert [each.rgb for each in OPERATIONS if each.rgb is not None] == list(RGB) == list(RgbOperation)
    assert [each.alpha for each in OPERATIONS if each.alpha is not None] == list(ALPHA) == list(AlphaOperation)


def test_an_operation_of_both_units_has_one_name() -> None:
    for each in OPERATIONS:
        assert each.rgb is None or each.alpha is None or each.rgb.name == each.alpha.name


def test_operands_are_read_from_the_first_on_but_for_derivatives() -> None:
    for each in OPERATIONS:
        assert each.reads == "b" if each.is_derivative else "abc".startswith(each.reads)
        assert each.is_dot == (each.name in ("DP3", "DP4", "D2A"))
        assert bool(each.addends) == (each.is_dot and "c" in each.reads)
        assert bool(each.reads) != each.copies_other
