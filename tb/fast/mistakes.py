"""Single mistakes in the translation of R5xx programs, each with the checks of this folder of which one has to find it.

They replace an object while programs are translated, so that they do not depend on its text.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from llvmlite import ir

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.sim.engines.fast import finish, kernel
from ctm.sim.engines.fast.integers import Integers
from ctm.sim.engines.fast.kernel import Counts, Kernel
from ctm.sim.engines.fast.r5xx import preparation, translation, uncached
from ctm.sim.engines.fast.r5xx.exactness import Exactness
from ctm.sim.engines.fast.r5xx.flow import FlowControl
from ctm.sim.engines.fast.r5xx.gates import Gates
from ctm.sim.engines.fast.r5xx.graph import Graph
from ctm.sim.engines.fast.vector import address, arithmetic, selection
from ctm.sim.engines.fast.vector.lanes import INT, Lanes
from ctm.tb.fast.hosts import HOSTS

Check = tuple[str, str, tuple[Any, ...]]
"""A module of this folder, a test in it, and its arguments."""


@dataclass(frozen=True)
class Mistake:
    """`wrong` makes the substitute of `name` in `owner` from the original."""

    what: str
    owner: Any
    name: str
    wrong: Callable[[Any], Any]
    checks: tuple[Check, ...]

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        """Make it; the cached graphs of programs are dropped."""
        preparation._graph.cache_clear()
        if isinstance(self.owner, dict):
            patch.setitem(self.owner, self.name, self.wrong(self.owner[self.name]))
        else:
            patch.setattr(self.owner, self.name, self.wrong(getattr(self.owner, self.name)))

    def __str__(self) -> str:
        return self.what


def _tests(module: str, name: str, numbers: Iterable[int]) -> tuple[Check, ...]:
    return tuple((module, name, (number,)) for number in numbers)


PROGRAMS = _tests("test_programs", "test_random_programs", range(12))
TOGETHER = _tests(
    "test_programs", "test_random_flow_control_of_groups_in_one_vector", (0, 3, 4, 5, 9, 13, 15, 19, 29, 31)
)
FLOW = (*_tests("test_programs", "test_random_flow_control", range(2)), *TOGETHER)
DIRECTED = tuple(
    ("test_directed", "test_it_ends_as_on_golden", (name,))
    for name in (
        "the machine's NaN, which is not the host's", "zero times infinity, by the rule", "registers by aL",
        "branches that end together", "a loop with two ends", "a jump out of a loop", "writes of the inactive",
        "a BREAK out of an inner loop",
    )
)  # fmt: skip
UNARY, BINARY = (
    (("test_vector_arithmetic", f"test_functions_of_{count}", (HOSTS["8 lanes"],)),)
    for count in ("one_operand", "two_operands")
)
CONDITIONAL = _tests("test_conditional", "test_conditional_tests_of_special_values", range(32))
KNOWN = _tests("test_known_values", "test_arithmetic_with_known_values", range(20))
COMMANDS = _tests("test_programs", "test_random_command_buffers", (0,))


class _Straight:
    """The predicates of an instruction, never inverted."""

    def __init__(self, common: Any) -> None:
        self._common = common

    def predicate(self, channel: int) -> Any:
        """Of a channel."""
        return replace(self._common.predicate(channel), inverted=False)


def _rounded_twice(lanes: Lanes, a: Any, b: Any, c: Any, *, zero_times_anything: bool) -> Any:
    return lanes.builder.fadd(arithmetic.multiply(lanes, a, b, zero_times_anything=zero_times_anything), c)


def _with_old_breaks(self: Any, depth: int, groups: Any) -> None:
    """Enter a loop without clearing the break masks of the one before."""
    registers = self._registers
    for mask in (registers.entered[depth], registers.continued[depth]):
        self._clear(mask, groups)
    self._set(registers.entered[depth], self._lanes.builder.and_(groups, registers.mask(registers.active)))


def _without_return(self: Any, depth: int, groups: Any) -> None:
    """Leave a loop without restoring the lanes that left it early."""
    registers = self._registers
    self._set(registers.active, self._lanes.builder.and_(registers.mask(registers.entered[depth]), groups))


def _next_row(right: Any) -> Any:
    """The row of a tile beside the one that is meant."""

    def row(lanes: Lanes, form: Any, x: Any, y: Any) -> Any:
        return right(lanes, form, x, lanes.builder.xor(y, lanes.integer(1)) if form.is_tiled else y)

    return row


def _less_than_zero(lanes: Lanes, values: Any) -> Any:
    return lanes.mask(lanes.builder.fcmp_ordered("<", values, lanes.single(0)))


MISTAKES = [
    Mistake("-|x| is |x|", selection, "input_modifier",
            lambda right: lambda lanes, values, code: right(lanes, values, 2 if code == 3 else code), PROGRAMS),
    Mistake("results are halved as if quartered", selection, "_FACTORS",
            lambda right: (*right[:4], right[5], *right[5:]), UNARY),
    Mistake("src1 - src0 is src0 - src1", arithmetic, "presubtract",
            lambda right: lambda lanes, code, *of: right(lanes, code, *(of[::-1] if code == 1 else of)), BINARY),
    Mistake("inverted predicates are not", Gates, "of",
            lambda right: lambda self, common, *others: right(self, _Straight(common), *others), PROGRAMS),
    Mistake("WRITE_INACTIVE writes where no lane is inactive", Gates, "base",
            lambda right: lambda self, *, write_inactive=False: right(self), DIRECTED),
    Mistake("aL does not change", Integers, "step", lambda right: lambda self, index: ir.Constant(INT, 0), DIRECTED),
    Mistake("branches end one level", FlowControl, "_branch",
            lambda right: lambda self, operation, instruction, *others: right(
                self, operation, replace(instruction, pop_count=1), *others), DIRECTED),
    Mistake("ELSE changes nothing", FlowControl, "_swap_branches", lambda right: lambda self, here: None, FLOW),
    Mistake("groups of one vector always go together", Graph, "keeps_wavefronts_together", lambda right: True,
            DIRECTED),
    Mistake("NaNs stay as they are", selection, "canonical", lambda right: lambda lanes, values: values, DIRECTED),
    Mistake("nothing has bits of its own", Exactness, "is_arithmetic", lambda right: lambda self, index: True,
            (*PROGRAMS, *KNOWN)),
    Mistake("barriers do nothing", Lanes, "fenced", lambda right: lambda self, values: values, (*KNOWN, *PROGRAMS)),
    Mistake("0 * infinity is a NaN, whatever the program says", arithmetic, "multiply_add",
            lambda right: lambda lanes, *of, zero_times_anything: right(lanes, *of, zero_times_anything=False),
            DIRECTED),
    Mistake("products are rounded before the sum", arithmetic, "multiply_add", lambda right: _rounded_twice,
            (*PROGRAMS, *KNOWN)),
    Mistake("denormals stay", kernel, "_DENORMALS_OFF", lambda right: 0, (*PROGRAMS, *KNOWN)),
    Mistake("lanes that broke out of an inner loop are out of its next run", FlowControl, "_push",
            lambda right: _with_old_breaks, DIRECTED),
    Mistake("lanes that broke out of an inner loop are inactive in the branches after it", FlowControl, "_pop",
            lambda right: _without_return, DIRECTED),
    Mistake("rows of a tile are in another order", address, "_row", _next_row, PROGRAMS),
    Mistake("a bit of y is not in the address", address, "_moved",
            lambda right: lambda lanes, value, bits: right(lanes, value, bits[:-1]), PROGRAMS),
    Mistake("-0 is not killed", selection, "is_less_than_zero", lambda right: _less_than_zero, UNARY),
    Mistake("output masks are not looked at", translation, "send",
            lambda right: lambda *of, output_mask, **options: right(*of, output_mask=(True,) * 4, **options),
            (*PROGRAMS, *COMMANDS)),
    Mistake("equal does not pass less or equal", finish._COMPARISONS, ConditionalTest.LESS_EQUAL,  # type: ignore[arg-type]
            lambda right: "<", CONDITIONAL),
    Mistake("inactive lanes are counted", Counts, "change",
            lambda right: lambda self, here, active, group: right(self, here, here, group), FLOW),
    Mistake("uncovered pixels store", Kernel, "_coverage",
            lambda right: lambda self: self.lanes.any_in_each(right(self), self.frame.wavefront_lanes), PROGRAMS),
    Mistake("lane 0 leads uncached writes", uncached, "_from_leader",
            lambda right: lambda lanes, values, eligible: lanes.of_quad(values, 0),
            (*PROGRAMS, *_tests("test_programs", "test_random_programs", range(12, 100)), *COMMANDS)),
]  # fmt: skip
