"""LLVM code of CF instructions that are neither clauses nor exports: before their branch, and on either path of it.

Source: R700-Family Instruction Set Architecture, chapter 3.
"""

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r700.constants import Constants
from ctm.sim.engines.fast.r700.graph import CALLS, LOOP_STARTS, POP_FIRST, Graph, Node
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.vector.lanes import BIT, INT, Value
from ctm.sim.golden.r700.instruction import Export, Flow


def _nothing() -> None:
    """Append no code."""


@dataclass(frozen=True)
class Step:
    """The branch of a CF instruction, and what appends the code of its two paths."""

    jumps: Value = None
    """The bit that is 1 if it jumps; None: it never does."""
    go: Callable[[], None] = _nothing
    """Appends the code of the path that jumps."""
    stay: Callable[[], None] = _nothing
    """Appends the code of the path to the next instruction."""
    killed: bool = False
    """Whether it may have killed lanes."""


class FlowControl:
    """Appends the code of a program's flow control where the kernel's builder stands."""

    def __init__(self, kernel: Kernel, graph: Graph, masks: Masks, constants: Constants) -> None:
        self._graph = graph
        self._kernel, self._lanes = kernel, kernel.lanes
        self._masks, self._constants = masks, constants

    @property
    def always(self) -> Value:
        """The bit of a condition that holds."""
        return ir.Constant(BIT, 1)

    def passing(self, word: Flow | Export) -> Value:
        """The mask of lanes that pass an instruction's test."""
        builder, mask = self._lanes.builder, self._masks.active
        if word.valid_pixels:
            mask = builder.and_(mask, builder.and_(self._masks.valid_mask, self._kernel.covered))
        if isinstance(word, Export) or word.condition is Condition.ACTIVE:
            return mask
        return builder.select(self._holds(word), mask, self._lanes.none)

    def begin(self, node: Node, word: Flow) -> Step:
        """Append the code before an instruction's branch; the branch."""
        operation, stack, pops = word.operation, node.stack, word.pop_count
        if operation in POP_FIRST:
            self._pop(len(stack), pops)
            operation, stack, pops = POP_FIRST[operation], stack[: len(stack) - pops], 0
        depth = len(stack)
        if operation in (CfOperation.NOP, CfOperation.WAIT_ACK):
            return Step()
        if operation is CfOperation.KILL:
            self._masks.kill(self.passing(word))
            return Step(killed=True)
        if operation is CfOperation.POP:
            self._pop(depth, pops)
            if word.condition is not Condition.ACTIVE:
                self._masks.restrict(self.passing(word))
            return Step()
        if operation in CALLS:
            return Step(self._lanes.any(self.passing(word)))
        if operation is CfOperation.RETURN:
            failing = self._lanes.builder.and_(self._masks.active, self._lanes.builder.not_(self.passing(word)))
            return Step(self._is_empty(failing))
        if operation in (CfOperation.LOOP_BREAK, CfOperation.LOOP_CONTINUE, CfOperation.LOOP_END):
            return self._end_iteration(node, word)
        if operation in LOOP_STARTS:
            return self._loop_start(word, depth)
        return self._branch(word, operation, depth, pops)

    def _branch(self, word: Flow, operation: CfOperation, depth: int, pops: int) -> Step:
        masks = self._masks
        if operation is CfOperation.ELSE:
            masks.invert(depth - 1, self._holds(word))
            return Step(self._is_empty(masks.active), go=lambda: self._pop(depth, pops))
        test = self.passing(word)
        if operation is CfOperation.PUSH_ELSE:
            masks.push(depth)
            masks.restrict(self._lanes.builder.not_(test))
            return Step(self._is_empty(masks.active), go=lambda: self._pop(depth + 1, pops))

        def push() -> None:
            masks.push(depth)
            masks.restrict(test)

        stay = push if operation is CfOperation.PUSH else _nothing
        return Step(self._is_empty(test), go=lambda: self._pop(depth, pops), stay=stay)

    def _loop_start(self, word: Flow, depth: int) -> Step:
        builder, test = self._lanes.builder, self.passing(word)
        jumps, zero = self._is_empty(test), ir.Constant(INT, 0)
        rounds, first = zero, None
        if word.operation is not CfOperation.LOOP_START_DX10:
            rounds = self._constants.rounds(word.constant)
            jumps = builder.or_(jumps, builder.icmp_unsigned("==", rounds, zero))
        if word.operation is CfOperation.LOOP_START:
            first = self._constants.start(word.constant)
        return Step(
            jumps,
            go=lambda: self._pop(depth, word.pop_count),
            stay=lambda: self._masks.enter_loop(depth, test, rounds, first),
        )

    def _end_iteration(self, node: Node, word: Flow) -> Step:
        """LOOP_BREAK, LOOP_CONTINUE and LOOP_END: they end an iteration of a loop, for some lanes or for all."""
        masks, loop = self._masks, node.loop
        assert loop is not None
        if word.operation is not CfOperation.LOOP_END:
            breaks = word.operation is CfOperation.LOOP_BREAK
            return Step(self._is_empty(masks.leave(loop, self.passing(word), breaks=breaks)))
        start = self._graph.loop_start(node)
        step = self._constants.step(start.constant) if start.operation is CfOperation.LOOP_START else None
        again = masks.next_round(loop, step, counted=start.operation is not CfOperation.LOOP_START_DX10)
        return Step(again, stay=lambda: masks.leave_loop(loop))

    def _holds(self, word: Flow) -> Value:
        """The bit of a word's condition."""
        if word.condition in (Condition.ACTIVE, Condition.FALSE):
            return ir.Constant(BIT, word.condition is Condition.ACTIVE)
        boolean = self._constants.boolean(word.constant)
        return boolean if word.condition is Condition.BOOL else self._lanes.builder.not_(boolean)

    def _is_empty(self, mask: Value) -> Value:
        return self._lanes.builder.not_(self._lanes.any(mask))

    def _pop(self, depth: int, count: int) -> None:
        """Take `count` of `depth` branch masks off the stack."""
        if count:
            self._masks.pop(depth - count)
