"""Branches, predicates, booleans, calls; expected values are worked out by hand in each test.

c0 = 1, c1 = 10, c2 = 100, c3 = 1000 and c4 = 2 in every channel. i runs over 0..3, so a wavefront of 4 has i = 0, 1 or
2, 3 and one of eight has all.
"""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.tb.r5xx.machine import Instruction, Machine, move
from ctm.tb.r5xx.statements import (
    ALU,
    BOOL,
    DECR,
    INCR,
    NEVER,
    NOT_ALU,
    NOT_BOOL,
    NOT_PREDICATE,
    POP,
    PUSH,
    add,
    begin_if,
    compare,
    end_if,
    jump,
    otherwise,
    predicate,
)

ONE, TEN, HUNDRED, THOUSAND, TWO = range(5)
RESULT = move(0, 1, output=0)


def machine(lanes: int = 4) -> Machine:
    result = Machine(lanes=lanes)
    for index, value in enumerate((1, 10, 100, 1000, 2)):
        result.set_floats(index, *[float(value)] * 4)
    return result


def run(
    program: list[Instruction], *, lanes: int = 4, prepared: Machine | None = None, **information: int
) -> list[float]:
    """r1.r of the pixels i = 0..3, j = 0 at the end of `program`, to which the output is appended."""
    target = prepared or machine(lanes)
    target.load([*program, RESULT], **information)
    return list(target.start((0, 0, 3, 0))[0, 0, :, 0])


@pytest.fixture(params=[4, 8, 16])
def lanes(request: pytest.FixtureRequest) -> int:
    return request.param


def test_if_runs_for_the_pixels_of_its_test_only(lanes: int) -> None:
    program = [compare(TWO, ZeroTest.LESS), begin_if(4), add(TEN), end_if()]
    assert run(program, lanes=lanes) == [10, 10, 0, 0]
    program = [compare(ONE, ZeroTest.EQUAL), begin_if(4), add(TEN), end_if()]
    assert run(program, lanes=lanes) == [0, 10, 0, 0]


def test_if_else_splits_the_wavefront(lanes: int) -> None:
    program = [compare(ONE, ZeroTest.EQUAL), begin_if(4, has_else=True), add(TEN), otherwise(6), add(HUNDRED), end_if()]
    assert run(program, lanes=lanes) == [100, 10, 100, 100]


def test_an_if_that_no_pixel_enters_is_jumped_over(lanes: int) -> None:
    target = machine(lanes)
    program = [compare(THOUSAND, ZeroTest.EQUAL), begin_if(4), add(TEN), end_if()]
    assert run(program, prepared=target) == [0, 0, 0, 0]
    # The compare, the IF and the output are all that each group executes.
    assert target.counters.instructions == 3 * target.counters.wavefronts


def test_nested_ifs_count_their_levels(lanes: int) -> None:
    program = [
        compare(TWO, ZeroTest.LESS),  # i = 0, 1
        begin_if(10),
        add(ONE),
        compare(ONE, ZeroTest.EQUAL),  # i = 1
        begin_if(7, has_else=True),
        add(TEN),
        otherwise(9),
        add(HUNDRED),
        end_if(),
        end_if(),
        add(THOUSAND),
    ]
    assert run(program, lanes=lanes) == [1101, 1011, 1000, 1000]


def test_merged_endifs_as_on_page_40(lanes: int) -> None:
    # IF i >= 1: += 1, IF i >= 2: += 10, IF i == 3: += 100, then one ENDIF for all three.
    program = [
        compare(ONE, ZeroTest.GREATER_EQUAL),
        jump(10, NOT_ALU, b_op0=INCR),
        add(ONE),
        compare(TWO, ZeroTest.GREATER_EQUAL),
        jump(10, NOT_ALU, b_op0=INCR, b_op1=DECR, b_pop_cnt=1),
        add(TEN),
        compare(5, ZeroTest.EQUAL),
        jump(10, NOT_ALU, b_op0=INCR, b_op1=DECR, b_pop_cnt=2),
        add(HUNDRED),
        end_if(3),
        add(THOUSAND),
    ]
    target = machine(lanes)
    target.set_floats(5, 3.0, 3.0, 3.0, 3.0)
    assert run(program, prepared=target) == [1000, 1001, 1011, 1111]


