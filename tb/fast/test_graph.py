"""The graph of a program: which nodes are reached with which loops and calls, and which groups remain together."""

from collections.abc import Sequence

import pytest

from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, LOOP_STACK
from ctm.rtl.isa.r5xx.opcodes import FlowOperation
from ctm.sim.elf import read_shader
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.engines.fast.r5xx.graph import Graph, Loop, Node, TooManyPathsError
from ctm.sim.golden.r5xx.program import decode_code
from ctm.tb.r5xx.machine import Instruction, alu, move
from ctm.tb.r5xx.shaders import NAMES, Shader
from ctm.tb.r5xx.statements import (
    CONTINUE,
    ENDREP,
    NEVER,
    NOT_ALU,
    POP,
    PUSH,
    REP,
    add,
    begin_if,
    begin_loop,
    end_if,
    end_loop,
    jump,
    leave,
)

PLAIN = add(0)
OUT = move(0, 1, output=0)


def graph(program: Sequence[Instruction], *, start: int = 0, end: int | None = None, full: bool = True) -> Graph:
    code = decode_code(tuple(program), 0, uncached_writes=False)
    last = len(program) - 1 if end is None else end
    return Graph(code.instructions, start=start, end=last, full_flow_control=full)


def addresses(found: Graph) -> list[int]:
    """Where the nodes are, in their order."""
    return [node.pc for node in found.nodes]


def loop_at(pc: int, kind: FlowOperation = FlowOperation.LOOP) -> Loop:
    return Loop(kind, pc, ())


def test_nodes_are_what_can_be_reached_and_no_more() -> None:
    found = graph([PLAIN, jump(4), PLAIN, PLAIN, PLAIN, OUT])
    assert addresses(found) == [0, 1, 4, 5]
    # Groups of which no lane decides stay with JUMP_ANY, and jump without.
    assert addresses(graph([PLAIN, jump(4, jump_any=1), PLAIN, PLAIN, PLAIN, OUT])) == [0, 1, 2, 3, 4, 5]
    assert addresses(graph([jump(2, NEVER, jump_any=1), OUT, PLAIN, PLAIN], end=1)) == [0, 1]
    assert addresses(graph([jump(2, NEVER), PLAIN, PLAIN, OUT, PLAIN, PLAIN], end=3)) == [0, 1, 2, 3]
    assert addresses(graph([PLAIN, PLAIN, OUT], start=1)) == [1, 2]


def test_a_loop_is_around_its_body_only() -> None:
    found = graph([begin_loop(5), begin_loop(4, op=REP), PLAIN, end_loop(2, op=ENDREP), end_loop(1), OUT])
    outer, inner = loop_at(0), loop_at(1, FlowOperation.REP)
    assert [node.loops for node in found.nodes][:5] == [(), (outer,), (outer, inner), (outer, inner), (outer,)]
    assert {node.loops for node in found.nodes if node.pc == 5} == {()}
    assert [node.level for node in found.nodes][:5] == [0, 1, 1, 1, 1]


def test_code_that_is_called_from_two_addresses_is_there_twice_in_the_order_of_the_calls() -> None:
    subroutine = [PLAIN, jump(0, a_op=POP)]
    found = graph([*subroutine, jump(0, a_op=PUSH), PLAIN, jump(0, a_op=PUSH), OUT], start=2)
    calls = [(node.pc, node.returns) for node in found.nodes if node.returns]
    assert [call for call in calls if call[1] == (3,)] == [(0, (3,)), (1, (3,))]
    assert [call for call in calls if call[1] == (5,)] == [(0, (5,)), (1, (5,))]
    order = [(node.pc, node.returns) for node in found.nodes]
    assert order.index((2, ())) < order.index((0, (3,))) < order.index((3, ()))
    assert order.index((4, ())) < order.index((0, (5,))) < order.index((5, ()))
    assert found.edges[Node(1, (), (3,))].jump == Node(3)


def test_what_always_faults_leads_nowhere() -> None:
    illegal = alu(rgb={"rgb_op": 6})
    for wrong in (illegal, end_loop(0), leave(0, 0), jump(0, op=CONTINUE)):
        found = graph([wrong, PLAIN, OUT])
        assert addresses(found) == [0]
        assert found.always_faults(found.entry)
    # The end of a loop of the other kind.
    found = graph([begin_loop(3), end_loop(1, op=ENDREP), PLAIN, OUT])
    assert addresses(found) == [0, 1, 3]
    assert [found.always_faults(node) for node in found.nodes] == [False, True, False]


def test_after_the_code_every_group_faults() -> None:
    found = graph([jump(400), OUT])
    beyond = next(node for node in found.nodes if node.pc == 400)
    assert found.always_faults(beyond)


