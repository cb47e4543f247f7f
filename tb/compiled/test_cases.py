"""Cases have no value in common, each value has one, and what is assigned is what it was."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import CompiledUnit
from ctm.sim.compiled.rewriting.cases import with_defaults, with_disjoint_cases, without
from ctm.sim.compiled.verilog import convert
from ctm.tb.compiled.lint import complaints

PATTERNS = ["".join(bits) for bits in product("01-", repeat=3)]


def values(pattern: str) -> set[int]:
    return {
        value
        for value in range(1 << len(pattern))
        if all(bit in ("-", digit) for bit, digit in zip(pattern, f"{value:0{len(pattern)}b}", strict=True))
    }


@pytest.mark.slow
def test_what_is_left_of_a_pattern_is_each_of_its_other_values_once() -> None:
    for pattern, first, second in product(PATTERNS, repeat=3):
        remaining = [values(each) for each in without(pattern, [first, second])]
        assert sum(map(len, remaining)) == len(set().union(*remaining))
        assert set().union(*remaining) == values(pattern) - values(first) - values(second)


class Chosen(wiring.Component):
    """The number of the first pattern that fits, or 15."""

    value: In(4)
    number: Out(4, init=15)
    latency = 0

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._patterns = patterns
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.Switch(self.value):
            for number, pattern in enumerate(self._patterns):
                with m.Case(pattern):
                    m.d.comb += self.number.eq(number)
        return m


@pytest.mark.parametrize(
    "patterns",
    [
        ("---1", "--1-", "-1--", "1---"),
        ("---1", "--1-", "1---"),
        ("1--1", "-11-", "0---"),
        ("00--", "-0-0", "--11", "11-1"),
    ],
    ids=str,
)
def test_the_first_pattern_that_fits_is_taken_silently(patterns: tuple[str, ...], tmp_path: Path) -> None:
    assert complaints(convert(Chosen(patterns), top="chosen"), "chosen", tmp_path) == set()
    found = CompiledUnit(Chosen(patterns))(value=np.arange(16))["number"]
    for value in range(16):
        fitting = [number for number, pattern in enumerate(patterns) if value in values(pattern)]
        assert found[value] == (fitting or [15])[0]


def test_a_switch_inside_of_a_case_is_one_of_its_own() -> None:
    text = (
        "    switch \\a\n      case 2'1-\n        switch \\b\n          case 2'-0\n          case 2'0-\n        end\n"
        "      case 2'-0\n      case\n    end\n"
    )
    expected = text.replace("case 2'0-", "case 2'01").replace("case 2'-0\n      case", "case 2'00\n      case")
    assert with_disjoint_cases(text) == expected


def test_only_what_has_no_default_gets_one() -> None:
    inner = "    casez (a)\n      1'h0:\n        casez (b)\n          1'h1: ;\n        endcase\n"
    assert with_defaults(f"{inner}      default: ;\n    endcase\n") == (
        f"{inner.replace('        endcase', '          default: ;' + chr(10) + '        endcase')}"
        "      default: ;\n    endcase\n"
    )