def test_boolean_constants_steer_whole_wavefronts() -> None:
    for value in (False, True):
        for function, enters in ((NOT_BOOL, value), (BOOL, not value)):
            target = machine()
            target.set_bool(31, value)
            program = [begin_if(3, function, bool_addr=31), add(TEN), end_if()]
            assert run(program, prepared=target) == [10 * enters] * 4


def test_only_byte_0_of_a_boolean_counts() -> None:
    target = machine()
    target.memory.write(0x22800 + 4 * 5, bytes([0, 255, 255, 255]))
    assert run([begin_if(3, NOT_BOOL, bool_addr=5), add(TEN), end_if()], prepared=target) == [0] * 4


def test_predicates_decide_by_the_selected_bit_and_can_be_inverted(lanes: int) -> None:
    # R: i == 1; G: i < 2; B: never.
    bits = [predicate(ONE, ZeroTest.EQUAL, mask=1), predicate(TWO, ZeroTest.LESS, mask=2)]
    for select, inverted, expected in (
        (2, 0, [0, 10, 0, 0]),
        (2, 1, [10, 0, 10, 10]),
        (3, 0, [10, 10, 0, 0]),
        (4, 0, [0, 0, 0, 0]),
        (4, 1, [10, 10, 10, 10]),
        (0, 0, [10, 10, 10, 10]),
        (0, 1, [0, 0, 0, 0]),
    ):
        branch = begin_if(5, NOT_PREDICATE, rgb_pred_sel=select, rgb_pred_inv=inverted)
        assert run([*bits, branch, add(TEN), end_if()], lanes=lanes) == expected


@pytest.mark.parametrize("function", [0x6A, 0x93, 0x01, 0x80])
def test_jump_func_is_a_table_over_alu_result_predicate_and_boolean(function: int) -> None:
    for boolean in (False, True):
        target = machine(8)
        target.set_bool(0, boolean)
        # ALU result: i >= 2. Predicate R: i is odd, that is 1 or 3: i == 1 or i == 3 by two writes.
        target.set_floats(5, 3.0, 3.0, 3.0, 3.0)
        program = [
            predicate(ONE, ZeroTest.EQUAL),
            predicate(5, ZeroTest.EQUAL, rgb_pred_sel=2, rgb_pred_inv=1),
            compare(TWO, ZeroTest.GREATER_EQUAL),
            begin_if(6, function, rgb_pred_sel=2),
            add(TEN),
            end_if(),
        ]
        jumps = [function >> ((i >= 2) << 2 | (i & 1) << 1 | boolean) & 1 for i in range(4)]
        assert run(program, prepared=target) == [0 if jumped else 10 for jumped in jumps]


def test_predicates_gate_writes_per_channel() -> None:
    # R: i < 2, G: i == 1, B: 0. r0 = (i, 0, 0, 1) is copied to r1 by channel; alpha goes by the predicate of G.
    program = [
        predicate(TWO, ZeroTest.LESS, mask=1),
        predicate(ONE, ZeroTest.EQUAL, mask=2),
        move(1, 0, rgb_pred_sel=1, alpha_pred_sel=3),
        move(0, 1, output=0),
    ]
    target = machine()
    target.load(program)
    found = target.start((0, 0, 3, 1))[0]
    np.testing.assert_array_equal(found[1, :, 0], [0, 1, 0, 0])
    np.testing.assert_array_equal(found[1, :, 1], [0, 1, 0, 0])
    np.testing.assert_array_equal(found[1, :, 3], [0, 1, 0, 0])


