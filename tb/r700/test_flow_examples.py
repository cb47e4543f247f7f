"""Control flow with results worked out by hand: words that random programs seldom use, and the ends of programs."""

import numpy as np
import pytest

from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.examples import add, execute, moves, same, where
from ctm.tb.r700.machine import Job, run
from ctm.tb.r700.words import alu_word, export, group, slot, vtx, word

_INTS = {0: (0, 7, 3), 1: (3, 5, -10), 2: (2, 250, 127), 3: (4, 255, -128), 4: (5, 3, 100), 31: (2, 1, 2)}
_BOOLS = {3: True, 31: True}


def trace(a: Assembly, width: int = 1, **job) -> list[float]:
    """R1.x of the pixels of a row."""
    return execute(a, domain=(0, 0, width - 1, 0), ints=_INTS, bools=_BOOLS, **job).outputs[0, 0, :, 0].view(
        np.float32
    ).tolist()  # fmt: skip


@pytest.mark.parametrize("wavefront", [4, 64])
@pytest.mark.parametrize(
    ("cond", "const", "holds"),
    [
        ("ACTIVE", 0, True), ("FALSE", 3, False), ("BOOL", 3, True), ("BOOL", 2, False),
        ("NOT_BOOL", 3, False), ("NOT_BOOL", 2, True), ("BOOL", 31, True), ("NOT_BOOL", 31, False),
    ],
)  # fmt: skip
def test_conditions(cond: str, const: int, holds: bool, wavefront: int) -> None:
    a = Assembly()
    a.flow("JUMP", to=2, cond=cond, const=const)
    a.alu(add(1))
    after = Label()
    a.flow("PUSH", to=after, cond=cond, const=const)
    a.alu(add(2))
    a.flow("POP", pop=1)
    a.bind(after)
    loop = a.flow("LOOP_START_DX10", to=9, cond=cond, const=const)
    a.alu(add(4))
    a.flow("LOOP_BREAK", to=loop + 3)
    a.flow("LOOP_END", to=loop + 1)
    call = a.flow("CALL", to=14, cond=cond, const=const)
    assert call == 9
    a.flow("PUSH_ELSE", to=12, cond=cond, const=const)
    a.alu(add(16))
    a.flow("POP", pop=1)
    a.output(1)
    assert a.here == 14
    a.alu(add(8))
    a.flow("RETURN")
    a.end()
    program = a.executable()
    found = run(Job(program=program, domain=(0, 0, 4, 0), bools=_BOOLS, wavefront=wavefront))
    assert found.error is None, found.error
    same(found.outputs[0, 0, :, 0], [15.0 if holds else 16.0] * 5)


@pytest.mark.parametrize(("cond", "expected"), [("BOOL", [2.0, 2.0, 1.0, 1.0]), ("NOT_BOOL", [0.0, 0.0, 3.0, 3.0])])
def test_an_else_with_a_condition(cond: str, expected: list[float]) -> None:
    """Where the condition does not hold, the pixels of the first branch stay."""
    a = Assembly()
    where(a, "GE", "R0.x", "#40000000")
    a.alu(add(1))
    a.flow("ELSE", to=4, cond=cond, const=3)
    a.alu(add(2))
    a.flow("POP", pop=1)
    assert trace(a, 4) == expected


@pytest.mark.parametrize(("cond", "expected"), [("BOOL", [3.0, 3.0, 2.0, 2.0]), ("FALSE", [1.0, 1.0, 0.0, 0.0])])
def test_a_pop_with_a_condition(cond: str, expected: list[float]) -> None:
    """It disables the pixels that are active after it, until another pop."""
    a = Assembly()
    a.flow("PUSH", to=8000)
    where(a, "GT", "#40000000", "R0.x")
    a.alu(add(1))
    a.flow("POP", pop=1, cond=cond, const=3)
    a.alu(add(2))
    a.flow("POP", pop=1)
    assert trace(a, 4) == expected


def test_several_entries_are_popped_at_once() -> None:
    a = Assembly()
    for limit in (1, 2, 3):
        where(a, "GE", "R0.x", f"#{int(np.float32(limit).view(np.uint32)):x}")
        a.alu(add(1))
    a.flow("POP", pop=2)
    a.alu(add(10))
    a.alu(add(100), name="ALU_POP_AFTER")
    a.alu(add(1000))
    assert trace(a, 4) == [1000.0, 1111.0, 1112.0, 1113.0]


