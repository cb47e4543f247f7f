"""Loops: counts, aL, BREAK and CONTINUE with pixels that differ, stacks; worked out by hand.

c0 = 1, c1 = 10, c2 = 100, c3 = 1000, c4 = 2 in every channel; i runs over 0..3.
"""

import pytest

from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.tb.r5xx.machine import Instruction, Machine, alu, move
from ctm.tb.r5xx.statements import (
    ALU,
    ALWAYS,
    BREAKLOOP,
    BREAKREP,
    CONTINUE,
    ENDREP,
    NEVER,
    NOT_PREDICATE,
    PREDICATE,
    REP,
    add,
    begin_if,
    begin_loop,
    compare,
    end_if,
    end_loop,
    jump,
    leave,
    predicate,
)

ONE, TEN, HUNDRED, THOUSAND, TWO, ZERO = range(6)
RESULT = move(0, 1, output=0)


def machine(lanes: int = 4) -> Machine:
    result = Machine(lanes=lanes)
    for index, value in enumerate((1, 10, 100, 1000, 2, 0)):
        result.set_floats(index, *[float(value)] * 4)
    return result


def run(program: list[Instruction], target: Machine, **information: int) -> list[float]:
    """r1.r of the pixels i = 0..3, j = 0 at the end of `program`, to which the output is appended."""
    target.load([*program, RESULT], **information)
    return list(target.start((0, 0, 3, 0))[0, 0, :, 0])


def fault(program: list[Instruction], target: Machine, **information: int) -> tuple[Status, int | None]:
    with pytest.raises(MachineError) as caught:
        run(program, target, **information)
    return caught.value.status, caught.value.pc