def test_select_none_inverted_means_never() -> None:
    target = machine()
    target.load([move(1, 0, rgb_pred_inv=1), move(0, 1, output=0)])
    assert target.start((1, 1, 1, 1))[0, 1, 1].tolist() == [0, 0, 0, 1]


def test_call_and_return(lanes: int) -> None:
    program = [
        jump(3, a_op=PUSH),  # CALL 3
        jump(3, a_op=PUSH),  # CALL 3
        jump(6),
        add(TEN),
        jump(0, a_op=POP),  # RETURN
        add(THOUSAND),
    ]
    assert run(program, lanes=lanes) == [20, 20, 20, 20]


def test_calls_nest_four_deep_and_no_deeper() -> None:
    def nested(depth: int) -> list[Instruction]:
        # Slot 0 calls 2, the routine at 2k adds one and calls 2k + 2; the last returns at once. After all: slot 1.
        program = [jump(2, a_op=PUSH), jump(2 + 3 * depth)]
        for level in range(depth):
            last = level == depth - 1
            target = 2 + 3 * (level + 1)
            call = add(TEN) if last else jump(target, a_op=PUSH)
            program += [add(ONE), call, jump(0, a_op=POP)]
        return program

    assert run(nested(4)) == [14.0] * 4
    with pytest.raises(MachineError) as caught:
        run(nested(5))
    assert (caught.value.status, caught.value.pc) == (Status.STACK, 12)


def test_a_return_without_a_call_is_a_stack_fault() -> None:
    with pytest.raises(MachineError) as caught:
        run([jump(0, a_op=POP)])
    assert (caught.value.status, caught.value.pc) == (Status.STACK, 0)


def test_a_push_that_does_not_jump_leaves_the_stack_alone() -> None:
    calls = [jump(0, NEVER, jump_any=1, a_op=PUSH) for _ in range(6)]
    assert run([*calls, add(TEN)]) == [10] * 4


def test_a_conditional_call_drives_the_branch_counters(lanes: int) -> None:
    program = [
        compare(TWO, ZeroTest.LESS),
        jump(4, ALU, jump_any=1, a_op=PUSH, b_op1=INCR),  # CALL for i < 2: the others wait with counter 0.
        add(HUNDRED),
        jump(6),
        add(TEN),
        jump(0, a_op=POP, b_op1=DECR, b_pop_cnt=1),  # RETURN
    ]
    assert run(program, lanes=lanes) == [110, 110, 100, 100]


def test_branches_nest_32_deep_in_full_mode_and_6_in_partial() -> None:
    def nested(depth: int) -> list[Instruction]:
        # i == 1 enters every IF; the others fail the first one, so their counters reach depth - 1.
        program = [compare(ONE, ZeroTest.EQUAL), begin_if(1 + 3 * depth)]
        for _ in range(depth - 1):
            program += [compare(ONE, ZeroTest.EQUAL), begin_if(1 + 3 * depth)]
        return [*program, add(TEN), *[end_if()] * depth]

    assert run(nested(32)) == [0, 10, 0, 0]
    assert run(nested(6), us_fc_ctrl=0) == [0, 10, 0, 0]
    cases: list[tuple[int, dict[str, Any], int]] = [(33, {}, 65), (7, {"us_fc_ctrl": 0}, 13)]
    for depth, control, pc in cases:
        with pytest.raises(MachineError) as caught:
            run(nested(depth), **control)
        assert (caught.value.status, caught.value.pc) == (Status.STACK, pc)


def test_jump_targets_are_relative_to_the_code_offset_unless_global() -> None:
    local = [move(0, 0), jump(2, NEVER, jump_any=1), jump(3), add(TEN), add(ONE)]
    # With offset 1 the program starts at slot 1 and the jump at slot 2 goes to slot 4.
    assert run(local, offset=1, start=0, end=4) == [1] * 4
    absolute = [move(0, 0), jump(2, NEVER, jump_any=1), jump(3, jump_global=1), add(TEN), add(ONE)]
    assert run(absolute, offset=1, start=0, end=4) == [11] * 4
