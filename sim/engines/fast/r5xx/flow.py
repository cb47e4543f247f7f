"""Flow control: decisions of wavefronts, branch counters, loop frames.

Source: CTM Guide pp. 34-38; docs/design/choices.md. Every step is made for the wavefronts that execute, by masks. Where
they diverge, those that go to the higher position wait there.
"""

from llvmlite import ir

from ctm.rtl.isa.r5xx.limits import BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL
from ctm.rtl.isa.r5xx.opcodes import BranchOperation, FlowOperation
from ctm.sim.engines.fast.integers import Integers
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r5xx.graph import ALWAYS, BEGINS, BREAKS, ENDS, NEVER, Node
from ctm.sim.engines.fast.r5xx.registers import Registers
from ctm.sim.engines.fast.vector.lanes import INT, Value
from ctm.sim.golden.r5xx.instruction import Flow


def is_uniform(instruction: Flow) -> bool:
    """Whether all lanes of all wavefronts do the same at an instruction, and stay active."""
    return (
        instruction.jump_function in (NEVER, ALWAYS)
        and instruction.branch_if_jump is instruction.branch_if_stay is BranchOperation.NONE
        and not instruction.is_else
        and instruction.operation not in (*BREAKS, FlowOperation.CONTINUE)
    )


class FlowControl:
    """Flow-control instructions of a program."""

    def __init__(self, kernel: Kernel, registers: Registers, integers: Integers, *, full_flow_control: bool) -> None:
        self._kernel, self._lanes = kernel, kernel.lanes
        self._registers, self._integers = registers, integers
        self._limit = BRANCH_COUNTER_FULL if full_flow_control else BRANCH_COUNTER_PARTIAL

    def jumps_uniformly(self, node: Node, instruction: Flow) -> Value:
        """One bit: whether all wavefronts jump at an instruction that `is_uniform`; they enter and leave loops."""
        builder = self._lanes.builder
        jumps: Value = ir.Constant(ir.IntType(1), instruction.jump_function == ALWAYS)
        if instruction.operation in BEGINS:
            jumps = builder.or_(jumps, self._has_no_iterations(instruction))
            self._enter(node, instruction)
        elif instruction.operation in ENDS:
            jumps = builder.and_(jumps, self._has_more_iterations(node))
            self._step(node, instruction)
        return jumps

    def decide(self, node: Node, instruction: Flow) -> tuple[Value, Value]:
        """The masks of the wavefronts that jump, and of those that stay; lanes and frames are as after it."""
        builder, registers = self._lanes.builder, self._registers
        here = registers.mask(registers.here)
        depth = len(node.loops) - 1
        if instruction.operation in ENDS:
            self._resume_continued(registers.continued[depth], here)
        if instruction.is_else:
            self._swap_branches(here)
        wish = builder.and_(builder.and_(registers.mask(registers.active), here), self._wish(instruction))
        if instruction.operation in (*BREAKS, FlowOperation.CONTINUE):
            jumps = self._leave_loop(instruction, depth, here, wish)
        else:
            jumps = self._jumps(node, instruction, here, wish)
        remains = builder.and_(here, builder.not_(jumps))
        self._branch(instruction.branch_if_jump, instruction, jumps, builder.and_(jumps, builder.not_(wish)))
        self._branch(instruction.branch_if_stay, instruction, remains, builder.and_(remains, wish))
        if instruction.operation in BEGINS and depth + 1 < len(registers.entered):
            self._enter(node, instruction)
            self._push(depth + 1, remains)
        elif instruction.operation in ENDS:
            self._step(node, instruction)
            self._pop(depth, remains)
        elif instruction.operation in BREAKS:
            self._pop(depth, jumps)
        return jumps, remains

    def _resume_continued(self, pointer: Value, here: Value) -> None:
        builder, registers = self._lanes.builder, self._registers
        continued = builder.and_(registers.mask(pointer), here)
        self._clear(registers.left, continued)
        self._set(registers.active, continued)
        self._clear(pointer, here)

    def _swap_branches(self, here: Value) -> None:
        lanes, builder, registers = self._lanes, self._lanes.builder, self._registers
        counter, active = registers.mask(registers.counter), registers.mask(registers.active)
        is_zero = lanes.mask(builder.icmp_signed("==", counter, lanes.none))
        waiting = builder.and_(builder.and_(self._waiting(here), is_zero), here)
        builder.store(builder.and_(counter, builder.not_(builder.and_(active, here))), registers.counter)
        builder.store(lanes.where(here, waiting, active), registers.active)

    def _waiting(self, wavefronts: Value) -> Value:
        """Lanes of wavefronts that a branch made inactive."""
        builder, registers = self._lanes.builder, self._registers
        out = builder.or_(registers.mask(registers.active), registers.mask(registers.left))
        return builder.and_(wavefronts, builder.not_(out))

    def _wish(self, instruction: Flow) -> Value:
        """JUMP_FUNC for every lane."""
        lanes, _builder, function = self._lanes, self._lanes.builder, instruction.jump_function
        without, with_boolean = (
            [function >> (entry << 1 | boolean) & 1 for entry in range(4)] for boolean in (False, True)
        )
        result = self._wish_by_table(instruction, without)
        if without == with_boolean:
            return result
        boolean = lanes.mask(lanes.splat(self._integers.boolean(instruction.boolean)))
        return lanes.where(boolean, self._wish_by_table(instruction, with_boolean), result)

    def _wish_by_table(self, instruction: Flow, table: list[int]) -> Value:
        """By ALU result and predicate."""
        lanes, builder, registers = self._lanes, self._lanes.builder, self._registers
        if len(set(table)) == 1:
            return lanes.all if table[0] else lanes.none
        predicate = instruction.common.predicates[0]
        bit = predicate.bit(0)
        chosen = lanes.all if bit is None else registers.mask(registers.predicates[bit])
        chosen = builder.not_(chosen) if predicate.inverted else chosen
        alu_result = registers.mask(registers.alu_result)
        result = lanes.none
        for entry, jumps in enumerate(table):
            if jumps:
                one = alu_result if entry & 2 else builder.not_(alu_result)
                other = chosen if entry & 1 else builder.not_(chosen)
                result = builder.or_(result, builder.and_(one, other))
        return result

    def _voters(self, instruction: Flow) -> Value:
        """Lanes whose state counts, active or not."""
        valid_mask = self._registers.mask(self._registers.valid_mask)
        if not instruction.ignore_uncovered:
            return valid_mask
        return self._lanes.builder.and_(valid_mask, self._kernel.covered)

    def _leave_loop(self, instruction: Flow, depth: int, here: Value, wish: Value) -> Value:
        """BREAK and CONTINUE: lanes with a jump wish are out of the loop; a wavefront jumps when no lane remains."""
        builder, registers = self._lanes.builder, self._registers
        is_continue = instruction.operation is FlowOperation.CONTINUE
        self._set((registers.continued if is_continue else registers.broken)[depth], wish)
        self._set(registers.left, wish)
        self._clear(registers.active, wish)
        stayed = builder.not_(registers.mask(registers.broken[depth]))
        if is_continue:
            stayed = builder.and_(stayed, builder.not_(registers.mask(registers.continued[depth])))
        left = builder.and_(registers.mask(registers.entered[depth]), self._voters(instruction))
        return builder.and_(here, builder.not_(self._any(builder.and_(left, stayed))))

    def _jumps(self, node: Node, instruction: Flow, here: Value, wish: Value) -> Value:
        """Wavefronts that jump."""
        builder, registers, lanes = self._lanes.builder, self._registers, self._lanes
        deciding = builder.and_(registers.mask(registers.active), self._voters(instruction))
        if instruction.jump_any:
            jumps = self._any(builder.and_(deciding, wish))
        else:
            jumps = builder.not_(self._any(builder.and_(deciding, builder.not_(wish))))
            if instruction.operation in BEGINS:
                jumps = builder.and_(jumps, self._any(deciding))
        if instruction.operation in BEGINS:
            jumps = builder.or_(jumps, lanes.mask(lanes.splat(self._has_no_iterations(instruction))))
        elif instruction.operation in ENDS:
            jumps = builder.and_(jumps, lanes.mask(lanes.splat(self._has_more_iterations(node))))
        return builder.and_(here, jumps)

    def _any(self, mask: Value) -> Value:
        return self._lanes.any_in_each(mask, self._kernel.frame.wavefront_lanes)

    def _branch(self, operation: BranchOperation, instruction: Flow, wavefronts: Value, differs: Value) -> None:
        """The branch operation of wavefronts that decided the same; `differs` are their lanes that wished otherwise."""
        if operation is BranchOperation.NONE:
            return
        lanes, builder, registers = self._lanes, self._lanes.builder, self._registers
        waiting, counter = self._waiting(wavefronts), registers.mask(registers.counter)
        if operation is BranchOperation.DECR:
            counter = builder.sub(counter, builder.and_(waiting, lanes.integer(instruction.pop_count)))
            builder.store(counter, registers.counter)
            below = lanes.mask(builder.icmp_signed("<", counter, lanes.none))
            self._set(registers.active, builder.and_(waiting, below))
            return
        counter = builder.sub(counter, waiting)
        above = lanes.mask(builder.icmp_signed(">", counter, lanes.integer(self._limit)))
        self._kernel.go_if(lanes.any(builder.and_(waiting, above)), self._kernel.give_back)
        differs = builder.and_(differs, registers.mask(registers.active))
        builder.store(builder.and_(counter, builder.not_(differs)), registers.counter)
        self._clear(registers.active, differs)

    def _push(self, depth: int, wavefronts: Value) -> None:
        builder, registers = self._lanes.builder, self._registers
        for pointer in (registers.entered[depth], registers.broken[depth], registers.continued[depth]):
            self._clear(pointer, wavefronts)
        self._set(registers.entered[depth], builder.and_(wavefronts, registers.mask(registers.active)))

    def _pop(self, depth: int, wavefronts: Value) -> None:
        """Wavefronts leave their innermost loop."""
        entered = self._lanes.builder.and_(self._registers.mask(self._registers.entered[depth]), wavefronts)
        self._clear(self._registers.left, entered)
        self._set(self._registers.active, entered)

    def _set(self, pointer: Value, lanes: Value) -> None:
        self._lanes.builder.store(self._lanes.builder.or_(self._registers.mask(pointer), lanes), pointer)

    def _clear(self, pointer: Value, lanes: Value) -> None:
        builder = self._lanes.builder
        builder.store(builder.and_(self._registers.mask(pointer), builder.not_(lanes)), pointer)

    # What all wavefronts of a vector have in common: iterations and loop index.

    def _has_no_iterations(self, instruction: Flow) -> Value:
        count = self._integers.count(instruction.integer)
        return self._lanes.builder.icmp_signed("==", count, ir.Constant(INT, 0))

    def _has_more_iterations(self, node: Node) -> Value:
        builder = self._lanes.builder
        left = builder.load(self._registers.iterations[len(node.loops) - 1], typ=INT)
        return builder.icmp_signed("!=", left, ir.Constant(INT, 1))

    def _enter(self, node: Node, instruction: Flow) -> None:
        """Those that stay are in a loop."""
        if len(node.loops) == len(self._registers.iterations):
            return
        builder = self._lanes.builder
        builder.store(self._integers.count(instruction.integer), self._registers.iterations[len(node.loops)])
        if instruction.operation is FlowOperation.LOOP:
            self._registers.set_loop_index(node.level + 1, self._integers.start(instruction.integer))

    def _step(self, node: Node, instruction: Flow) -> None:
        """Those that jump begin another iteration."""
        builder, pointer = self._lanes.builder, self._registers.iterations[len(node.loops) - 1]
        builder.store(builder.sub(builder.load(pointer, typ=INT), ir.Constant(INT, 1)), pointer)
        if instruction.operation is FlowOperation.ENDLOOP:
            index = self._registers.loop_index(node.level)
            self._registers.set_loop_index(node.level, builder.add(index, self._integers.step(instruction.integer)))