@pytest.fixture(params=[4, 8, 16])
def lanes(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.mark.parametrize("kind", ["loop", "rep"])
@pytest.mark.parametrize("count", [0, 1, 2, 255])
def test_a_loop_runs_as_often_as_its_constant_says(kind: str, count: int, lanes: int) -> None:
    target = machine(lanes)
    target.set_int(0, count)
    ops = ({}, {}) if kind == "loop" else ({"op": REP}, {"op": ENDREP})
    program = [begin_loop(3, **ops[0]), add(ONE), end_loop(1, **ops[1])]
    assert run(program, target) == [count] * 4


def test_al_starts_and_steps_as_the_constants_say_and_addresses_temporaries() -> None:
    # aL = 1, 3, 5: r1, r3 and r5 are incremented; REP leaves aL alone.
    target = machine()
    target.set_int(0, 3, start=1, step=2)
    target.set_int(1, 2)
    body = [
        begin_loop(5),
        begin_loop(4, 1, op=REP),
        add(ONE, temporary=0, relative=True),
        end_loop(2, op=ENDREP),
        end_loop(1),
    ]
    collect = [add_temporaries(1, 3), add_temporaries(1, 5)]
    assert run([*body, *collect], target) == [6] * 4


def add_temporaries(destination: int, source: int) -> Instruction:
    """r[destination].r += r[source].r."""
    rgb = {"addr0": destination, "addr1": source, "red_swiz_b": 6, "rgb_sel_c": 1, "rgb_addrd": destination}
    return alu(rgb=rgb, rgb_wmask=1)


def test_a_negative_step_counts_down() -> None:
    # aL = 3, 2: r3 and r2.
    target = machine()
    target.set_int(0, 2, start=3, step=-1)
    program = [begin_loop(3), add(TEN, temporary=0, relative=True), end_loop(1), add_temporaries(1, 3)]
    assert run([*program, add_temporaries(1, 2)], target) == [20] * 4


def test_relative_addresses_wrap_inside_their_file() -> None:
    # aL = 255: temporary 2 + 255 = 257 is 257 mod 128 = 1, constant 3 + 255 = 258 is c2.
    target = machine()
    target.set_int(0, 1, start=255)
    rgb = {
        "addr0": 3, "addr0_const": 1, "addr0_rel": 1, "red_swiz_b": 6, "rgb_sel_c": 0, "red_swiz_c": 4,
        "rgb_addrd": 2, "rgb_addrd_rel": 1,
    }  # fmt: skip
    assert run([begin_loop(3), alu(rgb=rgb, rgb_wmask=1), end_loop(1)], target) == [100] * 4


def test_al_wraps_at_nine_bits() -> None:
    # Start 255, step 127: iteration 4 has aL = 255 + 3 * 127 = 636 = 124 mod 512; temporary 5 + 124 = 129 is r1.
    target = machine()
    target.set_int(0, 4, start=255, step=127)
    target.set_int(1, 3)
    # 5 + 255 = 260 -> r4; 5 + 382 = 387 -> r3; 5 + 509 = 514 -> r2; 5 + 124 = 129 -> r1.
    program = [begin_loop(3), add(ONE, temporary=5, relative=True), end_loop(1)]
    collect = [add_temporaries(1, 2), add_temporaries(1, 3), add_temporaries(1, 4)]
    assert run(program, target) == [1] * 4
    assert run([*program, *collect], target) == [4] * 4


def test_an_inner_loop_gives_al_back() -> None:
    # Outer aL = 2, inner aL = 3, after it aL = 2 again.
    target = machine()
    target.set_int(0, 1, start=2)
    target.set_int(1, 2, start=3, step=1)
    program = [
        begin_loop(6),
        begin_loop(4, 1),
        add(ONE, temporary=0, relative=True),  # r3, r4
        end_loop(2, 1),
        add(TEN, temporary=0, relative=True),  # r2
        end_loop(1),
        add_temporaries(1, 2),
        add_temporaries(1, 3),
        add_temporaries(1, 4),
    ]
    assert run(program, target) == [12] * 4


@pytest.mark.parametrize("op", [BREAKLOOP, BREAKREP])
def test_pixels_leave_a_loop_one_after_the_other(op: int, lanes: int) -> None:
    # r1 counts the iterations; pixel i breaks when r1 == i: it has i iterations.
    target = machine(lanes)
    target.set_int(0, 10)
    begin, end = ({"op": REP}, {"op": ENDREP}) if op == BREAKREP else ({}, {})
    is_iteration = {
        "addr0": 0,
        "addr1": 1,
        "red_swiz_b": 6,
        "rgb_sel_c": 1,
        "rgb_mod_c": 1,
        "target": ZeroTest.EQUAL.value,
    }
    program = [
        begin_loop(7, **begin),
        alu(rgb=is_iteration, rgb_omask=1),
        begin_if(5, NOT_PREDICATE, rgb_pred_sel=2),
        leave(7, 1, op=op),
        end_if(),
        add(ONE),
        end_loop(1, **end),
        add(HUNDRED),
    ]
    assert run(program, target) == [100, 101, 102, 103]


def test_a_break_without_branch_takes_the_pixels_of_its_test(lanes: int) -> None:
    # BREAKLOOP with JUMP_FUNC "ALU result": i >= 2 break in the first iteration, the others have all three.
    target = machine(lanes)
    target.set_int(0, 3)
    program = [
        begin_loop(5),
        compare(TWO, ZeroTest.GREATER_EQUAL),
        jump(5, ALU, op=BREAKLOOP),
        add(ONE),
        end_loop(1),
        add(TEN),
    ]
    assert run(program, target) == [13, 13, 10, 10]


def test_continue_skips_the_remaining_iteration_for_the_pixels_of_its_test(lanes: int) -> None:
    # Of three iterations, i == 1 continues before the addition in each.
    target = machine(lanes)
    target.set_int(0, 3)
    program = [
        begin_loop(6),
        add(TEN),
        compare(ONE, ZeroTest.EQUAL),
        jump(5, ALU, op=CONTINUE),
        add(ONE),
        end_loop(1),
        add(HUNDRED),
    ]
    assert run(program, target) == [133, 130, 133, 133]


def test_continue_inside_a_branch_pops_its_levels(lanes: int) -> None:
    target = machine(lanes)
    target.set_int(0, 2)
    program = [
        begin_loop(8),
        compare(TWO, ZeroTest.LESS),
        begin_if(6),
        add(TEN),
        leave(7, 1, op=CONTINUE),
        end_if(),
        add(ONE),
        end_loop(1),
        add(HUNDRED),
    ]
    assert run(program, target) == [120, 120, 102, 102]


def test_break_and_continue_in_one_loop(lanes: int) -> None:
    # Three iterations. i == 0 breaks in the first, i == 1 continues in each, the others run through.
    target = machine(lanes)
    target.set_int(0, 3)
    program = [
        begin_loop(8),
        add(TEN),
        compare(ZERO, ZeroTest.EQUAL),
        jump(8, ALU, op=BREAKLOOP),
        compare(ONE, ZeroTest.EQUAL),
        jump(7, ALU, op=CONTINUE),
        add(ONE),
        end_loop(1),
        add(HUNDRED),
    ]
    assert run(program, target) == [110, 130, 133, 133]


def test_a_loop_inside_a_branch_leaves_the_others_waiting(lanes: int) -> None:
    target = machine(lanes)
    target.set_int(0, 4)
    program = [
        compare(TWO, ZeroTest.LESS),
        begin_if(6),
        begin_loop(5),
        add(ONE),
        end_loop(3),
        end_if(),
        add(HUNDRED),
    ]
    assert run(program, target) == [104, 104, 100, 100]


def test_loops_nest_four_deep_and_no_deeper() -> None:
    def nested(depth: int) -> list[Instruction]:
        begin = [begin_loop(2 * depth + 1 - level) for level in range(depth)]
        return [*begin, add(ONE), *[end_loop(depth - level) for level in range(depth)]]

    target = machine()
    target.set_int(0, 2)
    assert run(nested(4), target) == [16] * 4
    assert fault(nested(5), target) == (Status.STACK, 4)


def test_partial_flow_control_has_no_loops_and_no_calls() -> None:
    target = machine()
    target.set_int(0, 2)
    assert fault([begin_loop(3), add(ONE), end_loop(1)], target, us_fc_ctrl=0) == (Status.STACK, 0)
    assert fault([jump(1, a_op=2), add(ONE)], target, us_fc_ctrl=0) == (Status.STACK, 0)


@pytest.mark.parametrize("op", [2, 4, 5, 6, 7])
def test_an_end_or_break_outside_a_loop_is_a_stack_fault(op: int) -> None:
    assert fault([jump(1, ALWAYS, op=op, jump_any=1)], machine()) == (Status.STACK, 0)


@pytest.mark.parametrize(("begin", "end"), [(1, 4), (1, 6), (3, 2), (3, 5)])
def test_the_end_or_break_of_the_other_kind_of_loop_is_illegal(begin: int, end: int) -> None:
    target = machine()
    target.set_int(0, 2)
    program = [begin_loop(2, op=begin), jump(1, ALWAYS, op=end, jump_any=1)]
    assert fault(program, target) == (Status.ILLEGAL_INSTRUCTION, 1)


def test_a_loop_without_an_active_pixel_ends_after_one_iteration() -> None:
    # B_ELSE makes all branch-inactive, and later active again. LOOP pushes though no pixel decides;
    # ENDLOOP has JUMP_ANY = 1 and so ends when no pixel decides.
    target = machine()
    target.set_int(0, 5)
    program = [
        jump(1, NEVER, jump_any=1, b_else=1),
        begin_loop(4),
        add(ONE),
        end_loop(2),
        jump(5, NEVER, jump_any=1, b_else=1),
        add(TEN),
    ]
    assert run(program, target) == [10] * 4
    assert target.counters.instructions == 7 * target.counters.wavefronts


def test_predicated_break(lanes: int) -> None:
    target = machine(lanes)
    target.set_int(0, 2)
    program = [
        predicate(TWO, ZeroTest.LESS),
        begin_loop(5),
        jump(5, PREDICATE, op=BREAKLOOP, rgb_pred_sel=2),
        add(ONE),
        end_loop(2),
        add(HUNDRED),
    ]
    assert run(program, target) == [100, 100, 102, 102]