def test_stacks_that_are_full_or_empty_fault_on_the_path_that_uses_them() -> None:
    deep = [begin_loop(LOOP_STACK + 1) for _ in range(LOOP_STACK + 1)]
    found = graph([*deep, OUT])
    last = next(node for node in found.nodes if node.pc == LOOP_STACK)
    assert len(last.loops) == LOOP_STACK
    assert found.edges[last].stay is None
    assert found.edges[last].jump is not None
    found = graph([jump(0, NOT_ALU, a_op=PUSH), jump(0, NOT_ALU, a_op=POP), OUT])
    full = next(node for node in found.nodes if node.pc == 0 and len(node.returns) == ADDRESS_STACK)
    assert found.edges[full].jump is None
    assert found.edges[Node(1)].jump is None
    assert found.edges[Node(1)].stay == Node(2)


def test_a_path_that_is_not_taken_is_no_fault() -> None:
    """RET always jumps, and ENDIF never."""
    found = graph([jump(3, a_op=PUSH), end_if(), OUT, jump(0, a_op=POP)], end=2)
    assert [(node.pc, node.returns) for node in found.nodes] == [(0, ()), (3, (1,)), (1, ()), (2, ())]
    assert found.edges[Node(3, (), (1,))].targets == [Node(1)]
    assert found.edges[Node(1)].targets == [Node(2)]


def test_without_full_flow_control_there_are_no_stacks() -> None:
    found = graph([begin_loop(1), jump(2, a_op=PUSH), OUT], full=False)
    assert found.edges[Node(0)].stay is None
    assert found.edges[Node(1)].jump is None


def test_recursion_that_multiplies_paths_is_an_error() -> None:
    """Twelve calls of itself: a node for each row of returns."""
    program = [jump(0, NOT_ALU, a_op=PUSH)] * 12
    with pytest.raises(TooManyPathsError):
        graph([*program, jump(0, a_op=POP), OUT])


TOGETHER = {
    "straight code": [PLAIN, OUT],
    "an IF": [begin_if(2), PLAIN, end_if(), OUT],
    "a loop": [begin_loop(3), PLAIN, end_loop(1), OUT],
    "a loop in a loop": [begin_loop(6), PLAIN, begin_loop(5), PLAIN, end_loop(3), end_loop(1), OUT],
    "two loops": [begin_loop(3), PLAIN, end_loop(1), begin_loop(6), PLAIN, end_loop(4), OUT],
    "BREAK and CONTINUE": [
        begin_loop(5), PLAIN, leave(5, 0, function=NOT_ALU), jump(4, NOT_ALU, op=CONTINUE), end_loop(1), OUT,
    ],
    "a loop that is left in an IF": [begin_loop(6), begin_if(4), leave(6, 1), end_if(), PLAIN, end_loop(1), OUT],
    "a loop that calls": [
        jump(3), PLAIN, jump(0, a_op=POP), begin_loop(6), jump(1, a_op=PUSH), end_loop(4), jump(1, a_op=PUSH), OUT,
    ],
    "a loop without rounds that ends at its end, which faults": [begin_loop(2), PLAIN, end_loop(1), OUT],
    "jumps around without loops": [PLAIN, jump(0, NOT_ALU), jump(4, NOT_ALU), PLAIN, OUT],
}  # fmt: skip
APART = {
    "a jump out of a loop, over its end": [begin_loop(4), PLAIN, jump(4, NOT_ALU), end_loop(1), PLAIN, OUT],
    "a loop with two ends": [begin_loop(5), jump(3, NOT_ALU), end_loop(1), PLAIN, end_loop(1), OUT],
    "an end before code of its loop": [begin_loop(4), jump(3, NOT_ALU), end_loop(1), jump(2), OUT],
    "code of a loop after other code": [begin_loop(3), jump(4), PLAIN, jump(5, NOT_ALU), end_loop(1), OUT],
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_groups_stay_together_in(name: str) -> None:
    program = TOGETHER[name]
    assert graph(program).keeps_wavefronts_together


@pytest.mark.parametrize("name", APART)
def test_groups_may_come_apart_in(name: str) -> None:
    program = APART[name]
    assert not graph(program).keeps_wavefronts_together


def test_groups_stay_together_in_compiled_programs() -> None:
    """But where a loop without rounds would go to its own end, which belongs to the loop around it."""
    apart = set()
    for name in NAMES:
        executable = read_shader(Shader.load(name).text).executable
        assert isinstance(executable, Executable)
        found = graph(executable.instructions, start=executable.start, end=executable.end)
        if not found.keeps_wavefronts_together:
            apart.add(name)
    assert apart == {"loop_nested", "loop_nested_noopt"}