def test_entries_are_popped_by_the_clause() -> None:
    a = Assembly()
    for limit in ("1.0", "#40000000", "#40400000"):
        where(a, "GE", "R0.x", limit)
    a.alu(add(1), name="ALU_POP2_AFTER")
    a.alu(add(10))
    a.flow("POP", pop=1)
    assert trace(a, 4) == [0.0, 10.0, 10.0, 11.0]


def test_a_jump_pops_only_if_it_is_taken() -> None:
    a = Assembly()
    after = Label()
    a.flow("PUSH", to=8000)
    where(a, "GT", "R0.x", "#42c80000")
    a.flow("JUMP", to=after, pop=2)
    a.alu(add(1))
    a.bind(after)
    a.alu(add(2))
    a.flow("PUSH", to=8000)
    a.flow("JUMP", to=8000, pop=1)
    a.flow("POP", pop=1)
    assert trace(a, 3) == [2.0] * 3


@pytest.mark.parametrize(
    ("const", "rows"),
    [
        (1, [5, 507, 497]), (2, [250, 377]), (3, [255, 127, 511, 383]), (4, [3, 103, 203, 303, 403]), (0, []),
        (31, [1, 3]),
    ],
)  # fmt: skip
def test_loop_constants(const: int, rows: list[int]) -> None:
    """The loop index has 9 bits and wraps; it is 0 outside, where it is again after the loop."""
    a = Assembly()
    a.alu(moves(1, "0", "0"))
    loop = a.flow("LOOP_START", to=4, const=const)
    index = group(slot("ADD", "R1.x", "R1.x", "K0[0+].y", index="LOOP"), slot("ADD", "R1.y", "R1.y", "1.0"))
    a.alu(index, kcache=[(1, 0)])
    a.flow("LOOP_END", to=loop + 1)
    a.alu(group(slot("MOV", "R1.z", "K0[2+].x", index="LOOP")), kcache=[(1, 0)])
    found = execute(a, domain=(0, 0, 0, 0), ints=_INTS).outputs[0, 0, 0]
    total = sum(row + 0.25 for row in rows if row < 256)
    same(found, [float(total), float(len(rows)), 2.0, 0])


def test_loops_in_loops_have_their_own_index() -> None:
    a = Assembly()
    outer = a.flow("LOOP_START", to=8000, const=1)
    index = group(slot("ADD", "R1.x", "R1.x", "K0[0+].x", index="LOOP"))
    a.alu(index, kcache=[(1, 0)])
    inner = a.flow("LOOP_START", to=8000, const=2)
    a.alu(index, kcache=[(1, 0)])
    a.flow("LOOP_END", to=inner + 1)
    same_index = a.flow("LOOP_START_NO_AL", to=8000, const=2)
    a.alu(index, kcache=[(1, 0)])
    a.flow("LOOP_END", to=same_index + 1)
    a.alu(index, kcache=[(1, 0)])
    a.flow("LOOP_END", to=outer + 1)
    # The outer loop sees 5, 507 and 497, the inner one 250 and 377 each time.
    assert trace(a) == [5.0 * 4 + 3 * 250.0]


def test_a_break_leaves_the_index_of_before() -> None:
    a = Assembly()
    outer = a.flow("LOOP_START", to=8000, const=1)
    inner = a.flow("LOOP_START", to=8000, const=2)
    a.flow("LOOP_BREAK", to=inner + 2)
    a.flow("LOOP_END", to=inner + 1)
    a.alu(group(slot("ADD", "R1.x", "R1.x", "K0[0+].x", index="LOOP")), kcache=[(1, 0)])
    a.flow("LOOP_BREAK", to=outer + 6)
    a.flow("LOOP_END", to=outer + 1)
    assert trace(a) == [5.0]


def test_the_end_of_a_loop_removes_what_is_above_it() -> None:
    """Branches that were not popped, and a call that did not return."""
    a = Assembly()
    loop = a.flow("LOOP_START_NO_AL", to=8000, const=1)
    a.flow("CALL", to=loop + 2)
    a.flow("PUSH", to=8000)
    where(a, "GT", "R0.x", "0")
    a.alu(add(1))
    a.flow("LOOP_END", to=loop + 1)
    assert trace(a, 2, information={"stack_size": 3}) == [0.0, 3.0]


@pytest.mark.parametrize(("first", "second", "calls"), [(16, 16, 2), (16, 17, 1), (32, 0, 2), (32, 1, 1), (33, 0, 0)])
def test_calls_are_counted(first: int, second: int, calls: int) -> None:
    a = Assembly()
    a.flow("CALL", to=3, call_count=first)
    a.output(1, ends=False)
    a.end()
    a.alu(add(1))
    a.flow("CALL", to=6, call_count=second)
    a.flow("RETURN")
    a.alu(add(1))
    a.flow("RETURN")
    found = run(Job(program=a.executable(), domain=(0, 0, 0, 0)))
    assert found.error is None
    same(found.outputs[0, 0, 0, 0], float(calls))


def test_calls_one_after_another_do_not_add_up() -> None:
    a = Assembly()
    for _ in range(5):
        a.flow("CALL", to=7, call_count=32)
    a.output(1, ends=False)
    a.end()
    a.alu(add(1))
    a.flow("RETURN")
    found = run(Job(program=a.executable(stack_size=1), domain=(0, 0, 1, 0)))
    assert found.error is None
    same(found.outputs[0, 0, :, 0], [5.0, 5.0])


@pytest.mark.parametrize(("killed", "expected"), [(False, 1.0), (True, 3.0)])
def test_a_return_needs_all_active_pixels(killed: bool, expected: float) -> None:
    """With a killed pixel among them, one of the valid ones only is not taken."""
    a = Assembly()
    a.flow("CALL", to=3)
    a.output(1)
    a.end()
    a.alu(add(1))
    if killed:
        a.alu(group(slot("KILLE", "_.x", "R0.x", "0")))
    a.flow("RETURN", valid_pixel_mode=1)
    a.alu(add(2))
    a.flow("RETURN")
    found = run(Job(program=a.executable(), domain=(0, 0, 1, 1), wavefront=4))
    assert found.error is None
    same(found.outputs[0, 0, 1, 0], expected)


def test_a_return_of_no_pixel() -> None:
    """A called subroutine in which all leave the branch returns, and a pop outside brings them back."""
    a = Assembly()
    a.flow("PUSH", to=8000)
    a.flow("CALL", to=5)
    a.flow("POP", pop=1)
    a.alu(add(1))
    a.output(1)
    where(a, "GT", "R0.x", "#42c80000", name="ALU")
    a.alu(add(8))
    a.flow("RETURN")
    found = run(Job(program=a.executable(), domain=(0, 0, 1, 1)))
    assert found.error is None
    same(found.outputs[0, 0, :, 0], [1.0, 1.0])


def test_a_loop_ends_with_the_program() -> None:
    a = Assembly()
    a.flow("LOOP_START_DX10", to=8000)
    a.alu(add(1))
    a.raw(export(0, 1))
    a.flow("LOOP_END", to=1, end_of_program=1)
    found = run(Job(program=a.executable(), domain=(0, 0, 0, 0)))
    assert found.error is None
    same(found.outputs[0, 0, 0, 0], 1.0)


def test_continued_pixels_stay_out_of_an_inner_loop() -> None:
    """The outer loop goes round twice; odd columns continue before the inner loop."""
    a = Assembly()
    outer, end = a.flow("LOOP_START_NO_AL", to=8000, const=2), Label()
    a.alu(add(100))
    where(a, "E", "R0.x", "0", name="ALU_CONTINUE")
    inner = a.flow("LOOP_START_NO_AL", to=8000, const=1)
    a.alu(add(1))
    a.flow("LOOP_END", to=inner + 1)
    a.alu(add(10))
    a.bind(end)
    a.flow("LOOP_END", to=outer + 1)
    assert trace(a, 2) == [226.0, 200.0]


def test_entries_of_a_branch_are_made_even_without_a_pixel() -> None:
    a = Assembly()
    a.flow("PUSH", to=8000)
    where(a, "GT", "R0.x", "#42c80000", name="ALU")
    where(a, "GT", "R0.x", "0")
    a.alu(add(1))
    a.flow("POP", pop=2)
    a.alu(add(2))
    assert trace(a, 3) == [2.0] * 3


@pytest.mark.parametrize("name", ["ALU_BREAK", "ALU_CONTINUE"])
def test_a_clause_that_is_skipped_takes_no_pixel_out_of_a_loop(name: str) -> None:
    """The pixels that the clause before took out of the branch are not this one's."""
    a = Assembly()
    loop = a.flow("LOOP_START_NO_AL", to=8000, const=2)
    where(a, "GT", "R0.x", "#42c80000")
    where(a, "GT", "R0.x", "0", name=name)
    a.flow("POP", pop=1)
    a.alu(add(1))
    a.flow("LOOP_END", to=loop + 1)
    assert trace(a, 3) == [2.0] * 3


@pytest.mark.parametrize(("stack", "status"), [(0, "STACK"), (1, "PC_RANGE")])
def test_a_push_comes_before_its_clause(stack: int, status: str) -> None:
    a = Assembly()
    a.raw((8000, 1 << 31 | 9 << 26))
    assert run(Job(program=a.executable(stack_size=stack))).fault == (status, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "cond"),
    [("JUMP", "FALSE"), ("PUSH", "FALSE"), ("LOOP_START_DX10", "FALSE"), ("LOOP_START_NO_AL", "ACTIVE"),
     ("LOOP_START", "ACTIVE"), ("POP_JUMP", "FALSE"), ("POP_PUSH", "FALSE"), ("PUSH_ELSE", "ACTIVE")],
)  # fmt: skip
def test_words_that_go_elsewhere_pop_first(name: str, cond: str) -> None:
    """Two entries, below them one that is left; the loops have no rounds. PUSH_ELSE pops its own entry, too."""
    a = Assembly()
    after = Label()
    for limit in ("0", "1.0", "#40000000"):
        where(a, "GE", "R0.x", limit)
    a.flow(name, to=after, cond=cond, const=0, pop=3 if name == "PUSH_ELSE" else 2)
    a.alu(add(100))
    a.bind(after)
    a.alu(add(1))
    a.flow("POP", pop=1)
    a.alu(add(10))
    assert trace(a, 3) == [11.0, 11.0, 11.0]


def test_else_pops_where_no_pixel_remains() -> None:
    a = Assembly()
    after = Label()
    where(a, "GE", "R0.x", "1.0")
    where(a, "GE", "R0.x", "0")
    a.alu(add(1))
    a.flow("ELSE", to=after, pop=2)
    a.alu(add(100))
    a.bind(after)
    a.alu(add(10))
    assert trace(a, 2) == [10.0, 11.0]


def test_fields_that_a_word_does_not_have_are_ignored() -> None:
    others = {"pop": 7, "const": 5, "count": 5, "count_3": 1, "call_count": 63}
    a = Assembly()
    a.flow("NOP", to=77, cond="FALSE", **others)
    a.flow("WAIT_ACK", to=77, cond="BOOL", **others)
    loop = a.flow("LOOP_START_NO_AL", to=8000, const=2, count=3, call_count=40)
    a.alu(add(1))
    a.flow("LOOP_END", to=loop + 1, cond="FALSE", **others)
    a.flow("POP", to=77, count=3, call_count=40, const=3)
    a.fetch(vtx(2, 0), pop_count=7, cf_const=9, call_count=63)
    a.flow("CALL", to=a.here + 1, count=5, call_count=1)
    after = a.here
    a.alu(add(10))
    a.flow("RETURN", to=77, pop=7, count=5, call_count=50)
    program = a.executable()
    # The call returns to the next word, where the subroutine is met once more; then there is nothing to return from.
    found = run(Job(program=program, domain=(0, 0, 0, 0), ints=_INTS, bools=_BOOLS))
    assert found.fault == ("STACK", after + 1, 0, 0, 0)


def test_words_and_clauses_lie_in_any_order() -> None:
    """A clause, the last word, the first two words, and an export between them."""
    ends, exports = word("NOP", end_of_program=1), export(0, 1)
    jumps = [word("JUMP", target, cond="FALSE") for target in (6, 2)]
    code = (*add(1), ends, alu_word("ALU", 0, 2), jumps[0], ends, exports, jumps[1])
    found = run(Job(program=Executable(code=code, start=3, gprs=2), domain=(0, 0, 0, 0)))
    assert found.error is None, found.error
    same(found.outputs[0, 0, 0, 0], 1.0)


def test_the_longest_clauses() -> None:
    a = Assembly()
    one = group(slot("ADD", "R1.x", "R1.x", "1.0"))
    a.alu(*[one] * 128)
    a.alu(*[moves(2, "0")])
    a.fetch(*(vtx(2, 2, dst_sel_x=0, offset=16 * n) for n in range(15)), vtx(3, 4, offset=48))
    found = execute(a, (1, 3), domain=(0, 0, 0, 0)).outputs[:, 0, 0, 0]
    same(found, [128.0, 3.0])
